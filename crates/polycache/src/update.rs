//! Reading a value and storing what a function makes of it, unless the key was changed in between.

use crate::cache::{reading_typed, Read, Write};
use crate::conditional::writing;
use crate::observe;
use crate::scratch::Scratch;
use crate::tier::{Object, Seen};
use crate::{ttl, Cache, Error, Ttl};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// How often an update calls its function before it is a [`Error::Conflict`].
pub const ATTEMPTS: u32 = 100;

/// What an update does with the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update<T> {
    /// It stores this value.
    Set(T),
    /// It deletes the key.
    Delete,
    /// It leaves the key as it is.
    Leave,
}

impl<T> Update<T> {
    pub(crate) fn into_value(self) -> Option<T> {
        match self {
            Update::Set(value) => Some(value),
            Update::Delete | Update::Leave => None,
        }
    }
}

/// What an update found at a key; only that is changed.
pub struct Found {
    seen: Option<Seen>,
    /// When the entry's time to live ends, in milliseconds since 1970; 0 is never.
    ends: u64,
    /// The entry's time to idle, in milliseconds; 0 is none.
    time_to_idle: u64,
}

impl Found {
    /// Whether the key had an entry.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        self.seen.is_some()
    }

    /// The time to idle that an entry keeps, or that a new one has.
    #[cfg(feature = "tokio")]
    pub(crate) fn time_to_idle(&self) -> u64 {
        self.time_to_idle
    }

    /// The time to live that an entry keeps; `absent` for a key without one.
    pub(crate) fn kept_ttl(&self, absent: Ttl) -> Ttl {
        match self.seen {
            Some(_) => ttl::until(self.ends),
            None => absent,
        }
    }
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found")
            .field("is_entry", &self.is_entry())
            .field("ends", &self.ends)
            .field("time_to_idle", &self.time_to_idle)
            .finish_non_exhaustive()
    }
}

impl Cache {
    /// Reads the key, and stores what `function` makes of its value, or deletes it, or leaves it, as `function` says. If the key was
    /// changed in between, by anyone on this machine, it reads again and calls `function` again: no update is lost. `function` may
    /// use the cache; it holds no lock.
    ///
    /// A value that was there keeps its time to live; a new one has the cache's default. Returns what was stored; `None`
    /// where `function` deleted or left the key.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use polycache::Update;
    /// let add = |name: &str| {
    ///     cache.update("players", |players: Option<Vec<String>>| {
    ///         let mut players = players.unwrap_or_default();
    ///         players.push(name.to_owned());
    ///         Update::Set(players)
    ///     })
    /// };
    /// add("Ada")?;
    /// assert_eq!(add("Grace")?, Some(vec!["Ada".to_owned(), "Grace".to_owned()]));
    /// assert_eq!(cache.update("players", |_: Option<Vec<String>>| Update::Delete)?, None);
    /// assert!(!cache.has("players")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Conflict` after 100 calls of `function`, each of which others overtook; those of [`Cache::get`] and
    /// [`Cache::set_value`]. Nothing has changed after any of them.
    pub fn update<T: Serialize + DeserializeOwned>(
        &self,
        key: impl AsRef<[u8]>,
        function: impl FnMut(Option<T>) -> Update<T>,
    ) -> Result<Option<T>, Error> {
        self.update_by(key.as_ref(), None, function, |_| None)
    }

    /// As [`Cache::update`], with a time to live for what is stored, whether a value was there or not.
    ///
    /// # Errors
    /// The same errors.
    pub fn update_with_ttl<T: Serialize + DeserializeOwned>(
        &self,
        key: impl AsRef<[u8]>,
        ttl: impl Into<Ttl>,
        function: impl FnMut(Option<T>) -> Update<T>,
    ) -> Result<Option<T>, Error> {
        self.update_by(key.as_ref(), Some(ttl.into()), function, |_| None)
    }

    /// Without a time to live, one that is there is kept.
    pub(crate) fn update_by<T: Serialize + DeserializeOwned>(
        &self,
        key: &[u8],
        ttl: Option<Ttl>,
        mut function: impl FnMut(Option<T>) -> Update<T>,
        object: impl Fn(&T) -> Option<Object>,
    ) -> Result<Option<T>, Error> {
        ttl.unwrap_or_default().check()?;
        for _ in 0..ATTEMPTS {
            let (value, found) = self.find_to_update(key, reading_typed)?;
            let update = function(value);
            if self.carry_out(key, &found, ttl, &update, &object)? {
                return Ok(update.into_value());
            }
        }
        Err(Error::Conflict)
    }

    /// Does what a function said; false if the key was changed since it was found.
    pub(crate) fn carry_out<T: Serialize>(
        &self,
        key: &[u8],
        found: &Found,
        ttl: Option<Ttl>,
        update: &Update<T>,
        object: impl Fn(&T) -> Option<Object>,
    ) -> Result<bool, Error> {
        match update {
            Update::Set(new) => self.set_updated(key, found, ttl, writing(new), object(new)),
            Update::Delete => self.delete_updated(key, found),
            Update::Leave => Ok(true),
        }
    }

    /// Reads the key for an update of it; not a use of the entry, and not counted.
    pub(crate) fn find_to_update<R>(
        &self,
        key: &[u8],
        read: impl Read<R>,
    ) -> Result<(Option<R>, Found), Error> {
        let mut scratch = Scratch::take();
        let seen = self.tier().peek(key, &mut scratch.entry)?;
        let (mut ends, mut time_to_idle) = (0, self.settings().time_to_idle);
        let value = match seen {
            Some(_) => {
                let value = self.read(key, &mut scratch, read)?;
                (ends, time_to_idle) = polycache_entry::times_of(&scratch.entry);
                Some(value)
            }
            None => None,
        };
        scratch.keep();
        Ok((
            value,
            Found {
                seen,
                ends,
                time_to_idle,
            },
        ))
    }

    /// Stores a value in the place of what an update found; false if the key was changed since. Without a time to
    /// live, one that is there is kept; a time to idle always is.
    pub(crate) fn set_updated(
        &self,
        key: &[u8],
        found: &Found,
        ttl: Option<Ttl>,
        write: impl Write,
        object: Option<Object>,
    ) -> Result<bool, Error> {
        let ttl = ttl.unwrap_or_else(|| found.kept_ttl(Ttl::Default));
        self.exchange_by(
            key,
            found.seen.as_ref(),
            ttl,
            found.time_to_idle,
            write,
            object,
        )
    }

    /// Deletes what an update found; false if the key was changed since.
    pub(crate) fn delete_updated(&self, key: &[u8], found: &Found) -> Result<bool, Error> {
        let deleted = match &found.seen {
            Some(seen) => self.tier().remove(key, seen)?,
            None => self.tier().invalidate_loads(key)?,
        };
        if deleted {
            observe::deleted(self, key, found.is_entry());
        }
        Ok(deleted)
    }
}
