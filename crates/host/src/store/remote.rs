//! What the remote tier needs of a directory: names of its own, a few shared words, and who lives.

use super::Store;
use crate::counters::Counter;
use crate::engine::Environment;
use crate::hash::key_hash;
use crate::layout::{header, PARTICIPANTS};
use crate::namespace::Namespace;
use crate::platform;
use crate::shared_memory::SharedMemory;
use crate::stats::RemoteCounts;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time on a clock that is never set, and that all processes of the machine share. It does not count while the
/// machine is suspended.
#[must_use]
pub fn monotonic() -> Duration {
    platform::monotonic()
}

/// A word of the header's line about remote databases: counts, and when something was last seen.
#[derive(Clone, Copy, Debug)]
pub(super) enum RemoteWord {
    NearHits,
    RemoteHits,
    JoinedHits,
    RoundTrips,
    Faults,
    LastFault,
    LastOpen,
}

impl RemoteWord {
    /// Where it is in the index.
    pub(super) fn at(self) -> usize {
        header::REMOTE_COUNTS + self as usize * 8
    }
}

const INCARNATION: u64 = (1 << 48) - 1;

impl Store {
    /// The namespace whose keys begin with this prefix, which no namespace of a user has: see `spec/remote.md`.
    #[must_use]
    pub fn reserved(&self, prefix: Vec<u8>) -> Namespace {
        Namespace::new(prefix, self.0.engine.seed)
    }

    /// The boards of remote databases; none in a store that can only be read. Each has the first `N` of eight words,
    /// 0 at first and after a boot.
    pub fn boards<const N: usize>(&self) -> impl Iterator<Item = &[AtomicU64; N]> + Clone {
        let count = match self.is_read_only() {
            true => 0,
            false => header::BOARD_COUNT,
        };
        (0..count).map(|number| self.0.engine.memory.board(number))
    }

    /// The board at this place among [`Store::boards`].
    #[must_use]
    pub fn board<const N: usize>(&self, place: usize) -> &[AtomicU64; N] {
        self.0.engine.memory.board(place)
    }

    /// The words of all boards now, for a look at them; also in a store that can only be read.
    #[must_use]
    pub fn boards_now<const N: usize>(&self) -> [[u64; N]; header::BOARD_COUNT] {
        let word = |board, word| header::BOARDS + board * header::LINE + word * 8;
        std::array::from_fn(|board| {
            std::array::from_fn(|place| self.0.engine.memory.load(word(board, place)))
        })
    }

    /// The process id of the participant with this id, as it sees that itself. `None` when it is gone, or counts in no cell
    /// of its own.
    ///
    /// # Errors
    /// `Io` when the file of locks cannot be looked at.
    pub fn process_of(&self, participant: u32) -> Result<Option<u32>, crate::Error> {
        let owners = self.living_owners()?;
        let owner = owners.iter().find(|owner| owner.participant == participant);
        Ok(owner.map(|owner| owner.process))
    }

    /// Adds what a cache with a server did to what the machine counts. Its reads and writes are added by
    /// [`Store::add_counts`].
    pub fn add_remote_counts(&self, counts: &RemoteCounts) {
        if self.is_read_only() {
            return;
        }
        let RemoteCounts {
            near_hits,
            remote_hits,
            joined_hits,
            round_trips,
            faults,
            loads,
            failed_loads,
        } = *counts;
        for (word, by) in [
            (RemoteWord::NearHits, near_hits),
            (RemoteWord::RemoteHits, remote_hits),
            (RemoteWord::JoinedHits, joined_hits),
            (RemoteWord::RoundTrips, round_trips),
            (RemoteWord::Faults, faults),
        ] {
            if by > 0 {
                self.0.engine.memory.fetch_add(word.at(), by);
            }
        }
        for (counter, by) in [
            (Counter::Loads, loads),
            (Counter::FailedLoads, failed_loads),
        ] {
            if by > 0 {
                self.0.add(counter, by);
            }
        }
        if faults > 0 {
            self.tell_now(RemoteWord::LastFault);
        }
    }

    /// A cache with a server has its circuit breaker open now.
    pub fn tell_open(&self) {
        if !self.is_read_only() {
            self.tell_now(RemoteWord::LastOpen);
        }
    }

    /// By the system's clock: people look at it, and nothing depends on it.
    fn tell_now(&self, word: RemoteWord) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_millis() as u64;
        self.0.engine.memory.store(word.at(), now);
    }

    /// A number for this directory on this machine since it was booted, and for no other one.
    #[must_use]
    pub fn host(&self) -> u64 {
        let memory = &self.0.engine.memory;
        let words = [
            header::SEED,
            header::BOOT_ID,
            header::BOOT_ID + 8,
            header::INDEX_INODE,
            header::DEVICE,
        ];
        let bytes: Vec<u8> = words
            .into_iter()
            .flat_map(|at| memory.load(at).to_le_bytes())
            .collect();
        key_hash(0, &bytes).as_u64()
    }

    /// This handle as a participant: its id in the upper 16 bits, its incarnation in the others.
    ///
    /// # Errors
    /// `ReadOnly`; `Io` when a forked child cannot join.
    pub fn participant_number(&self) -> Result<u64, crate::Error> {
        let me = self.participant()?;
        Ok(u64::from(me.id) << 48 | me.incarnation)
    }

    /// Whether somebody is the participant with this id.
    #[must_use]
    pub fn is_participant(&self, id: u32) -> bool {
        (id as usize) < PARTICIPANTS && self.0.engine.environment.id_alive(id)
    }

    /// Whether a participant lives; those before it under the same id do not.
    #[must_use]
    pub fn lives(&self, participant: u64) -> bool {
        let id = (participant >> 48) as usize;
        id < PARTICIPANTS
            && self.incarnation(id) == participant & INCARNATION
            && self.0.engine.environment.id_alive(id as u32)
    }

    fn incarnation(&self, id: usize) -> u64 {
        let at = self.0.engine.geometry.participants_at + id * 8;
        self.0.engine.memory.load(at) & INCARNATION
    }

    /// The participants that live, numbered as by [`Store::participant_number`].
    #[must_use]
    pub fn living(&self) -> Vec<u64> {
        let environment = &self.0.engine.environment;
        (1..PARTICIPANTS)
            .map(|id| (id, self.incarnation(id)))
            .filter(|(id, incarnation)| *incarnation != 0 && environment.id_alive(*id as u32))
            .map(|(id, incarnation)| (id as u64) << 48 | incarnation)
            .collect()
    }
}
