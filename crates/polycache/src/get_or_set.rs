//! One loader per key on the whole machine.

#[cfg(feature = "tokio")]
use crate::async_cache::Bytes;
use crate::cache::reading_typed;
#[cfg(feature = "tokio")]
use crate::caller::NearView;
use crate::caller::{Cached, View};
use crate::driver;
use crate::origin::Origin;
use crate::scratch::Scratch;
use crate::tier::Object;
use crate::{Cache, Error, Ttl};
use polycache_entry::{encode_typed, EntryOptions};
use serde::de::DeserializeOwned;
use serde::Serialize;

impl Cache {
    /// The key's value, loaded if it is missing. Of all callers on this machine, in every language,
    /// one runs its loader; the others wait for its value.
    ///
    /// No lock is held while the loader runs. A set, delete or clear meanwhile wins: the loaded value is returned, but
    /// not stored. When a loader of this process fails, the callers that wait for it get its error; one that panics or
    /// dies with its process leaves the key to the next caller. A loader that takes longer than
    /// [`Builder::lease_timeout`](crate::Builder::lease_timeout) goes on, and another caller loads beside it. A loader
    /// may use the cache, except for its own key.
    ///
    /// A value that cannot be stored is returned all the same, counted, and told to observers;
    /// [`Builder::store_errors`](crate::Builder::store_errors) makes it an error.
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
    /// `LoaderFailed` with the loader's error as its source; `WaitTimeout`; those of [`Cache::get`].
    pub fn get_or_set<T, E>(
        &self,
        key: impl AsRef<[u8]>,
        load: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.get_or_set_with_ttl(key, Ttl::Default, load)
    }

    /// As [`Cache::get_or_set`], with a time to live that counts from the end of the load.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use std::time::Duration;
    /// let user = cache.get_or_set_with_ttl("user:1", Duration::from_secs(300), || {
    ///     std::env::current_dir().map(|path| path.is_absolute())
    /// })?;
    /// assert!(user);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get_or_set`].
    pub fn get_or_set_with_ttl<T, E>(
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
        if let Some(there) = View::<T>::find(self, key)? {
            return Ok(there);
        }
        driver::load(self, key, ttl, || load().map_err(Error::of_loader))
    }
}

impl Cached for Cache {
    fn cache(&self) -> &Cache {
        self
    }
}

impl<T: Serialize + DeserializeOwned> View<T> for Cache {
    fn find(&self, key: &[u8]) -> Result<Option<T>, Error> {
        self.find_by(key, |_, _| (), reading_typed)
            .map(|found| found.map(|(value, ())| value))
    }

    fn read_entry(&self, key: &[u8], entry: &mut Scratch, _: Option<Origin>) -> Result<T, Error> {
        self.read(key, entry, reading_typed)
    }

    fn write(
        &self,
        value: &T,
        options: &EntryOptions<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), polycache_entry::Error> {
        encode_typed(value, options, out)
    }

    fn object(&self, _: &T) -> Option<Object> {
        None
    }
}

#[cfg(feature = "tokio")]
impl<T: Serialize + DeserializeOwned> NearView<T> for Cache {
    fn find_near(&self, key: &[u8]) -> Result<Option<T>, Error> {
        let found = self.get_near_by(key, reading_typed)?;
        Ok(found.map(|(value, _)| value))
    }

    fn read_bytes(&self, key: &[u8], bytes: &Bytes, _: Option<Origin>) -> Result<T, Error> {
        Cache::read_bytes(self, key, bytes, reading_typed)
    }
}
