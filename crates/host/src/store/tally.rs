//! What a handle counts, for itself and for the whole machine (`spec/host.md`, "Counters").
//!
//! Most counters are added to the handle's cell as they happen. Hits would make a hit slower, so they are added now and
//! then: the first ones at once, later ones when they are a sixteenth of what the process has counted, and 64 at the
//! latest.

use super::presence::LOOK_EVERY_HITS;
use super::Inner;
use crate::counters::{Counter, COUNTERS, SHARED_CELL};
use crate::platform::{self, WipedWord};
use crate::shared_memory::SharedMemory;
use std::sync::atomic::{AtomicU64, Ordering};

/// Hits that a handle adds at once at most.
const MOST_HITS: u64 = 64;
/// The share of its hits that a handle may have to add.
const SHARE: u64 = 16;
/// Where a handle's counters are if it only reads, and in a forked child until it counts.
const NOWHERE: u64 = 0;

/// What one handle counts.
pub(super) struct Tally {
    /// This handle's own counts.
    own: [AtomicU64; COUNTERS],
    /// Those of its hits that are in a cell.
    added: AtomicU64,
    /// At so many hits the next ones are added. In a forked child it is 0: its first hit tells that it is one.
    due: WipedWord,
    /// Its hits when this process began to count.
    began: AtomicU64,
    /// The process that counts, by its generation.
    process: AtomicU64,
    /// Where its cell's counters are in the index, or `NOWHERE`. So a forked child does not count for its parent.
    at: WipedWord,
    /// What is no read or write, for the looks at the path.
    pub changes: AtomicU64,
}

impl Tally {
    pub fn new() -> Tally {
        Tally {
            own: [const { AtomicU64::new(0) }; COUNTERS],
            added: AtomicU64::new(0),
            due: WipedWord::new(),
            began: AtomicU64::new(0),
            process: AtomicU64::new(platform::forks()),
            at: WipedWord::new(),
            changes: AtomicU64::new(0),
        }
    }

    /// This handle's own count.
    pub fn own(&self, counter: Counter) -> u64 {
        self.own[counter as usize].load(Ordering::Relaxed)
    }

    /// Counts a hit of the host tier for the handle itself. True when hits are to be added to the cell.
    #[inline(always)]
    pub fn hit(&self) -> bool {
        let hits = self.own[Counter::Hits as usize].fetch_add(1, Ordering::Relaxed) + 1;
        hits >= self.due.load(Ordering::Relaxed)
    }

    /// Begins to count in this process if it is a forked child: what its parent had not added by then, the parent adds.
    /// `new` of the hits were made here.
    fn begin(&self, new: u64) -> bool {
        let process = platform::forks();
        if self.process.load(Ordering::Relaxed) == process {
            return false;
        }
        let before = self.own(Counter::Hits).saturating_sub(new);
        // Before the process is noted: a thread that finds it noted takes no hits of the parent.
        self.added.fetch_max(before, Ordering::SeqCst);
        self.began.store(before, Ordering::Relaxed);
        self.process.store(process, Ordering::SeqCst);
        true
    }

    /// The hits that are to be added now, which no other thread adds: how many had been added, and how many then
    /// will be.
    fn take_hits(&self) -> (u64, u64) {
        let hits = self.own(Counter::Hits);
        let added = self.added.fetch_max(hits, Ordering::SeqCst);
        let here = hits.saturating_sub(self.began.load(Ordering::Relaxed));
        let due = hits + (here / SHARE).clamp(1, MOST_HITS);
        // Not beyond the next look at the path.
        let look = (hits / LOOK_EVERY_HITS + 1) * LOOK_EVERY_HITS;
        self.due.store(due.min(look), Ordering::Relaxed);
        (added, hits.max(added))
    }
}

impl Inner {
    /// Takes a cell for this handle, in this process.
    pub(super) fn take_cell(&self) {
        let Ok(process) = self.process() else { return };
        let engine = &self.engine;
        let cell = engine.take_cell(process.membership.me, std::process::id());
        self.tally
            .at
            .store(engine.counts_at(cell) as u64, Ordering::Relaxed);
    }

    /// Takes a cell if the handle, which may own one, has none.
    pub(super) fn take_missing_cell(&self) {
        // A forked child that joins by this takes a cell as it joins.
        if self.lacks_cell() && self.process().is_ok() && self.lacks_cell() {
            self.take_cell();
        }
    }

    /// In a forked child that has not joined, and where there is no cell to be had.
    fn use_shared_cell(&self) {
        if !self.read_only {
            let seen = self.tally.at.load(Ordering::Relaxed);
            let at = self.engine.counts_at(SHARED_CELL) as u64;
            // When it fails another thread has joined the child.
            let _ =
                (self.tally.at).compare_exchange(seen, at, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// A forked child has joined.
    pub(super) fn count_anew(&self) {
        self.tally.begin(0);
        self.take_cell();
    }

    /// True when the handle, which may own a cell, has none.
    fn lacks_cell(&self) -> bool {
        self.tally.at.load(Ordering::Relaxed) == self.engine.counts_at(SHARED_CELL) as u64
    }

    /// Adds to a counter of the handle's cell.
    #[inline(always)]
    pub(super) fn add(&self, counter: Counter, by: u64) {
        let at = self.tally.at.load(Ordering::Relaxed);
        if at == NOWHERE {
            return self.add_first(counter, by);
        }
        let at = at as usize + counter as usize * 8;
        self.engine.memory.fetch_add(at, by);
    }

    /// As [`Inner::add`], for the first count of a forked child, and for a handle that only reads.
    #[cold]
    fn add_first(&self, counter: Counter, by: u64) {
        self.use_shared_cell();
        let at = self.tally.at.load(Ordering::Relaxed);
        if at != NOWHERE {
            let at = at as usize + counter as usize * 8;
            self.engine.memory.fetch_add(at, by);
        }
    }

    /// Counts something that happens less often than hits, and returns how often it had happened.
    #[inline(always)]
    pub(super) fn count(&self, counter: Counter) -> u64 {
        if self.counts {
            self.add(counter, 1);
        }
        self.tally.own[counter as usize].fetch_add(1, Ordering::Relaxed)
    }

    /// Takes back what was counted twice.
    pub(super) fn uncount(&self, counter: Counter) {
        if self.counts {
            self.add(counter, 1u64.wrapping_neg());
        }
        self.tally.own[counter as usize].fetch_sub(1, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn count_hit(&self) {
        if self.tally.hit() {
            self.add_hits(1);
        }
    }

    /// Adds the hits that are not yet in a cell; `new` of them were certainly made in this process.
    #[cold]
    pub(super) fn add_hits(&self, new: u64) {
        if self.tally.begin(new) {
            self.use_shared_cell();
        }
        let (added, hits) = self.tally.take_hits();
        if self.counts {
            self.add(Counter::Hits, hits - added);
        }
        if added / LOOK_EVERY_HITS != hits / LOOK_EVERY_HITS {
            self.look_around();
        }
    }
}
