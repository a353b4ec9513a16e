//! A cache without a directory: entries in this process' memory.

use super::bounds::Bounds;
use super::key::{Key, Parts, Query};
use super::loads::Loads;
use super::namespace::{Namespace, Namespaces};
use super::stored::{Object, Stored};
use crate::Error;
use polycache_entry::Verify;
use polycache_host::{Clock, Report, Stats};
use polycache_memory::MemoryCache;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// One namespace of a cache without a directory.
#[derive(Clone)]
pub(crate) struct Alone {
    pub(super) shared: Arc<Shared>,
    pub(super) namespace: Arc<Namespace>,
}

/// What all namespaces of a cache have in common.
pub(crate) struct Shared {
    pub entries: MemoryCache<Key, Stored>,
    pub namespaces: Namespaces,
    pub loads: Loads,
    pub lease_timeout: Duration,
    pub clock: Clock,
    pub max_bytes: u64,
    pub closed: AtomicBool,
    /// Misses that were looked for again.
    pub misses_twice: AtomicU64,
    /// Objects that were kept beside an entry that was there: no writes of anybody's.
    pub kept: AtomicU64,
}

/// What the memory tier may hold, and by which clock.
pub(crate) struct Options {
    pub bounds: Bounds,
    pub lease_timeout: Duration,
    pub clock: Clock,
}

impl Alone {
    /// # Errors
    /// `InvalidArgument` for a bound of 0, or an empty part of the namespace.
    pub fn new(options: Options, parts: &[String]) -> Result<Alone, Error> {
        let (clock, expiring) = (options.clock.clone(), options.clock.clone());
        let entries = MemoryCache::builder()
            .max_entries(options.bounds.max_entries)
            .max_bytes(options.bounds.max_bytes)
            .weigher(Stored::weigh)
            .expire_after(move |_, stored| stored.ttl(|| expiring.now()))
            .clock(move || clock.now());
        let shared = Arc::new(Shared {
            entries: entries.build()?,
            namespaces: Namespaces::default(),
            loads: Loads::default(),
            lease_timeout: options.lease_timeout,
            clock: options.clock,
            max_bytes: options.bounds.max_bytes,
            closed: AtomicBool::new(false),
            misses_twice: AtomicU64::new(0),
            kept: AtomicU64::new(0),
        });
        let namespace = shared.namespaces.get(parts)?;
        Ok(Alone { shared, namespace })
    }

    /// Another namespace of the same cache.
    ///
    /// # Errors
    /// `InvalidArgument` for an empty part.
    pub fn namespace(&self, parts: &[String]) -> Result<Alone, Error> {
        Ok(Alone {
            shared: self.shared.clone(),
            namespace: self.shared.namespaces.get(parts)?,
        })
    }

    #[inline]
    pub fn prefix(&self) -> &[u8] {
        &self.namespace.prefix
    }

    #[inline]
    pub(super) fn query<'a>(&'a self, key: &'a [u8]) -> Query<'a> {
        Query {
            namespace: &self.namespace,
            generation: self.namespace.generation(),
            bytes: key,
        }
    }

    /// What `f` makes of the key's entry; a write may be waiting for it.
    #[inline]
    pub fn read<R>(&self, key: &[u8], f: impl FnOnce(&Stored) -> R) -> Result<Option<R>, Error> {
        self.still_open()?;
        let query: &dyn Parts = &self.query(key);
        let entries = &self.shared.entries;
        Ok(entries.get_with(query, |stored| {
            self.is_served(&stored.entry).then(|| f(stored))
        }))
    }

    /// By the rule of every tier: the memory's own clock only says when there is nothing left to serve.
    #[inline]
    pub(super) fn is_served(&self, entry: &[u8]) -> bool {
        polycache_entry::expires(entry) == 0
            || polycache_entry::is_valid_at(entry, self.shared.clock.now())
    }

    /// # Errors
    /// `EntryTooLarge`, after which the old value is gone; `Closed`.
    #[inline]
    pub fn put(&self, key: &[u8], entry: &[u8], object: Option<Object>) -> Result<(), Error> {
        self.still_open()?;
        let stored = self.stored(key, entry, object);
        let (ttl, bytes) = (stored.whole_ttl(), stored.bytes(key.len()));
        let query: &dyn Parts = &self.query(key);
        Ok(self.shared.entries.set_weighed(query, stored, ttl, bytes)?)
    }

    /// Stores an entry in the place of the one that was there before; false when that is there no more.
    ///
    /// # Errors
    /// As for [`Alone::put`].
    pub fn replace(&self, key: &[u8], before: &Arc<[u8]>, new: Stored) -> Result<bool, Error> {
        self.still_open()?;
        let ttl = new.whole_ttl();
        let is_there = |_: &Key, now: Option<&Stored>| {
            now.is_some_and(|stored| Arc::ptr_eq(&stored.entry, before))
        };
        let refused = self
            .shared
            .entries
            .set_if(self.query(key).to_key(), new, ttl, is_there)?;
        Ok(refused.is_none())
    }

