//! A shard of the cache: the entries of some keys, under one lock.
//!
//! The only user code called here is `Eq` of keys, and the clock that tests pass in. Nothing is dropped
//! here: removed values are handed out, to be dropped after the lock is released.

use crate::bounds::Bounds;
use crate::load::{Load, Voided};
use crate::policy::{Coming, Entries, Policy};
use crate::removed::{RemovalCause, Removed};
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering};
use crate::table::Table;
use std::borrow::Borrow;

/// The expiry of an entry that does not expire.
pub(crate) const NEVER: u64 = u64::MAX;
/// Number of entries that a write checks for expiry.
const SWEPT_BY_WRITE: usize = 4;

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
pub(crate) enum Found<T> {
    /// The value, and its index.
    Value(T, u32),
    /// An expired entry.
    Over,
    Nothing,
}

/// What happened in a shard.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub writes: u64,
    pub deletes: u64,
    pub evicted: u64,
    pub expired: u64,
    pub voided_fills: u64,
}

/// A value to store.
pub(crate) struct New<K, V> {
    pub key: K,
    pub value: V,
    pub hash: u32,
    pub terms: Terms,
}

/// The terms on which it is stored.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub bytes: u64,
    pub expires: u64,
}

/// The result of storing a value in place of another one.
pub(crate) enum Swapped {
    /// It was stored.
    Done,
    /// The key has no entry.
    Absent,
    /// It takes more than a swap: [`Shard::store`].
    NotSo,
}

impl<K, V> Entries for Table<Entry<K, V>> {
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

    /// When the entry expires by its time to live.
    pub fn expires(&self, index: u32) -> u64 {
        let entry = self.table.get(index).filter(|entry| entry.expires);
        let expires = entry.and_then(|_| self.expires.get(index as usize));
        expires.copied().unwrap_or(NEVER)
    }

    /// When the entry expires if it is not used.
    pub fn idles(&self, index: u32) -> u64 {
        match self.used.get(index as usize) {
            Some(used) => used
                .load(Ordering::Relaxed)
                .saturating_add(self.time_to_idle),
            None => NEVER,
        }
    }

    /// True when the entry has expired. Reads the clock only if entries have a time to live.
    #[inline]
    pub fn is_over(&self, index: u32, now: impl Fn() -> u64) -> bool {
        let entry = self.table.get(index);
        entry.is_some_and(|entry| self.has_time(entry) && self.was_over(index, now()))
    }

    #[inline]
    fn has_time(&self, entry: &Entry<K, V>) -> bool {
        entry.expires || self.time_to_idle > 0
    }

    fn was_over(&self, index: u32, now: u64) -> bool {
        now >= self.expires(index) || now >= self.idles(index)
    }

    /// Whether an entry with a time to live has expired; if not, this counts as a use.
    #[inline(never)]
    fn use_in_time(&self, index: u32, visit: bool, now: impl Fn() -> u64) -> bool {
        let now = now();
        if self.was_over(index, now) {
            return false;
        }
        if visit {
            self.touch(index, now);
        }
        true
    }

    /// The entry was used now.
    fn touch(&self, index: u32, now: u64) {
        if let Some(used) = self.used.get(index as usize) {
            if used.load(Ordering::Relaxed) != now {
                used.store(now, Ordering::Relaxed);
            }
        }
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
    ) -> Found<&V>
    where
        K: Borrow<Q>,
    {
        let Some((index, entry)) = self.entry(hash, key) else {
            return Found::Nothing;
        };
        if self.has_time(entry) && !self.use_in_time(index, visit, now) {
            return Found::Over;
        }
        // Only once, so that hits of a popular entry write nothing.
        if visit && !entry.visited.load(Ordering::Relaxed) {
            entry.visited.store(true, Ordering::Relaxed);
        }
        Found::Value(&entry.value, index)
    }

    /// Stores a value in place of the key's present one, and returns the old value in `value`, if that
    /// is all there is to do: the common case.
    #[inline]
    pub fn swap<Q: Eq + ?Sized>(
        &mut self,
        hash: u32,
        key: &Q,
        value: &mut V,
        terms: Terms,
        now: impl Fn() -> u64 + Copy,
    ) -> Swapped
    where
        K: Borrow<Q>,
    {
        self.swap_if(hash, key, value, terms, now, || true)
    }

