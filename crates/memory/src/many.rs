//! Several keys in one call.

use crate::{Error, MemoryCache, Ttl};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// The values of the keys that are there.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    /// cache.set_many([("a".into(), 1), ("b".into(), 2)])?;
    /// let found = cache.get_many(["a", "b", "c"]);
    /// assert_eq!((found.len(), found["b"]), (2, 2));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn get_many<'q, Q>(&self, keys: impl IntoIterator<Item = &'q Q>) -> HashMap<&'q Q, V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized + 'q,
    {
        let found = keys.into_iter().map(|key| (key, self.get(key)));
        found
            .filter_map(|(key, value)| value.map(|value| (key, value)))
            .collect()
    }

    /// Stores several values as [`MemoryCache::set`] does, in order.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set_many((1..=3).map(|number| (number, number * number)))?;
    /// assert_eq!((cache.len(), cache.get(&3)), (3, Some(9)));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::set`], for the first value that cannot be stored; those before it are stored.
    pub fn set_many(&self, entries: impl IntoIterator<Item = (K, V)>) -> Result<(), Error> {
        self.set_many_with_ttl(entries, Ttl::Default)
    }

    /// Stores several values as [`MemoryCache::set_with_ttl`] does, in order, with one time to live.
    ///
    /// ```
    /// # use polycache_memory::{MemoryCache, Ttl, TtlLeft};
    /// # let cache = MemoryCache::<u64, u64>::new(100)?;
    /// cache.set_many_with_ttl([(1, 10), (2, 20)], Ttl::Forever)?;
    /// assert_eq!(cache.ttl(&2), Some(TtlLeft::Forever));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::set_with_ttl`], for the first value that cannot be stored; those before it are stored.
    pub fn set_many_with_ttl(
        &self,
        entries: impl IntoIterator<Item = (K, V)>,
        ttl: impl Into<Ttl>,
    ) -> Result<(), Error> {
        let ttl = ttl.into();
        ttl.check()?;
        entries
            .into_iter()
            .try_for_each(|(key, value)| self.set_with_ttl(key, value, ttl))
    }

    /// Deletes several keys as [`MemoryCache::delete`] does; says how many of them had an entry.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set_many([(1, 10), (2, 20)])?;
    /// assert_eq!(cache.delete_many(&[1, 2, 3]), 2);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn delete_many<'q, Q>(&self, keys: impl IntoIterator<Item = &'q Q>) -> u64
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized + 'q,
    {
        keys.into_iter()
            .fold(0, |deleted, key| deleted + u64::from(self.delete(key)))
    }
}
