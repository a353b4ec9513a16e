//! Cleaning: emptying a block, a step at a time. Every writer does a step for every so many bytes that it
//! appends while few blocks are empty, so no caller is held for longer than a step takes.

use super::append::OpenBlock;
use super::choose::Victim;
use super::lanes::{Asking, Lane};
use super::{descriptor, flags, BlockState, Queue};
use crate::engine::{Engine, Environment, Key, Participant, Record};
use crate::hash::{key_hash, KeyHash};
use crate::layout::{header, RECORD_HEADER};
use crate::record::RecordHeader;
use crate::shared_memory::SharedMemory;
use crate::word::Word;
use polycache_entry::HEADER_LEN;
use smallvec::SmallVec;

/// The pace while many blocks are empty, and others that are nearly dead could be used before those get disk space. It
/// is not one of the others.
pub(super) const EARLY_PACE: u64 = 2;
/// The pace at which only the reserve is empty.
pub(super) const MOST_PACE: u64 = 8;
/// Records that cleaning reads ahead.
const BATCH: usize = 16;

/// So many blocks are cleaned in vain one after another; of the next one, half is kept at most. This bounds
/// how much is moved for a free block.
const MOST_FRUITLESS: u64 = 16;

/// Where a step puts the entries that it keeps.
struct Keeper {
    me: Participant,
    lane: u64,
    open: Option<OpenBlock>,
    /// The queue of the block that is cleaned.
    queue: Queue,
    /// What counts as kept of this block so far, in bytes.
    kept: u64,
    /// What may be kept.
    most: u64,
    /// No block was to be had for what is kept.
    is_full: bool,
    /// Entries that were not read are kept, too, in the queue in which they are.
    keep_all: bool,
    /// An entry that cannot be kept, for want of an empty block, is evicted; else the step ends there.
    forced: bool,
}

impl Keeper {
    /// True when an entry with so many reads is kept.
    fn keeps(&self, reads: u8) -> bool {
        self.keep_all || self.queue.keeps(reads)
    }

    /// The reads of an entry that is kept: it comes to the main queue without any, and pays one to stay
    /// there.
    fn reads_left(&self, reads: u8) -> u8 {
        if self.keep_all {
            reads
        } else {
            self.queue.reads_left(reads)
        }
    }
}

/// What became of the block that a cell names.
enum Begun {
    /// A cleaner left it, or died.
    Left(Victim),
    /// A living cleaner holds it.
    Held,
    /// It is no longer being cleaned.
    Nothing,
}

/// What became of one record.
#[derive(PartialEq, Eq)]
enum Outcome {
    /// No word points to it any more.
    Gone,
    /// It is to be kept, and there is no room now.
    NoRoom,
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Pays for appended bytes while few blocks are empty.
    pub(super) fn pay(&self, size: u64, lane: u64, me: Participant) {
        let pace = self.memory.load(header::PACE);
        if pace == EARLY_PACE {
            self.clean_early(lane, me, pace * size.max(self.geometry.step()));
            return;
        }
        // What is served no more goes before anything live, as long as there is a block to fill.
        if pace > 0 && !(self.survey_for_space() && pace < MOST_PACE) {
            // Writers of different lanes begin at different cells. A sole writer cleans one block at a time.
            self.clean(lane, me, pace * size.max(self.geometry.step()), false);
        }
    }

    /// As [`Engine::clean`], while many blocks are empty: only what is nearly dead, and what a cleaner left.
    #[cold]
    fn clean_early(&self, first: u64, me: Participant, budget: u64) {
        let choose = || self.choose_nearly_dead();
        if !self.clean_chosen(first, me, budget, false, choose) {
            self.renew_pace();
        }
    }

    /// Walks about `budget` bytes of the block that is being cleaned, or of a new one; the cells are asked from
    /// the one with this number on. False when there was nothing to do, or other cleaners are at it. A forced
    /// cleaner does not wait for those: they may have been stopped.
    pub(super) fn clean(&self, first: u64, me: Participant, budget: u64, forced: bool) -> bool {
        self.clean_chosen(first, me, budget, forced, || self.choose())
    }

    fn clean_chosen(
        &self,
        first: u64,
        me: Participant,
        budget: u64,
        forced: bool,
        choose: impl Fn() -> Option<Victim>,
    ) -> bool {
        let cleaners = self.geometry.cleaners();
        for turn in 0..cleaners {
            let number = (first + turn) % cleaners;
            let cell = header::CLEANERS + number as usize * header::LINE;
            let named = self.memory.load(cell);
            let begun = self.begun(named);
            if matches!(begun, Begun::Held) && !forced {
                continue;
            }
            let victim = match begun {
                Begun::Left(victim) => Some(victim),
                Begun::Held | Begun::Nothing => choose(),
            };
            let Some(Victim { block, seen }) = victim else {
                continue;
            };
            if !self.hold_block(block, seen, BlockState::Cleaning(me)) {
                continue;
            }
            if self.is_of_large_value(block) {
                return self.clean_large(block, me);
            }
            if matches!(begun, Begun::Nothing) {
                self.memory.store(cell, block + 1);
            }
            let mut flags = self.field(block, descriptor::FLAGS);
            if self.field(block, descriptor::CLEANED) == 0 {
                flags &= flags::MAIN;
                if self.is_mostly_dead(block, seen.state) {
                    flags |= flags::KEEP_ALL;
                }
                self.set_field(block, descriptor::FLAGS, flags);
            }
            let keep_all = flags & flags::KEEP_ALL != 0;
            let keeper = Keeper {
                me,
                lane: number,
                open: None,
                queue: self.queue_of(block),
                kept: self.field(block, descriptor::MOVED),
                most: self.most_kept(keep_all),
                is_full: false,
                keep_all,
                forced,
            };
            if self.step(block, keeper, budget) {
                return true;
            }
        }
        false
    }

