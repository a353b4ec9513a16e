//! Several keys in one call.

use super::{TypedCache, TypedValue};
use crate::batch;
use crate::driver;
use crate::{Error, Ttl};
use std::collections::HashMap;
use std::hash::Hash;

impl<T: TypedValue> TypedCache<T> {
    /// The values of the keys that are there; see [`Cache::get_many`](crate::Cache::get_many).
    ///
    /// # Errors
    /// Those of [`Cache::get`](crate::Cache::get), for the first key that cannot be read.
    pub fn get_many<K: AsRef<[u8]> + Eq + Hash>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<HashMap<K, T>, Error> {
        self.0.cache.still_open()?;
        let keys = keys.into_iter();
        let mut found = HashMap::with_capacity(keys.size_hint().0);
        self.0.cache.each_prefetched(keys, |key| {
            if let Some(value) = self.get(&key)? {
                found.insert(key, value);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Stores several values with the cache's default time to live, in order; see [`Cache::set_many`](crate::Cache::set_many).
    ///
    /// # Errors
    /// The same errors.
    pub fn set_many<K: AsRef<[u8]>>(
        &self,
        entries: impl IntoIterator<Item = (K, T)>,
    ) -> Result<(), Error> {
        self.set_many_with_ttl(entries, Ttl::Default)
    }

    /// Stores several values with one time to live, in order; see [`Cache::set_many_with_ttl`](crate::Cache::set_many_with_ttl).
    ///
    /// # Errors
    /// Those of [`Cache::set_many`](crate::Cache::set_many).
    pub fn set_many_with_ttl<K: AsRef<[u8]>>(
        &self,
        entries: impl IntoIterator<Item = (K, T)>,
        ttl: impl Into<Ttl>,
    ) -> Result<(), Error> {
        let ttl = ttl.into();
        ttl.check()?;
        self.0.cache.still_open()?;
        for (key, value) in entries {
            self.set_with_ttl(key, &value, ttl)?;
        }
        Ok(())
    }

    /// Deletes several keys; returns how many of them had an entry.
    ///
    /// # Errors
    /// `Closed`.
    pub fn delete_many<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<u64, Error> {
        self.0.cache.still_open()?;
        keys.into_iter()
            .try_fold(0, |deleted, key| Ok(deleted + u64::from(self.delete(key)?)))
    }

    /// Deletes the keys of this namespace that begin with `prefix`; see [`Cache::delete_prefix`](crate::Cache::delete_prefix).
    ///
    /// # Errors
    /// `Closed`.
    pub fn delete_prefix(&self, prefix: impl AsRef<[u8]>) -> Result<u64, Error> {
        self.keys(prefix).try_fold(
            0,
            |deleted, key| Ok(deleted + u64::from(self.delete(key?)?)),
        )
    }

    /// The values of the keys, loaded where they are not there; see
    /// [`Cache::get_or_set_many`](crate::Cache::get_or_set_many).
    ///
    /// # Errors
    /// The same errors.
    pub fn get_or_set_many<K, M, Q, E>(
        &self,
        keys: impl IntoIterator<Item = K>,
        load: impl FnMut(Vec<K>) -> Result<M, E>,
    ) -> Result<HashMap<K, T>, Error>
    where
        K: AsRef<[u8]> + Clone + Eq + Hash,
        M: IntoIterator<Item = (Q, T)>,
        Q: AsRef<[u8]>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.get_or_set_many_with_ttl(keys, Ttl::Default, load)
    }

    /// As [`TypedCache::get_or_set_many`], with a time to live that counts from the end of the load.
    ///
    /// # Errors
    /// The same errors.
    pub fn get_or_set_many_with_ttl<K, M, Q, E>(
        &self,
        keys: impl IntoIterator<Item = K>,
        ttl: impl Into<Ttl>,
        mut load: impl FnMut(Vec<K>) -> Result<M, E>,
    ) -> Result<HashMap<K, T>, Error>
    where
        K: AsRef<[u8]> + Clone + Eq + Hash,
        M: IntoIterator<Item = (Q, T)>,
        Q: AsRef<[u8]>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (keys, ttl) = (batch::distinct(keys), ttl.into());
        ttl.check()?;
        let values = driver::load_many(self, &keys, ttl, |asked| {
            load(asked).map_err(Error::of_loader)
        })?;
        Ok(batch::found(keys, values))
    }
}
