//! Blocks: where records lie, and the unit of recycling (`spec/host.md`, "Blocks").
//!
//! Blocks belong to data, not to handles. A writer holds a block only while it appends a record and
//! publishes it; a cleaner, only for a step. Between these moments a block belongs to no participant,
//! so an idle handle, a dead process and a short-lived writer keep no space.

mod append;
mod choose;
mod clean;
mod lanes;
mod large;
mod survey;
mod worth;

pub(crate) use append::Appended;
pub use append::Appender;
pub use worth::Notes;

use crate::engine::{Engine, Environment, Participant, Record};
use crate::layout::WINDOW;
use crate::shared_memory::SharedMemory;
use crate::word::Word;

/// Offsets in a block's descriptor.
pub(crate) mod descriptor {
    /// The block's state: state:4 | id:12 | incarnation:48.
    pub const STATE: usize = 0;
    /// Sequence number; never reused.
    pub const SEQUENCE: usize = 8;
    /// Bytes of whole records.
    pub const TAIL: usize = 16;
    /// 1 when the block has its disk space.
    pub const ALLOCATED: usize = 24;
    /// Bytes of records that no word points to any more. It steers recycling and may be wrong after a
    /// kill; nothing else depends on it.
    pub const DEAD: usize = 32;
    /// Bytes that a cleaner has walked.
    pub const CLEANED: usize = 40;
    /// Bytes of this block that its cleaners have moved to another one. Of a block of a large value, which is never
    /// moved: the sequence number from which its age counts.
    pub const MOVED: usize = 48;
    /// Which queue it belongs to, and what its cleaners keep: bits of [`super::flags`].
    pub const FLAGS: usize = 56;
}

/// Bits of a block's flags. Only its holder changes them.
mod flags {
    /// Its cleaners keep every entry.
    pub const KEEP_ALL: u64 = 1;
    /// It belongs to the main queue.
    pub const MAIN: u64 = 2;
    /// It holds the head or a chunk of a value larger than a block, and nothing else.
    pub const LARGE: u64 = 4;
}

impl Queue {
    #[inline(always)]
    fn of_flags(bits: u64) -> Queue {
        if bits & flags::MAIN == 0 {
            Queue::Probation
        } else {
            Queue::Main
        }
    }

    /// Its bits of a block's flags.
    #[inline(always)]
    fn in_flags(self) -> u64 {
        match self {
            Queue::Probation => 0,
            Queue::Main => flags::MAIN,
        }
    }

    /// True when an entry with so many reads is kept.
    fn keeps(self, reads: u8) -> bool {
        let enough = match self {
            Queue::Probation => READS_TO_MAIN,
            Queue::Main => 1,
        };
        reads >= enough
    }

    /// The reads of an entry that is kept: it comes to the main queue without any, and pays one to stay there.
    fn reads_left(self, reads: u8) -> u8 {
        match self {
            Queue::Probation => 0,
            Queue::Main => reads.saturating_sub(1),
        }
    }
}

/// The queue that a block belongs to (`spec/host.md`, "Eviction").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    /// New entries.
    Probation,
    /// Entries that were read, or came back soon after they were evicted.
    Main,
}

/// Reads that take an entry from the probation queue to the main one.
const READS_TO_MAIN: u8 = 2;

const ID_SHIFT: u32 = 4;
const INCARNATION_SHIFT: u32 = 16;

/// What may be done with a block. The first four have no holder: any participant may take the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockState {
    /// Empty.
    Free,
    /// Has room for more records.
    Open,
    /// Takes no more records.
    Sealed,
    /// A cleaner has walked a part of it.
    Partly,
    /// Held by a writer: from before it writes a record until the record is published.
    Appending(Participant),
    /// Held by a cleaner, for one step.
    Cleaning(Participant),
}

/// A block's state, and the word that said so: a damaged word, which no state is written as, can be
/// changed too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookedAt {
    word: u64,
    state: BlockState,
}

impl From<BlockState> for LookedAt {
    #[inline(always)]
    fn from(state: BlockState) -> LookedAt {
        LookedAt {
            word: state.encode(),
            state,
        }
    }
}

/// A word that says what a participant does: state:4 | id:12 | incarnation:48.
#[inline(always)]
pub(crate) fn owned(state: u64, by: Participant) -> u64 {
    state | (u64::from(by.id) << ID_SHIFT) | (by.incarnation << INCARNATION_SHIFT)
}

/// The participant that such a word names.
#[inline(always)]
pub(crate) fn owner(word: u64) -> Participant {
    Participant {
        id: (word >> ID_SHIFT) as u32 & 0xfff,
        incarnation: word >> INCARNATION_SHIFT,
    }
}

