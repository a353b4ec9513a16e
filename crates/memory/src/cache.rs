//! The cache.

use crate::bounds::Bounds;
use crate::clock::Clock;
use crate::lock::{Lock, Readers};
use crate::removed::{Listener, RemovalCause, Removed};
use crate::shard::{Lookup, Shard};
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::ttl;
use crate::{Builder, DefaultHashBuilder, Entry, Error, Iter, Keys, Stats, Ttl, TtlLeft};
use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

/// A cache of objects inside this process, for many threads. Cheap to clone: clones are one cache.
///
/// A hit clones the value, so that large ones are best kept in an [`Arc`](std::sync::Arc). It waits
/// for no other hit, and writes to one bit of its entry; only a write to the same shard can hold it
/// up, for as long as that changes a few links.
///
/// Everything that users give runs without a lock: weigher, listener, loaders, and `Drop` of keys
/// and values. The exceptions are `Eq` of keys and `Clone` of values: they run while others wait for
/// them, and must not use the cache that calls them, be it to read, or they may wait for themselves.
/// Keep values whose `Clone` does more than copy in an `Arc`.
///
/// A child that was forked while another thread used the cache must not use it: what that thread
/// was in the middle of is never finished there.
///
/// ```
/// use polycache_memory::MemoryCache;
/// use std::sync::Arc;
///
/// let cache: MemoryCache<String, Arc<str>> = MemoryCache::new(10_000)?;
/// cache.set("user:1".into(), "Ada".into())?;
/// assert_eq!(cache.get("user:1").as_deref(), Some("Ada"));
/// assert_eq!(cache.get("user:2"), None);
/// # Ok::<(), polycache_memory::Error>(())
/// ```
pub struct MemoryCache<K, V, S = DefaultHashBuilder>(pub(crate) Arc<Inner<K, V, S>>);

pub(crate) struct Inner<K, V, S> {
    pub hasher: S,
    pub shards: Box<[Lock<Shard<K, V>>]>,
    pub readers: Readers,
    pub bounds: Bounds,
    pub settings: Settings<K, V>,
    /// Callers that got `WaitTimeout`.
    pub wait_timeouts: AtomicU64,
}

/// Weighs an entry.
pub(crate) type Weigher<K, V> = Box<dyn Fn(&K, &V) -> u64 + Send + Sync>;
/// Says how long an entry lives.
pub(crate) type ExpireAfter<K, V> = Box<dyn Fn(&K, &V) -> Ttl + Send + Sync>;

/// What the builder was told.
pub(crate) struct Settings<K, V> {
    /// Milliseconds, 0 is none.
    pub ttl: u64,
    pub expire_after: Option<ExpireAfter<K, V>>,
    pub weigher: Option<Weigher<K, V>>,
    pub listener: Option<Listener<K, V>>,
    pub clock: Clock,
    /// How long a thread waits for another's load.
    pub wait_timeout: Duration,
}

/// The readers' counters.
pub(crate) const HITS: usize = 0;
pub(crate) const MISSES: usize = 1;

/// Where a key belongs.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub shard: usize,
    pub hash: u32,
}

impl<K, V, S> Clone for MemoryCache<K, V, S> {
    fn clone(&self) -> Self {
        MemoryCache(self.0.clone())
    }
}

