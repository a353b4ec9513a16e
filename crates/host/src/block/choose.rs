//! Which block is emptied next.

use super::clean::{EARLY_PACE, MOST_PACE};
use super::worth::Worthiest;
use super::{descriptor, flags, BlockState, LookedAt, Queue};
use crate::engine::{Engine, Environment, Participant};
use crate::error::Error;
use crate::layout::header;
use crate::shared_memory::SharedMemory;

/// What the empty blocks are.
#[derive(Default)]
struct Empty {
    count: u64,
    /// One that has its disk space.
    allocated: Option<u64>,
    /// Others that have it were seen.
    has_more_allocated: bool,
    /// One that has not.
    unallocated: Option<u64>,
}

/// A block to clean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Victim {
    pub block: u64,
    pub(super) seen: LookedAt,
}

// Which kind of block is cleaned first.
const LEFT: usize = 0;
const MOSTLY_DEAD: usize = 1;
const PROBATION: usize = 2;
const MAIN: usize = 3;
const LAST: usize = 4;

/// What an empty block is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// For records that a cleaner keeps: it may be one of the reserve.
    ToKeep,
    /// For a writer's records.
    ToFill,
    /// For a value that takes so many blocks.
    ForValue {
        blocks: u64,
        /// Those of them that the writer does not hold yet.
        left: u64,
    },
}

impl Wanted {
    /// Blocks that the directory must have for cleaning to be of use when the disk gives it no more: a value takes a
    /// quarter of them at most.
    fn least_allocated(self) -> u64 {
        match self {
            Wanted::ToKeep | Wanted::ToFill => 0,
            Wanted::ForValue { blocks, .. } => blocks * 4,
        }
    }

    /// Blocks that are still to be taken.
    fn left(self) -> u64 {
        match self {
            Wanted::ToKeep | Wanted::ToFill => 1,
            Wanted::ForValue { left, .. } => left,
        }
    }
}