    /// What a load is to store.
    ///
    /// # Errors
    /// `EntryTooLarge`, `Closed`.
    pub fn loaded(
        &self,
        key: &[u8],
        entry: &[u8],
        object: Option<Object>,
    ) -> Result<Stored, Error> {
        self.still_open()?;
        let stored = self.stored(key, entry, object);
        let (size, limit) = (stored.bytes(key.len()), self.shared.max_bytes);
        if size > limit {
            return Err(Error::EntryTooLarge { size, limit });
        }
        Ok(stored)
    }

    /// An object that there is no room for is left out.
    #[inline]
    pub fn stored(&self, key: &[u8], entry: &[u8], object: Option<Object>) -> Stored {
        let mut stored = Stored {
            entry: entry.into(),
            object,
        };
        if stored.object.is_some() && stored.bytes(key.len()) > self.shared.max_bytes {
            stored.object = None;
        }
        stored
    }

    /// Keeps an object beside the entry that it was decoded from, if that is still there.
    pub fn keep(&self, key: &[u8], entry: &Arc<[u8]>, object: Object) {
        let entries = &self.shared.entries;
        let whole = self.stored(key, entry, Some(object));
        let Some(object) = whole.object else { return };
        let kept = entries
            .entry(self.query(key).to_key())
            .and_modify(|stored| {
                if Arc::ptr_eq(&stored.entry, entry) {
                    stored.object = Some(object.clone());
                }
            });
        if matches!(kept.or_nothing(), Ok(Some(_))) {
            self.shared.kept.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// # Errors
    /// `Closed`.
    pub fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        self.still_open()?;
        let query: &dyn Parts = &self.query(key);
        let entries = &self.shared.entries;
        let taken = entries.take(query);
        Ok(taken.is_some_and(|stored| self.is_served(&stored.entry)))
    }

    /// Every key of this namespace that begins with `prefix`.
    ///
    /// # Errors
    /// `Closed`.
    pub fn keys(&self, prefix: &[u8], out: &mut Vec<Vec<u8>>) -> Result<(), Error> {
        self.still_open()?;
        let generation = self.namespace.generation();
        out.extend(self.entries().filter_map(|(key, _)| {
            let mine = key.generation == generation && key.bytes.starts_with(prefix);
            mine.then(|| key.bytes.into_vec())
        }));
        Ok(())
    }

    /// The full keys of all namespaces.
    ///
    /// # Errors
    /// `Closed`.
    pub fn full_keys(&self, out: &mut Vec<Vec<u8>>) -> Result<(), Error> {
        self.still_open()?;
        out.extend(self.entries().map(|(key, _)| {
            let mut full = key.namespace.prefix.clone();
            full.extend_from_slice(&key.bytes);
            full
        }));
        Ok(())
    }

    /// Every entry that a read would be served.
    fn entries(&self) -> impl Iterator<Item = (Key, Stored)> + '_ {
        self.shared.entries.iter().filter(|(key, stored)| {
            key.namespace.generation() == key.generation && self.is_served(&stored.entry)
        })
    }

    /// Clears this namespace, whose parts these are, and those nested in it.
    ///
    /// # Errors
    /// `Closed`.
    pub fn clear(&self, parts: &[String]) -> Result<(), Error> {
        self.still_open()?;
        let shared = &self.shared;
        shared.namespaces.clear(parts);
        // Nobody finds them any more; they go, so that others have their room, and loads are not stored.
        if parts.is_empty() {
            shared.entries.clear();
        } else {
            let cleared = |key: &Key| key.namespace.generation() != key.generation;
            shared.entries.clear_if(cleared);
        }
        Ok(())
    }

    /// # Errors
    /// `Closed`.
    pub fn stats(&self) -> Result<Stats, Error> {
        self.still_open()?;
        let stats = self.memory_stats();
        Ok(Stats {
            hits: stats.hits,
            misses: stats.misses,
            writes: stats.writes,
            deletes: stats.deletes,
            voided_fills: stats.voided_fills,
            entries: stats.entries,
            bytes: stats.bytes,
            limit: self.shared.max_bytes,
            max_record: self.shared.max_bytes,
            evicted_by_age: stats.evicted,
            expired: stats.expired,
            ..Stats::default()
        })
    }

    pub fn memory_stats(&self) -> polycache_memory::Stats {
        let mut stats = self.shared.entries.stats();
        let misses_twice = self.shared.misses_twice.load(Ordering::Relaxed);
        let kept = self.shared.kept.load(Ordering::Relaxed);
        stats.misses = stats.misses.saturating_sub(misses_twice);
        stats.writes = stats.writes.saturating_sub(kept);
        stats
    }

    /// # Errors
    /// `Closed`.
    pub fn check(&self) -> Result<Report, Error> {
        self.still_open()?;
        let mut report = Report {
            leases: self.shared.loads.count(),
            ..Report::default()
        };
        for (key, stored) in self.entries() {
            match polycache_entry::Header::parse(&stored.entry, Verify::Trusted) {
                Ok(_) => report.whole += 1,
                Err(error) => report
                    .damaged
                    .push(format!("{}: {error}", String::from_utf8_lossy(&key.bytes))),
            }
        }
        Ok(report)
    }

    pub fn close(&self) {
        self.shared.closed.store(true, Ordering::Release);
        self.shared.entries.clear();
    }

    #[inline]
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn still_open(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        Ok(())
    }

    #[inline]
    pub fn now(&self) -> u64 {
        self.shared.clock.now()
    }
}
