//! Removes less than a key or more: only a load, an entry on a condition, the entries of some keys.

use crate::cache::Place;
use crate::removed::{RemovalCause, Removed};
use crate::shard::Shard;
use crate::MemoryCache;
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// Invalidates a load of the key in progress, if there is one, as a delete would: the loaded value
    /// is not stored, and waiting callers look again. An entry of the key stays.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// let loaded = cache.get_or_insert_with(&1, || {
    ///     assert!(cache.invalidate_load(&1));
    ///     10
    /// })?;
    /// assert_eq!((loaded, cache.get(&1)), (10, None));
    /// cache.set(1, 11)?;
    /// assert!(!cache.invalidate_load(&1));
    /// assert_eq!(cache.get(&1), Some(11));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn invalidate_load<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        let mut shard = self.0.shards[place.shard].write(&self.0.readers);
        let invalidated = shard.invalidate_load(place.hash, key);
        drop(shard);
        invalidated.is_some()
    }

    /// Deletes the key as [`MemoryCache::delete`] does, if `condemned` says so of the value that stands under it,
    /// if any; true when it said so. It is asked while no other write to the shard can happen. It must be short,
    /// and must not use the cache.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// assert!(!cache.delete_if(&1, |value| value == Some(&11)));
    /// assert!(cache.delete_if(&1, |value| value == Some(&10)));
    /// assert_eq!((cache.get(&1), cache.stats().deletes), (None, 1));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn delete_if<Q>(&self, key: &Q, condemned: impl FnOnce(Option<&V>) -> bool) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        let mut removed = Removed::new();
        let mut shard = self.0.shards[place.shard].write(&self.0.readers);
        let index = shard.find(place.hash, key);
        let stands = index.filter(|index| !shard.has_expired(*index, || self.now()));
        let there = stands.and_then(|index| shard.at(index));
        if !condemned(there.map(|(_, value)| value)) {
            return false;
        }
        let invalidated = shard.invalidate_load(place.hash, key);
        if let Some(index) = index {
            let cause = match stands {
                Some(_) => RemovalCause::Deleted,
                None => RemovalCause::Expired,
            };
            shard.remove(index, cause, &self.0.bounds, &mut removed);
        }
        drop(shard);
        self.tell(removed);
        drop(invalidated);
        true
    }

    /// Removes the key's entry as expired, if `over` returns true for its value; true when it did. For
    /// callers that can tell by the value whether it is still valid. `over` runs while no other write to
    /// the shard can happen: it must be short, and must not use the cache.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// assert!(!cache.expire_if(&1, |value| *value == 11));
    /// assert!(cache.expire_if(&1, |value| *value == 10));
    /// assert_eq!((cache.get(&1), cache.stats().expired), (None, 1));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn expire_if<Q>(&self, key: &Q, over: impl FnOnce(&V) -> bool) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let over = |shard: &Shard<K, V>, index| {
            let entry = shard.at(index);
            entry.is_some_and(|(_, value)| over(value))
        };
        self.remove_if(self.place(key), key, RemovalCause::Expired, over)
    }

    /// Removes the entries for whose keys `cleared` returns true, and invalidates the loads of such
    /// keys, as [`MemoryCache::clear`] does for all keys. It visits every key, a few hundred at a time;
    /// between batches other threads read and write. `cleared` runs while no other write to the shard
    /// can happen: it must be short, and must not use the cache.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// cache.set(2, 20)?;
    /// cache.clear_if(|key| *key == 1);
    /// assert_eq!((cache.get(&1), cache.get(&2)), (None, Some(20)));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn clear_if(&self, mut cleared: impl FnMut(&K) -> bool) {
        /// Places visited before readers and other writers get their turn.
        const AT_ONCE: u32 = 512;
        for lock in &self.0.shards {
            let mut next: u32 = 0;
            loop {
                let mut removed = Removed::new();
                let mut invalidated = Vec::new();
                let mut shard = lock.write(&self.0.readers);
                if next == 0 {
                    invalidated = shard.invalidate_loads(&mut cleared);
                }
                let end = shard.indices().min(next.saturating_add(AT_ONCE));
                shard.clear_those(next..end, &mut cleared, &self.0.bounds, &mut removed);
                let done = end == shard.indices();
                drop(shard);
                self.tell(removed);
                drop(invalidated);
                if done {
                    break;
                }
                next = end;
            }
        }
    }

    /// Removes the key's entry for `cause`, if `condemned` returns true for the entry at its index; true
    /// when it did.
    pub(crate) fn remove_if<Q>(
        &self,
        place: Place,
        key: &Q,
        cause: RemovalCause,
        condemned: impl FnOnce(&Shard<K, V>, u32) -> bool,
    ) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let mut removed = Removed::new();
        let mut shard = self.0.shards[place.shard].write(&self.0.readers);
        let index = shard.find(place.hash, key);
        let index = index.filter(|index| condemned(&shard, *index));
        if let Some(index) = index {
            shard.remove(index, cause, &self.0.bounds, &mut removed);
        }
        drop(shard);
        self.tell(removed);
        index.is_some()
    }
}
