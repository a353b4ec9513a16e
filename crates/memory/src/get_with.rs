//! Reading a value in place, without a clone.

use crate::cache::{HITS, MISSES};
use crate::shard::Lookup;
use crate::MemoryCache;
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// What `f` returns for the key's value; `None` is a miss, and so is `None` from `f`. For callers
    /// that can tell by the value whether it is still valid, or that need only a part of it.
    ///
    /// A write to the same shard waits while `f` runs, as it does for [`Clone`] of values: `f` may read
    /// the cache, but must not change it.
    ///
    /// ```
    /// # use polycache_memory::MemoryCache;
    /// let cache = MemoryCache::<u64, Vec<u8>>::new(100)?;
    /// cache.set(1, vec![7; 1000])?;
    /// assert_eq!(cache.get_with(&1, |value| value.first().copied()), Some(7));
    /// assert_eq!(cache.get_with(&1, |value| value.get(1000).copied()), None);
    /// assert_eq!((cache.stats().hits, cache.stats().misses), (1, 1));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    #[inline]
    pub fn get_with<Q, R>(&self, key: &Q, f: impl FnOnce(&V) -> Option<R>) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        let Some(shard) = self.0.shards[place.shard].read_quickly(&self.0.readers) else {
            return self.get_with_slowly(key, f);
        };
        let (made, over) = match shard.read(place.hash, key, true, || self.now()) {
            Lookup::Value(value, _) => (f(value), false),
            Lookup::Absent => (None, false),
            Lookup::Expired => (None, true),
        };
        shard.count(if made.is_some() { HITS } else { MISSES });
        drop(shard);
        if over {
            self.purge(place, key);
        }
        made
    }

    /// The same when there is a writer, or no place for this thread.
    #[cold]
    #[inline(never)]
    fn get_with_slowly<Q, R>(&self, key: &Q, f: impl FnOnce(&V) -> Option<R>) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        let shard = self.0.shards[place.shard].read(&self.0.readers);
        let (made, over) = match shard.read(place.hash, key, true, || self.now()) {
            Lookup::Value(value, _) => (f(value), false),
            Lookup::Absent => (None, false),
            Lookup::Expired => (None, true),
        };
        drop(shard);
        let counter = if made.is_some() { HITS } else { MISSES };
        self.0.readers.count(counter);
        if over {
            self.purge(place, key);
        }
        made
    }
}
