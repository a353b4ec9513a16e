//! Removes expired entries.

use crate::cache::Place;
use crate::removed::{RemovalCause, Removed};
use crate::MemoryCache;
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// Removes all expired entries.
    ///
    /// Writes look for a few such entries each, in turn, and a read of one removes it. This is for
    /// programs that want to have them all gone now, or write seldom.
    ///
    /// ```
    /// # use polycache_memory::MemoryCache;
    /// # use std::{sync::{Arc, atomic::{AtomicU64, Ordering}}, time::Duration};
    /// let time = Arc::new(AtomicU64::new(0));
    /// let clock = time.clone();
    /// let cache = MemoryCache::builder()
    ///     .max_entries(100)
    ///     .ttl(Duration::from_secs(1))
    ///     .clock(move || clock.load(Ordering::Relaxed))
    ///     .build()?;
    /// cache.set("a", 1)?;
    /// time.store(1000, Ordering::Relaxed);
    /// assert_eq!(cache.len(), 1);
    /// cache.purge_expired();
    /// assert_eq!(cache.len(), 0);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// It looks at entries only when one of them may be over since it was called last.
    pub fn purge_expired(&self) {
        self.purge_all(|_| ());
    }

    /// Takes out every entry whose time is over, as [`MemoryCache::purge_expired`], and returns them.
    ///
    /// ```
    /// # use polycache_memory::MemoryCache;
    /// # use std::{sync::{Arc, atomic::{AtomicU64, Ordering}}, time::Duration};
    /// # let time = Arc::new(AtomicU64::new(0));
    /// # let clock = time.clone();
    /// # let cache = MemoryCache::builder()
    /// #     .max_entries(100)
    /// #     .clock(move || clock.load(Ordering::Relaxed))
    /// #     .build()?;
    /// cache.set_with_ttl("a", 1, Duration::from_secs(1))?;
    /// cache.set_with_ttl("b", 2, Duration::from_secs(2))?;
    /// time.store(1000, Ordering::Relaxed);
    /// assert_eq!(cache.take_expired(), [("a", 1)]);
    /// assert_eq!(cache.len(), 1);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn take_expired(&self) -> Vec<(K, V)>
    where
        K: Clone,
    {
        let mut expired = Vec::new();
        self.purge_all(|removed| {
            let entries = removed.iter();
            expired.extend(entries.map(|(key, value, _)| (key.clone(), value.clone())));
        });
        expired
    }

    /// Takes out what is over; `see` is shown it before it is dropped, without a lock.
    fn purge_all(&self, mut see: impl FnMut(&Removed<K, V>)) {
        /// Places looked at before readers and other writers have their turn.
        const AT_ONCE: usize = 256;
        for lock in &self.0.shards {
            if !lock.read(&self.0.readers).is_sweep_due(|| self.now()) {
                continue;
            }
            let mut looked = 0;
            loop {
                let mut removed = Removed::new();
                let mut shard = lock.write(&self.0.readers);
                if looked == 0 {
                    shard.begin_sweep();
                }
                shard.sweep(AT_ONCE, &self.0.bounds, || self.now(), &mut removed);
                let places = shard.indices() as usize;
                drop(shard);
                see(&removed);
                self.tell(removed);
                looked += AT_ONCE;
                if looked >= places {
                    break;
                }
            }
        }
    }

    /// Takes the key's entry out if its time is over.
    #[cold]
    pub(crate) fn purge<Q>(&self, place: Place, key: &Q)
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let mut removed = Removed::new();
        let mut shard = self.0.shards[place.shard].write(&self.0.readers);
        if let Some(index) = shard.find(place.hash, key) {
            if shard.has_expired(index, || self.now()) {
                shard.remove(index, RemovalCause::Expired, &self.0.bounds, &mut removed);
            }
        }
        drop(shard);
        self.tell(removed);
    }
}
