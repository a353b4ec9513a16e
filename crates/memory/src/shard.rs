//! A part of the cache: the entries of some keys, under one lock.
//!
//! Nothing here calls code of users but `Eq` of keys, and the clock that tests give. Nothing is dropped
//! here: what leaves is handed out, to be dropped after the lock is given back.

use crate::bounds::Bounds;
use crate::load::Load;
use crate::policy::{Coming, Policy};
use crate::removed::{RemovalCause, Removed};
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering};
use hashbrown::HashTable;
use std::borrow::Borrow;

/// When an entry expires that does not.
pub(crate) const NEVER: u64 = u64::MAX;
/// Entries that a write looks at to find expired ones.
const SWEPT_BY_WRITE: usize = 4;

/// The entries of some keys.
// In this order: a hit reads the first three.
#[repr(C)]
pub(crate) struct Shard<K, V> {
    /// By a key's hash: its index in `slab`.
    table: HashTable<u32>,
    slab: Vec<Option<Entry<K, V>>>,
    /// Milliseconds without use after which entries expire; 0 is never.
    time_to_idle: u64,
    /// When an entry expires, by index, from the first one on that does. Apart from the slab, as
    /// are the next ones, so that a hit without need of it has less to read.
    expires: Vec<u64>,
    /// When an entry was used last, if entries expire by that; otherwise empty.
    used: Vec<AtomicU64>,
    /// Indices that are free.
    free: Vec<u32>,
    policy: Policy,
    /// Loads under way, with their keys.
    loads: HashTable<(u64, K, Arc<Load<V>>)>,
    /// Whether entries weigh anything but 1.
    weighed: bool,
    /// Entries that have a time to live.
    expiring: usize,
    /// Where the search for expired entries goes on.
    swept: usize,
    version: u64,
    pub counts: Counts,
}

/// What a hit reads.
struct Entry<K, V> {
    key: K,
    value: V,
    /// Whether it has a time to live.
    expires: bool,
    /// Set by hits, asked for by the policy.
    visited: AtomicBool,
    version: Version,
}

/// Another one for every value that was stored in the shard: 48 bits, in the space that is left beside
/// two bools.
pub(crate) type Version = [u16; 3];

