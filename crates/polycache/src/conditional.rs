//! Writing on a condition: only a key without an entry, only one with an entry, only one that did not change.

use crate::cache::Write;
use crate::observe;
use crate::scratch::Scratch;
use crate::tier::{Object, Seen};
use crate::{Cache, Error, Ttl, Value, Version};
use polycache_entry::{encode, encode_typed, EntryOptions};
use serde::Serialize;

/// What a typed value's entry is written with.
pub(crate) fn writing<T: Serialize + ?Sized>(value: &T) -> impl Write + '_ {
    |options: &EntryOptions<'_>, out: &mut Vec<u8>| encode_typed(value, options, out)
}

/// The same for a value without a type.
pub(crate) fn writing_value<'a>(value: &'a Value<'_>) -> impl Write + 'a {
    |options: &EntryOptions<'_>, out: &mut Vec<u8>| encode(value, options, out)
}

impl Cache {
    /// Stores a value if the key has none, with the cache's default time to live. True if it was stored: of several
    /// callers at once, in all processes and languages, that is one. A load of the key under way is not stored then.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// assert!(cache.add("winner", "Ada")?);
    /// assert!(!cache.add("winner", "Grace")?);
    /// assert_eq!(cache.get("winner")?, Some("Ada".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::set_value`]; nothing has changed after any of them.
    pub fn add<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
    ) -> Result<bool, Error> {
        self.add_with_ttl(key, value, Ttl::Default)
    }

    /// As [`Cache::add`], with a time to live.
    ///
    /// # Errors
    /// The same errors.
    pub fn add_with_ttl<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool, Error> {
        self.add_by(key.as_ref(), ttl.into(), writing(value), None)
    }

    /// Stores a value if the key has one, with the cache's default time to live. True if it was stored.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// assert!(!cache.replace("session", "new")?);
    /// cache.set("session", "old")?;
    /// assert!(cache.replace("session", "new")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::set_value`]; nothing has changed after any of them.
    pub fn replace<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
    ) -> Result<bool, Error> {
        self.replace_with_ttl(key, value, Ttl::Default)
    }

    /// As [`Cache::replace`], with a time to live.
    ///
    /// # Errors
    /// The same errors.
    pub fn replace_with_ttl<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool, Error> {
        self.replace_by(key.as_ref(), ttl.into(), writing(value), None, None)
    }

    /// Stores a value if the key's entry still has this version, which [`Cache::entry`] and [`Cache::facts`] tell; with
    /// the cache's default time to live. True if it was stored. False if the key was written, touched or deleted since,
    /// or its entry was moved: read it again.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set("page", "draft")?;
    /// let entry = cache.entry("page")?.expect("it was set");
    /// assert!(cache.compare_and_set("page", entry.facts.version, "final")?);
    /// assert!(!cache.compare_and_set("page", entry.facts.version, "too late")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::set_value`]; nothing has changed after any of them.
    pub fn compare_and_set<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        version: Version,
        value: &T,
    ) -> Result<bool, Error> {
        self.compare_and_set_with_ttl(key, version, value, Ttl::Default)
    }

    /// As [`Cache::compare_and_set`], with a time to live.
    ///
    /// # Errors
    /// The same errors.
    pub fn compare_and_set_with_ttl<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        version: Version,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool, Error> {
        let (key, ttl, write) = (key.as_ref(), ttl.into(), writing(value));
        self.replace_by(key, ttl, write, None, Some(version))
    }

    pub(crate) fn add_by(
        &self,
        key: &[u8],
        ttl: Ttl,
        write: impl Write,
        object: Option<Object>,
    ) -> Result<bool, Error> {
        let idle = self.settings().time_to_idle;
        self.store_by(key, ttl, idle, write, |entry| {
            self.tier().add(key, entry, object)
        })
    }

    /// Stores a value in the place of the key's entry, if it has one, of this version if one is given.
    pub(crate) fn replace_by(
        &self,
        key: &[u8],
        ttl: Ttl,
        write: impl Write,
        object: Option<Object>,
        version: Option<Version>,
    ) -> Result<bool, Error> {
        let (tier, idle) = (self.tier(), self.settings().time_to_idle);
        self.store_by(key, ttl, idle, write, |entry| {
            let mut old = Scratch::take();
            loop {
                old.entry.clear();
                let Some(seen) = tier.peek(key, &mut old.entry)? else {
                    break;
                };
                if let Some(version) = version {
                    match tier.version(key, &seen)? {
                        Some(there) if version == there.into() => {}
                        Some(_) => break,
                        None => continue,
                    }
                }
                if tier.exchange(key, &seen, entry, object.clone())? {
                    old.keep();
                    return Ok(true);
                }
            }
            old.keep();
            Ok(false)
        })
    }

    /// Stores a value in the place of what was seen, or of nothing; false if the key was changed since.
    pub(crate) fn exchange_by(
        &self,
        key: &[u8],
        seen: Option<&Seen>,
        ttl: Ttl,
        time_to_idle: u64,
        write: impl Write,
        object: Option<Object>,
    ) -> Result<bool, Error> {
        let tier = self.tier();
        self.store_by(key, ttl, time_to_idle, write, |entry| match seen {
            Some(seen) => tier.exchange(key, seen, entry, object),
            None => tier.add(key, entry, object),
        })
    }

    /// Encodes the key's entry and lets `store` store it, or not.
    fn store_by(
        &self,
        key: &[u8],
        ttl: Ttl,
        time_to_idle: u64,
        write: impl Write,
        store: impl FnOnce(&[u8]) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        self.still_open()?;
        ttl.check()?;
        let mut scratch = Scratch::take();
        let stored = self
            .write_idle(key, write, ttl, time_to_idle, &mut scratch.entry)
            .and_then(|()| store(&scratch.entry));
        match &stored {
            Ok(true) => observe::stored(self, key, scratch.entry.len(), Ok(())),
            Ok(false) => {}
            Err(error) => observe::stored(self, key, scratch.entry.len(), Err(error)),
        }
        scratch.keep();
        stored
    }
}
