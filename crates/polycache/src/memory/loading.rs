//! One loader per key, in the memory tier alone.

use super::alone::Alone;
use super::key::Key;
use super::loads::Patience;
use super::stored::Stored;
use super::wait::{block_on, Waited};
use crate::Error;
use polycache_memory::{Loaded as Outcome, Ttl};
use std::fmt;
use std::future::Future;
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Where a value came from that was asked for.
pub(crate) enum Loaded<T> {
    /// From the caller's own loader, and the size of the entry that was stored: `None` when a set,
    /// delete or clear came first.
    Mine(T, Option<usize>),
    /// From the cache, or from the load of another caller.
    Found(Stored),
}

/// How long a load that is not listed may be waited for.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Alone {
    /// The key's entry, or what `load` returns, which runs in this thread.
    ///
    /// # Errors
    /// The loader's, that of `store`, `EntryTooLarge`, `Closed`.
    pub fn load<T>(
        &self,
        key: &[u8],
        load: impl FnOnce() -> Result<T, Error>,
        store: impl Fn(&T) -> Result<Stored, Error>,
    ) -> Result<Loaded<T>, Error> {
        let mut load = pin!(async { load() });
        loop {
            let key = self.query(key).to_key();
            let attempt = pin!(Attempt::new(self, &key).run(load.as_mut(), &store));
            let mut unlisted = false;
            let waited = block_on(attempt, || self.patience(&key, &mut unlisted));
            if let Waited::Done(outcome) = waited {
                if let Some(loaded) = outcome? {
                    return Ok(loaded);
                }
            }
        }
    }

    /// As [`Alone::load`], with a loader that does not block; nor does waiting.
    ///
    /// # Errors
    /// As for that.
    #[cfg(feature = "tokio")]
    pub async fn load_async<T>(
        &self,
        key: &[u8],
        load: impl Future<Output = Result<T, Error>>,
        store: impl Fn(&T) -> Result<Stored, Error>,
    ) -> Result<Loaded<T>, Error> {
        let mut load = pin!(load);
        loop {
            let key = self.query(key).to_key();
            let attempt = Attempt::new(self, &key);
            let begun = attempt.begun.clone();
            let mut attempt = pin!(attempt.run(load.as_mut(), &store));
            let mut unlisted = false;
            let outcome = loop {
                // The first poll says whether this caller loads.
                if let Some(outcome) = super::wait::poll_once(attempt.as_mut()).await {
                    break Some(outcome);
                }
                if begun.load(Ordering::Relaxed) {
                    break Some(attempt.as_mut().await);
                }
                let Some(left) = self.patience(&key, &mut unlisted) else {
                    break None;
                };
                if let Ok(outcome) = tokio::time::timeout(left, attempt.as_mut()).await {
                    break Some(outcome);
                }
            };
            if let Some(loaded) = outcome.transpose()?.flatten() {
                return Ok(loaded);
            }
        }
    }

    /// How long to wait for another caller's load; `None`: ask again.
    fn patience(&self, key: &Key, unlisted: &mut bool) -> Option<Duration> {
        let shared = &self.shared;
        match shared.loads.patience(key, shared.lease_timeout) {
            Patience::Wait(left) => {
                *unlisted = false;
                Some(left)
            }
            Patience::Over => {
                // Who loads gets what it loads, but does not store it. What was set meanwhile stays.
                shared.entries.void_load(key);
                None
            }
            Patience::Unlisted if *unlisted => None,
            Patience::Unlisted => {
                *unlisted = true;
                Some(LOOK_AGAIN)
            }
        }
    }
}

/// One try to find or load a key, in one generation of its namespace.
struct Attempt<'a> {
    alone: &'a Alone,
    key: &'a Key,
    /// The caller's own loader runs.
    begun: Arc<AtomicBool>,
}

/// Why a load came to nothing.
#[derive(Debug)]
enum Cut {
    /// Its namespace was cleared before it began: keys have another generation now.
    Cleared,
    Failed(Error),
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for Cut {}

impl From<Error> for Cut {
    fn from(error: Error) -> Cut {
        Cut::Failed(error)
    }
}

impl<'a> Attempt<'a> {
    fn new(alone: &'a Alone, key: &'a Key) -> Attempt<'a> {
        Attempt {
            alone,
            key,
            begun: Arc::default(),
        }
    }

    /// `None`: ask again, with the namespace's generation of then. The loader has not run in that case.
    async fn run<T>(
        self,
        load: Pin<&mut impl Future<Output = Result<T, Error>>>,
        store: &impl Fn(&T) -> Result<Stored, Error>,
    ) -> Result<Option<Loaded<T>>, Error> {
        let shared = &self.alone.shared;
        shared.misses_twice.fetch_add(1, Ordering::Relaxed);
        let mut mine = None;
        let load = async {
            self.alone.still_open()?;
            self.not_cleared()?;
            self.begun.store(true, Ordering::Relaxed);
            let _listed = shared.loads.begin(self.key.clone());
            // A clear from here on voids the load: it is listed, and of a generation that is over.
            let loaded = load.await?;
            let stored = store(&loaded)?;
            mine = Some(loaded);
            Ok::<_, Cut>(stored)
        };
        let outcome = shared.entries.load_async(self.key, Ttl::Default, load);
        match outcome.await {
            Ok(outcome) => Ok(self.loaded(outcome, mine)),
            Err(polycache_memory::Error::LoaderFailed(source)) => {
                match source.downcast::<Cut>().map(|cut| *cut) {
                    Ok(Cut::Failed(error)) => Err(error),
                    Ok(Cut::Cleared) => Ok(None),
                    Err(other) => Err(Error::LoaderFailed(other)),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What came of it; `mine` is of the caller's own loader, if that ran.
    fn loaded<T>(&self, outcome: Outcome<Stored>, mine: Option<T>) -> Option<Loaded<T>> {
        let (found, bytes) = match outcome {
            Outcome::Stored(stored) => {
                let bytes = stored.entry.len();
                (stored, Some(bytes))
            }
            Outcome::Found(stored) | Outcome::NotStored(stored) => (stored, None),
        };
        if let Some(mine) = mine {
            return Some(Loaded::Mine(mine, bytes));
        }
        if !self.alone.is_served(&found.entry) {
            // Another one that stands there by now stays.
            let same = |there: &Stored| Arc::ptr_eq(&there.entry, &found.entry);
            self.alone.shared.entries.expire_if(self.key, same);
            return None;
        }
        self.not_cleared().is_ok().then_some(Loaded::Found(found))
    }

    fn not_cleared(&self) -> Result<(), Cut> {
        if self.key.namespace.generation() == self.key.generation {
            return Ok(());
        }
        Err(Cut::Cleared)
    }
}
