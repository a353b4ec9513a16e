//! What participants count, in cells of the index that every process sees (`spec/host.md`, "Counters").
//!
//! A cell is never emptied: its next owner counts on, and notes where it began. So the sum over all cells is what was
//! counted since the directory was made, whoever dies when, and there is nothing to fold in.

use crate::block::{owned, owner};
use crate::engine::{Engine, Environment, Participant};
use crate::layout::header;
use crate::shared_memory::SharedMemory;

/// What is counted, in the order of the words of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Counter {
    /// Hits that a memory tier answered.
    MemoryHits,
    /// Hits of the host tier.
    Hits,
    Misses,
    Writes,
    Deletes,
    /// Loaders that began.
    Loads,
    /// Those of them that ended without a value to store.
    FailedLoads,
    InvalidatedLoads,
    Unstored,
    WaitTimeouts,
}

/// Counters of a cell.
pub(crate) const COUNTERS: usize = Counter::WaitTimeouts as usize + 1;
/// One number for each counter.
pub(crate) type Counted = [u64; COUNTERS];

/// Offsets in a cell.
mod cell {
    use super::COUNTERS;
    /// Its owner: state:4 (0 none, 1 begins, 2 counts) | id:12 | incarnation:48.
    pub const OWNER: usize = 0;
    /// The owner's process id, as it sees that itself.
    pub const PROCESS: usize = 8;
    /// When the owner began, milliseconds since 1970.
    pub const SINCE: usize = 16;
    /// The counters.
    pub const COUNTS: usize = 32;
    /// The counters as they were when the owner began.
    pub const BEFORE: usize = COUNTS + COUNTERS * 8;
}

/// States of a cell.
const BEGINS: u64 = 1;
const COUNTS: u64 = 2;
/// The cell that has no owner: for participants without a cell of their own, and for children that have not joined.
pub(crate) const SHARED_CELL: u64 = 0;
/// Cells that a participant looks at for one of its own; asking whether an owner lives is a system call.
const LOOKS: u64 = 32;

/// A living participant that has a cell, and what it has counted.
pub(crate) struct CellOwner {
    pub participant: u32,
    pub process: u32,
    pub since: u64,
    pub counted: Counted,
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Where a cell's counters are.
    pub(crate) fn counts_at(&self, cell: u64) -> usize {
        self.geometry.cell_at(cell) + cell::COUNTS
    }

    /// Takes a cell that nobody owns, or whose owner is dead; the shared one when there is none near.
    ///
    /// Nothing is taken from the dead owner: its counts stay part of the sum. An owner that is killed half-way has
    /// counted nothing, and is dead.
    pub(crate) fn take_cell(&self, me: Participant, process: u32) -> u64 {
        let cells = self.geometry.cells - 1;
        for look in 0..cells.min(LOOKS) {
            let cell = 1 + (u64::from(me.id) + look) % cells;
            let at = self.geometry.cell_at(cell);
            let found = self.memory.load(at + cell::OWNER);
            let begins = owned(BEGINS, me);
            if (found != 0 && self.is_alive(owner(found)))
                || !self
                    .memory
                    .compare_exchange(at + cell::OWNER, found, begins)
            {
                continue;
            }
            let now = self.environment.now();
            self.memory.store(at + cell::PROCESS, u64::from(process));
            self.memory.store(at + cell::SINCE, now);
            for (place, count) in self.counted_in(cell).into_iter().enumerate() {
                self.memory.store(at + cell::BEFORE + place * 8, count);
            }
            // Last: who sees this sees the rest.
            self.memory.store(at + cell::OWNER, owned(COUNTS, me));
            return cell;
        }
        SHARED_CELL
    }

    fn counted_in(&self, cell: u64) -> Counted {
        let at = self.counts_at(cell);
        std::array::from_fn(|counter| self.memory.load(at + counter * 8))
    }

    /// Recovery: nobody owns a cell. After a power loss a participant may be given numbers that an owner had.
    pub(crate) fn forget_cell_owners(&self) {
        for cell in 0..self.geometry.cells {
            let at = self.geometry.cell_at(cell);
            self.memory.store(at + cell::OWNER, 0);
        }
    }

    /// What all participants have counted since the directory was made.
    pub(crate) fn counted(&self) -> Counted {
        let mut sum: Counted = [0; COUNTERS];
        for cell in 0..self.geometry.cells {
            for (sum, count) in sum.iter_mut().zip(self.counted_in(cell)) {
                // A damaged cell must not end the process.
                *sum = sum.wrapping_add(count);
            }
        }
        sum
    }

    /// The owners of cells for which `lives` holds. It is asked about a participant's id.
    pub(crate) fn cell_owners(&self, lives: impl Fn(u32) -> bool) -> Vec<CellOwner> {
        let owner_of = |cell| {
            let at = self.geometry.cell_at(cell);
            let word = self.memory.load(at + cell::OWNER);
            let by = owner(word);
            if word & 0xf != COUNTS || !self.is_incarnation(by) || !lives(by.id) {
                return None;
            }
            let before = |counter| self.memory.load(at + cell::BEFORE + counter * 8);
            let counted = self.counted_in(cell);
            let found = CellOwner {
                participant: by.id,
                process: self.memory.load(at + cell::PROCESS) as u32,
                since: self.memory.load(at + cell::SINCE),
                counted: std::array::from_fn(|counter| {
                    counted[counter].saturating_sub(before(counter))
                }),
            };
            // Otherwise the fields may be the next owner's.
            (self.memory.load(at + cell::OWNER) == word).then_some(found)
        };
        (1..self.geometry.cells).filter_map(owner_of).collect()
    }

    /// When the directory was made, milliseconds since 1970.
    pub(crate) fn created(&self) -> u64 {
        self.memory.load(header::CREATED)
    }
}