    /// The same, if `admit`, called once the key was found, agrees.
    #[inline]
    pub fn swap_if<Q: Eq + ?Sized>(
        &mut self,
        hash: u32,
        key: &Q,
        value: &mut V,
        terms: Terms,
        now: impl Fn() -> u64 + Copy,
        admit: impl FnOnce() -> bool,
    ) -> Swapped
    where
        K: Borrow<Q>,
    {
        if self.is_sweep_due(now) {
            return Swapped::NotSo;
        }
        match self.find(hash, key) {
            None => Swapped::Absent,
            Some(index) if admit() && self.swap_at(index, value, terms, now) => Swapped::Done,
            Some(_) => Swapped::NotSo,
        }
    }

    /// Stores a value in place of the entry's present one, as [`Shard::swap`]; false when it takes more
    /// than that.
    #[inline]
    pub fn swap_at(
        &mut self,
        index: u32,
        value: &mut V,
        terms: Terms,
        now: impl Fn() -> u64 + Copy,
    ) -> bool {
        if self.is_over(index, now) || self.bytes(index) != terms.bytes {
            return false;
        }
        self.counts.writes += 1;
        self.replace(index, value, terms, now);
        true
    }

    /// Stores a value, if there is room for it or room can be made. Otherwise the value is not taken,
    /// and another shard has to give up room.
    pub fn store(
        &mut self,
        given: &mut Option<New<K, V>>,
        bounds: &Bounds,
        now: impl Fn() -> u64 + Copy,
        removed: &mut Removed<K, V>,
    ) {
        let Some(new) = given.as_ref() else {
            return;
        };
        if self.is_sweep_due(now) {
            self.sweep(SWEPT_BY_WRITE, bounds, now, removed);
        }
        let mut old = self.find(new.hash, &new.key);
        if let Some(index) = old {
            if self.is_over(index, now) {
                self.remove(index, RemovalCause::Expired, bounds, removed);
                old = None;
            }
        }
        match old {
            Some(index) => self.store_over(index, given, bounds, now, removed),
            None => self.insert(given, bounds, now, removed),
        }
    }

    /// Stores a value in place of another one, which may be evicted first to make room.
    fn store_over(
        &mut self,
        old: u32,
        given: &mut Option<New<K, V>>,
        bounds: &Bounds,
        now: impl Fn() -> u64 + Copy,
        removed: &mut Removed<K, V>,
    ) {
        let Some(Terms { bytes, .. }) = given.as_ref().map(|new| new.terms) else {
            return;
        };
        // Room freed by the entry's predecessor and by evicted entries.
        let (mut left, mut coming) = ((1, self.bytes(old)), Coming::BACK);
        let mut aside = None;
        while left != (1, bytes) && !bounds.exchange(left, (1, bytes)) {
            match self.policy.victim(&mut coming, &self.table) {
                // Its room is in `left` already, and it stays if that is not enough.
                Some(index) if index == old => aside = Some(old),
                Some(index) => {
                    left.0 += 1;
                    left.1 += self.bytes(index);
                    self.unlist(index, self.cause(index, now), removed);
                }
                None => {
                    bounds.give_back((left.0 - 1, left.1 - self.bytes(old)));
                    self.take_back(aside);
                    return;
                }
            }
        }
        self.take_back(aside);
        if let Some(mut new) = given.take() {
            self.counts.writes += 1;
            self.replace(old, &mut new.value, new.terms, now);
            // The present key stays: the new one is equal.
            removed.push(new.key, new.value, RemovalCause::Replaced);
        }
    }

    /// Stores a value whose key has none.
    pub fn insert(
        &mut self,
        given: &mut Option<New<K, V>>,
        bounds: &Bounds,
        now: impl Fn() -> u64 + Copy,
        removed: &mut Removed<K, V>,
    ) {
        let Some((hash, Terms { bytes, .. })) = given.as_ref().map(|new| (new.hash, new.terms))
        else {
            return;
        };
        let mut coming = self.policy.arrive(hash);
        // Room freed by evicted entries.
        let mut left = (0, 0);
        while left != (1, bytes) && !bounds.exchange(left, (1, bytes)) {
            let Some(index) = self.policy.victim(&mut coming, &self.table) else {
                bounds.give_back(left);
                return;
            };
            left.0 += 1;
            left.1 += self.bytes(index);
            self.unlist(index, self.cause(index, now), removed);
        }
        if let Some(new) = given.take() {
            self.counts.writes += 1;
            self.add(&coming, new, now);
        }
    }

