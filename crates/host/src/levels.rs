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

/// The buckets of a key by their first slots, the oldest level's first: the older levels are a sixteenth of the
/// newest one and stay in the processor's caches. (A put has asked for the newest one's lines by then.)
pub(crate) struct Buckets<'a> {
    hash: KeyHash,
    /// The second bucket of the present level.
    second: Option<u64>,
    /// The levels to come.
    levels: std::slice::Iter<'a, Level>,
}

impl<'a> Buckets<'a> {
    #[inline(always)]
    fn new(levels: &'a [Level], hash: KeyHash) -> Buckets<'a> {
        Buckets {
            hash,
            second: None,
            levels: levels.iter(),
        }
    }

    /// All slots of these buckets.
    #[inline(always)]
    fn slots(self) -> impl Iterator<Item = u64> + 'a {
        self.flat_map(|first| first..first + BUCKET as u64)
    }
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
    pub(crate) fn slots_of(&self, hash: KeyHash) -> impl Iterator<Item = u64> + '_ {
        self.slots_in(self.levels(), hash)
    }

    /// The slots that may hold a key while this many levels are open.
    #[inline(always)]
    pub(crate) fn slots_in(&self, levels: usize, hash: KeyHash) -> impl Iterator<Item = u64> + '_ {
        self.buckets_in(levels, hash).slots()
    }

    /// The buckets that may hold a key while this many levels are open.
    #[inline(always)]
    pub(crate) fn buckets_in(&self, levels: usize, hash: KeyHash) -> Buckets<'_> {
        Buckets::new(&self.geometry.levels[..levels], hash)
    }

    /// Those of a key's slots in this many levels that hold a value of its tag.
    #[inline(always)]
    pub(crate) fn values_of(&self, levels: usize, hash: KeyHash) -> impl Iterator<Item = u64> + '_ {
        let tag = hash.tag();
        let buckets = self.buckets_in(levels, hash);
        buckets.flat_map(move |first| self.values_in(first, tag))
    }

    /// Those of a key's slots in this many levels that hold a value or a lease of its tag.
    #[inline(always)]
    pub(crate) fn values_and_leases_of(
        &self,
        levels: usize,
        hash: KeyHash,
    ) -> impl Iterator<Item = u64> + '_ {
        let tag = hash.tag();
        let buckets = self.buckets_in(levels, hash);
        buckets.flat_map(move |first| {
            // Leases first: one that becomes a value in between is found all the same.
            let leases = self.found(first, lease_of(tag));
            let values = self.values_in(first, tag);
            Found {
                first,
                words: leases.words | values.words,
            }
        })
    }

    /// The slots of a bucket with a value of this tag. All eight words are looked at without a branch: where a
    /// key's word is cannot be predicted.
    #[inline(always)]
    pub(crate) fn values_in(&self, first: u64, tag: u32) -> Found {
        self.found(first, value_of(tag))
    }

    /// An empty slot for a key in this many levels, with its word: of the newest level that has one. The first
    /// bucket is taken while it has fewer than six words, and then the emptier one. So few keys stand in the
    /// second bucket, where a read looks last, and the second level is opened at a load of about 0.65, the next
    /// ones at about 0.8. (The first bucket to the brim would open the second at 0.4, and always the emptier one
    /// would put half of the keys in the second bucket.)
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

    /// Prefetches a key's words in the newest of this many levels, where most keys are, for a put: most words to be
    /// changed stand in the first bucket. The older levels are a sixteenth of its size and stay in a cache; asking for
    /// their lines costs more than it saves.
    #[inline(always)]
    pub(crate) fn prefetch_newest(&self, levels: usize, hash: KeyHash) {
        let level = self.geometry.levels[levels - 1];
        let at = |first| self.geometry.slot_at(first);
        self.memory
            .prefetch_to_write(at(level.first_candidate(hash)));
        self.memory.prefetch(at(level.second_candidate(hash)));
    }

    /// Prefetches a key's words in this many levels while other work is done.
    #[inline(always)]
    pub(crate) fn prefetch(&self, levels: usize, hash: KeyHash) {
        for level in &self.geometry.levels[..levels] {
            self.prefetch_level(*level, hash);
        }
    }

    #[inline(always)]
    fn prefetch_level(&self, level: Level, hash: KeyHash) {
        for first in [level.first_candidate(hash), level.second_candidate(hash)] {
            self.memory.prefetch(self.geometry.slot_at(first));
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
    fn slots_in_one(&self, levels: usize, hash: KeyHash) -> impl Iterator<Item = u64> + '_ {
        let mixed = hash.lo.wrapping_mul(0x9e37_79b9) ^ hash.hi;
        let slot = (u64::from(mixed) * self.geometry.slots_in(levels)) >> 32;
        let levels = &self.geometry.levels[..levels];
        let level = levels.partition_point(|level| level.slots_end() <= slot);
        Buckets::new(&levels[level..=level], hash).slots()
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
