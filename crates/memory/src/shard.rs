//! A shard of the cache: the entries of some keys, under one lock.
//!
//! The only user code called here is `Eq` of keys, and the clock that tests pass in. Nothing is dropped
//! here: removed values are handed out, to be dropped after the lock is released.

// With paths, because tests/interleavings compiles this file from elsewhere.
#[path = "shard/expiry.rs"]
mod expiry;
#[path = "shard/store.rs"]
mod store;

use crate::load::{Invalidated, Load};
use crate::policy::{EntriesByIndex, Policy};
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering};
use crate::table::Table;
use std::borrow::Borrow;

pub(crate) use store::{New, Swapped, Terms};

/// The expiry of an entry that does not expire.
pub(crate) const NEVER: u64 = u64::MAX;

/// The entries of some keys.
// In this order: a hit reads the first two.
#[repr(C)]
pub(crate) struct Shard<K, V> {
    table: Table<Entry<K, V>>,
    /// Milliseconds without use after which entries expire; 0 for never.
    time_to_idle: u64,
    /// No entry expires before this time.
    soonest: u64,
    /// When an entry expires, by index; empty until an entry has a time to live. Separate from the
    /// table, like the next one, so that a hit that does not need it reads less.
    expires: Vec<u64>,
    /// When an entry was last used, if entries expire by that; otherwise empty.
    used: Vec<AtomicU64>,
    policy: Policy,
    /// Loads in progress, with their keys.
    loads: Table<(K, Arc<Load<V>>)>,
    /// True when entries may weigh other than 1.
    weighed: bool,
    /// Where the search for expired entries continues.
    swept: usize,
    /// The value for `soonest` once the search has come round: the soonest of the entries it passed.
    soonest_swept: u64,
    version: u64,
    pub counts: Counts,
}

/// What a hit reads.
struct Entry<K, V> {
    key: K,
    value: V,
    /// True when it has a time to live.
    expires: bool,
    /// Set by hits, read by the policy.
    visited: AtomicBool,
    version: Version,
}

/// Different for every value stored in the shard: 48 bits, which fit beside two bools.
pub(crate) type Version = [u16; 3];

/// The result of a read.
pub(crate) enum Lookup<T> {
    /// The value, and its index.
    Value(T, u32),
    /// An expired entry.
    Expired,
    /// No entry.
    Absent,
}

/// What happened in a shard.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub writes: u64,
    pub deletes: u64,
    pub evicted: u64,
    pub expired: u64,
    pub invalidated_loads: u64,
}

impl<K, V> EntriesByIndex for Table<Entry<K, V>> {
    #[inline]
    fn take_mark(&self, index: u32) -> bool {
        // The writer's lock keeps readers out, so no hit sets the mark between these two.
        self.get(index).is_some_and(|entry| {
            let visited = entry.visited.load(Ordering::Relaxed);
            if visited {
                entry.visited.store(false, Ordering::Relaxed);
            }
            visited
        })
    }

    #[inline]
    fn hash(&self, index: u32) -> u32 {
        Table::hash(self, index)
    }
}

impl<K, V> Shard<K, V> {
    pub fn new(weighed: bool, time_to_idle: u64) -> Shard<K, V> {
        Shard {
            table: Table::default(),
            soonest: NEVER,
            expires: Vec::new(),
            used: Vec::new(),
            policy: Policy::default(),
            loads: Table::default(),
            weighed,
            time_to_idle,
            swept: 0,
            soonest_swept: NEVER,
            version: 0,
            counts: Counts::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Greater than every index that is or was in use.
    pub fn indices(&self) -> u32 {
        self.table.indices() as u32
    }

    /// The entry at an index.
    pub fn at(&self, index: u32) -> Option<(&K, &V)> {
        let entry = self.table.get(index)?;
        Some((&entry.key, &entry.value))
    }

    pub fn version(&self, index: u32) -> Option<Version> {
        self.table.get(index).map(|entry| entry.version)
    }
}

impl<K: Eq, V> Shard<K, V> {
    /// The index of the key's entry, expired or not.
    #[inline]
    pub fn find<Q: Eq + ?Sized>(&self, hash: u32, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        self.entry(hash, key).map(|(index, _)| index)
    }

    #[inline]
    fn entry<Q: Eq + ?Sized>(&self, hash: u32, key: &Q) -> Option<(u32, &Entry<K, V>)>
    where
        K: Borrow<Q>,
    {
        self.table.find(hash, |entry| entry.key.borrow() == key)
    }

    /// Reads the key; with `visit`, a hit marks the entry for the policy.
    #[inline]
    pub fn read<Q: Eq + ?Sized>(
        &self,
        hash: u32,
        key: &Q,
        visit: bool,
        now: impl Fn() -> u64,
    ) -> Lookup<&V>
    where
        K: Borrow<Q>,
    {
        let Some((index, entry)) = self.entry(hash, key) else {
            return Lookup::Absent;
        };
        if self.has_time(entry) && !self.use_in_time(index, visit, now) {
            return Lookup::Expired;
        }
        // Only once, so that hits of a popular entry write nothing.
        if visit && !entry.visited.load(Ordering::Relaxed) {
            entry.visited.store(true, Ordering::Relaxed);
        }
        Lookup::Value(&entry.value, index)
    }
}

/// Loads in progress.
impl<K: Eq, V> Shard<K, V> {
    /// The load of the key.
    pub fn load<Q: Eq + ?Sized>(&self, hash: u32, key: &Q) -> Option<&Arc<Load<V>>>
    where
        K: Borrow<Q>,
    {
        let found = self.loads.find(hash, |load| load.0.borrow() == key);
        found.map(|(_, load)| &load.1)
    }

    /// Whether any key is being loaded.
    #[inline]
    pub fn has_loads(&self) -> bool {
        self.loads.len() > 0
    }

    /// Lists a load of a key that has none.
    pub fn begin_load(&mut self, hash: u32, key: K, load: Arc<Load<V>>) {
        self.loads.insert(hash, (key, load));
    }

    /// Takes the load off the list and returns its key, unless it was taken off before.
    pub fn end_load(&mut self, hash: u32, load: &Arc<Load<V>>) -> Option<K> {
        let found = self.loads.find(hash, |other| Arc::ptr_eq(&other.1, load));
        let index = found?.0;
        self.loads.remove(index).map(|(key, _)| key)
    }

    /// Takes the key's load off the list: it will not be stored. Drop the result after the lock is
    /// released.
    #[inline]
    pub fn invalidate_load<Q: Eq + ?Sized>(
        &mut self,
        hash: u32,
        key: &Q,
    ) -> Option<Invalidated<K, V>>
    where
        K: Borrow<Q>,
    {
        if self.loads.len() == 0 {
            return None;
        }
        let index = self.loads.find(hash, |load| load.0.borrow() == key)?.0;
        self.counts.invalidated_loads += 1;
        self.loads
            .remove(index)
            .map(|(key, load)| Invalidated::new(key, load))
    }

    /// Takes the loads of these keys off the list, as [`Shard::invalidate_load`] does.
    pub fn invalidate_loads(&mut self, mut of: impl FnMut(&K) -> bool) -> Vec<Invalidated<K, V>> {
        let mut invalidated = Vec::new();
        for index in 0..self.loads.indices() as u32 {
            if self.loads.get(index).is_some_and(|(key, _)| of(key)) {
                let load = self.loads.remove(index);
                invalidated.extend(load.map(|(key, load)| Invalidated::new(key, load)));
                self.counts.invalidated_loads += 1;
            }
        }
        invalidated
    }
}
