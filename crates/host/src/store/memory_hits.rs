//! Hits of a memory tier, which counts them itself: how many of them the machine's counters have.

use super::Store;
use crate::platform;
use crate::stats::Counts;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many hits of one memory tier were added to the counters of the machine.
#[derive(Debug)]
pub struct MemoryHits {
    added: AtomicU64,
    /// The process that adds, by its generation.
    process: AtomicU64,
}

impl Default for MemoryHits {
    fn default() -> MemoryHits {
        MemoryHits {
            added: AtomicU64::new(0),
            process: AtomicU64::new(platform::forks()),
        }
    }
}

impl MemoryHits {
    /// Adds the tier's hits, of which it has had `all` so far. A forked child that calls it for the first time adds
    /// none: it cannot tell its own from those that its parent adds.
    pub fn add(&self, store: &Store, all: u64) {
        let memory_hits = self.take(all);
        if memory_hits > 0 {
            store.add_counts(&Counts {
                memory_hits,
                ..Counts::default()
            });
        }
    }

    /// As [`MemoryHits::add`], for a caller that adds them itself: how many there are.
    pub fn take(&self, all: u64) -> u64 {
        let process = platform::forks();
        let added = self.added.fetch_max(all, Ordering::SeqCst);
        let is_same = self.process.swap(process, Ordering::SeqCst) == process;
        if is_same {
            all.saturating_sub(added)
        } else {
            0
        }
    }
}
