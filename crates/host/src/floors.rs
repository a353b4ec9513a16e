//! Floors: clearing a namespace in constant time.
//!
//! A clear adds one to the count of clears and raises the floor of its namespace to that. A
//! record is served only if it was born at or above the floors of all enclosing namespaces. The table
//! keeps one floor for each namespace that was ever cleared, found by linear probing and never moved or
//! freed. If the probed places are taken, the clear raises the floor of the root instead: that clears
//! too much, which a cache may do, and it is counted.

use crate::engine::{Engine, Environment};
use crate::hash::key_hash;
use crate::keys::ancestors;
use crate::layout::{header, FLOORS};
use crate::shared_memory::SharedMemory;

/// Places that may hold a namespace's floor.
const PROBES: u64 = 16;

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Clears everything born before now in the namespace whose prefix has this hash. Once it returns,
    /// no reader anywhere is served an older entry of that namespace.
    pub fn raise_floor(&self, prefix_hash: u64, root_hash: u64) {
        let clears = self.memory.fetch_add(header::CLEARS, 1) + 1;
        if !self.raise(prefix_hash, clears) && !self.raise(root_hash, clears) {
            // The root itself found no place: the last cell applies to every namespace.
            self.memory
                .fetch_max(self.cell(FLOORS as u64 - 1) + 8, clears);
        }
        self.memory.fetch_add(header::EPOCH, 1);
    }

    fn raise(&self, name: u64, clears: u64) -> bool {
        let name = name.max(1);
        for probe in 0..PROBES {
            let cell = self.cell(place(name, probe));
            let there = self.memory.load(cell);
            let mine = there == name
                || (there == 0 && self.memory.compare_exchange(cell, 0, name))
                || self.memory.load(cell) == name;
            if mine {
                self.memory.fetch_max(cell + 8, clears);
                return true;
            }
        }
        self.memory.fetch_add(header::FLOOR_OVERFLOWS, 1);
        false
    }

    /// The highest floor of these namespaces.
    pub fn floor_of(&self, names: &[u64]) -> u64 {
        let everybody = self.memory.load(self.cell(FLOORS as u64 - 1) + 8);
        names
            .iter()
            .map(|name| self.lookup((*name).max(1)))
            .fold(everybody, u64::max)
    }

    /// The highest of all floors.
    pub(crate) fn highest_floor(&self) -> u64 {
        (0..FLOORS as u64)
            .map(|cell| self.memory.load(self.cell(cell) + 8))
            .fold(0, u64::max)
    }

    /// The floor for a full key, from the namespaces in it.
    pub(crate) fn floor_of_key(&self, full_key: &[u8]) -> u64 {
        if self.clears() == 0 {
            return 0;
        }
        let names: Vec<u64> = ancestors(full_key)
            .map(|prefix| key_hash(self.seed, &prefix).as_u64())
            .collect();
        self.floor_of(&names)
    }

    /// Clears so far: the `born` of a value that is made from now on.
    #[inline(always)]
    pub fn clears(&self) -> u64 {
        self.memory.load(header::CLEARS)
    }

    fn lookup(&self, name: u64) -> u64 {
        for probe in 0..PROBES {
            let cell = self.cell(place(name, probe));
            match self.memory.load(cell) {
                0 => return 0,
                there if there == name => return self.memory.load(cell + 8),
                _ => {}
            }
        }
        0
    }

    fn cell(&self, number: u64) -> usize {
        self.geometry.floors_at + number as usize * 16
    }
}

/// The last cell is kept out of the probing.
fn place(name: u64, probe: u64) -> u64 {
    (name.wrapping_add(probe)) % (FLOORS as u64 - 1)
}
