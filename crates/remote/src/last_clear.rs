//! The last clear that a process heard of (`spec/remote.md`, "Clock").

use std::sync::atomic::{AtomicU64, Ordering};

/// The highest number of a clear that replies of this database told a process of. It is no copy: a write is born then
/// without asking first, and asks in the same round trip whether that is still right.
#[derive(Debug, Default)]
pub struct LastClear(AtomicU64);

impl LastClear {
    /// Its number; 0: of none.
    pub fn number(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// A reply told of this one.
    pub fn hear(&self, number: u64) {
        // Nearly always it is known.
        if number > self.number() {
            self.0.fetch_max(number, Ordering::Relaxed);
        }
    }

    /// A write that was born at `believed` was told that the last clear is `found`, an earlier one: the database has lost its
    /// clock, or is another one.
    pub fn lower(&self, believed: u64, found: u64) {
        // If it has moved, somebody heard of another clear since.
        let _ = self
            .0
            .compare_exchange(believed, found, Ordering::Relaxed, Ordering::Relaxed);
    }
}
