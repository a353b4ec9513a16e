//! Operations without locks, for who knows by other means that nobody else uses the cache: a language
//! whose interpreter runs one thread at a time.

use crate::cache::{HITS, MISSES};
use crate::clock::Moment;
use crate::shard::{Found, Swapped, Terms};
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
    /// While it runs no other operation of this cache does, in any thread, this one included: `Eq` of keys
    /// and `Clone` of values must not even read the cache. One that waits for a listener, a loader or the
    /// `Drop` of what left, which it calls without a lock, does not count. All operations before and after
    /// it are ordered with it by other means, such as a mutex.
    #[inline(always)]
    pub unsafe fn get_exclusively<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        // SAFETY: the caller promises it.
        let shard = unsafe { self.0.shards[place.shard].exclusively() };
        let found = match shard.read(place.hash, key, true, || self.now()) {
            Found::Value(value, _) => {
                self.0.readers.count_exclusively(HITS);
                return Some(value.clone());
            }
            Found::Nothing => None,
            Found::Over => Some(()),
        };
        drop(shard);
        self.0.readers.count_exclusively(MISSES);
        if found.is_some() {
            self.purge(place, key);
        }
        None
    }

    /// Stores a value in the place of the key's other one, which it leaves in `value`, if that is all
    /// that [`MemoryCache::set_if`] would do. False when it is not, or when `admit` says so, which is
    /// asked when the key was found: the cache is as before then.
    ///
    /// It is not where the key has no entry or one whose time is over, where entries are weighed, where a
    /// listener or `expire_after` wants to know of the key, and while keys are loaded.
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
    /// As of [`MemoryCache::get_exclusively`], `admit` included.
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
        // SAFETY: the caller promises it.
        let mut shard = unsafe { self.0.shards[place.shard].exclusively() };
        if shard.has_loads() {
            return false;
        }
        let swapped = shard.swap_if(place.hash, key, value, terms, || moment.now(), admit);
        matches!(swapped, Swapped::Done)
    }
}
