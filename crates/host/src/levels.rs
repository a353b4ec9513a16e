//! Levels: the index grows with its entries (`spec/host.md`, "Levels").
//!
//! A key may stand in two buckets of each opened level. EPOCH holds the number of levels, so every reader
//! knows it from the load that it begins with. A level is opened by one compare-and-swap, after its pages
//! were allocated; a process that is killed in between leaves nothing to repair.

use crate::engine::{Engine, Environment, Key};
use crate::hash::KeyHash;
use crate::layout::{header, Level, BUCKET, NEXT_LEVEL};
use crate::shared_memory::SharedMemory;
use crate::word::{lease_of, value_of, State, Word, EMPTY};

/// Slots of a key's first bucket that are left empty while its second bucket has more of them.
const KEPT_EMPTY: u32 = 2;

/// The slots of a key, the newest level's first.
#[derive(Clone)]
pub(crate) struct Slots<'a> {
    /// The levels that come after the present one.
    levels: &'a [Level],
    hash: KeyHash,
    next: u64,
    end: u64,
    /// The present level, while its first bucket is walked.
    level: Option<Level>,
}

impl Slots<'_> {
    /// The slots in this level, then in the last one of the others, and so on.
    #[inline(always)]
    fn in_level(level: Level, levels: &[Level], hash: KeyHash) -> Slots<'_> {
        let next = level.first_candidate(hash);
        Slots {
            levels,
            hash,
            next,
            end: next + BUCKET as u64,
            level: Some(level),
        }
    }
}

impl Iterator for Slots<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if self.next == self.end {
            self.next = match self.level.take() {
                Some(level) => level.second_candidate(self.hash),
                None => {
                    let (level, older) = self.levels.split_last()?;
                    (self.levels, self.level) = (older, Some(*level));
                    level.first_candidate(self.hash)
                }
            };
            self.end = self.next + BUCKET as u64;
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

/// The buckets of a key by their first slots, the oldest level's first: the older levels are a sixteenth of the
/// newest one and stay in the processor's caches, while the newest one's lines are on their way.
pub(crate) struct Buckets<'a> {
    hash: KeyHash,
    /// The second bucket of the present level.
    second: Option<u64>,
    /// The levels to come.
    levels: std::slice::Iter<'a, Level>,
}

impl Iterator for Buckets<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if let Some(second) = self.second.take() {
            return Some(second);
        }
        let level = self.levels.next()?;
        self.second = Some(level.second_candidate(self.hash));
        Some(level.first_candidate(self.hash))
    }
}

/// Slots of a bucket of which the words have been looked at, the lowest first.
pub(crate) struct Found {
    first: u64,
    words: u32,
}

impl Iterator for Found {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if self.words == 0 {
            return None;
        }
        let slot = self.first + u64::from(self.words.trailing_zeros());
        self.words &= self.words - 1;
        Some(slot)
    }
}

/// What an insert may do that found no empty slot.
pub(crate) enum Room {
    /// Take this slot from the word in it.
    At(u64, Word),
    /// Look again: there is one more level.
    Opened,
    /// Nothing.
    Nowhere,
}

impl Room {
    /// The slot to take, if there is one.
    pub fn slot(self) -> Option<(u64, Word)> {
        match self {
            Room::At(slot, word) => Some((slot, word)),
            Room::Opened | Room::Nowhere => None,
        }
    }
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Number of opened levels. It only grows.
    #[inline(always)]
    pub(crate) fn levels(&self) -> usize {
        self.geometry.levels_at(self.epoch())
    }

    /// Number of slots of all opened levels. Others have no pages: a look at one may be a SIGBUS.
    pub(crate) fn open_slots(&self) -> u64 {
        self.geometry.slots_in(self.levels())
    }

    /// True for a slot of an opened level.
    #[inline(always)]
    pub(crate) fn is_open(&self, slot: u64) -> bool {
        slot < self.open_slots()
    }

