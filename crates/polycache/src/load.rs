//! One caller's load of a key, step by step: what the packages of other languages drive.

use crate::cache::reading;
use crate::observe::{self, Answer};
use crate::scratch::Scratch;
use crate::tier::{AtKey, AtLock};
use crate::{Cache, Error, Origin, Ttl, Value};
use polycache_entry::{encode, EntryOptions};
use polycache_host::Token;
use polycache_operations::{Acquire, Acquiring, Bounds, Done, Event, Load, Step};
use std::time::{Duration, Instant};

/// One caller's load of a key. It begins with [`Cache::loading`], goes on with [`Cache::step`], and ends with
/// [`Cache::fill`] or [`Cache::abandon`], or with what `step` answers.
#[derive(Clone, Debug)]
pub struct Loading {
    machine: Load<Token>,
    began: Instant,
    /// For others, before it began.
    waited: Duration,
    /// No step was taken: the first is taken at once, and asking for the time costs as much as it does.
    is_new: bool,
}

/// What the caller of a load is to do next.
#[derive(Debug)]
pub enum LoadStep<R> {
    /// Nothing: the value is there. This is what the closure made of it, and where it was found.
    Hit(R, Origin),
    /// Run the loader; then fill or abandon.
    Load,
    /// Wait so long, then step again.
    Wait(Duration),
    /// Nothing: the caller gets [`Error::WaitTimeout`].
    TimedOut,
}

/// What became of a loaded value, which is its caller's in any case.
#[derive(Debug)]
pub enum Filled {
    /// It is stored.
    Stored,
    /// It is not stored, and nothing is wrong: the key was set, deleted or cleared meanwhile, another filled
    /// it, or there was no room for a lease.
    Refused,
    /// It could not be stored: to be reported.
    Unstored(Error),
}

/// What becomes of a loaded value that cannot be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreErrors {
    /// It is handed to its caller, counted, and reported.
    #[default]
    Report,
    /// It is the error that `set` would give.
    Raise,
}

impl Loading {
    /// By what its loader may fill; none where no loader runs, or it runs without a lease.
    #[doc(hidden)]
    #[must_use]
    pub fn fence(&self) -> Option<Token> {
        self.machine.fence().copied()
    }

    /// When it began.
    #[doc(hidden)]
    #[must_use]
    pub fn began(&self) -> Instant {
        self.began
    }

    fn now(&mut self) -> Duration {
        if std::mem::take(&mut self.is_new) {
            return self.waited;
        }
        self.waited + self.began.elapsed()
    }
}

impl Cache {
    /// Begins a load.
    #[doc(hidden)]
    #[must_use]
    pub fn loading(&self) -> Loading {
        self.loading_after(Duration::ZERO)
    }

    /// Begins a load. The time that its caller has waited for others before counts.
    #[doc(hidden)]
    #[must_use]
    pub fn loading_after(&self, waited: Duration) -> Loading {
        let bounds = Bounds {
            wait_timeout: self.settings().wait_timeout,
        };
        Loading {
            machine: Load::new(bounds, Duration::ZERO),
            began: Instant::now(),
            waited,
            is_new: true,
        }
    }

    /// Counts a caller who joined another of its process, and got [`Error::WaitTimeout`].
    #[doc(hidden)]
    pub fn count_wait_timeout(&self) {
        self.tier().count_wait_timeout();
    }

    /// What the full keys of this cache's namespace begin with.
    #[doc(hidden)]
    #[must_use]
    pub fn prefix(&self) -> &[u8] {
        self.tier().prefix()
    }

