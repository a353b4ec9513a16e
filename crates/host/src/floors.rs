//! Floors: clearing a namespace in constant time.
//!
//! A clear takes the next tick of the invalidation clock and raises the floor of its namespace to it;
//! a record is served only if it was born at or above the floors of all the namespaces around it.
//! The table keeps a floor per namespace that was ever cleared, found by linear probing and never
//! moved or freed. When the probed places are taken, the floor of the root is raised instead: that
//! clears too much, which a cache may, and is counted.

use crate::engine::{Engine, Environment};
use crate::hash::key_hash;
use crate::keys::ancestors;
use crate::layout::{header, FLOORS};
use crate::memory::Memory;

/// Places a namespace's floor may stand in.
const PROBES: u64 = 16;

impl<M: Memory, E: Environment> Engine<M, E> {
    /// Clears everything born before now in the namespace whose prefix has this hash. When it
    /// returns, no reader anywhere is served an older entry of it.
    pub fn raise_floor(&self, prefix_hash: u64, root_hash: u64) {
        let tick = self.memory.fetch_add(header::CLOCK, 1) + 1;
        if !self.raise(prefix_hash, tick) && !self.raise(root_hash, tick) {
            // The root itself found no place: the last cell belongs to everybody.
            self.memory
                .fetch_max(self.cell(FLOORS as u64 - 1) + 8, tick);
        }
        self.memory.fetch_add(header::EPOCH, 1);
    }

    fn raise(&self, name: u64, tick: u64) -> bool {
        let name = name.max(1);
        for probe in 0..PROBES {
            let cell = self.cell(place(name, probe));
            let there = self.memory.load(cell);
            let mine = there == name
                || (there == 0 && self.memory.compare_exchange(cell, 0, name))
                || self.memory.load(cell) == name;
            if mine {
                self.memory.fetch_max(cell + 8, tick);
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

    /// The highest floor of all.
    pub(crate) fn highest_floor(&self) -> u64 {
        (0..FLOORS as u64)
            .map(|cell| self.memory.load(self.cell(cell) + 8))
            .fold(0, u64::max)
    }

    /// The floor that holds for a full key, from the namespaces in it.
    pub(crate) fn floor_of_key(&self, full_key: &[u8]) -> u64 {
        if self.clock() == 0 {
            return 0;
        }
        let names: Vec<u64> = ancestors(full_key)
            .map(|prefix| key_hash(self.seed, &prefix).as_u64())
            .collect();
        self.floor_of(&names)
    }

    /// The invalidation clock: what a value that is made from now on was born at.
    #[inline(always)]
    pub fn clock(&self) -> u64 {
        self.memory.load(header::CLOCK)
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