    /// The slots that may hold a key now.
    #[inline(always)]
    pub(crate) fn slots_of(&self, hash: KeyHash) -> Slots<'_> {
        self.slots_in(self.levels(), hash)
    }

    /// The slots that may hold a key while this many levels are open.
    #[inline(always)]
    pub(crate) fn slots_in(&self, levels: usize, hash: KeyHash) -> Slots<'_> {
        // It begins in the newest level, without a look whether there is one.
        let (level, older) = self.newest(levels);
        Slots::in_level(level, older, hash)
    }

    /// The buckets that may hold a key while this many levels are open.
    #[inline(always)]
    pub(crate) fn buckets_in(&self, levels: usize, hash: KeyHash) -> Buckets<'_> {
        Buckets {
            hash,
            second: None,
            levels: self.geometry.levels[..levels].iter(),
        }
    }

    /// The slots of a bucket with a value of this tag. All eight words are looked at without a branch: where a
    /// key's word is cannot be predicted.
    #[inline(always)]
    pub(crate) fn values_in(&self, first: u64, tag: u32) -> Found {
        self.found(first, value_of(tag))
    }

    /// The slots of a bucket with a value or a lease of this tag.
    #[inline(always)]
    pub(crate) fn values_and_leases_in(&self, first: u64, tag: u32) -> Found {
        let leases = self.found(first, lease_of(tag));
        let values = self.found(first, value_of(tag));
        Found {
            first,
            words: leases.words | values.words,
        }
    }

    /// An empty slot for a key in this many levels, with its word: of the newest level that has one. The first
    /// bucket is taken while it has fewer than six words, and then the emptier one. So few keys stand in the
    /// second bucket, where a read looks last, and the next level is opened at a load of about 0.7. (The first
    /// bucket to the brim would open it at 0.4, and always the emptier one would put half of the keys in the
    /// second.)
    #[inline(always)]
    pub(crate) fn empty_slot(&self, levels: usize, hash: KeyHash) -> Option<(u64, Word)> {
        for level in self.geometry.levels[..levels].iter().rev() {
            let first = self.found(level.first_candidate(hash), EMPTY);
            let second = self.found(level.second_candidate(hash), EMPTY);
            let (one, other) = (first.words.count_ones(), second.words.count_ones());
            let in_first = one > KEPT_EMPTY || one >= other;
            let (one, other) = if in_first {
                (first, second)
            } else {
                (second, first)
            };
            let mut empty = one
                .chain(other)
                .map(|slot| (slot, self.word(slot)))
                .filter(|(_, word)| word.state() == State::Empty);
            if let Some(empty) = empty.next() {
                return Some(empty);
            }
        }
        None
    }

    #[inline(always)]
    fn found(&self, first: u64, beginning: u32) -> Found {
        let at = self.geometry.slot_at(first);
        Found {
            first,
            words: self.memory.words_beginning_with(at, beginning),
        }
    }

    /// The newest of this many levels, and the older ones.
    #[inline(always)]
    pub(crate) fn newest(&self, levels: usize) -> (Level, &[Level]) {
        let (older, rest) = self.geometry.levels.split_at(levels - 1);
        (rest[0], older)
    }

    /// Prefetches a key's words in the newest level, where most keys are. The older ones are a sixteenth of its
    /// size and stay in a cache; asking for their lines costs more than it saves.
    #[inline(always)]
    pub(crate) fn prefetch_newest(&self, levels: usize, hash: KeyHash) {
        let (level, _) = self.newest(levels);
        for slot in [level.first_candidate(hash), level.second_candidate(hash)] {
            self.memory.prefetch(self.geometry.slot_at(slot));
        }
    }

    /// Prefetches a key's words in this many levels while other work is done.
    #[inline(always)]
    pub(crate) fn prefetch(&self, levels: usize, hash: KeyHash) {
        let (mut level, mut older) = self.newest(levels);
        loop {
            for slot in [level.first_candidate(hash), level.second_candidate(hash)] {
                self.memory.prefetch(self.geometry.slot_at(slot));
            }
            let Some((next, rest)) = older.split_last() else {
                break;
            };
            (level, older) = (*next, rest);
        }
    }

    /// A slot for a key that found none empty in this many levels: one of a dead holder's lease or of an
    /// entry that is no longer served; else the next level is opened; else an entry is evicted.
    #[cold]
    pub(crate) fn make_room(&self, key: Key<'_>, levels: usize, even_leases: bool) -> Room {
        if levels < self.geometry.level_count {
            if let Some((slot, word)) = self.disused(key, levels) {
                return Room::At(slot, word);
            }
            if self.open_level(levels) {
                return Room::Opened;
            }
        }
        let victim = self
            .victim(self.slots_in_one(levels, key.hash), false)
            .or_else(|| self.victim(self.slots_in(levels, key.hash), even_leases));
        match victim {
            Some((slot, word)) => Room::At(slot, word),
            None => Room::Nowhere,
        }
    }

    /// The slots of a key in one of these levels: for so many of all keys as the level has of all slots. A search
    /// for a victim takes the marks from the entries that it passes. If it looked at all levels, entries of the
    /// older ones, which have few buckets, would lose theirs with almost every eviction.
    fn slots_in_one(&self, levels: usize, hash: KeyHash) -> Slots<'_> {
        let mixed = hash.lo.wrapping_mul(0x9e37_79b9) ^ hash.hi;
        let slot = (u64::from(mixed) * self.geometry.slots_in(levels)) >> 32;
        let of_slot = |level: &&Level| slot < level.slots_end();
        let level = self.geometry.levels[..levels].iter().find(of_slot);
        Slots::in_level(*level.expect("a slot of these levels"), &[], hash)
    }

    /// A slot that holds nothing of use.
    fn disused(&self, key: Key<'_>, levels: usize) -> Option<(u64, Word)> {
        let mut words = self
            .slots_in(levels, key.hash)
            .map(|slot| (slot, self.word(slot)));
        words.find(|(_, word)| match word.state() {
            State::Empty => true,
            State::Lease => self.lease_is_dead(*word),
            State::Value => self.is_dead_value(*word),
        })
    }

    /// Opens one more level than these; false when there is none, or the disk refuses its pages. True also
    /// when another participant opened it.
    ///
    /// The pages are allocated first. They are zeros, since nothing looks at a level that is not open. EPOCH
    /// moves with the number of levels in one step: a reader in JavaScript that knows the epoch knows all
    /// levels that had words when it began to read.
    pub(crate) fn open_level(&self, levels: usize) -> bool {
        if self.was_refused_lately(header::LEVEL_REFUSED) {
            return false;
        }
        if self.environment.allocate_level(levels).is_err() {
            self.note_refusal(header::LEVEL_REFUSED);
            return false;
        }
        loop {
            let epoch = self.epoch();
            if self.geometry.levels_at(epoch) != levels
                || self
                    .memory
                    .compare_exchange(header::EPOCH, epoch, epoch + NEXT_LEVEL)
            {
                return true;
            }
        }
    }
}