    /// Asks for the value or the right to load it, and says what to do next. `f` is handed the value that is
    /// there.
    ///
    /// # Errors
    /// As for [`Cache::get_with`].
    #[doc(hidden)]
    pub fn step<R>(
        &self,
        key: &[u8],
        loading: &mut Loading,
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<LoadStep<R>, Error> {
        let now = loading.now();
        let mut scratch = Scratch::take();
        let mut at = AtKey::new(self.tier(), key, &mut scratch.entry);
        let step = loading.machine.step(&mut at, Event::Woken, now)?;
        let hit = at.hit;
        let answer = match step {
            Step::Done(Done::Hit) => {
                observe::read(self, key, self.tier().answer());
                let origin = Origin::of(hit.expect("a hit has a place"), &scratch.entry);
                let value = self.read(key, &mut scratch, reading(f));
                value.map(|value| LoadStep::Hit(value, origin))
            }
            Step::Load => {
                observe::read(self, key, Answer::Miss);
                Ok(LoadStep::Load)
            }
            Step::Wait { until, .. } => Ok(LoadStep::Wait(until.saturating_sub(now))),
            Step::Done(_) => {
                self.tier().count_wait_timeout();
                Ok(LoadStep::TimedOut)
            }
        };
        scratch.keep();
        answer
    }

    /// Stores what was loaded, unless a set, delete or clear came in between. The load is over.
    ///
    /// # Errors
    /// `InvalidArgument` for the time to live, `Closed`; with [`StoreErrors::Raise`] what
    /// [`Cache::set_value`] gives.
    #[doc(hidden)]
    pub fn fill(
        &self,
        key: &[u8],
        loading: &mut Loading,
        value: &Value<'_>,
        ttl: Ttl,
    ) -> Result<Filled, Error> {
        let mut scratch = Scratch::take();
        let written = self.write(
            key,
            |options: &EntryOptions<'_>, out: &mut Vec<u8>| encode(value, options, out),
            ttl,
            &mut scratch.entry,
        );
        let filled = match written {
            Ok(()) => self.fill_entry(key, loading, &scratch.entry),
            Err(error) => {
                self.abandon(key, loading);
                Err(error)
            }
        };
        let bytes = scratch.entry.len();
        scratch.keep();
        self.stored(key, bytes, filled)
    }

    /// Says that what was loaded has no entry, as the language found. The load is over.
    #[doc(hidden)]
    pub fn unstorable(&self, key: &[u8], loading: &mut Loading) {
        self.abandon(key, loading);
        self.tier().count_unstored();
    }

    /// Ends a load whose loader failed or whose caller is gone; nothing happens after its end.
    #[doc(hidden)]
    pub fn abandon(&self, key: &[u8], loading: &mut Loading) {
        let mut unused = Vec::new();
        let mut at = AtKey::new(self.tier(), key, &mut unused);
        // Nothing is asked of the tiers that could fail, and nothing depends on the time.
        let _ = loading
            .machine
            .step(&mut at, Event::Cancelled, Duration::ZERO);
    }

    /// True while others may join this load: nobody set, deleted or cleared the key since it began, nor was
    /// it filled. A load that waits for another process' may be joined, one without a lease may not.
    #[doc(hidden)]
    #[must_use]
    pub fn is_open(&self, loading: &Loading) -> bool {
        match loading.machine.fence() {
            Some(fence) => self.stands_by(*fence),
            None => loading.machine.is_waiting(),
        }
    }

    /// True while a loader may fill by this.
    #[doc(hidden)]
    #[must_use]
    pub fn stands_by(&self, fence: Token) -> bool {
        // A directory tells by the lease alone.
        self.tier().is_leased(b"", fence)
    }

    fn fill_entry(&self, key: &[u8], loading: &mut Loading, entry: &[u8]) -> Result<bool, Error> {
        let mut unused = Vec::new();
        let mut at = AtKey::new(self.tier(), key, &mut unused);
        // Nothing depends on the time.
        let loaded = Event::Loaded(entry);
        let step = loading.machine.step(&mut at, loaded, Duration::ZERO)?;
        Ok(step == Step::Done(Done::Filled))
    }

    /// What a fill's result means for its caller.
    fn stored(
        &self,
        key: &[u8],
        bytes: usize,
        filled: Result<bool, Error>,
    ) -> Result<Filled, Error> {
        match filled {
            Ok(true) => {
                observe::stored(self, key, bytes, Ok(()));
                Ok(Filled::Stored)
            }
            Ok(false) => {
                observe::voided(self, key);
                Ok(Filled::Refused)
            }
            Err(error) => {
                observe::stored(self, key, bytes, Err(&error));
                if error.is_of_program() || self.settings().store_errors == StoreErrors::Raise {
                    return Err(error);
                }
                self.tier().count_unstored();
                Ok(Filled::Unstored(error))
            }
        }
    }

    /// How long a caller waits for the loads of others at most; see [`Builder::wait_timeout`](crate::Builder::wait_timeout).
    #[must_use]
    pub fn wait_timeout(&self) -> Duration {
        self.settings().wait_timeout
    }

    /// What becomes of a loaded value that cannot be stored; see [`Builder::store_errors`](crate::Builder::store_errors).
    #[must_use]
    pub fn store_errors(&self) -> StoreErrors {
        self.settings().store_errors
    }

    /// How old a load may be that others join; see [`Builder::lease_timeout`](crate::Builder::lease_timeout).
    #[must_use]
    pub fn lease_timeout(&self) -> Duration {
        self.settings().lease_timeout
    }
}

/// A caller who wants the lock of a key's name, step by step.
#[derive(Debug)]
pub struct Locking {
    machine: Acquire,
    began: Instant,
}

/// What the caller who wants a lock is to do next.
#[derive(Debug)]
pub enum LockStep {
    /// Nothing: it has the lock, and gives it back by [`Cache::unlock`].
    Acquired(Token),
    /// Nothing: another has it.
    Refused,
    /// Wait so long, then step again.
    Wait(Duration),
}

impl Cache {
    /// Begins to wait for the lock of a key's name, so long at most.
    #[doc(hidden)]
    #[must_use]
    pub fn locking(&self, wait: Duration) -> Locking {
        Locking {
            machine: Acquire::new(wait, Duration::ZERO),
            began: Instant::now(),
        }
    }

    /// Asks for the lock, and says what to do next.
    ///
    /// # Errors
    /// `Closed`.
    #[doc(hidden)]
    pub fn lock_step(&self, key: &[u8], locking: &Locking) -> Result<LockStep, Error> {
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

    /// Gives a lock back; nothing happens when it is another's by now.
    #[doc(hidden)]
    pub fn unlock(&self, key: &[u8], token: Token) {
        self.tier().unlock(key, token);
    }

    /// True while somebody has the lock of a key's name.
    ///
    /// # Errors
    /// `Closed`.
    #[doc(hidden)]
    pub fn is_locked(&self, key: &[u8]) -> Result<bool, Error> {
        self.tier().is_locked(key)
    }
}
