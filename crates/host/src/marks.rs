//! Marks: what a flush leaves behind when everything that was there at its beginning is on the disk
//! (`spec/host.md`, "Reboots").

use crate::engine::{Engine, Environment};
use crate::layout::header;
use crate::shared_memory::SharedMemory;

/// What was so when a flush began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    clears: u64,
    floors_ended: u64,
    tick: u32,
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// To be called before a flush writes the first page.
    pub(crate) fn begin_mark(&self) -> Mark {
        let mark = Mark {
            clears: self.clears(),
            floors_ended: self.floors_ended(),
            tick: self.environment.ticks(),
        };
        // Of a clear that is under way, and this flush, at least one sees the other (`raise_floor`).
        self.memory.fetch_max(header::FLUSH_CLEARS, mark.clears);
        self.memory.fence();
        mark
    }

    /// To be called when the flush has written all blocks and the whole index. Whenever the page with the
    /// mark reaches the disk, what it says is true. The flush is complete when it has.
    pub(crate) fn complete_mark(&self, mark: Mark) {
        self.memory.fetch_max(header::MARK_CLEARS, mark.clears);
        self.memory
            .fetch_max(header::MARK_FLOORS_ENDED, mark.floors_ended);
        let tick = u64::from(mark.tick) + 1;
        self.memory.store(header::MARK_TICK, tick);
    }

    /// Notes that the disk refused something. What it refused may not be written again by itself: the system
    /// takes such pages for written.
    pub(crate) fn note_failed_flush(&self) {
        self.memory.fetch_add(header::FAILED_FLUSHES, 1);
    }

    /// To be called before a flush writes the first page: the failures that it mends if it is complete. `None` when
    /// there are none since the last complete flush.
    pub(crate) fn failed_since(&self) -> Option<u64> {
        let failed = self.memory.load(header::FAILED_FLUSHES);
        (failed > self.memory.load(header::FAILED_AND_MENDED)).then_some(failed)
    }

    /// A flush is complete that began after so many failures, and wrote every page again. One that failed
    /// meanwhile is not among them.
    pub(crate) fn note_mended(&self, failed: u64) {
        self.memory.fetch_max(header::FAILED_AND_MENDED, failed);
        self.memory.store(header::FLUSH_AGAIN, 0);
    }

    /// A background flush failed: no process tries again for so many ticks.
    pub(crate) fn rest(&self, ticks: u32) {
        let until = self.environment.ticks().wrapping_add(ticks);
        self.memory.store(header::FLUSH_AGAIN, u64::from(until) + 1);
    }

    /// How many ticks are left of that.
    pub(crate) fn rest_left(&self) -> u32 {
        let noted = self.memory.load(header::FLUSH_AGAIN);
        let left = |until: u64| (until as u32).wrapping_sub(self.environment.ticks()) as i32;
        noted.checked_sub(1).map_or(0, left).max(0) as u32
    }

    /// Recovery: what is in memory now came from the disk.
    pub(crate) fn forget_failed_flushes(&self) {
        let failed = self.memory.load(header::FAILED_FLUSHES);
        self.memory.store(header::FAILED_AND_MENDED, failed);
        self.memory.store(header::FLUSH_AGAIN, 0);
    }

    /// The tick at which the last complete flush began, if there was one.
    pub(crate) fn mark_tick(&self) -> Option<u32> {
        let noted = self.memory.load(header::MARK_TICK);
        noted.checked_sub(1).map(|tick| tick as u32)
    }
}
