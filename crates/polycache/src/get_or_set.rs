//! One loader per key on the whole machine.

use crate::memory::{Alone, Loaded, Object, Stored};
use crate::observe::{self, Answer, Waiting};
use crate::scratch::Scratch;
use crate::tier::Tier;
use crate::{Cache, Error, Leased, Ttl};
use polycache_entry::{encode_typed, EntryOptions};
use polycache_host::Token;
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Bounds of the sleep between two looks at a key that another caller loads.
const SHORTEST_WAIT: Duration = Duration::from_micros(100);
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// How long to wait before the next look at a key that another caller loads.
pub(crate) fn pause(waited: Duration) -> Duration {
    (waited / 8).clamp(SHORTEST_WAIT, LONGEST_WAIT)
}

impl Cache {
    /// The key's value, loaded when it is not there. Of all callers on this machine, in every
    /// language, one runs its loader; the others wait for its value.
    ///
    /// No lock is held while the loader runs. A set, delete or clear meanwhile wins: the loaded value
    /// is returned, but not stored. A loader that fails, panics or dies with its process leaves the
    /// key to the next caller. It may use the cache, except for its own key.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// let answer = cache.get_or_set("answer", || "42".parse::<u64>())?;
    /// assert_eq!(answer, 42);
    /// let again = cache.get_or_set("answer", || -> Result<u64, std::io::Error> {
    ///     unreachable!("it is there")
    /// })?;
    /// assert_eq!(again, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `LoaderFailed` with the loader's error as its source; as for [`Cache::get`]; as for
    /// [`Cache::set`] when the loaded value cannot be stored.
    pub fn get_or_set<T, E>(
        &self,
        key: impl AsRef<[u8]>,
        load: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.get_or_set_with(key, Ttl::Default, load)
    }

    /// As [`Cache::get_or_set`], with a time to live that counts from the end of the load.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use std::time::Duration;
    /// let user = cache.get_or_set_with("user:1", Duration::from_secs(300), || {
    ///     std::env::current_dir().map(|path| path.is_absolute())
    /// })?;
    /// assert!(user);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Cache::get_or_set`].
    pub fn get_or_set_with<T, E>(
        &self,
        key: impl AsRef<[u8]>,
        ttl: impl Into<Ttl>,
        load: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (key, ttl) = (key.as_ref(), ttl.into());
        ttl.check()?;
        let load = || load().map_err(|error| Error::LoaderFailed(error.into()));
        match self.tier() {
            Tier::Host(_) => self.load_by_lease(key, ttl, load, || self.lease_typed(key)),
            Tier::Alone(alone) => match self.get_or_load_typed(key)? {
                Some(there) => Ok(there),
                None => self.load_alone(alone, key, load, self.storing(alone, key, ttl, |_| None)),
            },
        }
    }

    /// The key's value, loaded where the memory tier is alone.
    pub(crate) fn load_alone<T: DeserializeOwned>(
        &self,
        alone: &Alone,
        key: &[u8],
        load: impl FnOnce() -> Result<T, Error>,
        storing: impl Fn(&T) -> Result<Stored, Error>,
    ) -> Result<T, Error> {
        let waiting = Waiting::begin();
        let load = || {
            observe::read(self, key, Answer::Miss);
            observe::load(self, key, load)
        };
        self.loaded(key, alone.load(key, load, storing)?, waiting)
    }

    /// The key's value, loaded under a lease of the host's, which `lease` reads or takes.
    pub(crate) fn load_by_lease<T: Serialize + DeserializeOwned>(
        &self,
        key: &[u8],
        ttl: Ttl,
        load: impl FnOnce() -> Result<T, Error>,
        lease: impl Fn() -> Result<Leased<T>, Error>,
    ) -> Result<T, Error> {
        let load = || observe::load(self, key, load);
        let mut waiting: Option<(Instant, Waiting)> = None;
        loop {
            match lease()? {
                Leased::Hit(read) => {
                    if let Some((_, waiting)) = waiting {
                        waiting.end(self, key);
                    }
                    return Ok(read);
                }
                Leased::Bypass => return load(),
                Leased::Acquired(token) => {
                    let held = Held { cache: self, token };
                    let loaded = load()?;
                    // From here on the fill ends the lease, whatever comes of it.
                    std::mem::forget(held);
                    self.fill_typed(key, token, &loaded, ttl)?;
                    return Ok(loaded);
                }
                Leased::Busy { .. } => {
                    let (since, _) =
                        waiting.get_or_insert_with(|| (Instant::now(), Waiting::begin()));
                    std::thread::sleep(pause(since.elapsed()));
                }
            }
        }
    }

    /// What makes an entry of what was loaded, where the memory tier is alone.
    pub(crate) fn storing<'a, T: Serialize>(
        &'a self,
        alone: &'a Alone,
        key: &'a [u8],
        ttl: Ttl,
        object: impl Fn(&T) -> Option<Object> + 'a,
    ) -> impl Fn(&T) -> Result<Stored, Error> + 'a {
        move |value| {
            let mut scratch = Scratch::take();
            let written = self.write(
                key,
                |options: &EntryOptions<'_>, out: &mut Vec<u8>| encode_typed(value, options, out),
                ttl,
                &mut scratch.entry,
            );
            let stored = written
                .and_then(|()| alone.loaded(key, &scratch.entry, object(value)))
                .inspect_err(|error| {
                    observe::stored(self, key, scratch.entry.len(), Err(error));
                });
            scratch.keep();
            stored
        }
    }

    /// The value that came of a load, where the memory tier is alone.
    pub(crate) fn loaded<T: DeserializeOwned>(
        &self,
        key: &[u8],
        loaded: Loaded<T>,
        waiting: Waiting,
    ) -> Result<T, Error> {
        match loaded {
            Loaded::Mine(value, bytes) => {
                match bytes {
                    Some(bytes) => observe::stored(self, key, bytes, Ok(())),
                    None => observe::voided(self, key),
                }
                Ok(value)
            }
            Loaded::Found(stored) => {
                observe::read(self, key, Answer::Memory);
                waiting.end(self, key);
                self.decode(key, &stored.entry)
            }
        }
    }
}

/// A lease that is given back when its holder fails or panics.
pub(crate) struct Held<'a> {
    pub cache: &'a Cache,
    pub token: Token,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.cache.release(self.token);
    }
}
