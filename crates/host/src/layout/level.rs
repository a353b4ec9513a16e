//! Levels of the index: their sizes, and where a key may stand in one.

use super::BUCKET;
use crate::hash::KeyHash;

/// Buckets of the first level; each other one has [`LEVEL_GROWTH`] times as many as the one before it.
const FIRST_LEVEL: u64 = 1 << 12;
const LEVEL_GROWTH: u64 = 16;

/// A part of the index that is opened when the levels before it have no slot for a new key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// The number of its first slot.
    pub first: u64,
    /// What leaves of a hash the number of one of its buckets: their number, a power of two, less one.
    pub mask: u64,
}

impl Level {
    /// The first slot of the first candidate bucket of a hash.
    #[inline(always)]
    #[must_use]
    pub fn first_candidate(self, hash: KeyHash) -> u64 {
        self.first + (u64::from(hash.lo) & self.mask) * BUCKET as u64
    }

    /// The first slot of the second candidate bucket of a hash, which always differs from the first one.
    #[inline(always)]
    #[must_use]
    pub fn second_candidate(self, hash: KeyHash) -> u64 {
        let first = u64::from(hash.lo) & self.mask;
        let mut second = u64::from(hash.hi) & self.mask;
        if second == first {
            second ^= 1;
        }
        self.first + second * BUCKET as u64
    }

    /// Number of its buckets.
    #[must_use]
    pub fn buckets(self) -> u64 {
        self.mask + 1
    }

    /// Number of its slots and of those of all levels before it.
    #[inline(always)]
    #[must_use]
    pub fn slots_end(self) -> u64 {
        self.first + (self.mask + 1) * BUCKET as u64
    }
}

/// Levels that have this many buckets together, or somewhat more.
pub(super) fn levels_of(buckets: u64) -> Vec<u64> {
    let (mut levels, mut left, mut next) = (Vec::new(), buckets, FIRST_LEVEL);
    while left > 0 {
        let level = left.next_power_of_two().min(next);
        levels.push(level);
        left -= left.min(level);
        next *= LEVEL_GROWTH;
    }
    levels
}
