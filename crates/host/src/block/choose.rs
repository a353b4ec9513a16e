//! Which block is emptied next.

use super::clean::MOST_PACE;
use super::{descriptor, BlockState, LookedAt};
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
    /// One that has not.
    unallocated: Option<u64>,
}

/// A block to clean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Victim {
    pub block: u64,
    pub seen: LookedAt,
}

/// Ticks after which a full disk is asked again.
const ASK_AGAIN: u64 = 16;

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Takes an empty block, for a cleaner or for a writer; a writer cleans until there is one, and
    /// leaves the reserve to cleaners. `None` when there is none.
    ///
    /// # Errors
    /// `NoSpace`, `Io` when there is none, and the disk refused one.
    pub(super) fn take_empty(&self, me: Participant, cleaner: bool) -> Result<Option<u64>, Error> {
        let mut refused = None;
        let mut is_full = self.is_disk_full();
        // Bounded, because other writers may take every block that this one empties.
        for _ in 0..self.geometry.blocks * 2 {
            if self.environment.is_closed() {
                return Ok(None);
            }
            let empty = self.empty_blocks(!is_full && refused.is_none());
            self.set_pace(empty.count);
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
                        refused = Some(error);
                    }
                }
                continue;
            }
            if cleaner || !self.clean(u64::from(me.id), me, self.geometry.block_size, true) {
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
        let noted = self.memory.load(header::DISK_FULL);
        let since = || u64::from(self.environment.ticks()).wrapping_sub(noted - 1);
        noted != 0 && since() & u64::from(u32::MAX) < ASK_AGAIN
    }

    fn note_full_disk(&self) {
        let now = u64::from(self.environment.ticks());
        self.memory.store(header::DISK_FULL, now + 1);
    }

    fn empty_blocks(&self, even_unallocated: bool) -> Empty {
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
                empty.allocated.get_or_insert(block);
            } else {
                empty.unallocated.get_or_insert(block);
            }
            // More than any participant asks for. Blocks get their space in order, so after so many
            // without it there is hardly one that has it.
            if empty.count > self.geometry.few_empty() {
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

    fn set_pace(&self, empty: u64) {
        let pace = if empty > self.geometry.few_empty() {
            0
        } else if empty > self.geometry.reserve() {
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
            self.leave_block(block, BlockState::Open);
            return Ok(false);
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

    /// The block to clean next: one that a dead or an earlier cleaner left, else the one with the fewest
    /// live bytes of those where at least a quarter is gained, else the oldest.
    pub(super) fn choose(&self) -> Option<Victim> {
        // Smaller is better: how urgent, then live bytes or age.
        let mut best: Option<((u64, u64), Victim)> = None;
        for block in 0..self.geometry.blocks {
            let seen = self.look_at_block(block);
            let sequence = self.field(block, descriptor::SEQUENCE);
            let by_worth = || {
                if self.is_mostly_dead(block, seen.state) {
                    (1, self.live_bytes(block))
                } else {
                    (2, sequence)
                }
            };
            let rank = match seen.state {
                BlockState::Free => continue,
                BlockState::Partly => (0, block),
                BlockState::Cleaning(by) if !self.is_alive(by) => (0, block),
                BlockState::Appending(by)
                    if self.field(block, descriptor::TAIL) > 0 && !self.is_alive(by) =>
                {
                    by_worth()
                }
                BlockState::Sealed => by_worth(),
                BlockState::Open if !self.is_in_a_lane(block) => by_worth(),
                BlockState::Open => (3, sequence),
                BlockState::Appending(_) | BlockState::Cleaning(_) => continue,
            };
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, Victim { block, seen }));
            }
        }
        best.map(|(_, victim)| victim)
    }

    fn live_bytes(&self, block: u64) -> u64 {
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
