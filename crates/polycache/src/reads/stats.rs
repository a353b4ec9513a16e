//! What cached reads did.

use polycache_remote::Uncached as Why;
use std::sync::atomic::{AtomicU64, Ordering};

/// What cached reads did since they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadStats {
    /// Replies from this process' memory.
    pub memory_hits: u64,
    /// Replies that this host had.
    pub host_hits: u64,
    /// Reads that were sent.
    pub sent: u64,
    /// Callers that shared a read with another one.
    pub joined: u64,
    /// Reads that were sent and whose replies were not kept, by the reason.
    pub uncached: Uncached,
}

/// Reads whose replies were not kept, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uncached {
    /// Nobody of this host hears of writes just now, or the server does not answer the cache.
    pub deaf: u64,
    /// The listener does not hear of writes of these keys yet.
    pub not_heard: u64,
    /// Another process of this host reads the same, or there is no room.
    pub busy: u64,
    /// The connection leads to another server than the listener's, the reply may expire unnoticed, a write came meanwhile, or
    /// the read names more than 1,024 keys.
    pub refused: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub memory_hits: AtomicU64,
    pub host_hits: AtomicU64,
    pub sent: AtomicU64,
    pub joined: AtomicU64,
    pub refused: AtomicU64,
    deaf: AtomicU64,
    not_heard: AtomicU64,
    busy: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counts {
    pub fn uncached(&self, why: Why) {
        count(match why {
            Why::Deaf => &self.deaf,
            Why::NotHeard => &self.not_heard,
            Why::Busy => &self.busy,
        });
    }

    pub fn stats(&self) -> ReadStats {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ReadStats {
            memory_hits: of(&self.memory_hits),
            host_hits: of(&self.host_hits),
            sent: of(&self.sent),
            joined: of(&self.joined),
            uncached: Uncached {
                deaf: of(&self.deaf),
                not_heard: of(&self.not_heard),
                busy: of(&self.busy),
                refused: of(&self.refused),
            },
        }
    }
}
