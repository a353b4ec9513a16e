//! Operations without locks, for a caller that knows by other means that no other thread uses the cache:
//! a language whose interpreter runs one thread at a time.

use crate::cache::{HITS, MISSES};
use crate::clock::Moment;
use crate::shard::{Lookup, Swapped, Terms};
use crate::{MemoryCache, Ttl};
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// [`MemoryCache::get`] without a lock.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// // SAFETY: no other thread has the cache, and numbers do not use it.
    /// let (found, missed) = unsafe { (cache.get_exclusively(&1), cache.get_exclusively(&2)) };
    /// assert_eq!((found, missed), (Some(10), None));
    /// assert_eq!((cache.stats().hits, cache.stats().misses), (1, 1));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Safety
    /// While it runs, no other operation of this cache runs in any thread, this one included: `Eq` of
    /// keys and `Clone` of values must not even read the cache. An operation that has released its locks
    /// to call a listener, a loader or the `Drop` of removed values does not count. Other means, such as
    /// a mutex, order it with all operations before and after it.
    #[inline(always)]
    pub unsafe fn get_exclusively<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        // SAFETY: the caller promises that no other operation runs meanwhile and that all are ordered
        // with it.
        let shard = unsafe { self.0.shards[place.shard].exclusively() };
        let found = match shard.read(place.hash, key, true, || self.now()) {
            Lookup::Value(value, _) => {
                self.0.readers.count_exclusively(HITS);
                return Some(value.clone());
            }
            Lookup::Absent => None,
            Lookup::Expired => Some(()),
        };
        drop(shard);
        self.0.readers.count_exclusively(MISSES);
        if found.is_some() {
            self.purge(place, key);
        }
        None
    }

    /// Stores a value in place of the key's present one, which it leaves in `value`, if that is all that
    /// [`MemoryCache::set_if`] would do. Returns false, and leaves the cache unchanged, when it is not
    /// all or when `admit`, called once the key was found, returns false.
    ///
    /// It is not all when the key has no entry or an expired one, when entries are weighed, when a
    /// listener or `expire_after` must be told of the key, and while any key is being loaded.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// let mut value = 10;
    /// // SAFETY: no other thread has the cache, and numbers do not use it.
    /// assert!(!unsafe { cache.swap_exclusively(&1, &mut value, || true) });
    /// cache.set(1, 9)?;
    /// // SAFETY: as before.
    /// assert!(unsafe { cache.swap_exclusively(&1, &mut value, || true) });
    /// assert_eq!((value, cache.get(&1)), (9, Some(10)));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Safety
    /// As for [`MemoryCache::get_exclusively`], `admit` included.
    #[inline(always)]
    pub unsafe fn swap_exclusively<Q>(
        &self,
        key: &Q,
        value: &mut V,
        admit: impl FnOnce() -> bool,
    ) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let settings = &self.0.settings;
        if settings.listener.is_some()
            || settings.weigher.is_some()
            || settings.expire_after.is_some()
        {
            return false;
        }
        let moment = Moment::of(&settings.clock);
        let Ok(expires) = self.expires(Ttl::Default, &moment) else {
            return false;
        };
        let terms = Terms { bytes: 1, expires };
        let place = self.place(key);
        // SAFETY: the caller promises that no other operation runs meanwhile and that all are ordered
        // with it.
        let mut shard = unsafe { self.0.shards[place.shard].exclusively() };
        if shard.has_loads() {
            return false;
        }
        let swapped = shard.swap_if(place.hash, key, value, terms, || moment.now(), admit);
        matches!(swapped, Swapped::Done)
    }
}
