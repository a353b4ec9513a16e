//! Ghosts: which keys were evicted from the probation queue of late. The entry of a key that comes back goes to the
//! main queue at once (`spec/host.md`, "Eviction").
//!
//! A ghost is 16 bits: age:4 | fingerprint:12; 0 is none. A set has 16 of them in four words, the newest first. Stores
//! may race with each other: a ghost that is lost, or taken for another key's, only changes which queue an entry
//! begins in.

use crate::engine::{Engine, Environment};
use crate::hash::KeyHash;
use crate::layout::{header, GHOST_SET};
use crate::shared_memory::SharedMemory;

/// One in each ghost of a word.
const EACH: u64 = 0x0001_0001_0001_0001;
const FINGERPRINT: u64 = 0xfff;
const AGE_SHIFT: u32 = 12;
/// Ages are counted modulo this.
const AGES: u64 = 16;
/// The oldest age at which a ghost is still believed.
const OLDEST: u64 = 8;
/// Units in which all ghosts are looked at once.
const LAP: u64 = 4;

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// True when the key left a ghost, which is taken away.
    #[inline]
    pub(crate) fn take_ghost(&self, hash: KeyHash) -> bool {
        let clock = self.memory.load(header::GHOST_CLOCK);
        if clock == 0 {
            return false;
        }
        let wanted = fingerprint(hash) * EACH;
        let set = self.ghosts_of(hash);
        (set..set + GHOST_SET).step_by(8).any(|at| {
            let word = self.memory.load(at);
            let differences = (word & (FINGERPRINT * EACH)) ^ wanted;
            // The bit above a fingerprint stays where there is no difference.
            let above = (FINGERPRINT + 1) * EACH;
            let same = (above - differences) & above;
            same != 0 && self.take_one(at, word, same, clock)
        })
    }

    /// Of the ghosts of a word with a bit in `same`, takes one that is not too old.
    #[cold]
    fn take_one(&self, at: usize, word: u64, same: u64, clock: u64) -> bool {
        let now = self.age_at(clock);
        let young = (0..64)
            .step_by(16)
            .find(|shift| same >> shift & (FINGERPRINT + 1) != 0 && is_young(word >> shift, now));
        if let Some(shift) = young {
            self.memory
                .compare_exchange(at, word, word & !(0xffff << shift));
        }
        young.is_some()
    }

    /// Leaves a ghost of the key of an evicted record of this size.
    pub(crate) fn leave_ghost(&self, hash: KeyHash, size: u64) {
        let before = self.memory.fetch_add(header::GHOST_CLOCK, size);
        let clock = before + size;
        self.sweep(before, clock);
        let mut newest = fingerprint(hash) | (self.age_at(clock) << AGE_SHIFT);
        let set = self.ghosts_of(hash);
        for at in (set..set + GHOST_SET).step_by(8) {
            let word = self.memory.load(at);
            self.memory.store(at, word << 16 | newest);
            newest = word >> 48;
            if newest == 0 {
                break;
            }
        }
    }

    /// Removes what is too old from a part of all sets. The hand comes round in [`LAP`] units, so that no
    /// ghost stands until its age looks young again.
    fn sweep(&self, before: u64, clock: u64) {
        let words = self.geometry.ghost_sets(self.levels()) * (GHOST_SET as u64 / 8);
        // One word for so many bytes.
        let each = (self.ghost_unit() * LAP / words).max(1);
        let now = self.age_at(clock);
        for turn in before / each..clock / each {
            let at = self.geometry.ghosts_at + (turn % words) as usize * 8;
            let word = self.memory.load(at);
            let mut left = word;
            for shift in (0..64).step_by(16) {
                if !is_young(word >> shift, now) {
                    left &= !(0xffff << shift);
                }
            }
            if left != word {
                self.memory.compare_exchange(at, word, left);
            }
        }
    }

    /// Prefetches the ghosts of a key that is about to be written, if there are any.
    #[inline(always)]
    pub(crate) fn prefetch_ghosts(&self, hash: KeyHash) {
        if self.memory.load(header::GHOST_CLOCK) != 0 {
            self.memory.prefetch(self.ghosts_of(hash));
        }
    }

    #[inline(always)]
    fn ghosts_of(&self, hash: KeyHash) -> usize {
        let set = u64::from(hash.lo) & (self.geometry.ghost_sets(self.levels()) - 1);
        self.geometry.ghosts_at + set as usize * GHOST_SET
    }

    fn age_at(&self, clock: u64) -> u64 {
        clock / self.ghost_unit() % AGES
    }

    /// Evicted bytes in which ghosts become one older. They are believed until as many bytes were evicted
    /// after them as the blocks have, or a ninth less.
    fn ghost_unit(&self) -> u64 {
        self.geometry.blocks_len() / (OLDEST + 1)
    }
}

/// Whether the ghost in the low bits is believed.
fn is_young(ghost: u64, now: u64) -> bool {
    let born = ghost >> AGE_SHIFT & (AGES - 1);
    now.wrapping_sub(born) % AGES <= OLDEST
}

/// Bits of the hash that do not choose the set; not 0, which is no ghost.
#[inline(always)]
fn fingerprint(hash: KeyHash) -> u64 {
    u64::from(hash.hi >> 20).max(1)
}
