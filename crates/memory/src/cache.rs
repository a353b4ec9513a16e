//! The cache.

use crate::bounds::Bounds;
use crate::clock::{Clock, Moment};
use crate::lock::{Lock, Readers};
use crate::removed::{Listener, RemovalCause, Removed};
use crate::shard::{Found, New, Shard, Swapped, Terms, NEVER};
use crate::sync::Arc;
use crate::ttl;
use crate::{Builder, DefaultHashBuilder, Entry, Error, Iter, Keys, Stats, Ttl, TtlLeft};
use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};

/// A cache of objects inside this process, for many threads. Cheap to clone: clones are one cache.
///
/// A hit clones the value, so that large ones are best kept in an [`Arc`](std::sync::Arc). It waits
/// for no other hit, and writes to one bit of its entry; only a write to the same shard can hold it
/// up, for as long as that changes a few links.
///
/// Everything that users give runs without a lock: weigher, listener, loaders, and `Drop` of keys
/// and values. The exceptions are `Eq` of keys and `Clone` of values, which a write to the same
/// shard waits for; they may read a cache, and must not change the one that calls them.
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
            Found::Value(value, _) => {
                shard.count(HITS);
                Some(value.clone())
            }
            Found::Nothing => {
                shard.count(MISSES);
                None
            }
            Found::Over => {
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
            Found::Value(value, _) => Some(value.clone()),
            Found::Over | Found::Nothing => None,
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
        matches!(found, Found::Value(..))
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
            Found::Value(_, index) => {
                let ends = shard.expires(index).min(shard.idles(index));
                Some(ttl::left(ends, self.now()))
            }
            Found::Over | Found::Nothing => None,
        }
    }

    /// Stores a value, with the time to live that the options give it. When it returns, every read
    /// that begins sees this value or a later one, and a load of the key under way is not stored.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// cache.set(1, 10)?;
    /// cache.set(1, 11)?;
    /// assert_eq!(cache.get(&1), Some(11));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// `EntryTooLarge` when it weighs more than all entries together may; then the old value is gone
    /// as well, being superseded.
    pub fn set(&self, key: K, value: V) -> Result<(), Error> {
        let moment = Moment::of(&self.0.settings.clock);
        let terms = self.terms(&key, &value, Ttl::Default, &moment)?;
        self.put(key, value, terms, &moment);
        Ok(())
    }

    /// Stores a value with a time to live: a [`Duration`](std::time::Duration) or a [`Ttl`].
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// use polycache_memory::{Ttl, TtlLeft};
    /// use std::time::Duration;
    /// cache.set_with(1, 10, Duration::from_secs(60))?;
    /// cache.set_with(2, 20, Ttl::Forever)?;
    /// assert_eq!(cache.ttl(&2), Some(TtlLeft::Forever));
    /// assert_eq!(cache.set_with(3, 30, Duration::ZERO).unwrap_err().code(), "invalid_argument");
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` for a time to live of 0 or more than 2^48 - 1 ms, which changes nothing;
    /// `EntryTooLarge` as for [`MemoryCache::set`].
    pub fn set_with(&self, key: K, value: V, ttl: impl Into<Ttl>) -> Result<(), Error> {
        let moment = Moment::of(&self.0.settings.clock);
        let terms = self.terms(&key, &value, ttl.into(), &moment)?;
        self.put(key, value, terms, &moment);
        Ok(())
    }

    /// Stores a value as [`MemoryCache::set`] does. The key is cloned only when it has no entry, or
    /// when a weigher, a listener or `expire_after` is to see it.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    /// cache.set_by_ref("a", 10)?;
    /// cache.set_by_ref("a", 11)?;
    /// assert_eq!(cache.get("a"), Some(11));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::set`].
    pub fn set_by_ref<Q>(&self, key: &Q, value: V) -> Result<(), Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let Settings {
            weigher,
            listener,
            expire_after,
            ..
        } = &self.0.settings;
        if weigher.is_some() || listener.is_some() || expire_after.is_some() {
            return self.set(key.to_owned(), value);
        }
        let moment = Moment::of(&self.0.settings.clock);
        let terms = Terms {
            bytes: 1,
            expires: self.expires(Ttl::Default, &moment)?,
        };
        self.swap_or_put(key, value, terms, &moment);
        Ok(())
    }

    /// Stores a value as [`MemoryCache::set_by_ref`] does, whose bytes and time to live are known:
    /// neither the weigher nor `expire_after` is asked.
    ///
    /// ```
    /// # use polycache_memory::{MemoryCache, Ttl};
    /// let cache = MemoryCache::<String, Vec<u8>>::builder()
    ///     .max_bytes(100)
    ///     .weigher(|key, value| (key.len() + value.len()) as u64)
    ///     .build()?;
    /// cache.set_weighed("a", vec![0; 10], Ttl::Forever, 11)?;
    /// assert_eq!(cache.bytes(), 11);
    /// let error = cache.set_weighed("a", vec![0; 100], Ttl::Forever, 101).unwrap_err();
    /// assert_eq!(error.code(), "entry_too_large");
    /// assert_eq!(cache.get("a"), None);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::set_with`].
    #[inline]
    pub fn set_weighed<Q>(
        &self,
        key: &Q,
        value: V,
        ttl: impl Into<Ttl>,
        bytes: u64,
    ) -> Result<(), Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let moment = Moment::of(&self.0.settings.clock);
        let expires = self.expires(ttl.into(), &moment)?;
        let bytes = if self.0.bounds.bytes.is_some() {
            self.within_bounds(key, bytes)?
        } else {
            1
        };
        let terms = Terms { bytes, expires };
        if self.0.settings.listener.is_some() {
            self.put(key.to_owned(), value, terms, &moment);
        } else {
            self.swap_or_put(key, value, terms, &moment);
        }
        Ok(())
    }

    /// Stores a value as [`MemoryCache::set_with`] does, if `admit` says so, or gives key and value
    /// back. It is asked, perhaps several times, while no other write to the shard can happen, after
    /// the key was looked for: it is given the key and the value that stands under it. It must be
    /// short, and must not use the cache.
    ///
    /// ```
    /// # use polycache_memory::Ttl;
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// let absent = |_: &u64, value: Option<&u64>| value.is_none();
    /// assert_eq!(cache.set_if(1, 10, Ttl::Default, absent)?, None);
    /// assert_eq!(cache.set_if(1, 11, Ttl::Default, absent)?, Some((1, 11)));
    /// assert_eq!(cache.get(&1), Some(10));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::set_with`].
    pub fn set_if(
        &self,
        key: K,
        value: V,
        ttl: impl Into<Ttl>,
        mut admit: impl FnMut(&K, Option<&V>) -> bool,
    ) -> Result<Option<(K, V)>, Error> {
        let place = self.place(&key);
        let moment = Moment::of(&self.0.settings.clock);
        let terms = self.terms(&key, &value, ttl.into(), &moment)?;
        let mut new = Some(New {
            key,
            value,
            hash: place.hash,
            terms,
        });
        let now = || moment.now();
        while let Some(coming) = &mut new {
            let mut shard = self.0.shards[place.shard].write(&self.0.readers);
            let index = shard.find(place.hash, &coming.key);
            let stands = index.filter(|index| !shard.is_over(*index, now));
            let stands = stands.and_then(|index| shard.at(index));
            if !admit(&coming.key, stands.map(|(_, value)| value)) {
                drop(shard);
                return Ok(new.map(|new| (new.key, new.value)));
            }
            let voided = shard.void_load(place.hash, &coming.key);
            let mut removed = Removed::new();
            match index {
                // The key was looked for once: more is asked for rarely.
                _ if shard.is_sweep_due(now) => {
                    shard.store(&mut new, &self.0.bounds, now, &mut removed);
                }
                None => shard.insert(&mut new, &self.0.bounds, now, &mut removed),
                Some(index) if shard.swap_at(index, &mut coming.value, terms, now) => {
                    drop(shard);
                    if let Some(New { key, value, .. }) = new {
                        self.tell_one(key, value, RemovalCause::Replaced);
                    }
                    drop(voided);
                    return Ok(None);
                }
                Some(_) => shard.store(&mut new, &self.0.bounds, now, &mut removed),
            }
            drop(shard);
            self.tell(removed);
            drop(voided);
            if new.is_some() {
                self.make_room(place.shard);
            }
        }
        Ok(None)
    }

    /// Gives the key's entry another time to live from now on, and is a use of it; true when there
    /// is one.
    ///
    /// ```
    /// # use polycache_memory::{Ttl, TtlLeft};
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// use std::time::Duration;
    /// cache.set_with(1, 10, Duration::from_secs(60))?;
    /// assert!(cache.touch(&1, Ttl::Forever)?);
    /// assert_eq!(cache.ttl(&1), Some(TtlLeft::Forever));
    /// assert!(!cache.touch(&2, Ttl::Forever)?);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` for a time to live of 0 or more than 2^48 - 1 ms. [`Ttl::Default`] is the
    /// cache's `ttl`; `expire_after` is not asked.
    pub fn touch<Q>(&self, key: &Q, ttl: impl Into<Ttl>) -> Result<bool, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let expires = ttl.into().expires(self.0.settings.ttl, self.now())?;
        let place = self.place(key);
        let mut shard = self.0.shards[place.shard].write(&self.0.readers);
        let Found::Value(_, index) = shard.read(place.hash, key, true, || self.now()) else {
            return Ok(false);
        };
        shard.prolong(index, expires, || self.now());
        Ok(true)
    }

    /// Stores a value; the key is cloned only when it has no entry.
    #[inline]
    fn swap_or_put<Q>(&self, key: &Q, mut value: V, terms: Terms, moment: &Moment<'_>)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let place = self.place(key);
        let mut shard = self.0.shards[place.shard].write(&self.0.readers);
        let voided = shard.void_load(place.hash, key);
        let swapped = shard.swap(place.hash, key, &mut value, terms, || moment.now());
        drop(shard);
        drop(voided);
        if !matches!(swapped, Swapped::Done) {
            self.put(key.to_owned(), value, terms, moment);
        }
    }

    /// Stores a value.
    fn put(&self, key: K, mut value: V, terms: Terms, moment: &Moment<'_>) {
        let place = self.place(&key);
        let mut shard = self.0.shards[place.shard].write(&self.0.readers);
        let voided = shard.void_load(place.hash, &key);
        let swapped = shard.swap(place.hash, &key, &mut value, terms, || moment.now());
        if let Swapped::Done = swapped {
            drop(shard);
            self.tell_one(key, value, RemovalCause::Replaced);
            return;
        }
        let mut new = Some(New {
            key,
            value,
            hash: place.hash,
            terms,
        });
        let mut removed = Removed::new();
        match swapped {
            Swapped::Absent => {
                shard.insert(&mut new, &self.0.bounds, || moment.now(), &mut removed)
            }
            _ => shard.store(&mut new, &self.0.bounds, || moment.now(), &mut removed),
        }
        drop(shard);
        self.tell(removed);
        drop(voided);
        if new.is_some() {
            self.store_elsewhere(place, new);
        }
    }

    /// Deletes the key and voids a load of it under way; true when an entry stood there.
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
            .is_some_and(|entry| entry.2 == RemovalCause::Removed);
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
        if removed.first()?.2 != RemovalCause::Removed {
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

    /// Takes out every entry whose time is over.
    ///
    /// Writes look for a few such entries each, in turn, and a read of one takes it out. This is for
    /// who wants to have them all gone now, or writes seldom.
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
    pub fn purge_expired(&self) {
        /// Places looked at before readers and other writers have their turn.
        const AT_ONCE: usize = 256;
        for lock in &self.0.shards {
            let mut looked = 0;
            loop {
                let mut removed = Removed::new();
                let mut shard = lock.write(&self.0.readers);
                shard.sweep(AT_ONCE, &self.0.bounds, || self.now(), &mut removed);
                let places = shard.indices() as usize;
                drop(shard);
                self.tell(removed);
                looked += AT_ONCE;
                if looked >= places {
                    break;
                }
            }
        }
    }

    /// Takes out every entry, and voids all loads under way. A set at the same time comes before it
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
            let voided = shard.void_loads();
            shard.clear(&self.0.bounds, &mut removed);
            drop(shard);
            self.tell(removed);
            drop(voided);
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
            ..Stats::default()
        };
        for lock in &self.0.shards {
            let counts = lock.read(&self.0.readers).counts;
            stats.writes += counts.writes;
            stats.deletes += counts.deletes;
            stats.evicted += counts.evicted;
            stats.expired += counts.expired;
            stats.voided_fills += counts.voided_fills;
        }
        stats
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.0.settings.clock.now()
    }

    /// Drops an entry that left, or gives it to the listener. No lock is held.
    #[inline]
    fn tell_one(&self, key: K, value: V, cause: RemovalCause) {
        if let Some(listener) = &self.0.settings.listener {
            listener(key, value, cause);
        }
    }

    /// The same of all that left.
    pub(crate) fn tell(&self, removed: Removed<K, V>) {
        match &self.0.settings.listener {
            None => drop(removed),
            Some(listener) => {
                for (key, value, cause) in removed {
                    listener(key, value, cause);
                }
            }
        }
    }
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

    /// The terms on which a write stores its entry. One that is too heavy deletes the one that it
    /// supersedes.
    #[inline]
    pub(crate) fn terms(
        &self,
        key: &K,
        value: &V,
        ttl: Ttl,
        moment: &Moment<'_>,
    ) -> Result<Terms, Error> {
        let settings = &self.0.settings;
        let ttl = match (&settings.expire_after, ttl) {
            (Some(expire_after), Ttl::Default) => expire_after(key, value),
            (_, ttl) => ttl,
        };
        let expires = self.expires(ttl, moment)?;
        let Some(weigher) = &settings.weigher else {
            return Ok(Terms { bytes: 1, expires });
        };
        let bytes = self.within_bounds(key, weigher(key, value))?;
        Ok(Terms { bytes, expires })
    }

    /// The bytes that count for an entry that weighs so much; the key's old one goes if it is too much.
    fn within_bounds<Q>(&self, key: &Q, bytes: u64) -> Result<u64, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        // 0 would let in any number of entries.
        let bytes = bytes.max(1);
        let limit = self.0.bounds.bytes.as_ref();
        let limit = limit.map_or(u64::MAX, |budget| budget.bound());
        if bytes > limit {
            self.delete(key);
            return Err(Error::EntryTooLarge { size: bytes, limit });
        }
        Ok(bytes)
    }

    /// When an entry expires that is written now.
    #[inline]
    pub(crate) fn expires(&self, ttl: Ttl, moment: &Moment<'_>) -> Result<u64, Error> {
        match ttl {
            Ttl::Default if self.0.settings.ttl == 0 => Ok(NEVER),
            Ttl::Forever => Ok(NEVER),
            ttl => ttl.expires(self.0.settings.ttl, moment.now()),
        }
    }

    /// Stores what found no room in its shard, with an entry of another one for it.
    #[cold]
    #[inline(never)]
    fn store_elsewhere(&self, place: Place, mut new: Option<New<K, V>>) {
        while let Some(coming) = &new {
            self.make_room(place.shard);
            let mut removed = Removed::new();
            let mut shard = self.0.shards[place.shard].write(&self.0.readers);
            let voided = shard.void_load(place.hash, &coming.key);
            shard.store(&mut new, &self.0.bounds, || self.now(), &mut removed);
            drop(shard);
            self.tell(removed);
            drop(voided);
        }
    }

    /// Takes an entry from another shard, so that this one, which is empty, may store one. The room
    /// is anybody's: who finds none calls again.
    #[cold]
    pub(crate) fn make_room(&self, shard: usize) {
        let shards = self.0.shards.iter();
        let others = shards.cycle().skip(shard + 1).take(self.0.shards.len() - 1);
        for lock in others {
            let mut removed = Removed::new();
            let mut shard = lock.write(&self.0.readers);
            let evicted = shard.evict(&self.0.bounds, || self.now(), &mut removed);
            drop(shard);
            self.tell(removed);
            if evicted {
                return;
            }
        }
        crate::sync::pause(u32::MAX);
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
            Found::Value(value, _) => (HITS, Some(value.clone()), false),
            Found::Nothing => (MISSES, None, false),
            Found::Over => (MISSES, None, true),
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
        let voided = shard.void_load(place.hash, key);
        if let Some(index) = shard.find(place.hash, key) {
            let cause = if shard.is_over(index, || self.now()) {
                RemovalCause::Expired
            } else {
                RemovalCause::Removed
            };
            shard.remove(index, cause, &self.0.bounds, &mut removed);
        }
        drop(shard);
        drop(voided);
        removed
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
            if shard.is_over(index, || self.now()) {
                shard.remove(index, RemovalCause::Expired, &self.0.bounds, &mut removed);
            }
        }
        drop(shard);
        self.tell(removed);
    }
}