impl<K, V, S> fmt::Debug for MemoryCache<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryCache")
            .field("len", &self.len())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl<K: Eq + Hash, V: Clone> MemoryCache<K, V> {
    /// A cache of so many entries, which do not expire.
    ///
    /// # Errors
    /// `InvalidArgument` for 0.
    pub fn new(max_entries: u64) -> Result<MemoryCache<K, V>, Error> {
        MemoryCache::builder().max_entries(max_entries).build()
    }

    /// The options of a cache, to be opened by [`Builder::build`].
    #[must_use]
    pub fn builder() -> Builder<K, V> {
        Builder::default()
    }
}

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// The key's value; `None` is a miss.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// assert_eq!(cache.get(&1), Some(10));
    /// assert_eq!(cache.get(&2), None);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        let Some(shard) = self.0.shards[place.shard].read_quickly(&self.0.readers) else {
            return self.get_slowly(place, key);
        };
        match shard.read(place.hash, key, true, || self.now()) {
            Lookup::Value(value, _) => {
                shard.count(HITS);
                Some(value.clone())
            }
            Lookup::Absent => {
                shard.count(MISSES);
                None
            }
            Lookup::Expired => {
                shard.count(MISSES);
                drop(shard);
                self.purge(place, key);
                None
            }
        }
    }

    /// The key's value, without being a use of it: neither the entry's chances to stay nor its time
    /// to idle change, and the read is not counted.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// assert_eq!(cache.peek(&1), Some(10));
    /// assert_eq!(cache.stats().hits, 0);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn peek<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        let shard = self.0.shards[place.shard].read(&self.0.readers);
        match shard.read(place.hash, key, false, || self.now()) {
            Lookup::Value(value, _) => Some(value.clone()),
            Lookup::Expired | Lookup::Absent => None,
        }
    }

    /// True when the key has an entry; not a use of it, as [`MemoryCache::peek`].
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// assert!(cache.has(&1) && !cache.has(&2));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn has<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        let shard = self.0.shards[place.shard].read(&self.0.readers);
        let found = shard.read(place.hash, key, false, || self.now());
        matches!(found, Lookup::Value(..))
    }

    /// The time that the key's entry has left, to live or to idle, whichever is shorter; `None` when
    /// there is no entry. Not a use of it.
    ///
    /// ```
    /// # use polycache_memory::{MemoryCache, TtlLeft};
    /// # let cache = MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// assert_eq!(cache.ttl(&1), Some(TtlLeft::Forever));
    /// assert_eq!(cache.ttl(&2), None);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn ttl<Q>(&self, key: &Q) -> Option<TtlLeft>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        let shard = self.0.shards[place.shard].read(&self.0.readers);
        match shard.read(place.hash, key, false, || self.now()) {
            Lookup::Value(_, index) => {
                let ends = shard.expires(index).min(shard.idles(index));
                Some(ttl::left(ends, self.now()))
            }
            Lookup::Expired | Lookup::Absent => None,
        }
    }

    /// Deletes the key and invalidates its loads; true when an entry stood there.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// assert!(cache.delete(&1));
    /// assert!(!cache.delete(&1));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn delete<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let removed = self.remove(self.place(key), key);
        let deleted = removed
            .first()
            .is_some_and(|entry| entry.2 == RemovalCause::Deleted);
        self.tell(removed);
        deleted
    }

    /// Deletes the key as [`MemoryCache::delete`] does, and returns the value that it had.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// assert_eq!(cache.take(&1), Some(10));
    /// assert_eq!(cache.take(&1), None);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn take<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let removed = self.remove(self.place(key), key);
        if removed.first()?.2 != RemovalCause::Deleted {
            self.tell(removed);
            return None;
        }
        if self.0.settings.listener.is_none() {
            return removed.into_iter().next().map(|(_, value, _)| value);
        }
        let value = removed.first().map(|(_, value, _)| value.clone());
        self.tell(removed);
        value
    }

    /// The entry of a key, to be looked at and changed in one step.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<&str, u64>::new(100)?;
    /// for word in ["to", "be", "or", "not", "to", "be"] {
    ///     cache.entry(word).and_modify(|count| *count += 1).or_insert(1)?;
    /// }
    /// assert_eq!(cache.get("be"), Some(2));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn entry(&self, key: K) -> Entry<'_, K, V, S> {
        Entry::new(self, key)
    }

    /// Takes out every entry, and invalidates all loads under way. A set at the same time comes before it
    /// or after it, key by key.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// cache.clear();
    /// assert!(cache.is_empty());
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    pub fn clear(&self) {
        for lock in &self.0.shards {
            let mut removed = Removed::new();
            let mut shard = lock.write(&self.0.readers);
            let invalidated = shard.invalidate_loads(|_| true);
            shard.clear(&self.0.bounds, &mut removed);
            drop(shard);
            self.tell(removed);
            drop(invalidated);
        }
    }

    /// Every entry, as [`Iter`] says.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// cache.set(2, 20)?;
    /// let mut entries: Vec<(u64, u64)> = cache.iter().collect();
    /// entries.sort();
    /// assert_eq!(entries, [(1, 10), (2, 20)]);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V, S> {
        Iter::new(self)
    }

    /// Every key, as [`Iter`] says.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// assert_eq!(cache.keys().collect::<Vec<u64>>(), [1]);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    #[must_use]
    pub fn keys(&self) -> Keys<'_, K, V, S> {
        Keys::new(self)
    }
}

