//! Deletes all entries except chosen ones.

use crate::iter::Versions;
use crate::removed::RemovalCause;
use crate::shard::Shard;
use crate::MemoryCache;
use std::hash::{BuildHasher, Hash};

impl<K: Clone + Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// Deletes every entry for which `keep` returns false, and returns how many it deleted. `keep` gets
    /// copies and runs without a lock, so it may use the cache. An entry that was written after its copy
    /// was made stays. Otherwise it behaves as [`MemoryCache::iter`].
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// cache.set(2, 20)?;
    /// assert_eq!(cache.retain(|key, _| *key != 1), 1);
    /// assert_eq!((cache.get(&1), cache.get(&2)), (None, Some(20)));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn retain(&self, mut keep: impl FnMut(&K, &V) -> bool) -> u64 {
        let mut deleted = 0;
        for (key, value, version) in Versions::new(self) {
            if keep(&key, &value) {
                continue;
            }
            let same = |shard: &Shard<K, V>, index| shard.version(index) == Some(version);
            let place = self.place(&key);
            deleted += u64::from(self.remove_if(place, &key, RemovalCause::Deleted, same));
        }
        deleted
    }
}
