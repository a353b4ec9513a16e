//! Writing: every way to store a value, and how room is made for it.

use crate::cache::{Place, Settings};
use crate::clock::Moment;
use crate::removed::{RemovalCause, Removed};
use crate::shard::{Lookup, New, Swapped, Terms, NEVER};
use crate::{Error, MemoryCache, Ttl};
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
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
        self.set_on(key, value, Ttl::Default)
    }

    /// Stores a value with a time to live: a [`Duration`](std::time::Duration) or a [`Ttl`].
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<u64, u64>::new(100)?;
    /// use polycache_memory::{Ttl, TtlLeft};
    /// use std::time::Duration;
    /// cache.set_with_ttl(1, 10, Duration::from_secs(60))?;
    /// cache.set_with_ttl(2, 20, Ttl::Forever)?;
    /// assert_eq!(cache.ttl(&2), Some(TtlLeft::Forever));
    /// assert_eq!(cache.set_with_ttl(3, 30, Duration::ZERO).unwrap_err().code(), "invalid_argument");
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` for a time to live of 0 or more than 2^48 - 1 ms, which changes nothing;
    /// `EntryTooLarge` as for [`MemoryCache::set`].
    pub fn set_with_ttl(&self, key: K, value: V, ttl: impl Into<Ttl>) -> Result<(), Error> {
        self.set_on(key, value, ttl.into())
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
    /// As for [`MemoryCache::set_with_ttl`].
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
            self.within_bounds(bytes)
                .inspect_err(|_| self.supersede(key))?
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

    /// Stores a value as [`MemoryCache::set_with_ttl`] does, if `admit` says so, or gives key and value
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
    /// As for [`MemoryCache::set_with_ttl`].
    pub fn set_if(
        &self,
        key: K,
        value: V,
        ttl: impl Into<Ttl>,
        mut admit: impl FnMut(&K, Option<&V>) -> bool,
    ) -> Result<Option<(K, V)>, Error> {
        let place = self.place(&key);
        let moment = Moment::of(&self.0.settings.clock);
        let terms = self
            .terms(&key, &value, ttl.into(), &moment)
            .inspect_err(|error| self.refused(&key, error))?;
        let Some(terms) = terms else {
            return Ok(self.set_nothing_if(key, value, admit));
        };
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
            let stands = index.filter(|index| !shard.has_expired(*index, now));
            let stands = stands.and_then(|index| shard.at(index));
            if !admit(&coming.key, stands.map(|(_, value)| value)) {
                drop(shard);
                return Ok(new.map(|new| (new.key, new.value)));
            }
            let invalidated = shard.invalidate_load(place.hash, &coming.key);
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
                    drop(invalidated);
                    return Ok(None);
                }
                Some(_) => shard.store(&mut new, &self.0.bounds, now, &mut removed),
            }
            drop(shard);
            self.tell(removed);
            drop(invalidated);
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
    /// cache.set_with_ttl(1, 10, Duration::from_secs(60))?;
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
        let Lookup::Value(_, index) = shard.read(place.hash, key, true, || self.now()) else {
            return Ok(false);
        };
        shard.prolong(index, expires, || self.now());
        Ok(true)
    }

    #[inline]
    fn set_on(&self, key: K, value: V, ttl: Ttl) -> Result<(), Error> {
        let moment = Moment::of(&self.0.settings.clock);
        match self.terms(&key, &value, ttl, &moment) {
            Ok(Some(terms)) => self.put(key, value, terms, &moment),
            Ok(None) => self.supersede(&key),
            Err(error) => {
                self.refused(&key, &error);
                return Err(error);
            }
        }
        Ok(())
    }

    /// What [`MemoryCache::set_if`] does with a value whose time is over at once.
    #[cold]
    fn set_nothing_if(
        &self,
        key: K,
        value: V,
        mut admit: impl FnMut(&K, Option<&V>) -> bool,
    ) -> Option<(K, V)> {
        let admitted = self.delete_if(&key, |there| admit(&key, there));
        (!admitted).then_some((key, value))
    }

    /// Takes out what a write supersedes that stores nothing.
    #[cold]
    fn supersede<Q>(&self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.delete(key);
    }

    /// A write that is too heavy supersedes the key's old value; one on wrong terms changes nothing.
    #[cold]
    fn refused(&self, key: &K, error: &Error) {
        if matches!(error, Error::EntryTooLarge { .. }) {
            self.supersede(key);
        }
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
        let invalidated = shard.invalidate_load(place.hash, key);
        let swapped = shard.swap(place.hash, key, &mut value, terms, || moment.now());
        drop(shard);
        if !matches!(swapped, Swapped::Done) {
            self.put(key.to_owned(), value, terms, moment);
        }
        // Callers that waited for the load find this value.
        drop(invalidated);
    }

    /// Stores a value.
    fn put(&self, key: K, mut value: V, terms: Terms, moment: &Moment<'_>) {
        let place = self.place(&key);
        let mut shard = self.0.shards[place.shard].write(&self.0.readers);
        let invalidated = shard.invalidate_load(place.hash, &key);
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
        if new.is_some() {
            self.store_elsewhere(place, new);
        }
        drop(invalidated);
    }

    /// The terms on which a write stores its entry; `None` when its time is over at once.
    #[inline]
    pub(crate) fn terms(
        &self,
        key: &K,
        value: &V,
        ttl: Ttl,
        moment: &Moment<'_>,
    ) -> Result<Option<Terms>, Error> {
        let settings = &self.0.settings;
        let ttl = match (&settings.expire_after, ttl) {
            (Some(expire_after), Ttl::Default) => match expire_after(key, value).of_a_value() {
                Some(ttl) => ttl,
                None => return Ok(None),
            },
            (_, ttl) => ttl,
        };
        let expires = self.expires(ttl, moment)?;
        let bytes = self.weigh(key, value)?;
        Ok(Some(Terms { bytes, expires }))
    }

    /// The bytes that count for an entry.
    ///
    /// # Errors
    /// `EntryTooLarge`.
    #[inline]
    pub(crate) fn weigh(&self, key: &K, value: &V) -> Result<u64, Error> {
        match &self.0.settings.weigher {
            Some(weigher) => self.within_bounds(weigher(key, value)),
            None => Ok(1),
        }
    }

    /// The bytes that count for an entry that weighs so much.
    fn within_bounds(&self, bytes: u64) -> Result<u64, Error> {
        // 0 would let in any number of entries.
        let bytes = bytes.max(1);
        let limit = self.0.bounds.bytes.as_ref();
        let limit = limit.map_or(u64::MAX, |budget| budget.bound());
        if bytes > limit {
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
            let invalidated = shard.invalidate_load(place.hash, &coming.key);
            shard.store(&mut new, &self.0.bounds, || self.now(), &mut removed);
            drop(shard);
            self.tell(removed);
            drop(invalidated);
        }
    }

    /// Takes an entry from another shard, so that this one, which is empty, may store one. Any
    /// caller may use the room: one that finds none calls again.
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
}
