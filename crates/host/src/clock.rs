//! Wall time, for expiry.

use crate::platform;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// The source of a store's wall time.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The system's clock: on Linux the coarse one, at most a few milliseconds behind.
    #[default]
    System,
    /// Milliseconds since 1970 that a test sets.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// Milliseconds since 1970-01-01T00:00Z.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        match self {
            Clock::System => platform::now(),
            Clock::Manual(time) => time.load(Ordering::Relaxed),
        }
    }
}
