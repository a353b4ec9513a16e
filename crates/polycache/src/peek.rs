//! Reading an entry without using it.

use crate::cache::{reading, reading_typed, Read};
use crate::scratch::Scratch;
use crate::tier::Seen;
use crate::{Cache, Error, Value};
use serde::de::DeserializeOwned;

impl Cache {
    /// The key's value as [`Cache::get`] gives it, without using the entry: the read is not counted, does not protect
    /// the entry from eviction, and fills no memory tier.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set("visits", &41)?;
    /// assert_eq!(cache.peek("visits")?, Some(41));
    /// assert_eq!(cache.peek::<u32>("absent")?, None);
    /// let stats = cache.stats()?;
    /// assert_eq!((stats.hits, stats.misses), (0, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get`].
    pub fn peek<T: DeserializeOwned>(&self, key: impl AsRef<[u8]>) -> Result<Option<T>, Error> {
        self.peek_by(key.as_ref(), reading_typed)
    }

    /// As [`Cache::peek`], and hands the value to `f`, as [`Cache::get_with`] does.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use polycache::Value;
    /// cache.set("name", "Ada")?;
    /// let length = cache.peek_with(b"name", |value| match value {
    ///     Value::Text(text) => text.len(),
    ///     _ => 0,
    /// })?;
    /// assert_eq!(length, Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get_with`].
    pub fn peek_with<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        self.peek_by(key, reading(f))
    }

    pub(crate) fn peek_by<R>(&self, key: &[u8], read: impl Read<R>) -> Result<Option<R>, Error> {
        let mut scratch = Scratch::take();
        let found = self.seen_or_missing(key, &mut scratch.entry)?.is_some();
        let value = found.then(|| self.read(key, &mut scratch, read));
        scratch.keep();
        value.transpose()
    }

    /// What is there, for a read: without an answer from a server it is a miss.
    pub(crate) fn seen_or_missing(
        &self,
        key: &[u8],
        entry: &mut Vec<u8>,
    ) -> Result<Option<Seen>, Error> {
        match self.tier().peek(key, entry) {
            Err(Error::RemoteUnavailable(_)) => Ok(None),
            seen => seen,
        }
    }
}
