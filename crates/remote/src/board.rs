//! What the processes of a host share of one remote database: the file `remote-<id>` of its directory.

use crate::validity::Validity;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A leader that was not seen for so long is replaced.
const ABSENT: Duration = Duration::from_millis(300);

/// The shared words; the layout is that of `spec/remote.md`, from byte 16 on.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Board {
    validity: Validity,
    /// The leader's participant, plus one; 0: none.
    leader: AtomicU64,
    /// When it was last seen, in microseconds.
    seen: AtomicU64,
}

impl Board {
    /// V.
    #[must_use]
    pub fn validity(&self) -> &Validity {
        &self.validity
    }

    /// Takes the lead if nobody has it, or its holder is dead or was not seen for a while. Returns the
    /// generation of the new leader. `me` and what `lives` is asked for are numbers of participants.
    pub fn lead(&self, me: u64, now: Duration, lives: impl Fn(u64) -> bool) -> Option<u16> {
        // Before the leader: who takes over between the two loads makes the CAS fail.
        let generation = self.validity.generation();
        let leader = self.leader.load(Ordering::SeqCst);
        let seen = Duration::from_micros(self.seen.load(Ordering::SeqCst));
        let is_there = leader != 0 && lives(leader - 1);
        if is_there && now.saturating_sub(seen) < ABSENT {
            return None;
        }
        let mine = self.validity.take_over(generation)?;
        self.leader.store(me + 1, Ordering::SeqCst);
        self.seen.store(now.as_micros() as u64, Ordering::SeqCst);
        Some(mine)
    }

    /// The leader of this generation is there; false when another leads.
    pub fn see(&self, generation: u16, now: Duration) -> bool {
        let leads = self.validity.generation() == generation;
        if leads {
            self.seen.store(now.as_micros() as u64, Ordering::SeqCst);
        }
        leads
    }

    /// The leader of this generation closes: another one need not wait until it is missed.
    pub fn resign(&self, generation: u16) {
        if self.validity.end(generation) {
            self.leader.store(0, Ordering::SeqCst);
        }
    }
}
