//! Tells whether the copies of a process without a directory are those that were read, as the words of slots and the
//! epoch do in a directory (`spec/memory.md`, "Over the remote tier").

use polycache_host::Hit;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Keys that share a stamp are read again together, which costs a look at the copy. A power of two.
const STAMPS: usize = 4096;

/// A number for each key, which it shares with others, and one for all. What was read stands while both are as they
/// were before it was read.
pub(crate) struct Stamps {
    /// By the hash of the key.
    stamps: Box<[AtomicU64]>,
    epoch: AtomicU64,
    hasher: RandomState,
}

impl Stamps {
    pub fn new() -> Stamps {
        Stamps {
            stamps: (0..STAMPS).map(|_| AtomicU64::new(0)).collect(),
            epoch: AtomicU64::new(0),
            hasher: RandomState::new(),
        }
    }

    fn number(&self, key: &[u8]) -> usize {
        self.hasher.hash_one(key) as usize % STAMPS
    }

    /// What the stamps are, to be asked before the key is read.
    pub fn now(&self, key: &[u8]) -> Hit {
        let epoch = self.epoch.load(Ordering::SeqCst);
        let number = self.number(key);
        Hit {
            slot: number as u64,
            word: self.stamps[number].load(Ordering::SeqCst),
            epoch,
        }
    }

    /// The key has no copy any more, or may get another one. Called after it lost its copy, and before it gets one.
    pub fn change(&self, key: &[u8]) {
        self.stamps[self.number(key)].fetch_add(1, Ordering::SeqCst);
    }

    /// No key of some namespace has a copy any more.
    pub fn change_all(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether nothing was changed since.
    #[inline]
    pub fn stands(&self, hit: Hit) -> bool {
        let stamp = self.stamps.get(hit.slot as usize);
        stamp.is_some_and(|stamp| stamp.load(Ordering::SeqCst) == hit.word)
            && self.epoch.load(Ordering::SeqCst) == hit.epoch
    }
}
