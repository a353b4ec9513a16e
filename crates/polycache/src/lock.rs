//! The lock of a key's name, step by step.

use crate::tier::AtLock;
use crate::{Cache, Error};
use polycache_host::Token;
use polycache_operations::{Acquire, Acquiring};
use std::time::{Duration, Instant};

/// A caller that wants the lock of a key's name, step by step.
#[derive(Debug)]
pub struct Locking {
    machine: Acquire,
    began: Instant,
}

/// What a caller that wants a lock is to do next.
#[derive(Debug)]
pub enum LockStep {
    /// Nothing: it has the lock, and gives it back by `unlock`.
    Acquired(Token),
    /// Nothing: another has it.
    Refused,
    /// Wait so long, then step again.
    Wait(Duration),
}

impl Cache {
    /// Begins to wait for the lock of a key's name, at most this long.
    #[must_use]
    pub(crate) fn locking(&self, wait: Duration) -> Locking {
        self.locking_since(wait, Duration::ZERO)
    }

    /// As [`Cache::locking`], of a caller that has waited so long already.
    #[must_use]
    pub(crate) fn locking_since(&self, wait: Duration, waited: Duration) -> Locking {
        let now = Instant::now();
        Locking {
            machine: Acquire::new(wait, Duration::ZERO),
            began: now.checked_sub(waited).unwrap_or(now),
        }
    }

    /// Asks for the lock, and says what to do next.
    ///
    /// # Errors
    /// `Closed`.
    pub(crate) fn lock_step(&self, key: &[u8], locking: &Locking) -> Result<LockStep, Error> {
        let now = locking.began.elapsed();
        let mut at = AtLock {
            tier: self.tier(),
            key,
        };
        Ok(match locking.machine.step(&mut at, now)? {
            Acquiring::Acquired(token) => LockStep::Acquired(token),
            Acquiring::Refused => LockStep::Refused,
            Acquiring::Wait(until) => LockStep::Wait(until.saturating_sub(now)),
        })
    }

    /// Gives a lock back; does nothing if another has it by now.
    pub(crate) fn unlock(&self, key: &[u8], token: Token) {
        self.tier().unlock(key, token);
    }

    /// True while the lock of a key's name is held.
    ///
    /// # Errors
    /// `Closed`.
    pub(crate) fn is_locked(&self, key: &[u8]) -> Result<bool, Error> {
        self.tier().is_locked(key)
    }
}
