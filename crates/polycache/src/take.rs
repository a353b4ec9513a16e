//! Taking a value out: only one caller gets it.

use crate::cache::{reading, reading_typed, Read};
use crate::observe::{self, Answer};
use crate::scratch::Scratch;
use crate::tier::Seen;
use crate::{Cache, Error, Serializer, Value};
use polycache_entry::Limits;
use serde::de::DeserializeOwned;
use std::cell::RefCell;

impl Cache {
    /// Deletes the key and returns the value that it had; `None` is a miss. Of all callers on this machine, in every
    /// language, one gets the value. Loads of the key under way are not stored, also after a miss.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set("code:ada", &314_159)?;
    /// assert_eq!(cache.take("code:ada")?, Some(314_159));
    /// assert_eq!(cache.take::<u32>("code:ada")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get`]; an entry that cannot be read stays.
    pub fn take<T: DeserializeOwned>(&self, key: impl AsRef<[u8]>) -> Result<Option<T>, Error> {
        self.take_by(key.as_ref(), || reading_typed::<T>)
    }

    /// As [`Cache::take`], and hands the value to `f`, as [`Cache::get_with`] does. The entry is deleted after that. If
    /// it was replaced meanwhile, `f` is called again, with the new value; its last result counts.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set("job", "resize")?;
    /// let job = cache.take_with(b"job", |value| value.into_owned())?;
    /// assert_eq!(job, Some("resize".into()));
    /// assert!(!cache.has("job")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get_with`]; an entry that cannot be read stays.
    pub fn take_with<R>(
        &self,
        key: &[u8],
        f: impl FnMut(Value<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        // Each attempt has its own reader.
        let f = &RefCell::new(f);
        self.take_by(key, || reading(move |value| (*f.borrow_mut())(value)))
    }

    /// Reads the entry, and then deletes just that one, unless the key was changed in between.
    pub(crate) fn take_by<R, F: Read<R>>(
        &self,
        key: &[u8],
        read: impl Fn() -> F,
    ) -> Result<Option<R>, Error> {
        self.try_take_by(key, || {
            let read = read();
            move |serializer: Serializer, payload: &[u8], limits: &Limits| {
                read(serializer, payload, limits).map(Ok::<R, Error>)
            }
        })?
        .transpose()
    }

    /// As [`Cache::take_by`], for readers with errors of their own: after one the entry stays.
    pub(crate) fn try_take_by<R, E, F: Read<Result<R, E>>>(
        &self,
        key: &[u8],
        read: impl Fn() -> F,
    ) -> Result<Option<Result<R, E>>, Error> {
        let mut scratch = Scratch::take();
        while let Some(seen) = self.find_to_take(key, &mut scratch)? {
            let value = match self.read_to_take(key, &mut scratch, read()) {
                Ok(Ok(value)) => value,
                unreadable => return unreadable.map(Some),
            };
            if self.take_found(key, &seen)? {
                scratch.keep();
                return Ok(Some(Ok(value)));
            }
        }
        scratch.keep();
        Ok(None)
    }

    /// The entry that is there, to be taken; `None` is a miss.
    pub(crate) fn find_to_take(
        &self,
        key: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Option<Seen>, Error> {
        loop {
            scratch.entry.clear();
            scratch.payload.clear();
            if let Some(seen) = self.tier().peek(key, &mut scratch.entry)? {
                return Ok(Some(seen));
            }
            if self.tier().invalidate_loads(key)? {
                self.took(key, false);
                return Ok(None);
            }
        }
    }

    /// Reads what was found.
    pub(crate) fn read_to_take<R, E>(
        &self,
        key: &[u8],
        scratch: &mut Scratch,
        read: impl Read<Result<R, E>>,
    ) -> Result<Result<R, E>, Error> {
        let value = self.read(key, scratch, read);
        if !matches!(value, Ok(Ok(_))) {
            self.tier().count_taken(true);
            observe::read(self, key, self.tier().answer());
        }
        value
    }

    /// Deletes what was found and read; false if the key was changed in between.
    pub(crate) fn take_found(&self, key: &[u8], seen: &Seen) -> Result<bool, Error> {
        let removed = self.tier().remove(key, seen)?;
        if removed {
            self.took(key, true);
        }
        Ok(removed)
    }

    fn took(&self, key: &[u8], there: bool) {
        let tier = self.tier();
        tier.count_taken(there);
        let answer = if there { tier.answer() } else { Answer::Miss };
        observe::read(self, key, answer);
        observe::deleted(self, key, there);
    }
}