/// What a read finds.
pub(crate) enum Found<T> {
    /// The value, and its index.
    Value(T, u32),
    /// An entry whose time is over.
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

/// What is to be stored.
pub(crate) struct New<K, V> {
    pub key: K,
    pub value: V,
    pub hash: u64,
    pub bytes: u64,
    pub expires: u64,
}

impl<K, V> Shard<K, V> {
    pub fn new(weighed: bool, time_to_idle: u64) -> Shard<K, V> {
        Shard {
            table: HashTable::new(),
            slab: Vec::new(),
            expires: Vec::new(),
            used: Vec::new(),
            free: Vec::new(),
            policy: Policy::default(),
            loads: HashTable::new(),
            weighed,
            time_to_idle,
            expiring: 0,
            swept: 0,
            version: 0,
            counts: Counts::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Indices that are or were in use are below.
    pub fn indices(&self) -> u32 {
        self.slab.len() as u32
    }

    /// The entry at an index.
    pub fn at(&self, index: u32) -> Option<(&K, &V)> {
        let entry = self.entry(index)?;
        Some((&entry.key, &entry.value))
    }

    pub fn version(&self, index: u32) -> Option<Version> {
        self.entry(index).map(|entry| entry.version)
    }

    /// When the entry expires by its time to live.
    pub fn expires(&self, index: u32) -> u64 {
        let entry = self.entry(index).filter(|entry| entry.expires);
        let expires = entry.and_then(|_| self.expires.get(index as usize));
        expires.copied().unwrap_or(NEVER)
    }

    /// When the entry expires unless it is used.
    pub fn idles(&self, index: u32) -> u64 {
        match self.used.get(index as usize) {
            Some(used) => used
                .load(Ordering::Relaxed)
                .saturating_add(self.time_to_idle),
            None => NEVER,
        }
    }

    /// True when the entry's time is over. The clock is read only where entries have a time.
    #[inline]
    pub fn is_over(&self, index: u32, now: impl Fn() -> u64) -> bool {
        let entry = self.entry(index);
        entry.is_some_and(|entry| self.entry_is_over(index, entry, now))
    }

    #[inline]
    fn entry_is_over(&self, index: u32, entry: &Entry<K, V>, now: impl Fn() -> u64) -> bool {
        (entry.expires || self.time_to_idle > 0) && self.was_over(index, now())
    }

    fn was_over(&self, index: u32, now: u64) -> bool {
        now >= self.expires(index) || now >= self.idles(index)
    }

    /// Whether the time of an entry that has one is over; if not, the entry was used now.
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

    #[inline]
    fn entry(&self, index: u32) -> Option<&Entry<K, V>> {
        self.slab.get(index as usize)?.as_ref()
    }
}

impl<K: Eq, V> Shard<K, V> {
    /// The index of the key's entry, be its time over or not.
    #[inline]
    pub fn find<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        let same = |index: &u32| {
            let entry = self.entry(*index);
            entry.is_some_and(|entry| entry.key.borrow() == key)
        };
        self.table.find(hash, same).copied()
    }

    /// Reads the key; `visit` for a hit that says so to the policy.
    #[inline]
    pub fn read<Q: Eq + ?Sized>(
        &self,
        hash: u64,
        key: &Q,
        visit: bool,
        now: impl Fn() -> u64,
    ) -> Found<&V>
    where
        K: Borrow<Q>,
    {
        let Some(index) = self.find(hash, key) else {
            return Found::Nothing;
        };
        let Some(entry) = self.entry(index) else {
            return Found::Nothing;
        };
        if (entry.expires || self.time_to_idle > 0) && !self.use_in_time(index, visit, now) {
            return Found::Over;
        }
        // Once, so that hits of a popular entry write nothing.
        if visit && !entry.visited.load(Ordering::Relaxed) {
            entry.visited.store(true, Ordering::Relaxed);
        }
        Found::Value(&entry.value, index)
    }

    /// Stores a value, if there is or can be made room for it. Otherwise it is not taken, and another
    /// shard has to give room.
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
        let bytes = new.bytes;
        self.sweep(SWEPT_BY_WRITE, bounds, now, removed);
        let mut old = self.find(new.hash, &new.key);
        if let Some(index) = old {
            if self.is_over(index, now) {
                self.remove(index, RemovalCause::Expired, bounds, removed);
                old = None;
            }
        }
        // Room that the entry's predecessor and those who make way for it leave.
        let (mut left, mut coming) = match old {
            Some(index) => ((1, self.bytes(index)), Coming::BACK),
            None => ((0, 0), self.policy.arrive(new.hash)),
        };
        let mut aside = None;
        while left != (1, bytes) && !bounds.exchange(left, (1, bytes)) {
            match self.victim(&mut coming) {
                // Its room is in `left` already, and it stays if there is not enough.
                Some(index) if old == Some(index) => aside = old,
                Some(index) => {
                    left.0 += 1;
                    left.1 += self.bytes(index);
                    self.unlist(index, self.cause(index, now), removed);
                }
                None => {
                    let stays = old.map_or(0, |index| self.bytes(index));
                    bounds.give_back((left.0 - u64::from(old.is_some()), left.1 - stays));
                    self.take_back(aside);
                    return;
                }
            }
        }
        self.take_back(aside);
        if let Some(new) = given.take() {
            self.counts.writes += 1;
            match old {
                Some(index) => self.replace(index, new, now, removed),
                None => self.add(&coming, new, now),
            }
        }
    }

