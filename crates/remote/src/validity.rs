//! The time up to which a host has heard of every write: V of `spec/remote.md`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A V that was read before the copies that it vouches for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    heard: Option<Duration>,
    generation: u16,
}

/// V, shared by the processes of a host: 16 bits of the leader's generation, 48 of microseconds on a clock
/// that is never set. 0 in those 48 is none.
#[derive(Clone, Copy, Debug)]
pub struct Validity<'a>(&'a AtomicU64);

const TIME: u64 = (1 << 48) - 1;

impl<'a> Validity<'a> {
    /// The word that holds it; 0 is none yet, of the first generation.
    #[must_use]
    pub const fn new(word: &'a AtomicU64) -> Validity<'a> {
        Validity(word)
    }

    /// V now. Copies that are read after this call reflect every write up to it.
    #[must_use]
    pub fn judge(self) -> Judged {
        let word = self.0.load(Ordering::SeqCst);
        let micros = word & TIME;
        match micros {
            0 => Judged::NEVER,
            micros => Judged {
                heard: Some(Duration::from_micros(micros)),
                generation: (word >> 48) as u16,
            },
        }
    }

    /// The leader's generation.
    #[must_use]
    pub fn generation(self) -> u16 {
        (self.0.load(Ordering::SeqCst) >> 48) as u16
    }

    /// A new leader takes the place of the one of this generation: V is none until it moves it. Returns
    /// the new generation; `None` when another was first.
    pub fn take_over(self, from: u16) -> Option<u16> {
        let next = from.wrapping_add(1);
        self.change(from, u64::from(next) << 48).then_some(next)
    }

    /// The leader of this generation has heard of all writes up to `time`. False when another leads.
    pub fn move_to(self, generation: u16, time: Duration) -> bool {
        // Rounded down; a beacon in the first microsecond is none.
        let micros = time.as_micros() as u64 & TIME;
        self.change(generation, u64::from(generation) << 48 | micros)
    }

    /// The leader of this generation no longer hears of all writes. False when another leads.
    pub fn end(self, generation: u16) -> bool {
        self.change(generation, u64::from(generation) << 48)
    }

    fn change(self, generation: u16, word: u64) -> bool {
        let mut now = self.0.load(Ordering::SeqCst);
        loop {
            if (now >> 48) as u16 != generation {
                return false;
            }
            match self
                .0
                .compare_exchange(now, word, Ordering::SeqCst, Ordering::SeqCst)
            {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
    }
}

impl Judged {
    /// No copy may be served.
    pub const NEVER: Judged = Judged {
        heard: None,
        generation: 0,
    };

    /// The generation of the leader that moved V.
    #[must_use]
    pub fn generation(self) -> u16 {
        self.generation
    }

    /// How far behind copies are at `now` that were read after this; `None` when none may be served.
    #[must_use]
    pub fn lag(self, now: Duration) -> Option<Duration> {
        now.checked_sub(self.heard?)
    }

    /// Whether copies that were read after this may be served at `now`: they are no more than `staleness`
    /// behind.
    #[must_use]
    pub fn is_fresh(self, now: Duration, staleness: Duration) -> bool {
        match self.heard {
            // A V ahead of `now` is another boot's.
            Some(heard) => now
                .checked_sub(heard)
                .is_some_and(|behind| behind <= staleness),
            None => false,
        }
    }
}
