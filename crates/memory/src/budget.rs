//! How much of a bound all shards use together.

use crate::sync::{AtomicU64, Ordering};

/// A bound that holds at every instant: room is taken before it is used, and returned afterwards.
#[repr(align(128))]
#[derive(Debug)]
pub(crate) struct Budget {
    bound: u64,
    used: AtomicU64,
}

impl Budget {
    /// `u64::MAX` means no bound.
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

    /// Takes this much, if there is room for all of it.
    #[inline]
    pub fn take(&self, amount: u64) -> bool {
        if amount == 0 {
            return true;
        }
        let fits = |used: u64| used.checked_add(amount).filter(|sum| *sum <= self.bound);
        // The shards' locks guard what is bounded; this sum orders nothing.
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