    /// What became of the block that a cell names.
    fn begun(&self, named: u64) -> Begun {
        let Some(block) = self.block_named(named) else {
            return Begun::Nothing;
        };
        let seen = self.look_at_block(block);
        match seen.state {
            BlockState::Partly => Begun::Left(Victim { block, seen }),
            BlockState::Cleaning(by) if self.is_alive(by) => Begun::Held,
            BlockState::Cleaning(_) => Begun::Left(Victim { block, seen }),
            _ => Begun::Nothing,
        }
    }

    /// Bytes of a block that are kept at most.
    fn most_kept(&self, keep_all: bool) -> u64 {
        if keep_all || self.memory.load(header::FRUITLESS) < MOST_FRUITLESS {
            u64::MAX
        } else {
            self.geometry.block_size / 2
        }
    }

    /// What a record counts as kept: a large one may leave as much room unused where it goes.
    fn kept_as(&self, size: u64) -> u64 {
        if size > self.geometry.block_size / 8 {
            2 * size
        } else {
            size
        }
    }

    /// True while a cleaner may keep everything that is in a block.
    pub(super) fn may_keep_all(&self) -> bool {
        self.most_kept(false) == u64::MAX
    }

    /// Notes whether a block that was cleaned because of its age gave space. Cleaners that note at the same
    /// time may overwrite each other: it only steers.
    pub(super) fn note_gain(&self, gained: bool) {
        let before = self.memory.load(header::FRUITLESS);
        let now = if gained || before >= MOST_FRUITLESS {
            0
        } else {
            before + 1
        };
        if now != before {
            self.memory.store(header::FRUITLESS, now);
        }
    }

    /// Walks a held block from where the last step ended. Unlinks its records, or moves them to the keeper's
    /// block. Then no slot points to what was walked. False when it could not take a single record.
    fn step(&self, block: u64, mut keeper: Keeper, budget: u64) -> bool {
        let start = block * self.geometry.block_size;
        let tail = self
            .field(block, descriptor::TAIL)
            .min(self.geometry.block_size);
        let from = start + self.field(block, descriptor::CLEANED).min(tail);
        let end = start + tail;
        self.memory.will_read(from, budget.min(end - from));
        let (at, whole) = self.walk(from, end, end.min(from + budget), &mut keeper);
        if let Some(open) = keeper.open.take() {
            self.leave_block(open.block, open.left());
        }
        if !whole {
            self.unlink_range(start, start + self.geometry.block_size);
        } else if at < end {
            self.set_field(block, descriptor::CLEANED, at - start);
            self.set_field(block, descriptor::MOVED, keeper.kept);
            self.leave_block(block, BlockState::Partly);
            return at > from;
        }
        if !keeper.keep_all {
            self.note_gain(keeper.kept <= self.geometry.block_size / 4 * 3);
        }
        self.empty_block(block);
        self.renew_pace();
        true
    }

    /// Walks from one record to another; how far it came, and false when the chain of records breaks there.
    fn walk(&self, from: u64, end: u64, until: u64, keeper: &mut Keeper) -> (u64, bool) {
        // Records are read ahead in batches, because their words are spread over the index.
        let mut ahead: SmallVec<[(Record, KeyHash, u64); BATCH]> = SmallVec::new();
        let mut bytes = Vec::new();
        let mut at = from;
        while at < until {
            ahead.clear();
            let mut next = at;
            while next < until && ahead.len() < BATCH {
                let Some((record, size)) = self.record_before(next, end) else {
                    break;
                };
                bytes.clear();
                self.read_key(&record, &mut bytes);
                let hash = key_hash(self.seed, &bytes);
                let levels = self.levels();
                self.prefetch(levels, hash);
                self.prefetch_ghosts(hash);
                ahead.push((record, hash, size));
                next += size;
            }
            if ahead.is_empty() {
                return (at, false);
            }
            for (record, hash, size) in &ahead {
                if self.unlink_or_keep(*record, *hash, *size, keeper, &mut bytes) == Outcome::NoRoom
                {
                    return (at, true);
                }
                at += size;
            }
        }
        (at, true)
    }

    /// The record at `at` with its size, if there is a valid one that ends by `end`.
    fn record_before(&self, at: u64, end: u64) -> Option<(Record, u64)> {
        if !self.geometry.may_hold_record(at) {
            return None;
        }
        let header = RecordHeader::parse(&self.memory.read_array(at));
        let size = header.size_within(&self.geometry, at)?;
        (at + size <= end).then_some((Record { at, header }, size))
    }