    /// Gives an entry that is still there back to the policy.
    fn take_back(&mut self, aside: Option<u32>) {
        if let Some(index) = aside {
            let (hash, bytes) = (self.policy.hash(index), self.policy.bytes(index));
            self.policy.on_insert(&Coming::BACK, index, hash, bytes);
        }
    }

    fn victim(&mut self, coming: &mut Coming) -> Option<u32> {
        let slab = &self.slab;
        self.policy.victim(coming, |index| {
            let entry = slab.get(index as usize).and_then(Option::as_ref);
            // No reader is in: nobody sets it between these two.
            entry.is_some_and(|entry| {
                let visited = entry.visited.load(Ordering::Relaxed);
                if visited {
                    entry.visited.store(false, Ordering::Relaxed);
                }
                visited
            })
        })
    }

    /// Gives up an entry, so that another shard has its room.
    pub fn evict(
        &mut self,
        bounds: &Bounds,
        now: impl Fn() -> u64,
        removed: &mut Removed<K, V>,
    ) -> bool {
        let mut coming = Coming::BACK;
        let Some(index) = self.victim(&mut coming) else {
            return false;
        };
        bounds.give_back((1, self.bytes(index)));
        self.unlist(index, self.cause(index, now), removed);
        true
    }

    /// Takes an entry out.
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

    /// Takes all entries out.
    pub fn clear(&mut self, bounds: &Bounds, removed: &mut Removed<K, V>) {
        bounds.give_back((self.len() as u64, self.policy.total()));
        self.table.clear();
        self.policy.clear();
        for entry in self.slab.drain(..).flatten() {
            removed.push((entry.key, entry.value, RemovalCause::Cleared));
        }
        self.expires.clear();
        self.used.clear();
        self.free.clear();
        self.expiring = 0;
        self.swept = 0;
    }

