//! What writes do to a shard: they store, replace and remove entries, and evict some to make room.

use super::{Entry, Shard, Version, NEVER};
use crate::bounds::Bounds;
use crate::policy::Coming;
use crate::removed::{RemovalCause, Removed};
use crate::sync::AtomicBool;
use std::borrow::Borrow;

/// Number of entries that a write checks for expiry.
const SWEPT_BY_WRITE: usize = 4;

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

impl<K: Eq, V> Shard<K, V> {
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
        if self.has_expired(index, now) || self.bytes(index) != terms.bytes {
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
            if self.has_expired(index, now) {
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

    fn cause(&self, index: u32, now: impl Fn() -> u64) -> RemovalCause {
        if self.has_expired(index, now) {
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
