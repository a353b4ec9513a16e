//! The tier of a cache without a directory: entries in this process' memory.

use super::locks::Locks;
use super::memory_key::{Key, Parts, Query};
use super::memory_namespaces::{Namespace, Namespaces};
use super::stamps::Stamps;
use super::stored::next_version;
use super::{Leased, Object, Place, Seen, Stored, Tier};
use crate::memory::Bounds;
use crate::observe::Answer;
use crate::{Error, MemoryStats};
use polycache_entry::Verify;
use polycache_host::{Clock, MemoryHits, Report, Stats, Store, Token};
use polycache_memory::{Leased as MemoryLease, MemoryCache};
use polycache_operations::{Holder, Lease};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// One namespace of it.
#[derive(Clone)]
pub(crate) struct MemoryTier {
    shared: Arc<Shared>,
    namespace: Arc<Namespace>,
}

/// Shared by all namespaces of a cache.
struct Shared {
    entries: MemoryCache<Key, Stored>,
    namespaces: Namespaces,
    locks: Locks,
    lease_timeout: Duration,
    clock: Clock,
    max_bytes: u64,
    closed: AtomicBool,
    counts: Counts,
    /// Of copies of what a server holds, over which there may be a memory tier.
    stamps: Option<Stamps>,
}

/// What the engine does not count, or counts in another way.
#[derive(Default)]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
    /// Misses of the engine that a load counts again, or that become hits.
    misses_twice: AtomicU64,
    /// Objects kept beside an entry that was there, and entries under other times: not writes by a caller.
    kept: AtomicU64,
    unstored: AtomicU64,
    wait_timeouts: AtomicU64,
    leases: AtomicU64,
}

/// What the memory tier may hold, and by which clock.
pub(crate) struct Options {
    pub bounds: Bounds,
    pub lease_timeout: Duration,
    pub clock: Clock,
    /// Whether the entries are copies of what a server holds, which come by leases only.
    pub holds_copies: bool,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl MemoryTier {
    /// # Errors
    /// `InvalidArgument` for a bound of 0, or an empty part of the namespace.
    pub fn new(options: Options, parts: &[String]) -> Result<MemoryTier, Error> {
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
            locks: Locks::default(),
            lease_timeout: options.lease_timeout,
            clock: options.clock,
            max_bytes: options.bounds.max_bytes,
            closed: AtomicBool::new(false),
            counts: Counts::default(),
            stamps: options.holds_copies.then(Stamps::new),
        });
        let namespace = shared.namespaces.get(parts)?;
        Ok(MemoryTier { shared, namespace })
    }

    #[inline]
    fn query<'a>(&'a self, key: &'a [u8]) -> Query<'a> {
        self.query_of(self.namespace.generation(), key)
    }

    fn query_of<'a>(&'a self, generation: u64, key: &'a [u8]) -> Query<'a> {
        Query {
            namespace: &self.namespace,
            generation,
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

    /// The key's entry, without using it.
    pub fn peek_stored(&self, key: &[u8]) -> Result<Option<Stored>, Error> {
        self.still_open()?;
        let query: &dyn Parts = &self.query(key);
        let stored = self.shared.entries.peek(query);
        Ok(stored.filter(|stored| self.is_served(&stored.entry)))
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
            count(&self.shared.counts.kept);
        }
    }

    /// Tells that a miss is looked for again, by a load.
    pub fn count_found_later(&self) {
        count(&self.shared.counts.misses_twice);
    }

    pub fn memory_stats(&self) -> MemoryStats {
        let mut stats = self.shared.entries.stats();
        let counts = &self.shared.counts;
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        stats.hits += now(&counts.hits);
        let misses = stats.misses + now(&counts.misses);
        stats.misses = misses.saturating_sub(now(&counts.misses_twice));
        stats.writes = stats.writes.saturating_sub(now(&counts.kept));
        stats
    }

    /// The rule of every tier: the memory's own clock only says when there is nothing left to serve.
    #[inline]
    fn is_served(&self, entry: &[u8]) -> bool {
        polycache_entry::expires(entry) == 0
            || polycache_entry::is_valid_at(entry, self.shared.clock.now())
    }

    /// An object is left out if there is no room for it.
    #[inline]
    fn stored(&self, key: &[u8], entry: &[u8], object: Option<Object>) -> Stored {
        let mut stored = Stored {
            entry: entry.into(),
            object,
            version: next_version(),
        };
        if stored.object.is_some() && stored.bytes(key.len()) > self.shared.max_bytes {
            stored.object = None;
        }
        stored
    }

    /// Stores an entry if `admit` says so of what is there; an entry that is too large changes nothing.
    fn store_if(
        &self,
        key: &[u8],
        new: Stored,
        admit: impl Fn(Option<&Stored>) -> bool,
    ) -> Result<bool, Error> {
        let (size, limit) = (new.bytes(key.len()), self.shared.max_bytes);
        if size > limit {
            return Err(Error::EntryTooLarge { size, limit });
        }
        let ttl = new.whole_ttl();
        let key = self.query(key).to_key();
        let admit = |_: &Key, now: Option<&Stored>| admit(now);
        Ok(self.shared.entries.set_if(key, new, ttl, admit)?.is_none())
    }

    fn full_key(&self, key: &[u8]) -> Vec<u8> {
        [&self.namespace.prefix, key].concat()
    }

    /// Where a read of the key that begins now finds its entry.
    #[inline]
    fn place(&self, key: &[u8]) -> Place {
        let stamps = self.shared.stamps.as_ref();
        stamps.map_or(Place::UNKNOWN, |stamps| Place::from(stamps.now(key)))
    }

    /// No object that was made of a copy of the key stands any more.
    #[inline]
    fn changed(&self, key: &[u8]) {
        if let Some(stamps) = &self.shared.stamps {
            stamps.change(key);
        }
    }

    /// Every entry that a read would be served.
    fn entries(&self) -> impl Iterator<Item = (Key, Stored)> + '_ {
        self.shared.entries.iter().filter(|(key, stored)| {
            key.namespace.generation() == key.generation && self.is_served(&stored.entry)
        })
    }

    #[inline]
    fn still_open(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        Ok(())
    }

    fn hit(&self, stored: &Stored, out: &mut Vec<u8>) -> Leased {
        out.extend_from_slice(&stored.entry);
        count(&self.shared.counts.hits);
        Leased {
            lease: Lease::Hit,
            place: Some(Place::UNKNOWN),
        }
    }
}