    /// Returns an entry that is still there to the policy.
    fn take_back(&mut self, aside: Option<u32>) {
        if let Some(index) = aside {
            let bytes = self.policy.bytes(index);
            self.policy.on_insert(&Coming::BACK, index, bytes);
        }
    }

    /// Evicts an entry, so that another shard gets its room.
    pub fn evict(
        &mut self,
        bounds: &Bounds,
        now: impl Fn() -> u64,
        removed: &mut Removed<K, V>,
    ) -> bool {
        let mut coming = Coming::BACK;
        let Some(index) = self.policy.victim(&mut coming, &self.table) else {
            return false;
        };
        bounds.give_back((1, self.bytes(index)));
        self.unlist(index, self.cause(index, now), removed);
        true
    }

    /// Removes an entry.
    pub fn remove(
        &mut self,
        index: u32,
        cause: RemovalCause,
        bounds: &Bounds,
        removed: &mut Removed<K, V>,
    ) {
        self.policy.on_remove(index);
        bounds.give_back((1, self.bytes(index)));
        self.unlist(index, cause, removed);
    }

    /// Removes all entries.
    pub fn clear(&mut self, bounds: &Bounds, removed: &mut Removed<K, V>) {
        bounds.give_back((self.len() as u64, self.policy.total()));
        self.policy.clear();
        for entry in self.table.clear() {
            removed.push(entry.key, entry.value, RemovalCause::Cleared);
        }
        self.expires.clear();
        self.used.clear();
        self.soonest = NEVER;
        self.soonest_swept = NEVER;
        self.swept = 0;
    }

    /// Removes the entries with these indices for whose keys `cleared` returns true.
    pub fn clear_those(
        &mut self,
        indices: std::ops::Range<u32>,
        mut cleared: impl FnMut(&K) -> bool,
        bounds: &Bounds,
        removed: &mut Removed<K, V>,
    ) {
        for index in indices {
            if self.at(index).is_some_and(|(key, _)| cleared(key)) {
                self.remove(index, RemovalCause::Cleared, bounds, removed);
            }
        }
    }

    /// Whether there may be expired entries.
    #[inline]
    pub fn is_sweep_due(&self, now: impl Fn() -> u64) -> bool {
        self.soonest != NEVER && now() >= self.soonest
    }

    /// Restarts the search for expired entries, so that it knows when the next one expires once it has
    /// come round.
    pub fn begin_sweep(&mut self) {
        self.swept = 0;
        self.soonest_swept = NEVER;
    }

    /// Checks the next `places` places for expired entries, and removes those.
    #[cold]
    pub fn sweep(
        &mut self,
        places: usize,
        bounds: &Bounds,
        now: impl Fn() -> u64 + Copy,
        removed: &mut Removed<K, V>,
    ) {
        if self.soonest == NEVER {
            return;
        }
        let now = now();
        for _ in 0..places.min(self.table.indices()) {
            let index = self.swept as u32;
            if self.is_over(index, || now) {
                self.remove(index, RemovalCause::Expired, bounds, removed);
            } else if self.table.get(index).is_some() {
                let ends = self.expires(index).min(self.idles(index));
                self.soonest_swept = self.soonest_swept.min(ends);
            }
            self.swept += 1;
            if self.swept >= self.table.indices() {
                self.swept = 0;
                self.soonest = std::mem::replace(&mut self.soonest_swept, NEVER);
            }
        }
    }

    fn cause(&self, index: u32, now: impl Fn() -> u64) -> RemovalCause {
        if self.is_over(index, now) {
            RemovalCause::Expired
        } else {
            RemovalCause::Evicted
        }
    }

