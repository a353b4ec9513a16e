//! Reads an entry without using it, and changes only what was seen.

use super::{Kept, ObjectOrEntry, TypedCache, TypedValue};
use crate::cache::reading_typed;
use crate::{Error, Ttl};

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
}
