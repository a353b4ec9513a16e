//! Where everything is in the `index` file and in the blocks (`spec/host.md`).

pub mod header;
mod large;
mod level;

pub use large::{Shape, LISTED};
pub use level::Level;

use crate::error::Error;
use level::levels_of;

/// `POLYCACH` in little-endian bytes: the first word of an index.
pub const MAGIC: u64 = u64::from_le_bytes(*b"POLYCACH");
/// Version of the layout; also the directory's name, `v2`.
pub const VERSION: u64 = 2;

/// Values of [`header::REPLACED`].
pub mod replaced {
    /// The index is in use.
    pub const NO: u64 = 0;
    /// A process with the directory's lock is recovering the cache, or decides whether to make a new one. Others
    /// join with that lock only.
    pub const PERHAPS: u64 = 1;
    /// Another cache takes the place of this one. Its handles are told by the epoch, which moved.
    pub const YES: u64 = 2;
}

/// Lanes of writers at most.
pub const MAX_WRITE_LANES: u64 = 32;
/// Blocks that are cleaned at the same time; more only while cleaners are stopped.
pub const MAX_CLEANERS: u64 = 4;

/// Participants at most; id 0 stands for the directory's own lock.
pub const PARTICIPANTS: usize = 4096;
/// Byte of the file of locks that is locked by the process that flushes.
pub(crate) const FLUSH_LOCK: u64 = PARTICIPANTS as u64;
/// Bytes of a cell of counters: three cache lines, so that no two participants write to one.
pub const CELL: usize = 192;
/// Cells of counters: one for each 32 KiB of the limit, rounded down to a power of two, within these bounds.
const BYTES_PER_CELL: u64 = 32 << 10;
const MIN_CELLS: u64 = 64;
const MAX_CELLS: u64 = 512;
/// Cells of floors that come with a level at least.
const MIN_FLOORS: u64 = 2048;
/// Buckets of a level for each cell of a floor.
const BUCKETS_PER_FLOOR: u64 = 8;
/// Cells of a set: a namespace's floor is in one of two sets.
pub const FLOOR_SET: u64 = 8;
/// Groups of namespaces, each with a floor of its own for clears that find no cell.
pub const FLOOR_GROUPS: u64 = 1024;
/// Slots in a bucket: one cache line.
pub const BUCKET: usize = 8;
/// Levels of the index at most.
pub const MAX_LEVELS: usize = 6;
/// Where EPOCH counts the opened levels.
const LEVELS_SHIFT: u32 = 56;
/// What is added to EPOCH when a level is opened: one level, and one for the epoch itself.
pub const NEXT_LEVEL: u64 = (1 << LEVELS_SHIFT) + 1;
/// Bytes of a set of ghosts: 16 of two bytes.
pub const GHOST_SET: usize = 32;
/// Bytes of a block's descriptor.
pub const DESCRIPTOR: usize = 64;
/// Bytes of a record before its key.
pub const RECORD_HEADER: usize = 32;
/// A slot's reads are counted up to this.
pub const MOST_READS: u8 = 3;
/// Longest key: 24 bits of the record header.
pub const MAX_KEY: usize = (1 << 24) - 1;
/// Bytes of one file of blocks, hence of one mapping: the largest ArrayBuffer that JavaScript engines
/// accept.
pub const WINDOW: u64 = 1 << 30;

/// Smallest byte limit.
pub const MIN_LIMIT: u64 = 2 << 20;
/// Largest byte limit: 2^32 units of 256 bytes.
pub const MAX_LIMIT: u64 = 1 << 40;
/// Byte limit when the caller gives none.
pub const DEFAULT_LIMIT: u64 = 256 << 20;

const PAGE: u64 = 4096;
/// Reserved for the three folders themselves; that of the blocks grows with up to 1024 names.
const FOLDERS: u64 = 64 << 10;
const MIN_BLOCK: u64 = 64 << 10;
/// Bytes of a new block that are prepared at first; as many again as it has then, from there on.
pub const LEAST_PREPARED: u64 = MIN_BLOCK;
/// Bytes that are prepared at once, at most: no writer waits longer for it than for some page faults.
pub const MOST_PREPARED: u64 = 256 << 10;
const MAX_BLOCK: u64 = 16 << 20;