/// Ticks after which a full disk is asked again.
const ASK_AGAIN: u64 = 16;

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Takes an empty block, for a cleaner or for a writer of this lane; a writer cleans until there is one, and
    /// leaves the reserve to cleaners. `None` when there is none. A value for which the disk has no room, and which
    /// would take more than a quarter of the blocks that are here, and more than those in which nothing lives, is
    /// refused before anything is cleaned.
    ///
    /// # Errors
    /// `NoSpace`, `Io` when there is none, and the disk refused one.
    pub(super) fn take_empty(
        &self,
        lane: u64,
        me: Participant,
        wanted: Wanted,
    ) -> Result<Option<u64>, Error> {
        let cleaner = wanted == Wanted::ToKeep;
        let mut refused = None;
        let least = wanted.least_allocated();
        // What nothing lives in goes first: cleaning that much is worth it in any case.
        let is_worth_it = || {
            least == 0
                || self.allocated_blocks() >= least
                || self.dead_blocks() >= wanted.left() + self.geometry.reserve()
        };
        let mut is_full = self.is_disk_full() && is_worth_it();
        // Bounded, because other writers may take every block that this one empties.
        for _ in 0..self.geometry.blocks * 2 {
            if self.environment.is_closed() {
                return Ok(None);
            }
            let empty = self.empty_blocks(!is_full && refused.is_none());
            // As it is once one is taken.
            self.set_pace(empty.count.saturating_sub(1), empty.has_more_allocated);
            let reserve = if cleaner { 0 } else { self.geometry.reserve() };
            if empty.count > reserve {
                let taken = match (empty.allocated, empty.unallocated) {
                    (Some(block), _) | (None, Some(block)) => self.take_free(block, me),
                    (None, None) => Ok(false),
                };
                match taken {
                    Ok(true) => return Ok((empty.allocated).or(empty.unallocated)),
                    Ok(false) => {}
                    // Then the blocks that are here are cleaned.
                    Err(error) => {
                        self.note_full_disk();
                        if !is_worth_it() {
                            return Err(error);
                        }
                        refused = Some(error);
                    }
                }
                continue;
            }
            if cleaner || !self.clean(lane, me, self.geometry.block_size, true) {
                // There is nothing to clean: the disk is asked, however lately it refused.
                if cleaner || !std::mem::take(&mut is_full) {
                    break;
                }
            }
        }
        refused.map_or(Ok(None), Err)
    }

    /// Whether the disk had no room a moment ago. Blocks that need some do not count as empty then: all
    /// participants clean in time, instead of asking the disk for each block.
    fn is_disk_full(&self) -> bool {
        self.was_refused_lately(header::DISK_FULL)
    }

    fn note_full_disk(&self) {
        self.note_refusal(header::DISK_FULL);
    }

    /// Whether the disk refused space a moment ago; `at` is the header's word that says when.
    pub(crate) fn was_refused_lately(&self, at: usize) -> bool {
        let noted = self.memory.load(at);
        let since = || u64::from(self.environment.ticks()).wrapping_sub(noted - 1);
        noted != 0 && since() & u64::from(u32::MAX) < ASK_AGAIN
    }

    pub(crate) fn note_refusal(&self, at: usize) {
        let now = u64::from(self.environment.ticks());
        self.memory.store(at, now + 1);
    }

    fn empty_blocks(&self, even_unallocated: bool) -> Empty {
        // More than any participant asks for. Blocks get their space in order, so after so many
        // without it there is hardly one that has it.
        self.some_empty_blocks(even_unallocated, self.geometry.few_empty() + 2)
    }

    /// True when more than a few blocks are left after so many were taken.
    pub(super) fn has_empty_blocks(&self, wanted: u64) -> bool {
        let enough = wanted + self.geometry.few_empty() + 1;
        self.some_empty_blocks(!self.is_disk_full(), enough).count >= enough
    }

    /// The first empty blocks, so many at most.
    fn some_empty_blocks(&self, even_unallocated: bool, most: u64) -> Empty {
        let mut empty = Empty::default();
        for block in 0..self.geometry.blocks {
            if !self.is_empty(block, self.block_state(block)) {
                continue;
            }
            let allocated = self.is_allocated(block);
            if !allocated && !even_unallocated {
                continue;
            }
            empty.count += 1;
            if allocated {
                empty.has_more_allocated = empty.allocated.is_some();
                empty.allocated.get_or_insert(block);
            } else {
                empty.unallocated.get_or_insert(block);
            }
            if empty.count == most {
                break;
            }
        }
        empty
    }

    /// True for a block without records that no living participant holds.
    fn is_empty(&self, block: u64, state: BlockState) -> bool {
        match state {
            BlockState::Free => true,
            BlockState::Appending(by) => {
                self.field(block, descriptor::TAIL) == 0 && !self.is_alive(by)
            }
            _ => false,
        }
    }

    /// To be called when a block was emptied.
    pub(super) fn renew_pace(&self) {
        let empty = self.empty_blocks(!self.is_disk_full());
        self.set_pace(empty.count, empty.allocated.is_some());
    }

    /// With so many empty blocks, of which some have their disk space or none has.
    fn set_pace(&self, empty: u64, has_allocated: bool) {
        let pace = if empty > self.geometry.few_empty() {
            // Blocks that are nearly dead are used again before new ones are: the directory stays small, and writers
            // meet lines that the processor has.
            let is_early = !has_allocated && self.choose_nearly_dead().is_some();
            if is_early {
                EARLY_PACE
            } else {
                0
            }
        } else if empty >= self.geometry.reserve() {
            4
        } else {
            MOST_PACE
        };
        if self.memory.load(header::PACE) != pace {
            self.memory.store(header::PACE, pace);
        }
    }

    /// Takes an empty block and gives it its disk space; false when another participant took it first.
    fn take_free(&self, block: u64, me: Participant) -> Result<bool, Error> {
        let seen = self.look_at_block(block);
        if !self.is_empty(block, seen.state)
            || !self.hold_block(block, seen, BlockState::Appending(me))
        {
            return Ok(false);
        }
        // One that a dead writer held may have got a record before it died.
        if self.field(block, descriptor::TAIL) != 0 {
            self.leave_written(block);
            return Ok(false);
        }
        if seen.state != BlockState::Free {
            self.forget_cleaning(block);
        }
        if !self.is_allocated(block) {
            if let Err(error) = self.environment.allocate(block) {
                self.leave_block(block, BlockState::Free);
                return Err(error);
            }
            self.set_field(block, descriptor::ALLOCATED, 1);
        }
        self.memory.fetch_add(header::BLOCKS_CLAIMED, 1);
        Ok(true)
    }

    /// The block to clean next: one that is noted; else one that a dead or an earlier cleaner left, else the one with the fewest
    /// live bytes of those where at least a quarter is gained, else the oldest of a queue.
    pub(crate) fn choose(&self) -> Option<Victim> {
        if let Some((_, victim)) = self.noted() {
            return Some(victim);
        }
        // By urgency. Of each, the smallest is best: live bytes, or age.
        let mut best: [Option<(u64, Victim)>; 5] = [None; 5];
        let mut worthiest = Worthiest::default();
        let newest = self.memory.load(header::SEQUENCE);
        let mut on_probation = 0;
        for block in 0..self.geometry.blocks {
            let seen = self.look_at_block(block);
            let bits = self.field(block, descriptor::FLAGS);
            let queue = Queue::of_flags(bits);
            let age = if bits & flags::LARGE == 0 {
                descriptor::SEQUENCE
            } else {
                descriptor::MOVED
            };
            let sequence = self.field(block, age);
            let by_worth = || match queue {
                _ if self.is_mostly_dead(block, seen.state) => {
                    (MOSTLY_DEAD, self.live_bytes(block))
                }
                Queue::Probation => (PROBATION, sequence),
                Queue::Main => (MAIN, sequence),
            };
            if queue == Queue::Probation && seen.state != BlockState::Free {
                on_probation += 1;
            }
            let (urgency, order) = match seen.state {
                BlockState::Free => continue,
                BlockState::Partly => (LEFT, block),
                BlockState::Cleaning(by) if !self.is_alive(by) => (LEFT, block),
                BlockState::Appending(by)
                    if self.field(block, descriptor::TAIL) > 0 && !self.is_alive(by) =>
                {
                    by_worth()
                }
                BlockState::Sealed => by_worth(),
                BlockState::Open if !self.is_being_filled(block, sequence, newest) => by_worth(),
                BlockState::Open => (LAST, sequence),
                BlockState::Appending(_) | BlockState::Cleaning(_) => continue,
            };
            if urgency == MOSTLY_DEAD && seen.state == BlockState::Sealed {
                worthiest.add(order, Victim { block, seen });
            }
            let place = &mut best[urgency];
            if place.is_none_or(|(least, _)| order < least) {
                *place = Some((order, Victim { block, seen }));
            }
        }
        self.note(&worthiest);
        // Every second time, what the main queue would keep is left alone.
        let fruitless = self.memory.load(header::FRUITLESS) % 2 == 1;
        if !fruitless && on_probation <= self.geometry.most_on_probation() {
            best.swap(PROBATION, MAIN);
        }
        best.into_iter().flatten().next().map(|(_, victim)| victim)
    }

    /// True for a block of a lane, unless half as many blocks as there are were begun since: then nobody
    /// writes to that lane.
    fn is_being_filled(&self, block: u64, sequence: u64, newest: u64) -> bool {
        newest.saturating_sub(sequence) < self.geometry.blocks / 2 && self.is_in_a_lane(block)
    }

    /// Blocks with disk space in which nothing lives, empty ones among them.
    fn dead_blocks(&self) -> u64 {
        let is_dead = |block: &u64| match self.block_state(*block) {
            BlockState::Free => true,
            BlockState::Sealed => self.live_bytes(*block) == 0,
            _ => false,
        };
        let blocks = (0..self.geometry.blocks).filter(|block| self.is_allocated(*block));
        blocks.filter(is_dead).count() as u64
    }

    pub(super) fn live_bytes(&self, block: u64) -> u64 {
        let dead = self.field(block, descriptor::DEAD);
        self.field(block, descriptor::TAIL).saturating_sub(dead)
    }

    /// True when at least a quarter of a block is gained by moving all that lives in it elsewhere; then all
    /// of it is kept.
    ///
    /// The unused end of a sealed block, or of a cleaners' one, may be lost again there. If it counted,
    /// entries of more than half a block would be moved forever, and none evicted.
    pub(super) fn is_mostly_dead(&self, block: u64, state: BlockState) -> bool {
        let gain = if state == BlockState::Sealed || self.is_in_a_keep_lane(block) {
            self.field(block, descriptor::DEAD)
        } else {
            self.geometry
                .block_size
                .saturating_sub(self.live_bytes(block))
        };
        gain >= self.geometry.block_size / 4
    }
}
