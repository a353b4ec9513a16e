//! One loader per key, in the memory tier alone.

use super::alone::Alone;
use super::key::Key;
use super::loads::Patience;
use super::stored::Stored;
use super::wait::{block_on, Waited};
use crate::Error;
use std::fmt;
use std::future::Future;
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Where a value came from that was asked for.
pub(crate) enum Loaded<T> {
    /// From the caller's own loader.
    Mine(T),
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
                // Who loads gets what it loads, but does not store it.
                shared.entries.delete(key);
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
    begun: std::sync::Arc<AtomicBool>,
}

/// Why a load is not stored.
#[derive(Debug)]
enum Cut {
    /// Its namespace was cleared: keys have another generation now.
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
            begun: std::sync::Arc::default(),
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
            let loaded = load.await?;
            self.alone.still_open()?;
            let stored = store(&loaded)?;
            mine = Some(loaded);
            self.not_cleared().inspect_err(|_| {
                shared.voided.fetch_add(1, Ordering::Relaxed);
            })?;
            Ok::<_, Cut>(stored)
        };
        let outcome = shared.entries.get_or_set_async(self.key, load).await;
        let cleared = self.not_cleared().is_err();
        match (outcome, mine) {
            (Ok(_), Some(mine)) => {
                if cleared {
                    // Nobody finds it.
                    shared.entries.delete(self.key);
                }
                Ok(Some(Loaded::Mine(mine)))
            }
            (Ok(found), None) if self.alone.is_served(&found.entry) && !cleared => {
                Ok(Some(Loaded::Found(found)))
            }
            (Ok(_), None) => {
                shared.entries.delete(self.key);
                Ok(None)
            }
            (Err(polycache_memory::Error::LoaderFailed(source)), mine) => {
                match source.downcast::<Cut>().map(|cut| *cut) {
                    Ok(Cut::Failed(error)) => Err(error),
                    Ok(Cut::Cleared) => Ok(mine.map(Loaded::Mine)),
                    Err(other) => Err(Error::LoaderFailed(other)),
                }
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    fn not_cleared(&self) -> Result<(), Cut> {
        if self.key.namespace.generation() == self.key.generation {
            return Ok(());
        }
        Err(Cut::Cleared)
    }
}
