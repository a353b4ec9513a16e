//! How much of a bound is used, over all shards.

use crate::sync::{AtomicU64, Ordering};

/// A bound that is kept at every instant: room is taken before it is used, and given back after.
#[repr(align(128))]
#[derive(Debug)]
pub(crate) struct Budget {
    bound: u64,
    used: AtomicU64,
}

impl Budget {
    /// `u64::MAX` is no bound.
    pub fn new(bound: u64) -> Budget {
        Budget {
            bound,
            used: AtomicU64::new(0),
        }
    }

    pub fn bound(&self) -> u64 {
        self.bound
    }

    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes so much, if there is room for all of it.
    #[inline]
    pub fn take(&self, amount: u64) -> bool {
        if amount == 0 {
            return true;
        }
        let fits = |used: u64| used.checked_add(amount).filter(|sum| *sum <= self.bound);
        // What is bounded is guarded by the shards' locks; the sum orders nothing.
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        taken.is_ok()
    }

    #[inline]
    pub fn give_back(&self, amount: u64) {
        if amount > 0 {
            self.used.fetch_sub(amount, Ordering::Relaxed);
        }
    }
}