impl BlockState {
    #[inline(always)]
    fn encode(self) -> u64 {
        match self {
            BlockState::Free => 0,
            BlockState::Open => 1,
            BlockState::Sealed => 2,
            BlockState::Partly => 3,
            BlockState::Appending(by) => owned(4, by),
            BlockState::Cleaning(by) => owned(5, by),
        }
    }

    /// The state that a block returns to when a new holder leaves it untouched.
    fn without_holder(self) -> BlockState {
        match self {
            BlockState::Appending(_) => BlockState::Open,
            BlockState::Cleaning(_) => BlockState::Partly,
            other => other,
        }
    }

    /// Unknown numbers are never written; a block with one counts as sealed, so that it is recycled.
    #[inline(always)]
    fn decode(word: u64) -> BlockState {
        let by = owner(word);
        match word & 0xf {
            0 => BlockState::Free,
            1 => BlockState::Open,
            3 => BlockState::Partly,
            4 => BlockState::Appending(by),
            5 => BlockState::Cleaning(by),
            _ => BlockState::Sealed,
        }
    }
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    #[inline(always)]
    fn descriptor(&self, block: u64, field: usize) -> usize {
        self.geometry.descriptor_at(block) + field
    }

    #[inline(always)]
    fn field(&self, block: u64, field: usize) -> u64 {
        self.memory.load(self.descriptor(block, field))
    }

    #[inline(always)]
    fn set_field(&self, block: u64, field: usize, value: u64) {
        self.memory.store(self.descriptor(block, field), value);
    }

    #[inline(always)]
    fn block_state(&self, block: u64) -> BlockState {
        self.look_at_block(block).state
    }

    #[inline(always)]
    fn look_at_block(&self, block: u64) -> LookedAt {
        let word = self.field(block, descriptor::STATE);
        LookedAt {
            word,
            state: BlockState::decode(word),
        }
    }

    /// Moves a block from a state that was seen to another; false when it is no longer in the first.
    #[inline(always)]
    fn change_block(&self, block: u64, from: LookedAt, to: BlockState) -> bool {
        let at = self.descriptor(block, descriptor::STATE);
        self.memory.compare_exchange(at, from.word, to.encode())
    }

    /// Ends holding a block. Only the holder calls it, so a store is enough. It is a release: what was
    /// written to the block and its descriptor is visible to the next holder.
    #[inline(always)]
    fn leave_block(&self, block: u64, to: BlockState) {
        self.set_field(block, descriptor::STATE, to.encode());
    }

    /// Begins to hold a block; false when it is no longer in that state, or this handle is closed.
    ///
    /// A handle that closes says so, and then waits for the blocks that it holds: either it sees this one,
    /// or this sees that it is closed. In that case the handle may count as dead by now, and another
    /// participant may hold the block; so giving it back is a compare-and-swap.
    #[inline(always)]
    fn hold_block(&self, block: u64, from: LookedAt, held: BlockState) -> bool {
        if !self.change_block(block, from, held) {
            return false;
        }
        let closed = self.environment.is_closed();
        if closed {
            self.change_block(block, held.into(), from.state.without_holder());
        }
        !closed
    }

    /// True while exactly this participant, not a later holder of its id, may still write.
    pub(crate) fn is_alive(&self, participant: Participant) -> bool {
        self.is_incarnation(participant) && self.environment.id_alive(participant.id)
    }

    /// True while the participant's id was not given to another one.
    pub(crate) fn is_incarnation(&self, participant: Participant) -> bool {
        let incarnation = self.geometry.participants_at + participant.id as usize * 8;
        self.memory.load(incarnation) & 0xffff_ffff_ffff == participant.incarnation
    }

    /// Changes the word of a value, and counts its record as dead.
    #[inline]
    pub(crate) fn swap_out(&self, slot: u64, old: Word, new: Word, record: &Record) -> bool {
        if record.header.is_large() {
            return self.swap_out_large(slot, old, new, record.at);
        }
        let swapped = self.swap(slot, old, new);
        if swapped {
            let (key, entry) = (record.header.key_len, record.header.entry_len);
            let size = self.geometry.record_size(key as usize, entry as usize);
            self.count_dead(record.at, size);
        }
        swapped
    }

    /// Recovery: a record that was counted as alive is dead after all.
    pub(crate) fn count_record_dead(&self, record: &Record) {
        if let Some(large) = self.large(record) {
            let parts = large.parts(self.geometry.block_size);
            return parts.for_each(|part| self.count_block_dead(part));
        }
        let (key, entry) = (record.header.key_len, record.header.entry_len);
        let size = self.geometry.record_size(key as usize, entry as usize);
        self.count_dead(record.at, size);
    }

    /// Asks for the line on which the record of a value's word will be counted as dead.
    #[inline(always)]
    pub(crate) fn prefetch_count_of_dead(&self, word: Word) {
        let at = u64::from(word.location()) * self.geometry.unit;
        let block = at >> self.geometry.block_size.trailing_zeros();
        self.memory
            .prefetch_to_write(self.descriptor(block, descriptor::DEAD));
    }