impl Tier for MemoryTier {
    fn namespace(&self, parts: &[String]) -> Result<Arc<dyn Tier>, Error> {
        Ok(Arc::new(MemoryTier {
            shared: self.shared.clone(),
            namespace: self.shared.namespaces.get(parts)?,
        }))
    }

    fn path(&self) -> &Path {
        Path::new("")
    }

    #[inline]
    fn prefix(&self) -> &[u8] {
        &self.namespace.prefix
    }

    fn answer(&self) -> Answer {
        Answer::Memory
    }

    fn is_shared(&self) -> bool {
        false
    }

    #[inline]
    fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        // Before the read.
        let place = self.place(key);
        let found = self.read(key, |stored| out.extend_from_slice(&stored.entry))?;
        Ok(found.map(|()| place))
    }

    fn find(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        let found = self.get(key, out)?;
        if found.is_none() {
            self.count_found_later();
        }
        Ok(found)
    }

    #[inline]
    fn stands(&self, place: &Place) -> bool {
        let stamps = self.shared.stamps.as_ref();
        place.is_known() && !self.is_closed() && stamps.is_some_and(|all| all.stands(place.hit))
    }

    fn mark_visited(&self, _: &Place) -> bool {
        false
    }

    fn add_memory_hits(&self, _: &MemoryHits, _: u64) {}

    #[inline]
    fn put(&self, key: &[u8], entry: &[u8], object: Option<Object>) -> Result<(), Error> {
        self.still_open()?;
        let stored = self.stored(key, entry, object);
        let (ttl, bytes) = (stored.whole_ttl(), stored.bytes(key.len()));
        let query: &dyn Parts = &self.query(key);
        Ok(self.shared.entries.set_weighed(query, stored, ttl, bytes)?)
    }

    fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        self.still_open()?;
        let query: &dyn Parts = &self.query(key);
        let taken = self.shared.entries.take(query);
        self.changed(key);
        Ok(taken.is_some_and(|stored| self.is_served(&stored.entry)))
    }

    fn store(&self) -> Option<&Store> {
        None
    }

    fn see(&self, key: &[u8]) -> Result<Option<Seen>, Error> {
        self.read(key, |stored| Seen::Stored(stored.clone()))
    }

    fn peek(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Seen>, Error> {
        let stored = self.peek_stored(key)?;
        Ok(stored.map(|stored| {
            out.extend_from_slice(&stored.entry);
            Seen::Stored(stored)
        }))
    }

    fn remove(&self, key: &[u8], seen: &Seen) -> Result<bool, Error> {
        self.still_open()?;
        let Seen::Stored(before) = seen else {
            return Ok(false);
        };
        let query: &dyn Parts = &self.query(key);
        let is_there = |now: Option<&Stored>| now.is_some_and(|now| now.is_same(before));
        Ok(self.shared.entries.delete_if(query, is_there))
    }

    fn invalidate_loads(&self, key: &[u8]) -> Result<bool, Error> {
        self.still_open()?;
        let query: &dyn Parts = &self.query(key);
        let is_absent =
            |now: Option<&Stored>| now.is_none_or(|stored| !self.is_served(&stored.entry));
        Ok(self.shared.entries.delete_if(query, is_absent))
    }

    fn renew(&self, key: &[u8], seen: &Seen, entry: &[u8]) -> Result<bool, Error> {
        let Seen::Stored(before) = seen else {
            return Ok(false);
        };
        let object = before.object.clone();
        let renewed = self.replace(key, seen, entry, object)?;
        if renewed {
            count(&self.shared.counts.kept);
        }
        Ok(renewed)
    }

    fn add(&self, key: &[u8], entry: &[u8], object: Option<Object>) -> Result<bool, Error> {
        self.still_open()?;
        let is_absent =
            |now: Option<&Stored>| now.is_none_or(|stored| !self.is_served(&stored.entry));
        self.store_if(key, self.stored(key, entry, object), is_absent)
    }

    fn exchange(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        object: Option<Object>,
    ) -> Result<bool, Error> {
        self.still_open()?;
        let Seen::Stored(before) = seen else {
            return Ok(false);
        };
        let is_there = |now: Option<&Stored>| now.is_some_and(|now| now.is_same(before));
        self.store_if(key, self.stored(key, entry, object), is_there)
    }

    fn version(&self, _: &[u8], seen: &Seen) -> Result<Option<u64>, Error> {
        Ok(match seen {
            Seen::Stored(stored) => Some(stored.version),
            _ => None,
        })
    }

    fn replace(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        object: Option<Object>,
    ) -> Result<bool, Error> {
        self.still_open()?;
        let Seen::Stored(before) = seen else {
            return Ok(false);
        };
        let new = self.stored(key, entry, object);
        let ttl = new.whole_ttl();
        let is_there = |_: &Key, now: Option<&Stored>| now.is_some_and(|now| now.is_same(before));
        let key = self.query(key).to_key();
        let refused = self.shared.entries.set_if(key, new, ttl, is_there)?;
        Ok(refused.is_none())
    }

    fn objects(&self) -> Option<MemoryTier> {
        Some(self.clone())
    }

    fn lease(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Leased, Error> {
        self.still_open()?;
        let generation = self.namespace.generation();
        let query = self.query_of(generation, key);
        let parts: &dyn Parts = &query;
        let entries = &self.shared.entries;
        let lease = match entries.lease(parts) {
            MemoryLease::Hit(stored) if self.is_served(&stored.entry) => {
                return Ok(self.hit(&stored, out))
            }
            MemoryLease::Hit(stored) => {
                // Another one that is there by now stays.
                let same = |there: &Stored| there.is_same(&stored);
                entries.expire_if(&query.to_key(), same);
                return self.lease(key, out);
            }
            MemoryLease::Acquired(word) => {
                // Whoever holds it may find something newer, or nothing: no object may outlive a copy that was evicted.
                self.changed(key);
                count(&self.shared.counts.misses);
                count(&self.shared.counts.leases);
                Lease::Acquired(Token {
                    slot: 0,
                    word,
                    born: generation,
                    beside: false,
                })
            }
            MemoryLease::Busy { lease: word, since } => Lease::Busy {
                holder: Holder {
                    slot: generation,
                    word,
                },
                overdue: since.elapsed() >= self.shared.lease_timeout,
            },
        };
        Ok(Leased { lease, place: None })
    }

    fn beside(&self, key: &[u8], holder: Holder) -> Result<Option<Token>, Error> {
        self.still_open()?;
        let token = Token {
            slot: 0,
            word: holder.word,
            born: holder.slot,
            beside: true,
        };
        let stands = self.is_leased(key, token);
        if stands {
            count(&self.shared.counts.misses);
        }
        Ok(stands.then_some(token))
    }

    fn fill(
        &self,
        key: &[u8],
        token: Token,
        entry: &[u8],
        object: Option<Object>,
    ) -> Result<bool, Error> {
        let stored = self.stored(key, entry, object);
        let (size, limit) = (stored.bytes(key.len()), self.shared.max_bytes);
        if size > limit {
            self.release(key, token);
            return Err(Error::EntryTooLarge { size, limit });
        }
        self.still_open()?;
        let ttl = stored.whole_ttl();
        let query: &dyn Parts = &self.query_of(token.born, key);
        let filled = self.shared.entries.fill(query, token.word, stored, ttl)?;
        if !token.beside {
            self.shared.counts.leases.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(filled)
    }

    fn release(&self, key: &[u8], token: Token) {
        if !token.beside {
            let query: &dyn Parts = &self.query_of(token.born, key);
            self.shared.entries.release(query, token.word);
            self.shared.counts.leases.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn is_leased(&self, key: &[u8], token: Token) -> bool {
        let query: &dyn Parts = &self.query_of(token.born, key);
        self.namespace.generation() == token.born
            && self.shared.entries.is_leased(query, token.word)
    }

    fn lock(&self, key: &[u8]) -> Result<Option<Token>, Error> {
        self.still_open()?;
        Ok(self.shared.locks.take(self.full_key(key)))
    }

    fn unlock(&self, key: &[u8], token: Token) {
        self.shared.locks.give_back(&self.full_key(key), token);
    }

    fn is_locked(&self, key: &[u8]) -> Result<bool, Error> {
        self.still_open()?;
        Ok(self.shared.locks.is_taken(&self.full_key(key)))
    }

    fn count_joined(&self, found: bool) {
        let counts = &self.shared.counts;
        count(if found { &counts.hits } else { &counts.misses });
    }

    fn count_unstored(&self) {
        count(&self.shared.counts.unstored);
    }

    fn count_wait_timeout(&self) {
        count(&self.shared.counts.wait_timeouts);
    }

    /// All keys in one go.
    fn keys(
        &self,
        prefix: &[u8],
        _cursor: u64,
        _budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        self.still_open()?;
        let generation = self.namespace.generation();
        out.extend(self.entries().filter_map(|(key, _)| {
            let mine = key.generation == generation && key.bytes.starts_with(prefix);
            mine.then(|| key.bytes.into_vec())
        }));
        Ok(None)
    }

    fn full_keys(
        &self,
        _cursor: u64,
        _budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        self.still_open()?;
        out.extend(self.entries().map(|(key, _)| {
            let mut full = key.namespace.prefix.clone();
            full.extend_from_slice(&key.bytes);
            full
        }));
        Ok(None)
    }

    fn clear(&self, parts: &[String]) -> Result<(), Error> {
        self.still_open()?;
        let shared = &self.shared;
        shared.namespaces.clear(parts);
        // They cannot be found any more; they go, to make room for others, and loads are not stored.
        if parts.is_empty() {
            shared.entries.clear();
        } else {
            let cleared = |key: &Key| key.namespace.generation() != key.generation;
            shared.entries.clear_if(cleared);
        }
        if let Some(stamps) = &shared.stamps {
            stamps.change_all();
        }
        Ok(())
    }

    fn clears_slowly(&self) -> bool {
        true
    }

    fn stats(&self) -> Result<Stats, Error> {
        self.still_open()?;
        let stats = self.memory_stats();
        let counts = &self.shared.counts;
        Ok(Stats {
            hits: stats.hits,
            misses: stats.misses,
            writes: stats.writes,
            deletes: stats.deletes,
            invalidated_loads: stats.invalidated_loads,
            unstored: counts.unstored.load(Ordering::Relaxed),
            wait_timeouts: counts.wait_timeouts.load(Ordering::Relaxed),
            entries: stats.entries,
            bytes: stats.bytes,
            limit: self.shared.max_bytes,
            max_record: self.shared.max_bytes,
            evicted_by_age: stats.evicted,
            expired: stats.expired,
            ..Stats::default()
        })
    }

    fn check(&self) -> Result<Report, Error> {
        self.still_open()?;
        let mut report = Report {
            leases: self.shared.counts.leases.load(Ordering::Relaxed),
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

    fn flush(&self) -> Result<(), Error> {
        self.still_open()
    }

    fn close(&self) {
        self.shared.closed.store(true, Ordering::Release);
        self.shared.entries.clear();
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }

    #[inline]
    fn now(&self) -> u64 {
        self.shared.clock.now()
    }
}
