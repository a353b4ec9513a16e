//! When the entries of a shard expire, and the search for those that have.

use super::{Entry, Shard, NEVER};
use crate::bounds::Bounds;
use crate::removed::{RemovalCause, Removed};
use crate::sync::{AtomicU64, Ordering};

impl<K, V> Shard<K, V> {
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
    pub fn has_expired(&self, index: u32, now: impl Fn() -> u64) -> bool {
        let entry = self.table.get(index);
        entry.is_some_and(|entry| self.has_time(entry) && self.expired_at(index, now()))
    }

    #[inline]
    pub(super) fn has_time(&self, entry: &Entry<K, V>) -> bool {
        entry.expires || self.time_to_idle > 0
    }

    fn expired_at(&self, index: u32, now: u64) -> bool {
        now >= self.expires(index) || now >= self.idles(index)
    }

    /// Whether an entry with a time to live has expired; if not, this counts as a use.
    #[inline(never)]
    pub(super) fn use_in_time(&self, index: u32, visit: bool, now: impl Fn() -> u64) -> bool {
        let now = now();
        if self.expired_at(index, now) {
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
            if self.has_expired(index, || now) {
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

    /// For an entry that was just written.
    #[inline]
    pub(super) fn set_times(&mut self, index: u32, expires: u64, now: impl Fn() -> u64) {
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
}