impl<K, V, S> MemoryCache<K, V, S> {
    /// Entries that are held. Those whose time is over count until they are taken out.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.bounds.entries.used() as usize
    }

    /// True when nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when something has to leave before another entry can come in that weighs as much as those that
    /// are there do on average.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(2)?;
    /// cache.set(1, 10)?;
    /// assert!(!cache.is_full());
    /// cache.set(2, 20)?;
    /// assert!(cache.is_full());
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.bounds.is_full()
    }

    /// Bytes that the entries weigh, by the weigher; 0 when nothing is weighed.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bounds.bytes()
    }

    /// What the cache holds and what was done with it.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// cache.get(&1);
    /// cache.get(&2);
    /// let stats = cache.stats();
    /// assert_eq!((stats.hits, stats.misses, stats.writes, stats.entries), (1, 1, 1, 1));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            entries: self.len() as u64,
            bytes: self.bytes(),
            hits: self.0.readers.sum(HITS),
            misses: self.0.readers.sum(MISSES),
            wait_timeouts: self.0.wait_timeouts.load(Ordering::Relaxed),
            ..Stats::default()
        };
        for lock in &self.0.shards {
            let counts = lock.read(&self.0.readers).counts;
            stats.writes += counts.writes;
            stats.deletes += counts.deletes;
            stats.evicted += counts.evicted;
            stats.expired += counts.expired;
            stats.invalidated_loads += counts.invalidated_loads;
        }
        stats
    }

    /// Reads that found an entry, as [`MemoryCache::stats`] counts them, without a lock: for tiers that report them often.
    #[doc(hidden)]
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.0.readers.sum(HITS)
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.0.settings.clock.now()
    }

    /// Drops an entry that left, or gives it to the listener. No lock is held.
    #[inline]
    pub(crate) fn tell_one(&self, key: K, value: V, cause: RemovalCause) {
        if let Some(listener) = &self.0.settings.listener {
            call(listener, key, value, cause);
        }
    }

    /// The same of all that left.
    pub(crate) fn tell(&self, removed: Removed<K, V>) {
        match &self.0.settings.listener {
            None => drop(removed),
            Some(listener) => {
                for (key, value, cause) in removed {
                    call(listener, key, value, cause);
                }
            }
        }
    }

    /// The error of a thread that waited for others as long as it may.
    #[cold]
    pub(crate) fn waited_in_vain(&self) -> Error {
        self.0.wait_timeouts.fetch_add(1, Ordering::Relaxed);
        Error::WaitTimeout
    }
}

/// Tells a listener of one entry. A panic has been reported by the program's panic hook, and ends here: the change is
/// done, and neither its caller nor those who wait for it have to do with the listener.
fn call<K, V>(listener: &Listener<K, V>, key: K, value: V, cause: RemovalCause) {
    // What is unwound is the listener and what it was given, which nobody uses again.
    let _ = catch_unwind(AssertUnwindSafe(|| listener(key, value, cause)));
}

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    #[inline]
    pub(crate) fn place<Q: Hash + ?Sized>(&self, key: &Q) -> Place {
        let hash = self.0.hasher.hash_one(key);
        Place {
            // Their number is a power of two.
            shard: (hash >> 32) as usize & (self.0.shards.len() - 1),
            hash: hash as u32,
        }
    }

    /// The same as `get`, while a writer is in, or without a place for this thread.
    #[cold]
    #[inline(never)]
    fn get_slowly<Q>(&self, place: Place, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let shard = self.0.shards[place.shard].read(&self.0.readers);
        let (counter, value, over) = match shard.read(place.hash, key, true, || self.now()) {
            Lookup::Value(value, _) => (HITS, Some(value.clone()), false),
            Lookup::Absent => (MISSES, None, false),
            Lookup::Expired => (MISSES, None, true),
        };
        drop(shard);
        self.0.readers.count(counter);
        if over {
            self.purge(place, key);
        }
        value
    }

    fn remove<Q>(&self, place: Place, key: &Q) -> Removed<K, V>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let mut removed = Removed::new();
        let mut shard = self.0.shards[place.shard].write(&self.0.readers);
        let invalidated = shard.invalidate_load(place.hash, key);
        if let Some(index) = shard.find(place.hash, key) {
            let cause = if shard.has_expired(index, || self.now()) {
                RemovalCause::Expired
            } else {
                RemovalCause::Deleted
            };
            shard.remove(index, cause, &self.0.bounds, &mut removed);
        }
        drop(shard);
        drop(invalidated);
        removed
    }
}
