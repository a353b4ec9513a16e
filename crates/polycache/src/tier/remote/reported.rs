//! Adds what a handle did to what its machine counts (`spec/host.md`, "Counters").
//!
//! The directory sees reads and writes of copies, which are not those of the program. So its handle counts nothing for
//! the machine, and what the program did is added here: by the handle's thread, after each 64 hits of copies, when
//! somebody asks, and at the end.

use super::link::{Counts, Link};
use super::near::NearStore;
use polycache_host::{Counts as Reads, PerProcess, RemoteCounts};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Hits of copies after which they are added.
const HITS: u64 = 64;

/// What was done so far.
#[derive(Clone, Copy, Default)]
struct Done {
    reads: Reads,
    remote: RemoteCounts,
}

/// What the machine knows of a handle. A forked child begins with nothing: its parent adds what was done before.
pub(crate) struct Reported(PerProcess<Mutex<Option<Done>>>);

impl Reported {
    /// Of a handle that has done nothing.
    pub fn new() -> Reported {
        let reported = Reported(PerProcess::new());
        *reported.lock() = Some(Done::default());
        reported
    }

    fn lock(&self) -> MutexGuard<'_, Option<Done>> {
        self.0.get().lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Done {
    fn of(counts: &Counts) -> Done {
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (near_hits, remote_hits) = (now(&counts.near_hits), now(&counts.remote_hits));
        let joined_hits = counts.all_joined();
        let misses = now(&counts.misses) + now(&counts.outside_misses);
        Done {
            reads: Reads {
                memory_hits: now(&counts.memory_hits),
                hits: near_hits + remote_hits + joined_hits,
                misses: misses.saturating_sub(now(&counts.misses_twice)),
                writes: now(&counts.writes),
                deletes: now(&counts.deletes),
                invalidated_loads: now(&counts.invalidated_loads),
                unstored: now(&counts.unstored),
                wait_timeouts: now(&counts.wait_timeouts),
            },
            remote: RemoteCounts {
                near_hits,
                remote_hits,
                joined_hits,
                round_trips: now(&counts.round_trips),
                faults: now(&counts.faults),
                loads: now(&counts.loads),
                failed_loads: now(&counts.failed_loads),
            },
        }
    }

    /// What came after `before`.
    fn since(&self, before: &Done) -> Done {
        let (now, then) = (&self.reads, &before.reads);
        let reads = Reads {
            memory_hits: now.memory_hits.saturating_sub(then.memory_hits),
            hits: now.hits.saturating_sub(then.hits),
            misses: now.misses.saturating_sub(then.misses),
            writes: now.writes.saturating_sub(then.writes),
            deletes: now.deletes.saturating_sub(then.deletes),
            invalidated_loads: now.invalidated_loads.saturating_sub(then.invalidated_loads),
            unstored: now.unstored.saturating_sub(then.unstored),
            wait_timeouts: now.wait_timeouts.saturating_sub(then.wait_timeouts),
        };
        let (now, then) = (&self.remote, &before.remote);
        let remote = RemoteCounts {
            near_hits: now.near_hits.saturating_sub(then.near_hits),
            remote_hits: now.remote_hits.saturating_sub(then.remote_hits),
            joined_hits: now.joined_hits.saturating_sub(then.joined_hits),
            round_trips: now.round_trips.saturating_sub(then.round_trips),
            faults: now.faults.saturating_sub(then.faults),
            loads: now.loads.saturating_sub(then.loads),
            failed_loads: now.failed_loads.saturating_sub(then.failed_loads),
        };
        Done { reads, remote }
    }
}

impl Counts {
    /// Reads that a load of another caller of the process answered.
    pub fn all_joined(&self) -> u64 {
        self.joined_hits.load(Ordering::Relaxed) + self.outside_hits.load(Ordering::Relaxed)
    }
}

impl Link {
    /// A copy answered a read.
    #[inline]
    pub fn count_near_hit(&self) {
        let before = self.counts.near_hits.fetch_add(1, Ordering::Relaxed);
        if before % HITS == HITS - 1 {
            self.report();
        }
    }

    /// A memory tier over the copies answered so many reads.
    pub fn add_memory_hits(&self, more: u64) {
        self.counts.memory_hits.fetch_add(more, Ordering::Relaxed);
        self.report();
    }

    /// Adds what was done since the last time to what the machine counts.
    #[cold]
    pub fn report(&self) {
        let NearStore::Host(store) = &self.near else {
            return;
        };
        // Before the numbers are read: two threads add nothing twice.
        let mut known = self.reported.lock();
        let now = Done::of(&self.counts);
        if let Some(before) = known.replace(now) {
            let Done { reads, remote } = now.since(&before);
            store.add_counts(&reads);
            store.add_remote_counts(&remote);
        }
        drop(known);
        if self.is_open() {
            store.tell_open();
        }
    }
}
