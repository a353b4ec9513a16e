//! Offsets of the header's words. Words that change are a cache line apart.

/// Bytes of the header.
pub const LEN: u64 = 4096;
/// [`super::MAGIC`].
pub const MAGIC: usize = 0;
/// [`super::VERSION`].
pub const VERSION: usize = 8;
/// Byte limit of the directory.
pub const LIMIT: usize = 16;
/// Seed of the key hash.
pub const SEED: usize = 24;
/// Boot id, first half, then second half.
pub const BOOT_ID: usize = 32;
/// Inode of the `participants` file, whose locks say which participants live.
pub const LOCK_INODE: usize = 48;
/// 1 when a handle was ever opened without `empty_at_boot`: then no other one empties the directory.
pub const KEPT: usize = 56;
/// Whether the index is being replaced: one of [`super::replaced`].
pub const REPLACED: usize = 64;
/// Inode of the index itself. In a copy it is another one.
pub const INDEX_INODE: usize = 72;
/// The file system of all files.
pub const DEVICE: usize = 80;
/// When the directory was made, milliseconds since 1970: its counters began at 0 then.
pub const CREATED: usize = 88;
/// The memory tiers' epoch; JavaScript loads its low 32 bits. The uppermost byte counts the levels of
/// the index that were opened, beside the first one: [`super::Geometry::levels_at`].
pub const EPOCH: usize = 128;
/// Clears so far. The words up to 256 change with clears and surveys only, and share its line.
pub const CLEARS: usize = 192;
/// Floors up to this one end with the survey under way: nothing that was born below it may be stored.
pub const FLOOR_TARGET: usize = 200;
/// Floors up to this one have ended: no record below them is left, so their cells are free.
pub const FLOORS_ENDED: usize = 208;
/// When the next entry expires, milliseconds since 1970; 0 when none is known to.
pub const NEXT_EXPIRY: usize = 216;
/// The floor of the root, in two halves as in a cell.
pub const ROOT_FLOOR: usize = 224;
/// Bytes that writers clean for each byte that they append, while few blocks are empty.
pub const PACE: usize = 256;
/// The last block sequence number given out.
pub const SEQUENCE: usize = 320;
/// The participant id to try next.
pub const NEXT_PARTICIPANT: usize = 384;
/// Entries unlinked because their block was recycled.
pub const EVICTED_BY_AGE: usize = 448;
/// Entries unlinked because both buckets of a new key were full.
pub const EVICTED_BY_CONFLICT: usize = 456;
/// Entries that recycling found expired.
pub const EXPIRED: usize = 464;
/// Entries kept by recycling because they had been visited.
pub const REINSERTED: usize = 472;
/// Old values removed because their replacement could not be stored.
pub const EVICTED_BY_FAILED_PUT: usize = 480;
/// Blocks claimed.
pub const BLOCKS_CLAIMED: usize = 488;
/// Clears that found the table of floors full and cleared a group of namespaces.
pub const FLOOR_OVERFLOWS: usize = 496;
/// Distance of two lanes.
pub const LINE: usize = 64;
/// Lanes of writers: each names the block being filled, plus one; 0 is none.
pub const WRITE_LANES: usize = 512;
/// Lanes of cleaners, for records of the probation queue that stay in it.
pub const KEEP_LANES: usize = WRITE_LANES + super::MAX_WRITE_LANES as usize * LINE;
/// Blocks that are being cleaned, plus one; 0 is none.
pub const CLEANERS: usize = KEEP_LANES + super::MAX_CLEANERS as usize * LINE;
/// The tick at which the disk had no room for a block, plus one; 0 is never.
pub const DISK_FULL: usize = CLEANERS + super::MAX_CLEANERS as usize * LINE;
/// The tick at which the disk had no room for a level of the index, plus one; 0 is never.
pub const LEVEL_REFUSED: usize = DISK_FULL + 8;
/// Lanes of the main queue: for records that cleaners keep there, and for keys that left a ghost.
pub const MAIN_LANES: usize = DISK_FULL + LINE;
/// Bytes of records that left a ghost: the clock of the ghosts' age. 0 while there are none.
pub const GHOST_CLOCK: usize = MAIN_LANES + super::MAX_CLEANERS as usize * LINE;
/// Blocks cleaned because of their age, one after another, of which nearly all was kept.
pub const FRUITLESS: usize = GHOST_CLOCK + LINE;
/// How far the survey is: its target, whether writers were waited for, and the chunk it looks at next.
pub const SURVEY: usize = FRUITLESS + LINE;
/// Clears when the survey began: the target of the next one.
pub const SURVEY_CLEARS: usize = SURVEY + 8;
/// Cells that were given to a namespace so far.
pub const CELLS_GIVEN: usize = SURVEY + 16;
/// The same when the survey began.
pub const SURVEY_CELLS: usize = SURVEY + 24;
/// The last block sequence number when the survey began.
pub const SURVEY_SEQUENCE: usize = SURVEY + 32;
/// Blocks that must be claimed before another survey for space begins.
pub const SURVEY_PAUSE: usize = SURVEY + 40;
/// Bytes of the records that the survey has removed.
pub const SURVEY_REMOVED: usize = SURVEY + 48;
/// Clears when the last flush began: a clear that raises a floor up to it takes another number.
pub const FLUSH_CLEARS: usize = SURVEY + LINE;
/// The mark of the last flush that is complete. Clears when it began.
pub const MARK_CLEARS: usize = FLUSH_CLEARS + 8;
/// Floors up to this one had ended when it began: no entry below them is on the disk.
pub const MARK_FLOORS_ENDED: usize = FLUSH_CLEARS + 16;
/// The tick at which it began, plus one; 0 is never.
pub const MARK_TICK: usize = FLUSH_CLEARS + 24;
/// The tick at which a handle that was closed last began to write to the disk, plus one; 0 is never.
pub const WRITE_BACK_TICK: usize = FLUSH_CLEARS + 40;
/// It moves while a cache is recovered: a process that waits sees that recovery goes on.
pub const RECOVERED: usize = FLUSH_CLEARS + 32;
/// Flushes that failed so far.
pub const FAILED_FLUSHES: usize = FLUSH_CLEARS + 48;
/// So many of them came before a flush that was complete. While this is less, the disk may lack pages that the
/// system takes for written.
pub const FAILED_AND_MENDED: usize = FLUSH_CLEARS + 56;
/// The tick before which no background flush is tried again after one that failed, plus one; 0 is none.
pub const FLUSH_AGAIN: usize = FLUSH_CLEARS + LINE;
/// What all processes did with remote databases: seven words on a line of their own (`spec/host.md`).
pub const REMOTE_COUNTS: usize = FLUSH_AGAIN + LINE;
/// Boards of remote databases: each on a line of its own.
pub const BOARDS: usize = LEN as usize - BOARD_COUNT * LINE;
/// Boards of remote databases.
pub const BOARD_COUNT: usize = 4;
