//! Lanes: which blocks are being filled. A lane is a word of the header that names a block. Every writer
//! begins at the first lane and moves on only when it meets another writer there, so one writer after
//! another, even of different processes, fills the same block, and writers at the same time fill
//! different ones.

use super::append::OpenBlock;
use super::{descriptor, BlockState};
use crate::engine::{Engine, Environment, Participant};
use crate::error::Error;
use crate::layout::header;
use crate::shared_memory::SharedMemory;

/// A lane's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// For records of writers.
    Write(u64),
    /// For records that a cleaner keeps.
    Keep(u64),
}

impl Lane {
    fn at(self) -> usize {
        match self {
            Lane::Write(number) => header::WRITE_LANES + number as usize * header::LINE,
            Lane::Keep(number) => header::KEEP_LANES + number as usize * header::LINE,
        }
    }
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Takes the lane's block, or an empty one when that has no room for `size` bytes. `None` when another
    /// writer holds it, or when there is no empty block. With `pass` a holder is not waited for: the lane
    /// goes on with an empty block.
    ///
    /// # Errors
    /// `NoSpace`, `Io` when an empty block cannot get its disk space.
    #[inline]
    pub(super) fn take_lane(
        &self,
        lane: Lane,
        me: Participant,
        size: u64,
        pass: bool,
    ) -> Result<Option<OpenBlock>, Error> {
        let named = self.memory.load(lane.at());
        let Some(block) = self.block_named(named) else {
            return self.next_block(lane, named, None, me);
        };
        let held = BlockState::Appending(me);
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
                BlockState::Appending(_) if !pass => return Ok(None),
                // Passed, or recycled or sealed since it was named.
                _ => return self.next_block(lane, named, None, me),
            }
        }
        // The lane may name another block by now. This one is open all the same.
        let tail = self.field(block, descriptor::TAIL);
        if tail > self.geometry.block_size - size {
            return self.next_block(lane, named, Some(block), me);
        }
        Ok(Some(OpenBlock {
            block,
            sequence: self.field(block, descriptor::SEQUENCE),
            tail,
        }))
    }

    /// Takes an empty block and names it in the lane, in the place of what is named there. `full` is held,
    /// and is left here: not before the lane names its successor, so that no other writer looks for one
    /// as well.
    #[cold]
    fn next_block(
        &self,
        lane: Lane,
        named: u64,
        full: Option<u64>,
        me: Participant,
    ) -> Result<Option<OpenBlock>, Error> {
        let empty = self.take_empty(me, matches!(lane, Lane::Keep(_)));
        let Ok(Some(block)) = empty else {
            if let Some(full) = full {
                self.leave_block(full, BlockState::Open);
            }
            return empty.map(|_| None);
        };
        // Before another participant can find the block: it may outlive this one.
        let sequence = self.memory.fetch_add(header::SEQUENCE, 1) + 1;
        self.set_field(block, descriptor::SEQUENCE, sequence);
        let named_now = self.memory.compare_exchange(lane.at(), named, block + 1);
        if let Some(full) = full {
            self.leave_block(full, BlockState::Sealed);
        }
        if !named_now {
            self.leave_block(block, BlockState::Free);
            return Ok(None);
        }
        Ok(Some(OpenBlock {
            block,
            sequence,
            tail: 0,
        }))
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
        (0..self.geometry.keep_lanes()).any(|lane| self.is_named_in(Lane::Keep(lane), block))
    }

    fn is_named_in(&self, lane: Lane, block: u64) -> bool {
        self.memory.load(lane.at()) == block + 1
    }
}
