//! The keys of the leases that this process holds.
//!
//! A lease's word has ten bits of its key's hash, so a caller may meet the lease of another key and take it for
//! one of its own key (`spec/host.md`). Of another process' lease nothing more is known. A lease of the caller's
//! own process is different: its holder may be waiting for this very caller, whose loader loads something else. So
//! the process notes the key of each lease that it holds. The notes are of all handles, because a loader may use
//! another handle on the directory.
//!
//! A note only says what is true for as long as its word stands, so it does no harm when it is left behind. Where
//! a note is missing, the caller waits, as for another process.

use crate::hash::KeyHash;
use crate::per_process::PerProcess;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks: so many threads note something at once.
const SHARDS: usize = 16;

/// Leases with their keys.
#[derive(Debug, Default)]
pub struct OwnLeases {
    shards: [Mutex<HashMap<Place, Note>>; SHARDS],
}

/// A slot of a directory, which its seed tells from others.
type Place = (u64, u64);

#[derive(Debug)]
struct Note {
    /// The lease's word.
    word: u64,
    hash: KeyHash,
}

impl OwnLeases {
    /// Those of this process; a forked child begins without any.
    pub(crate) fn of_this_process() -> &'static OwnLeases {
        static CURRENT: PerProcess<OwnLeases> = PerProcess::new();
        CURRENT.get()
    }

    /// Notes a lease that was acquired for the key with this hash.
    pub fn note(&self, seed: u64, slot: u64, word: u64, hash: KeyHash) {
        let note = Note { word, hash };
        self.shard(slot).insert((seed, slot), note);
    }

    /// Takes the note back. One of a later lease stays.
    pub fn forget(&self, seed: u64, slot: u64, word: u64) {
        let mut shard = self.shard(slot);
        let place = (seed, slot);
        if shard.get(&place).is_some_and(|note| note.word == word) {
            shard.remove(&place);
        }
    }

    /// True when this lease is known to be of another key than the one with this hash.
    pub fn is_of_another(&self, seed: u64, slot: u64, word: u64, hash: KeyHash) -> bool {
        let shard = self.shard(slot);
        let note = shard.get(&(seed, slot));
        note.is_some_and(|note| note.word == word && note.hash != hash)
    }

    fn shard(&self, slot: u64) -> MutexGuard<'_, HashMap<Place, Note>> {
        // Slots of one bucket lie side by side.
        let shard = &self.shards[slot as usize / 8 % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