/// Everything that follows from the byte limit: every process computes the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Byte limit of the directory.
    pub limit: u64,
    /// The levels of the index; those from `level_count` on are empty.
    pub levels: [Level; MAX_LEVELS],
    /// Number of levels.
    pub level_count: usize,
    /// Bytes of a block, a power of two.
    pub block_size: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Bytes of a block after which more of it may have to be prepared: [`LEAST_PREPARED`], or a smaller power of two.
    pub preparing: u64,
    /// Bytes of a unit, in which words count locations.
    pub unit: u64,
    /// Offset of the participants' incarnations in the index file.
    pub participants_at: usize,
    /// Offset of the cells of counters.
    pub counters_at: usize,
    /// Number of cells of counters; the first one has no owner.
    pub cells: u64,
    /// Offset of the floors' groups; the cells follow.
    pub floors_at: usize,
    /// Cells of floors that come with a level at least, a power of two.
    pub floors: u64,
    /// Offset of the block descriptors.
    pub descriptors_at: usize,
    /// Offset of the visited bytes.
    pub visited_at: usize,
    /// Offset of the ghosts.
    pub ghosts_at: usize,
    /// Offset of the buckets.
    pub slots_at: usize,
    /// Bytes of the index file when all levels are opened.
    pub index_len: u64,
}

impl Geometry {
    /// Lays out a directory of at most `limit` bytes.
    ///
    /// # Errors
    /// `InvalidArgument` outside 2 MiB .. 1 TiB.
    pub fn new(limit: u64) -> Result<Geometry, Error> {
        if !(MIN_LIMIT..=MAX_LIMIT).contains(&limit) {
            return Err(Error::InvalidArgument(format!(
                "the host tier's byte limit is {limit}; it must lie between {MIN_LIMIT} (2 MiB) and {MAX_LIMIT} (1 TiB)"
            )));
        }
        // One slot for 128 to 256 bytes of the limit. The levels round up, to one for 91 to 246 bytes of blocks: only
        // smaller entries are bounded by the index.
        let buckets = previous_power_of_two(limit / 128 / BUCKET as u64);
        let block_size = previous_power_of_two(limit / 512).clamp(MIN_BLOCK, MAX_BLOCK);
        let unit = if limit <= 64 << 30 { 16 } else { 256 };
        let participants_at = PAGE;
        let counters_at = participants_at + PARTICIPANTS as u64 * 8;
        // A power of two from 64 on: what follows begins on a page.
        let cells = previous_power_of_two(limit / BYTES_PER_CELL).clamp(MIN_CELLS, MAX_CELLS);
        let floors_at = counters_at + cells * CELL as u64;
        let geometry = Geometry {
            limit,
            levels: [Level::default(); MAX_LEVELS],
            level_count: 0,
            block_size,
            preparing: LEAST_PREPARED,
            // An upper bound for the descriptors; the blocks take what the limit leaves after them.
            blocks: limit / block_size,
            unit,
            participants_at: participants_at as usize,
            counters_at: counters_at as usize,
            cells,
            floors_at: floors_at as usize,
            floors: MIN_FLOORS,
            descriptors_at: 0,
            visited_at: 0,
            ghosts_at: 0,
            slots_at: 0,
            index_len: 0,
        };
        let geometry = geometry.with_levels(&levels_of(buckets));
        Ok(Geometry {
            blocks: (limit - geometry.index_len - FOLDERS) / block_size,
            ..geometry
        })
    }

