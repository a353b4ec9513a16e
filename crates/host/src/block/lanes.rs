//! Lanes: which blocks are being filled. A lane is a word of the header that names a block. Every writer
//! begins at the first lane and moves on only when it meets another writer there, so one writer after
//! another, even of different processes, fills the same block, and writers at the same time fill
//! different ones. Each queue has lanes of its own.

use super::append::OpenBlock;
use super::choose::Wanted;
use super::{descriptor, BlockState, Queue};
use crate::engine::{Engine, Environment, Participant};
use crate::error::Error;
use crate::layout::header;
use crate::shared_memory::SharedMemory;

/// A lane's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// For records of writers.
    Write(u64),
    /// For records that a cleaner keeps in the probation queue.
    Keep(u64),
    /// For the main queue: records that a cleaner keeps, and those of keys that return.
    Main(u64),
}

/// What is asked of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    pub me: Participant,
    /// Bytes that the block must have room for.
    pub size: u64,
    /// A holder is not waited for: the lane goes on with an empty block.
    pub passes: bool,
    /// The caller is a cleaner: it may take an empty block of the reserve, and does not clean another one
    /// first.
    pub cleans: bool,
}

impl Asking {
    #[inline(always)]
    pub fn writer(me: Participant, size: u64) -> Asking {
        Asking {
            me,
            size,
            passes: false,
            cleans: false,
        }
    }
}

impl Lane {
    fn at(self) -> usize {
        match self {
            Lane::Write(number) => header::WRITE_LANES + number as usize * header::LINE,
            Lane::Keep(number) => header::KEEP_LANES + number as usize * header::LINE,
            Lane::Main(number) => header::MAIN_LANES + number as usize * header::LINE,
        }
    }

    #[inline(always)]
    fn number(self) -> u64 {
        let (Lane::Write(number) | Lane::Keep(number) | Lane::Main(number)) = self;
        number
    }

    #[inline(always)]
    fn queue(self) -> Queue {
        match self {
            Lane::Write(_) | Lane::Keep(_) => Queue::Probation,
            Lane::Main(_) => Queue::Main,
        }
    }
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Takes the lane's block, or an empty one when that has no room. `None` when another participant holds
    /// it, or when there is no empty block.
    ///
    /// # Errors
    /// `NoSpace`, `Io` when an empty block cannot get its disk space.
    #[inline]
    pub(super) fn take_lane(&self, lane: Lane, asking: Asking) -> Result<Option<OpenBlock>, Error> {
        let named = self.memory.load(lane.at());
        let Some(block) = self.block_named(named) else {
            return self.next_block(lane, named, None, asking);
        };
        let held = BlockState::Appending(asking.me);
        if !self.hold_block(block, BlockState::Open.into(), held) {
            let seen = self.look_at_block(block);
            match seen.state {
                // Another writer was here a moment ago.
                BlockState::Open => return Ok(None),
                BlockState::Appending(by) if !self.is_alive(by) => {
                    if !self.hold_block(block, seen, held) {
                        return Ok(None);
                    }
                }
                BlockState::Appending(_) if !asking.passes => return Ok(None),
                // Passed, or recycled or sealed since it was named.
                _ => return self.next_block(lane, named, None, asking),
            }
        }
        // It was recycled since it was named, and a lane of the other queue fills it now, or it was held for a
        // large value by a writer that died.
        if self.kind_of(block) != lane.queue().in_flags() {
            self.leave_written(block);
            return self.next_block(lane, named, None, asking);
        }
        // The lane may name another block by now. This one is open all the same.
        let tail = self.field(block, descriptor::TAIL);
        if tail > self.geometry.block_size - asking.size {
            return self.next_block(lane, named, Some((block, tail)), asking);
        }
        // A writer that was killed may have taken the block before it gave it a number of its own.
        if tail == 0 {
            self.number_block(block);
        }
        Ok(Some(OpenBlock {
            block,
            sequence: self.field(block, descriptor::SEQUENCE),
            tail,
            lane: lane.number(),
            is_for_one: false,
        }))
    }

    /// Takes an empty block and names it in the lane, in the place of what is named there. `full` is held,
    /// with its tail, and is left here: not before the lane names its successor, so that no other writer
    /// looks for one as well. When the record is so large that it leaves less room in the empty block than
    /// the full one has, the lane goes on naming that one.
    #[cold]
    fn next_block(
        &self,
        lane: Lane,
        named: u64,
        full: Option<(u64, u64)>,
        asking: Asking,
    ) -> Result<Option<OpenBlock>, Error> {
        let wanted = if asking.cleans {
            Wanted::ToKeep
        } else {
            Wanted::ToFill
        };
        let empty = self.take_empty(lane.number(), asking.me, wanted);
        let Ok(Some(block)) = empty else {
            if let Some((full, _)) = full {
                self.leave_block(full, BlockState::Open);
            }
            return empty.map(|_| None);
        };
        // Before another participant can find the block: it may outlive this one.
        let sequence = self.number_block(block);
        self.set_queue(block, lane.queue());
        let is_for_one = full.is_some_and(|(_, tail)| tail < asking.size);
        let is_named = is_for_one || self.memory.compare_exchange(lane.at(), named, block + 1);
        if let Some((full, _)) = full {
            let state = if is_for_one {
                BlockState::Open
            } else {
                BlockState::Sealed
            };
            self.leave_block(full, state);
        }
        if !is_named {
            self.leave_block(block, BlockState::Free);
            return Ok(None);
        }
        Ok(Some(OpenBlock {
            block,
            sequence,
            tail: 0,
            lane: lane.number(),
            is_for_one,
        }))
    }

    /// Gives a held block that is empty a number which no block had before: versions of entries are made of it.
    pub(super) fn number_block(&self, block: u64) -> u64 {
        let sequence = self.memory.fetch_add(header::SEQUENCE, 1) + 1;
        self.set_field(block, descriptor::SEQUENCE, sequence);
        sequence
    }

    #[inline(always)]
    pub(super) fn block_named(&self, word: u64) -> Option<u64> {
        word.checked_sub(1)
            .filter(|block| *block < self.geometry.blocks)
    }

    /// True when some lane names the block.
    pub(super) fn is_in_a_lane(&self, block: u64) -> bool {
        (0..self.geometry.write_lanes()).any(|lane| self.is_named_in(Lane::Write(lane), block))
            || self.is_in_a_keep_lane(block)
    }

    /// True when cleaners move entries into the block.
    pub(super) fn is_in_a_keep_lane(&self, block: u64) -> bool {
        (0..self.geometry.keep_lanes()).any(|lane| {
            self.is_named_in(Lane::Keep(lane), block) || self.is_named_in(Lane::Main(lane), block)
        })
    }

    fn is_named_in(&self, lane: Lane, block: u64) -> bool {
        self.memory.load(lane.at()) == block + 1
    }
}
