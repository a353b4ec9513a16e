//! What the algorithm stands on: shared memory, its geometry and the operating system.

use crate::block::Notes;
use crate::error::Error;
use crate::hash::{key_hash, KeyHash};
use crate::layout::{header, Geometry, RECORD_HEADER};
use crate::record::{bonded, RecordHeader};
use crate::shared_memory::SharedMemory;
use crate::word::Word;

/// What the algorithm needs from the operating system.
pub trait Environment: Send + Sync {
    /// True while a participant holds the lock of this id. It may err in one direction only: it is never
    /// false while a thread of that participant can still write.
    fn id_alive(&self, id: u32) -> bool;
    /// Allocates a block's disk space.
    ///
    /// # Errors
    /// `NoSpace` when the disk has none.
    fn allocate(&self, block: u64) -> Result<(), Error>;
    /// To be called by the holder of a block whose records end at `tail`, before it stores up to `to`: a place where pages
    /// can be given their memory at once.
    #[inline(always)]
    fn prepare(&self, block: u64, tail: u64, to: u64) {
        let _ = (block, tail, to);
    }
    /// Allocates the disk space of a level of the index. Memory that has its pages anyway does nothing.
    ///
    /// # Errors
    /// `NoSpace` when the disk has none.
    fn allocate_level(&self, level: usize) -> Result<(), Error> {
        let _ = level;
        Ok(())
    }
    /// Sixteenths of a second since boot, for deadlines.
    fn ticks(&self) -> u32;
    /// Milliseconds since 1970, for expiry.
    fn now(&self) -> u64;
    /// True once the handle is being closed: it must not hold a block from then on.
    fn is_closed(&self) -> bool {
        false
    }
}

/// One open handle: an id that stays locked while the handle lives, and how often the id was given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participant {
    /// 1 .. 4095.
    pub id: u32,
    /// Counts the holders of this id, so that a block's dead owner is not mistaken for the id's next
    /// holder.
    pub incarnation: u64,
}

/// The engine over any memory and environment. All methods take `&self` and are safe to call from
/// every process and thread at once.
pub struct Engine<M, E> {
    /// The shared memory.
    pub memory: M,
    /// The operating system.
    pub environment: E,
    /// Where everything is.
    pub geometry: Geometry,
    /// Seed of the key hash.
    pub seed: u64,
    /// What this handle found to clean.
    pub notes: Notes,
}

/// A full key with its hash: what every operation works on.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    /// The full key's bytes.
    pub bytes: &'a [u8],
    /// Its hash under the directory's seed.
    pub hash: KeyHash,
}

/// What the record of a word turned out to be.
pub(crate) enum Look {
    /// The record of the key that was asked for.
    Same(Record),
    /// Another key's record.
    Other,
    /// The word changed meanwhile, so nothing is known.
    Changed,
}

/// A record's location and fixed part.
#[derive(Clone, Copy)]
pub(crate) struct Record {
    pub at: u64,
    pub header: RecordHeader,
}

impl Record {
    /// Offset of the entry.
    pub fn entry_at(&self) -> u64 {
        self.at + (RECORD_HEADER as u64) + u64::from(self.header.key_len)
    }
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// The key with its hash.
    #[inline(always)]
    pub fn key<'a>(&self, bytes: &'a [u8]) -> Key<'a> {
        Key {
            bytes,
            hash: key_hash(self.seed, bytes),
        }
    }

    /// The epoch: it moves with every clear, and before a slot's generation can repeat.
    #[inline(always)]
    pub fn epoch(&self) -> u64 {
        self.memory.load(header::EPOCH)
    }

    #[inline(always)]
    pub(crate) fn word(&self, slot: u64) -> Word {
        Word(self.memory.load(self.geometry.slot_at(slot)))
    }

    /// Changes a slot from one word to the next. The epoch moves first when the generation is about to
    /// repeat, so that no reader mistakes a repeated word for the one it remembers.
    #[inline(always)]
    pub(crate) fn swap(&self, slot: u64, old: Word, new: Word) -> bool {
        if new.needs_epoch() {
            self.memory.fetch_add(header::EPOCH, 1);
        }
        self.memory
            .compare_exchange(self.geometry.slot_at(slot), old.0, new.0)
    }

    /// Ties a record to the word that is about to publish it in this slot: recovery keeps the word only with this
    /// record. The caller holds the record's block, and no word points to the record yet.
    #[inline(always)]
    pub(crate) fn bind(&self, location: u32, sequence: u64, slot: u64, word: Word) {
        let at = u64::from(location) * self.geometry.unit;
        let (at, value) = bonded(at, sequence, word.bond(slot));
        self.memory.write_words(at, [value]);
    }

    /// Whose record `word` at `slot` points to. The answer holds for the instant, after the bytes were
    /// read, at which the word was seen to stand.
    #[inline(always)]
    pub(crate) fn look(&self, slot: u64, word: Word, key: Key<'_>) -> Look {
        let at = u64::from(word.location()) * self.geometry.unit;
        let found = self.same_key(at, key);
        self.memory.fence();
        if self.word(slot) != word {
            return Look::Changed;
        }
        match found {
            Some(header) => Look::Same(Record { at, header }),
            None => Look::Other,
        }
    }

    #[inline(always)]
    fn same_key(&self, at: u64, key: Key<'_>) -> Option<RecordHeader> {
        if !self.geometry.may_hold_record(at) {
            return None;
        }
        let header = RecordHeader::parse(&self.memory.read_array(at));
        let same = header.hash_hi == key.hash.hi
            && header.key_len as usize == key.bytes.len()
            && (header.size_within(&self.geometry, at).is_some() || self.large_begins(at))
            && self.memory.equal(at + RECORD_HEADER as u64, key.bytes);
        same.then_some(header)
    }

    /// True when a record's entry may be served, given that its word was seen to stand.
    #[inline(always)]
    pub(crate) fn is_current(&self, born: u64, floor: u64, entry: &[u8]) -> bool {
        born >= floor
            && (polycache_entry::expires(entry) == 0
                || polycache_entry::is_valid_at(entry, self.environment.now()))
    }

    /// Waits briefly before an attempt that lost a race is repeated; otherwise two racing inserters
    /// would invalidate each other in lockstep.
    pub(crate) fn back_off(&self, attempt: u32, me: Participant) {
        if attempt > 8 {
            std::thread::yield_now();
        }
        let spins = (1 << attempt.min(6)) + (me.id.wrapping_mul(attempt) & 15);
        (0..spins).for_each(|_| std::hint::spin_loop());
    }
}