    /// The same with levels of so many buckets each, all of them powers of two. Tests take tiny ones, so
    /// that levels are opened all the time.
    #[must_use]
    pub fn with_levels(self, buckets: &[u64]) -> Geometry {
        let mut levels = [Level::default(); MAX_LEVELS];
        let mut first = 0;
        for (level, buckets) in levels.iter_mut().zip(buckets) {
            *level = Level {
                first,
                mask: buckets - 1,
            };
            first = level.slots_end();
        }
        let (slots, count) = (first, buckets.len());
        let geometry = Geometry {
            levels,
            level_count: count,
            ..self
        };
        let cells = (FLOOR_GROUPS + 2 * geometry.floors_in(count)) * 8;
        let descriptors_at = round_up(geometry.floors_at as u64 + cells, PAGE);
        let descriptors = geometry.blocks * DESCRIPTOR as u64;
        let visited_at = round_up(descriptors_at + descriptors, PAGE);
        let ghosts_at = round_up(visited_at + slots, PAGE);
        let ghosts = geometry.ghost_sets(count) * GHOST_SET as u64;
        let slots_at = round_up(ghosts_at + ghosts, PAGE);
        Geometry {
            descriptors_at: descriptors_at as usize,
            visited_at: visited_at as usize,
            ghosts_at: ghosts_at as usize,
            slots_at: slots_at as usize,
            index_len: slots_at + slots * 8,
            ..geometry
        }
    }

    /// Cells of floors that come with a level. A survey looks at every slot while few clears need a cell: the
    /// more slots, the more cells.
    #[must_use]
    pub fn floors_of(&self, level: usize) -> u64 {
        match level {
            0 => self.floors,
            _ => (self.levels[level].buckets() / BUCKETS_PER_FLOOR).max(self.floors),
        }
    }

    /// Cells of floors while this many levels are open.
    #[must_use]
    pub fn floors_in(&self, levels: usize) -> u64 {
        (0..levels).map(|level| self.floors_of(level)).sum()
    }

    /// Sets of ghosts while this many levels are open, a power of two: about half as many ghosts as slots.
    #[inline(always)]
    #[must_use]
    pub fn ghost_sets(&self, levels: usize) -> u64 {
        let buckets = self.slots_in(levels) / BUCKET as u64;
        (previous_power_of_two(buckets) / 4).max(1)
    }

    /// Number of levels that are open at an epoch: always the first one, and no more than there are,
    /// whatever a damaged epoch says.
    #[inline(always)]
    #[must_use]
    pub fn levels_at(&self, epoch: u64) -> usize {
        ((epoch >> LEVELS_SHIFT) as usize + 1).min(self.level_count)
    }

    /// The next epoch, with so many open levels.
    #[must_use]
    pub fn epoch_with(&self, epoch: u64, levels: usize) -> u64 {
        let count = epoch.wrapping_add(1) & ((1 << LEVELS_SHIFT) - 1);
        ((levels as u64 - 1) << LEVELS_SHIFT) | count
    }

    /// Number of slots of this many levels.
    #[inline(always)]
    #[must_use]
    pub fn slots_in(&self, levels: usize) -> u64 {
        self.levels[levels - 1].slots_end()
    }

    /// Bytes of the index file while this many levels are open.
    #[must_use]
    pub fn index_end(&self, levels: usize) -> u64 {
        self.slot_at(self.slots_in(levels)) as u64
    }

    /// Number of levels for which an index file of this many bytes is long enough.
    #[must_use]
    pub fn levels_within(&self, len: u64) -> usize {
        (1..=self.level_count)
            .take_while(|levels| self.index_end(*levels) <= len)
            .count()
    }

    /// Offsets and lengths of what a level takes in the index file: its cells of floors, its visited bytes, its
    /// ghosts, then its slots, which make the file longer. With those of the first level comes all that lies
    /// before them.
    #[must_use]
    pub fn level_ranges(&self, level: usize) -> [(u64, u64); 4] {
        let cells =
            |levels| (FLOOR_GROUPS + 2 * self.floors_in(levels)) * 8 + self.floors_at as u64;
        let slots = |levels| {
            if levels == 0 {
                0
            } else {
                self.slots_in(levels)
            }
        };
        let ghosts = |levels| {
            if levels == 0 {
                0
            } else {
                self.ghost_sets(levels)
            }
        };
        let parts = |levels| {
            [
                cells(levels),
                self.visited_byte_at(slots(levels)) as u64,
                self.ghosts_at as u64 + ghosts(levels) * GHOST_SET as u64,
                self.slot_at(slots(levels)) as u64,
            ]
        };
        let (mut from, to) = (parts(level), parts(level + 1));
        if level == 0 {
            (from[0], from[1]) = (0, self.descriptors_at as u64);
        }
        std::array::from_fn(|part| (from[part], to[part] - from[part]))
    }

