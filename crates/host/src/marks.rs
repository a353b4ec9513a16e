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

    /// The tick at which the last complete flush began, if there was one.
    pub(crate) fn mark_tick(&self) -> Option<u32> {
        let noted = self.memory.load(header::MARK_TICK);
        noted.checked_sub(1).map(|tick| tick as u32)
    }
}