    /// Looks at the next so many places for entries whose time is over, and takes those out.
    pub fn sweep(
        &mut self,
        places: usize,
        bounds: &Bounds,
        now: impl Fn() -> u64 + Copy,
        removed: &mut Removed<K, V>,
    ) {
        if self.expiring == 0 && self.time_to_idle == 0 {
            return;
        }
        let now = now();
        for _ in 0..places.min(self.slab.len()) {
            if self.swept >= self.slab.len() {
                self.swept = 0;
            }
            let index = self.swept as u32;
            self.swept += 1;
            if self.is_over(index, || now) {
                self.remove(index, RemovalCause::Expired, bounds, removed);
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
        let index = self.free.pop().unwrap_or(self.slab.len() as u32);
        let place = index as usize;
        let version = self.next_version();
        let entry = Entry {
            key: new.key,
            value: new.value,
            expires: new.expires != NEVER,
            visited: AtomicBool::new(false),
            version,
        };
        self.expiring += usize::from(entry.expires);
        if place == self.slab.len() {
            self.slab.push(Some(entry));
            if self.time_to_idle > 0 {
                self.used.push(AtomicU64::new(now()));
            }
        } else {
            self.slab[place] = Some(entry);
            self.use_now(index, now);
        }
        self.set_expires(index, new.expires);
        let policy = &self.policy;
        self.table
            .insert_unique(new.hash, index, |index| policy.hash(*index));
        self.policy.on_insert(coming, index, new.hash, new.bytes);
    }

    fn replace(
        &mut self,
        index: u32,
        new: New<K, V>,
        now: impl Fn() -> u64,
        removed: &mut Removed<K, V>,
    ) {
        let version = self.next_version();
        if self.weighed {
            self.policy.on_bytes(index, new.bytes);
        }
        if let Some(entry) = self.slab[index as usize].as_mut() {
            self.expiring -= usize::from(entry.expires);
            entry.expires = new.expires != NEVER;
            entry.version = version;
            *entry.visited.get_mut() = true;
            self.expiring += usize::from(entry.expires);
            let old = std::mem::replace(&mut entry.value, new.value);
            // The key that stands stays: it is equal.
            removed.push((new.key, old, RemovalCause::Replaced));
        }
        self.set_expires(index, new.expires);
        self.use_now(index, now);
    }

    fn set_expires(&mut self, index: u32, expires: u64) {
        if expires == NEVER {
            return;
        }
        if self.expires.len() < self.slab.len() {
            self.expires.resize(self.slab.capacity(), NEVER);
        }
        self.expires[index as usize] = expires;
    }

    /// Gives an entry another time at which it expires.
    pub fn prolong(&mut self, index: u32, expires: u64) {
        if let Some(entry) = self.slab[index as usize].as_mut() {
            self.expiring -= usize::from(entry.expires);
            entry.expires = expires != NEVER;
            self.expiring += usize::from(entry.expires);
        }
        self.set_expires(index, expires);
    }

    fn use_now(&self, index: u32, now: impl Fn() -> u64) {
        if self.time_to_idle > 0 {
            self.touch(index, now());
        }
    }

    /// Takes an entry out that the policy no longer knows and whose room was given back.
    fn unlist(&mut self, index: u32, cause: RemovalCause, removed: &mut Removed<K, V>) {
        let hash = self.policy.hash(index);
        if let Ok(place) = self.table.find_entry(hash, |place| *place == index) {
            place.remove();
        }
        self.free.push(index);
        if let Some(entry) = self.slab[index as usize].take() {
            self.expiring -= usize::from(entry.expires);
            match cause {
                RemovalCause::Evicted => self.counts.evicted += 1,
                RemovalCause::Expired => self.counts.expired += 1,
                RemovalCause::Removed => self.counts.deletes += 1,
                RemovalCause::Replaced | RemovalCause::Cleared => {}
            }
            removed.push((entry.key, entry.value, cause));
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

    /// What an entry weighs. Looked up only where it is not 1.
    fn bytes(&self, index: u32) -> u64 {
        if self.weighed {
            self.policy.bytes(index)
        } else {
            1
        }
    }
}

/// Loads under way.
impl<K: Eq, V> Shard<K, V> {
    /// The load of the key.
    pub fn load<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<&Arc<Load<V>>>
    where
        K: Borrow<Q>,
    {
        if self.loads.is_empty() {
            return None;
        }
        let same = |load: &(u64, K, _)| load.0 == hash && load.1.borrow() == key;
        self.loads.find(hash, same).map(|load| &load.2)
    }

    /// Lists a load of a key that has none.
    pub fn begin_load(&mut self, hash: u64, key: K, load: Arc<Load<V>>) {
        let hasher = |load: &(u64, K, _)| load.0;
        self.loads.insert_unique(hash, (hash, key, load), hasher);
    }

    /// Takes the load off the list: its key, unless it was taken off before.
    pub fn end_load(&mut self, hash: u64, load: &Arc<Load<V>>) -> Option<K> {
        let same = |other: &(u64, K, Arc<Load<V>>)| Arc::ptr_eq(&other.2, load);
        let found = self.loads.find_entry(hash, same).ok()?;
        Some(found.remove().0 .1)
    }

    /// Takes the key's load off the list: it will not be stored. What is returned is to be dropped
    /// after the lock.
    pub fn void_load<Q: Eq + ?Sized>(&mut self, hash: u64, key: &Q) -> Option<(K, Arc<Load<V>>)>
    where
        K: Borrow<Q>,
    {
        if self.loads.is_empty() {
            return None;
        }
        let same = |load: &(u64, K, _)| load.0 == hash && load.1.borrow() == key;
        let found = self.loads.find_entry(hash, same).ok()?;
        let (_, key, load) = found.remove().0;
        self.counts.voided_fills += 1;
        Some((key, load))
    }

    /// Takes all loads off the list.
    pub fn void_loads(&mut self) -> HashTable<(u64, K, Arc<Load<V>>)> {
        self.counts.voided_fills += self.loads.len() as u64;
        std::mem::take(&mut self.loads)
    }
}