    /// Bytes of disk space that the index takes while this many levels are open.
    #[must_use]
    pub fn index_bytes(&self, levels: usize) -> u64 {
        (0..levels)
            .flat_map(|level| self.level_ranges(level))
            .map(|(_, len)| len)
            .sum()
    }

    /// Offset of a slot's word in the index file.
    #[inline(always)]
    #[must_use]
    pub fn slot_at(&self, slot: u64) -> usize {
        self.slots_at + slot as usize * 8
    }

    /// Offset of a slot's visited byte in the index file.
    #[inline(always)]
    #[must_use]
    pub fn visited_byte_at(&self, slot: u64) -> usize {
        self.visited_at + slot as usize
    }

    /// Offset of a cell of counters in the index file.
    #[must_use]
    pub fn cell_at(&self, cell: u64) -> usize {
        self.counters_at + cell as usize * CELL
    }

    /// Offset of a block's descriptor in the index file.
    #[inline(always)]
    #[must_use]
    pub fn descriptor_at(&self, block: u64) -> usize {
        self.descriptors_at + block as usize * DESCRIPTOR
    }

    /// Number of slots of all levels, opened or not.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.slots_in(self.level_count)
    }

    /// Bytes of all blocks.
    #[inline(always)]
    #[must_use]
    pub fn blocks_len(&self) -> u64 {
        self.blocks * self.block_size
    }

    /// True when the fixed part of a record fits between `at` and the end of its block; no record is
    /// anywhere else, whatever a damaged word or tail says.
    #[inline(always)]
    #[must_use]
    pub fn may_hold_record(&self, at: u64) -> bool {
        let room = self.block_size - (at & (self.block_size - 1));
        at < self.blocks_len() && room >= RECORD_HEADER as u64
    }

    /// Bytes of a record with this key and entry.
    #[inline(always)]
    #[must_use]
    pub fn record_size(&self, key: usize, entry: usize) -> u64 {
        round_up((RECORD_HEADER + key + entry) as u64, self.unit)
    }

    /// Lanes of writers: blocks that are filled at the same time.
    #[inline(always)]
    #[must_use]
    pub fn write_lanes(&self) -> u64 {
        (self.blocks / 8).clamp(4, MAX_WRITE_LANES)
    }

    /// Lanes of cleaners for records of the probation queue, and as many of the main queue.
    #[must_use]
    pub fn keep_lanes(&self) -> u64 {
        self.cleaners()
    }

    /// Blocks that are cleaned at the same time.
    #[must_use]
    pub fn cleaners(&self) -> u64 {
        (self.blocks / 32).clamp(2, MAX_CLEANERS)
    }

    /// Empty blocks that only cleaners take: one to begin with, for the records that they keep.
    #[must_use]
    pub fn reserve(&self) -> u64 {
        (self.blocks / 192).clamp(1, MAX_CLEANERS)
    }

    /// Writers clean while no more blocks than these are empty.
    #[must_use]
    pub fn few_empty(&self) -> u64 {
        self.reserve() + self.blocks / 256
    }

    /// Blocks of the probation queue at most, when blocks are emptied because of their age.
    #[must_use]
    pub fn most_on_probation(&self) -> u64 {
        (self.blocks / 10).max(1)
    }

    /// Bytes of a step: a writer pays for cleaning once a step.
    #[inline(always)]
    #[must_use]
    pub fn step(&self) -> u64 {
        (self.block_size / 64).min(16 << 10)
    }

    /// True when a multiple of `preparing` lies between two places in a block: more of a new one may have to be
    /// prepared.
    #[inline(always)]
    #[must_use]
    pub fn is_to_be_prepared(&self, from: u64, to: u64) -> bool {
        from == 0 || (from ^ to) >= self.preparing
    }

    /// True when a step begins between two places in a block.
    #[inline(always)]
    #[must_use]
    pub fn is_in_another_step(&self, from: u64, to: u64) -> bool {
        (from ^ to) >= self.step()
    }
}

#[inline(always)]
fn round_up(value: u64, to: u64) -> u64 {
    (value + to - 1) & !(to - 1)
}

fn previous_power_of_two(value: u64) -> u64 {
    1 << (63 - value.max(1).leading_zeros())
}

#[cfg(test)]
mod tests;
