//! Reads an entry without using it, and writes on a condition.

use super::{Kept, ObjectOrEntry, TypedCache, TypedValue};
use crate::cache::reading_typed;
use crate::caller::View;
use crate::conditional::writing;
use crate::{Error, Ttl, Update, Version};

impl<T: TypedValue> TypedCache<T> {
    /// The key's value, without a use of it; see [`Cache::peek`](crate::Cache::peek). An object in memory is handed
    /// out, and none is kept.
    ///
    /// # Errors
    /// Those of [`Cache::get`](crate::Cache::get).
    pub fn peek(&self, key: impl AsRef<[u8]>) -> Result<Option<T>, Error> {
        let (key, cache) = (key.as_ref(), &self.0.cache);
        match &self.0.objects {
            Kept::Here(objects) => match objects.peek(cache, key) {
                Some(object) => Ok(Some(object)),
                None => cache.peek(key),
            },
            Kept::BesideEntries(tier) => {
                match tier.peek_stored(key)?.as_ref().map(ObjectOrEntry::of) {
                    None => Ok(None),
                    Some(ObjectOrEntry::Object(value)) => Ok(Some(value)),
                    Some(ObjectOrEntry::Entry(entry)) => cache.decode(key, &entry).map(Some),
                }
            }
            Kept::Nowhere => cache.peek(key),
        }
    }

    /// Deletes the key and returns the value that it had; see [`Cache::take`](crate::Cache::take).
    ///
    /// # Errors
    /// The same errors.
    pub fn take(&self, key: impl AsRef<[u8]>) -> Result<Option<T>, Error> {
        let key = key.as_ref();
        let taken = self.0.cache.take_by(key, || reading_typed::<T>);
        self.drop(key);
        taken
    }

    /// Gives the key's entry another time to live, from now on; see [`Cache::touch`](crate::Cache::touch).
    ///
    /// # Errors
    /// The same errors.
    pub fn touch(&self, key: impl AsRef<[u8]>, ttl: impl Into<Ttl>) -> Result<bool, Error> {
        let key = key.as_ref();
        let touched = self.0.cache.touch(key, ttl);
        // It belongs to no entry any more.
        self.drop(key);
        touched
    }

    /// Stores a value if the key has none; see [`Cache::add`](crate::Cache::add).
    ///
    /// # Errors
    /// The same errors.
    pub fn add(&self, key: impl AsRef<[u8]>, value: &T) -> Result<bool, Error> {
        self.add_with_ttl(key, value, Ttl::Default)
    }

    /// As [`TypedCache::add`], with a time to live.
    ///
    /// # Errors
    /// The same errors.
    pub fn add_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool, Error> {
        let (key, object) = (key.as_ref(), self.object(value));
        let added = self.0.cache.add_by(key, ttl.into(), writing(value), object);
        self.drop(key);
        added
    }

    /// Stores a value if the key has one; see [`Cache::replace`](crate::Cache::replace).
    ///
    /// # Errors
    /// The same errors.
    pub fn replace(&self, key: impl AsRef<[u8]>, value: &T) -> Result<bool, Error> {
        self.replace_with_ttl(key, value, Ttl::Default)
    }

    /// As [`TypedCache::replace`], with a time to live.
    ///
    /// # Errors
    /// The same errors.
    pub fn replace_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool, Error> {
        self.replace_seen(key.as_ref(), ttl.into(), value, None)
    }

    /// Stores a value if the key's entry still has this version; see
    /// [`Cache::compare_and_set`](crate::Cache::compare_and_set).
    ///
    /// # Errors
    /// The same errors.
    pub fn compare_and_set(
        &self,
        key: impl AsRef<[u8]>,
        version: Version,
        value: &T,
    ) -> Result<bool, Error> {
        self.compare_and_set_with_ttl(key, version, value, Ttl::Default)
    }

    /// As [`TypedCache::compare_and_set`], with a time to live.
    ///
    /// # Errors
    /// The same errors.
    pub fn compare_and_set_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        version: Version,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool, Error> {
        self.replace_seen(key.as_ref(), ttl.into(), value, Some(version))
    }

    fn replace_seen(
        &self,
        key: &[u8],
        ttl: Ttl,
        value: &T,
        version: Option<Version>,
    ) -> Result<bool, Error> {
        let (write, object) = (writing(value), self.object(value));
        let replaced = self.0.cache.replace_by(key, ttl, write, object, version);
        self.drop(key);
        replaced
    }

    /// Reads the key and stores what `function` makes of its value; see [`Cache::update`](crate::Cache::update).
    ///
    /// # Errors
    /// The same errors.
    pub fn update(
        &self,
        key: impl AsRef<[u8]>,
        function: impl FnMut(Option<T>) -> Update<T>,
    ) -> Result<Option<T>, Error> {
        self.update_seen(key.as_ref(), None, function)
    }

    /// As [`TypedCache::update`], with a time to live; see [`Cache::update_with_ttl`](crate::Cache::update_with_ttl).
    ///
    /// # Errors
    /// The same errors.
    pub fn update_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        ttl: impl Into<Ttl>,
        function: impl FnMut(Option<T>) -> Update<T>,
    ) -> Result<Option<T>, Error> {
        self.update_seen(key.as_ref(), Some(ttl.into()), function)
    }

    fn update_seen(
        &self,
        key: &[u8],
        ttl: Option<Ttl>,
        function: impl FnMut(Option<T>) -> Update<T>,
    ) -> Result<Option<T>, Error> {
        let object = |value: &T| self.object(value);
        let updated = self.0.cache.update_by(key, ttl, function, object);
        self.drop(key);
        updated
    }
}