    fn read_key(&self, record: &Record, out: &mut Vec<u8>) {
        let at = record.at + RECORD_HEADER as u64;
        self.memory.read(at, record.header.key_len as usize, out);
    }

    /// Most records of an old block are superseded; one look at the key's words settles those.
    fn unlink_or_keep(
        &self,
        record: Record,
        hash: KeyHash,
        size: u64,
        keeper: &mut Keeper,
        bytes: &mut Vec<u8>,
    ) -> Outcome {
        let tag = hash.tag();
        let location = (record.at / self.geometry.unit) as u32;
        let points_here = |word: Word| word.is_value_of(tag) && word.location() == location;
        let mut slots = self.values_of(self.levels(), hash);
        let Some(slot) = slots.find(|slot| points_here(self.word(*slot))) else {
            return Outcome::Gone;
        };
        bytes.clear();
        self.read_key(&record, bytes);
        let key = Key { bytes, hash };
        let visited = self.geometry.visited_byte_at(slot);
        let born = record.header.born;
        let header: [u8; HEADER_LEN] = self.memory.read_array(record.entry_at());
        let current = self.is_current(born, self.floor_of_key(key.bytes), &header);
        loop {
            let word = self.word(slot);
            if !points_here(word) {
                return Outcome::Gone;
            }
            let reads = self.memory.visited(visited);
            let kept = keeper.kept + self.kept_as(size);
            if current && keeper.keeps(reads) && kept <= keeper.most {
                if let Some(open) = self.room_to_keep(keeper, size) {
                    let moved = self.move_record(open, record, key, size);
                    let new = word.to_value(tag, moved);
                    self.bind(moved, open.sequence, slot, new);
                    keeper.kept = kept;
                    if self.swap(slot, word, new) {
                        let left = keeper.reads_left(reads);
                        if left != reads {
                            self.memory.set_visited(visited, left);
                        }
                        self.memory.fetch_add(header::REINSERTED, 1);
                    } else {
                        let at = u64::from(moved) * self.geometry.unit;
                        self.count_dead(at, size);
                    }
                    return Outcome::Gone;
                }
                if !keeper.forced || self.environment.is_closed() {
                    return Outcome::NoRoom;
                }
            }
            // Counted first: a reader that misses the entry finds the counter increased.
            let counter = if current {
                header::EVICTED_BY_AGE
            } else {
                header::EXPIRED
            };
            self.memory.fetch_add(counter, 1);
            if self.swap(slot, word, word.to_empty()) {
                if current && keeper.queue == Queue::Probation {
                    self.leave_ghost(hash, size);
                }
                return Outcome::Gone;
            }
        }
    }

    /// The keeper's block, with room for `size` bytes.
    fn room_to_keep<'a>(&self, keeper: &'a mut Keeper, size: u64) -> Option<&'a mut OpenBlock> {
        let fits = |open: &OpenBlock| open.tail + size <= self.geometry.block_size;
        if !keeper.open.as_ref().is_some_and(fits) {
            if let Some(full) = keeper.open.take() {
                self.leave_block(full.block, full.left());
            }
            // A cleaner that finds no block stops or evicts; why there is none is of no concern to it.
            if !keeper.is_full {
                let lanes = self.geometry.keep_lanes();
                keeper.open = (0..lanes).find_map(|turn| {
                    let number = (keeper.lane + turn) % lanes;
                    let lane = match keeper.queue {
                        Queue::Probation if keeper.keep_all => Lane::Keep(number),
                        Queue::Probation | Queue::Main => Lane::Main(number),
                    };
                    let asking = Asking {
                        me: keeper.me,
                        size,
                        // It does not wait for the last one's holder, if it must go on.
                        passes: keeper.forced && turn + 1 == lanes,
                        cleans: true,
                    };
                    self.take_lane(lane, asking).ok().flatten()
                });
                keeper.is_full = keeper.open.is_none();
            }
        }
        keeper.open.as_mut()
    }

    fn move_record(&self, open: &mut OpenBlock, record: Record, key: Key<'_>, size: u64) -> u32 {
        let mut entry = Vec::new();
        let len = record.header.entry_len as usize;
        self.memory.read(record.entry_at(), len, &mut entry);
        let (location, tail) = self.write_record(open, key, &entry, record.header.born, size);
        open.tail = tail;
        location
    }

    /// Unlinks every word that points into a range of the blocks, when its records cannot be walked.
    #[cold]
    pub(super) fn unlink_range(&self, start: u64, end: u64) {
        for slot in 0..self.open_slots() {
            loop {
                let word = self.word(slot);
                let at = u64::from(word.location()) * self.geometry.unit;
                if word.state() != crate::word::State::Value || at < start || at >= end {
                    break;
                }
                self.memory.fetch_add(header::EVICTED_BY_AGE, 1);
                if self.swap(slot, word, word.to_empty()) {
                    break;
                }
            }
        }
    }
}
