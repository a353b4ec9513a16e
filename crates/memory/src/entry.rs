//! The entry of a key: read and change it in one step.

use crate::cache::Place;
use crate::removed::{RemovalCause, Removed};
use crate::shard::{Lookup, New, Shard, Terms, Version, NEVER};
use crate::{Error, MemoryCache};
use std::convert::Infallible;
use std::hash::{BuildHasher, Hash};

/// The entry of a key, from [`MemoryCache::entry`]. Nothing happens until one of its `or_` methods is
/// called; each returns the value that is in the cache afterwards.
#[must_use = "nothing happens until one of the or_ methods is called"]
pub struct Entry<'a, K, V, S, M = fn(&mut V)> {
    cache: &'a MemoryCache<K, V, S>,
    key: K,
    modify: Option<M>,
    value: std::marker::PhantomData<fn(V)>,
}

impl<'a, K, V, S> Entry<'a, K, V, S> {
    pub(crate) fn new(cache: &'a MemoryCache<K, V, S>, key: K) -> Self {
        Entry {
            cache,
            key,
            modify: None,
            value: std::marker::PhantomData,
        }
    }
}

impl<'a, K: Eq + Hash, V: Clone, S: BuildHasher, M: FnMut(&mut V)> Entry<'a, K, V, S, M> {
    /// The key.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Changes the value if there is one; its time to live continues. `modify` gets a copy and runs
    /// without a lock. If another caller changed the value meanwhile, `modify` is called again with the
    /// new value: no change is lost.
    pub fn and_modify<F: FnMut(&mut V)>(self, modify: F) -> Entry<'a, K, V, S, F> {
        Entry {
            cache: self.cache,
            key: self.key,
            modify: Some(modify),
            value: std::marker::PhantomData,
        }
    }

    /// Stores nothing if there is no value, and returns `None`.
    ///
    /// # Errors
    /// `EntryTooLarge` as for [`Entry::or_insert`].
    pub fn or_nothing(mut self) -> Result<Option<V>, Error>
    where
        K: Clone,
    {
        match &mut self.modify {
            Some(modify) => {
                let place = self.cache.place(&self.key);
                self.cache.modify(place, &self.key, modify)
            }
            None => Ok(self.cache.get(&self.key)),
        }
    }

    /// Stores the value if there is none.
    ///
    /// # Errors
    /// `EntryTooLarge` when the value to store weighs too much; the key then has no entry.
    pub fn or_insert(self, value: V) -> Result<V, Error>
    where
        K: Clone,
    {
        self.or_insert_with(|| value)
    }

    /// Stores what `load` returns if there is no value, as [`MemoryCache::get_or_insert_with`].
    ///
    /// # Errors
    /// As for that method.
    pub fn or_insert_with(self, load: impl FnOnce() -> V) -> Result<V, Error>
    where
        K: Clone,
    {
        self.or_try_insert_with(|| Ok::<V, Infallible>(load()))
    }

    /// Stores what `load` returns if there is no value and `load` does not fail, as
    /// [`MemoryCache::get_or_set`].
    ///
    /// # Errors
    /// As for that method.
    pub fn or_try_insert_with<E>(mut self, load: impl FnOnce() -> Result<V, E>) -> Result<V, Error>
    where
        K: Clone,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let place = self.cache.place(&self.key);
        let mut load = Some(load);
        loop {
            if let Some(modify) = &mut self.modify {
                if let Some(changed) = self.cache.modify(place, &self.key, modify)? {
                    return Ok(changed);
                }
            }
            let mut loaded = false;
            let value = self.cache.get_or_set(&self.key, || {
                loaded = true;
                match load.take() {
                    Some(load) => load().map_err(Into::into),
                    None => Err("a loader is called once".into()),
                }
            })?;
            // The value came from another caller and must still be changed.
            if loaded || self.modify.is_none() {
                return Ok(value);
            }
        }
    }
}

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// Changes the key's value and returns the new one; `None` when there is none.
    fn modify(
        &self,
        place: Place,
        key: &K,
        modify: &mut impl FnMut(&mut V),
    ) -> Result<Option<V>, Error>
    where
        K: Clone,
    {
        let lock = &self.0.shards[place.shard];
        loop {
            let shard = lock.read(&self.0.readers);
            let Lookup::Value(value, index) = shard.read(place.hash, key, true, || self.now())
            else {
                return Ok(None);
            };
            let mut value = value.clone();
            let version = shard.version(index);
            drop(shard);
            modify(&mut value);
            let bytes = match self.weigh(key, &value) {
                Ok(bytes) => bytes,
                Err(error) => {
                    // A value that another caller set meanwhile stays, and is changed instead.
                    let same = |shard: &Shard<K, V>, index| shard.version(index) == version;
                    if self.remove_if(place, key, RemovalCause::Deleted, same) {
                        return Err(error);
                    }
                    continue;
                }
            };
            let expires = NEVER;
            let new = New {
                key: key.clone(),
                value: value.clone(),
                hash: place.hash,
                terms: Terms { bytes, expires },
            };
            if self.store_over(place, new, version) {
                return Ok(Some(value));
            }
        }
    }

    /// Stores a value in place of that version, with the time that the version has left; false when the
    /// version is no longer there.
    fn store_over(&self, place: Place, new: New<K, V>, version: Option<Version>) -> bool {
        let mut new = Some(new);
        while let Some(coming) = &mut new {
            let mut removed = Removed::new();
            let mut shard = self.0.shards[place.shard].write(&self.0.readers);
            let found = shard.read(place.hash, &coming.key, false, || self.now());
            let index = match found {
                Lookup::Value(_, index) if shard.version(index) == version => index,
                _ => return false,
            };
            coming.terms.expires = shard.expires(index);
            let invalidated = shard.invalidate_load(place.hash, &coming.key);
            shard.store(&mut new, &self.0.bounds, || self.now(), &mut removed);
            drop(shard);
            self.tell(removed);
            drop(invalidated);
            if new.is_some() {
                self.make_room(place.shard);
            }
        }
        true
    }
}