    fn add(&mut self, coming: &Coming, new: New<K, V>, now: impl Fn() -> u64) {
        let version = self.next_version();
        let entry = Entry {
            key: new.key,
            value: new.value,
            expires: new.terms.expires != NEVER,
            visited: AtomicBool::new(false),
            version,
        };
        let index = self.table.insert(new.hash, entry);
        self.set_times(index, new.terms.expires, now);
        self.policy.on_insert(coming, index, new.terms.bytes);
    }

    #[inline]
    fn replace(&mut self, index: u32, value: &mut V, terms: Terms, now: impl Fn() -> u64) {
        let version = self.next_version();
        if self.weighed {
            self.policy.on_bytes(index, terms.bytes);
        }
        if let Some(entry) = self.table.get_mut(index) {
            entry.expires = terms.expires != NEVER;
            entry.version = version;
            *entry.visited.get_mut() = true;
            std::mem::swap(&mut entry.value, value);
        }
        self.set_times(index, terms.expires, now);
    }

    /// For an entry that was just written.
    #[inline]
    fn set_times(&mut self, index: u32, expires: u64, now: impl Fn() -> u64) {
        if expires == NEVER && self.time_to_idle == 0 {
            return;
        }
        self.set_expires(index, expires);
        if self.time_to_idle > 0 {
            self.set_used(index, now());
        }
        let ends = expires.min(self.idles(index));
        self.soonest = self.soonest.min(ends);
        // The search may have passed it already.
        self.soonest_swept = self.soonest_swept.min(ends);
    }

    fn set_expires(&mut self, index: u32, expires: u64) {
        if expires == NEVER {
            return;
        }
        if self.expires.len() <= index as usize {
            self.expires.resize(self.table.capacity(), NEVER);
        }
        self.expires[index as usize] = expires;
    }

    /// Gives an entry another expiry.
    pub fn prolong(&mut self, index: u32, expires: u64, now: impl Fn() -> u64) {
        if let Some(entry) = self.table.get_mut(index) {
            entry.expires = expires != NEVER;
        }
        self.set_times(index, expires, now);
    }

    fn set_used(&mut self, index: u32, now: u64) {
        if self.used.len() <= index as usize {
            let places = self.table.capacity();
            self.used.resize_with(places, AtomicU64::default);
        }
        self.used[index as usize] = AtomicU64::new(now);
    }

    /// Removes an entry that the policy no longer knows and whose room was returned.
    fn unlist(&mut self, index: u32, cause: RemovalCause, removed: &mut Removed<K, V>) {
        if let Some(entry) = self.table.remove(index) {
            match cause {
                RemovalCause::Evicted => self.counts.evicted += 1,
                RemovalCause::Expired => self.counts.expired += 1,
                RemovalCause::Deleted => self.counts.deletes += 1,
                RemovalCause::Replaced | RemovalCause::Cleared => {}
            }
            removed.push(entry.key, entry.value, cause);
        }
    }

    fn next_version(&mut self) -> Version {
        self.version += 1;
        [
            self.version as u16,
            (self.version >> 16) as u16,
            (self.version >> 32) as u16,
        ]
    }

    /// The entry's weight. Looked up only if it is not 1.
    fn bytes(&self, index: u32) -> u64 {
        if self.weighed {
            self.policy.bytes(index)
        } else {
            1
        }
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
    pub fn void_load<Q: Eq + ?Sized>(&mut self, hash: u32, key: &Q) -> Option<Voided<K, V>>
    where
        K: Borrow<Q>,
    {
        if self.loads.len() == 0 {
            return None;
        }
        let index = self.loads.find(hash, |load| load.0.borrow() == key)?.0;
        self.counts.voided_fills += 1;
        self.loads
            .remove(index)
            .map(|(key, load)| Voided::new(key, load))
    }

    /// Takes the loads of these keys off the list, as [`Shard::void_load`] does.
    pub fn void_loads(&mut self, mut of: impl FnMut(&K) -> bool) -> Vec<Voided<K, V>> {
        let mut voided = Vec::new();
        for index in 0..self.loads.indices() as u32 {
            if self.loads.get(index).is_some_and(|(key, _)| of(key)) {
                let load = self.loads.remove(index);
                voided.extend(load.map(|(key, load)| Voided::new(key, load)));
                self.counts.voided_fills += 1;
            }
        }
        voided
    }
}