    /// Adds to the bytes of a block that no word points to.
    #[inline]
    pub(super) fn count_dead(&self, at: u64, size: u64) {
        let block = at >> self.geometry.block_size.trailing_zeros();
        self.memory
            .fetch_add(self.descriptor(block, descriptor::DEAD), size);
    }

    /// Leaves a held block empty: nothing points into it any more.
    fn empty_block(&self, block: u64) {
        self.set_field(block, descriptor::TAIL, 0);
        self.forget_cleaning(block);
        self.leave_block(block, BlockState::Free);
    }

    /// For an empty block, and for one that recovery seals, before its records are counted as alive.
    pub(crate) fn forget_cleaning(&self, block: u64) {
        for field in [descriptor::DEAD, descriptor::CLEANED, descriptor::MOVED] {
            self.set_field(block, field, 0);
        }
        let flags = self.field(block, descriptor::FLAGS);
        self.set_field(block, descriptor::FLAGS, flags & flags::MAIN);
    }

    #[inline(always)]
    pub(crate) fn queue_of(&self, block: u64) -> Queue {
        Queue::of_flags(self.field(block, descriptor::FLAGS))
    }

    /// The bits of a block's flags that say which records it takes.
    #[inline(always)]
    fn kind_of(&self, block: u64) -> u64 {
        self.field(block, descriptor::FLAGS) & (flags::MAIN | flags::LARGE)
    }

    /// Leaves a block that was taken from a dead writer, or by mistake, with what was written to it.
    fn leave_written(&self, block: u64) {
        let state = if self.field(block, descriptor::FLAGS) & flags::LARGE == 0 {
            BlockState::Open
        } else if self.field(block, descriptor::TAIL) > 0 {
            BlockState::Sealed
        } else {
            self.forget_cleaning(block);
            BlockState::Free
        };
        self.leave_block(block, state);
    }

    /// Moves an empty block, which the caller holds, to a queue.
    fn set_queue(&self, block: u64, queue: Queue) {
        self.set_field(block, descriptor::FLAGS, queue.in_flags());
    }

    /// True while a block is held by this participant; for a handle that waits for its own writers.
    pub(crate) fn holds_any_block(&self, me: Participant) -> bool {
        (0..self.geometry.blocks).any(|block| {
            matches!(self.block_state(block),
                BlockState::Appending(by) | BlockState::Cleaning(by) if by == me)
        })
    }
}

/// What `check` and recovery need from a block's descriptor.
impl<M: SharedMemory, E: Environment> Engine<M, E> {
    pub(crate) fn block_sequence(&self, block: u64) -> u64 {
        self.field(block, descriptor::SEQUENCE)
    }

    pub(crate) fn is_allocated(&self, block: u64) -> bool {
        self.field(block, descriptor::ALLOCATED) == 1
    }

    /// Recovery: seals the block with this tail, or frees it if it holds nothing, whatever its state
    /// was. What was not counted as alive is dead.
    pub(crate) fn seal_at(&self, block: u64, tail: u64) {
        let state = if tail == 0 {
            BlockState::Free
        } else {
            BlockState::Sealed
        };
        self.set_field(block, descriptor::TAIL, tail);
        self.count_dead(block * self.geometry.block_size, tail);
        self.leave_block(block, state);
    }

    /// Recovery: blocks in which nothing lives are empty.
    pub(crate) fn free_dead_blocks(&self) {
        for block in 0..self.geometry.blocks {
            let tail = self.field(block, descriptor::TAIL);
            if tail > 0 && self.field(block, descriptor::DEAD) == tail {
                self.empty_block(block);
            }
        }
    }

    /// The parts of a file of blocks that have disk space: offsets and lengths. Nothing is stored elsewhere.
    pub(crate) fn allocated_in(&self, window: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let size = self.geometry.block_size;
        let first = window * (WINDOW / size);
        let end = (first + WINDOW / size).min(self.geometry.blocks);
        (first..end)
            .filter(|block| self.is_allocated(*block))
            .map(move |block| ((block - first) * size, size))
    }

    /// Blocks that have disk space allocated.
    pub(crate) fn allocated_blocks(&self) -> u64 {
        (0..self.geometry.blocks)
            .filter(|block| self.is_allocated(*block))
            .count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back() {
        let by = Participant {
            id: 4095,
            incarnation: (1 << 48) - 1,
        };
        for state in [
            BlockState::Free,
            BlockState::Open,
            BlockState::Sealed,
            BlockState::Partly,
            BlockState::Appending(by),
            BlockState::Cleaning(by),
        ] {
            assert_eq!(BlockState::decode(state.encode()), state);
        }
    }
}
