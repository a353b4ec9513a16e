//! Blocks: the unit of claim and of recycling.
//!
//! A writer owns the blocks it appends to. While the owner lives, no other process writes to its blocks
//! or recycles them. Blocks are claimed in ring order, so the oldest sealed block is recycled first.
//! Every appender keeps one emptied block in reserve: recycling copies visited entries into the block in
//! use and swings their words over, so these entries are never absent.

use crate::engine::{Engine, Environment, Key, Participant, Record};
use crate::error::Error;
use crate::hash::{key_hash, KeyHash};
use crate::layout::{header, RECORD_HEADER};
use crate::record::RecordHeader;
use crate::shared_memory::SharedMemory;
use crate::word::Word;
use polycache_entry::HEADER_LEN;
use smallvec::SmallVec;

/// Offsets in a block's descriptor.
pub(crate) mod descriptor {
    /// state:4 | id:12 | incarnation:48
    pub const OWNER: usize = 0;
    /// Sequence number; never reused.
    pub const SEQUENCE: usize = 8;
    /// Bytes of whole records.
    pub const TAIL: usize = 16;
    /// 1 when the block has its disk space.
    pub const ALLOCATED: usize = 24;
}

/// Records that recycling reads ahead.
const BATCH: usize = 16;

const FREE: u64 = 0;
const OPEN: u64 = 1;
const SEALED: u64 = 2;

/// A block that this process appends to.
#[derive(Clone, Copy, Debug)]
pub struct OpenBlock {
    block: u64,
    sequence: u64,
    tail: u64,
}

/// One thread at a time appends here. It holds the appender until the record is published, so no block
/// is sealed with a publication outstanding.
#[derive(Debug, Default)]
pub struct Appender {
    current: Option<OpenBlock>,
    spare: Option<u64>,
}

fn owned(me: Participant) -> u64 {
    OPEN | (u64::from(me.id) << 4) | (me.incarnation << 16)
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    fn descriptor(&self, block: u64, field: usize) -> usize {
        self.geometry.descriptor_at(block) + field
    }

    /// Size of the record, if this directory can hold it.
    ///
    /// # Errors
    /// `EntryTooLarge` when key and entry do not fit one block.
    pub(crate) fn fitting_size(&self, key: Key<'_>, entry: &[u8]) -> Result<u64, Error> {
        let size = self.geometry.record_size(key.bytes.len(), entry.len());
        if size > self.geometry.block_size || key.bytes.len() > crate::layout::MAX_KEY {
            return Err(Error::EntryTooLarge {
                size,
                limit: self.geometry.block_size,
            });
        }
        Ok(size)
    }

    /// Writes a record at the end of the appender's block and returns its location in units. The caller
    /// publishes it before it releases the appender.
    pub(crate) fn append(
        &self,
        appender: &mut Appender,
        me: Participant,
        key: Key<'_>,
        entry: &[u8],
        born: u64,
    ) -> Result<u32, Error> {
        let size = self.fitting_size(key, entry)?;
        let open = match &mut appender.current {
            Some(open) if open.tail + size <= self.geometry.block_size => open,
            _ => self.next_block(appender, me, size)?,
        };
        Ok(self.write_record(open, key, entry, born, size))
    }

    fn write_record(
        &self,
        open: &mut OpenBlock,
        key: Key<'_>,
        entry: &[u8],
        born: u64,
        size: u64,
    ) -> u32 {
        let at = open.block * self.geometry.block_size + open.tail;
        let header = RecordHeader {
            checksum: 0,
            key_len: key.bytes.len() as u32,
            entry_len: entry.len() as u32,
            hash_hi: key.hash.hi,
            block_seq: open.sequence,
            born,
        };
        self.memory.write(at, &header.encode(key.bytes));
        self.memory.write(at + RECORD_HEADER as u64, key.bytes);
        self.memory
            .write(at + (RECORD_HEADER + key.bytes.len()) as u64, entry);
        open.tail += size;
        // The record is complete before the tail covers it, and the tail covers it before it is
        // published: a recycler that walks to the tail meets every published record.
        self.memory
            .store(self.descriptor(open.block, descriptor::TAIL), open.tail);
        (at / self.geometry.unit) as u32
    }

    /// Seals the appender's block and makes room for a record of `size` in a new one.
    #[cold]
    fn next_block<'a>(
        &self,
        appender: &'a mut Appender,
        me: Participant,
        size: u64,
    ) -> Result<&'a mut OpenBlock, Error> {
        if let Some(open) = appender.current.take() {
            self.seal(open.block, me);
        }
        let empty = match appender.spare.take() {
            Some(block) => block,
            None => match self.claim_empty(me) {
                Some(block) => block,
                None => {
                    // The first block has no reserve to keep visited entries in: they are evicted, and
                    // counted.
                    let block = self.claim(me)?;
                    self.recycle(block, None, 0);
                    block
                }
            },
        };
        let sequence = self.memory.fetch_add(header::SEQUENCE, 1) + 1;
        self.memory
            .store(self.descriptor(empty, descriptor::SEQUENCE), sequence);
        let open = appender.current.insert(OpenBlock {
            block: empty,
            sequence,
            tail: 0,
        });
        // All blocks may be taken. A missing reserve is not an error, since this block is usable.
        if let Ok(block) = self.claim(me) {
            let budget = (self.geometry.block_size / 4 * 3).min(self.geometry.block_size - size);
            self.recycle(block, Some(open), budget);
            appender.spare = Some(block);
        }
        Ok(open)
    }

    fn seal(&self, block: u64, me: Participant) {
        let at = self.descriptor(block, descriptor::OWNER);
        self.memory
            .compare_exchange(at, owned(me), (owned(me) & !0xf) | SEALED);
    }

    /// Returns the appender's blocks, at close.
    #[doc(hidden)]
    pub fn retire(&self, appender: &mut Appender, me: Participant) {
        if let Some(open) = appender.current.take() {
            self.seal(open.block, me);
        }
        if let Some(block) = appender.spare.take() {
            let at = self.descriptor(block, descriptor::OWNER);
            self.memory.compare_exchange(at, owned(me), FREE);
        }
    }

    /// A block that holds no entries: never used, returned, or a dead writer's reserve.
    fn claim_empty(&self, me: Participant) -> Option<u64> {
        let mut full = false;
        (0..self.geometry.blocks).find(|block| {
            if full && !self.is_allocated(*block) {
                return false;
            }
            let at = self.descriptor(*block, descriptor::OWNER);
            let owner = self.memory.load(at);
            let tail = self.memory.load(self.descriptor(*block, descriptor::TAIL));
            let empty = owner & 0xf == FREE || (tail == 0 && self.claimable(owner));
            let mut take = || {
                let taken = self.take(*block, owner, me);
                full |= taken.is_err();
                taken.unwrap_or(false)
            };
            empty && take()
                // A process that held it meanwhile may have written to it; then it is recycled like any
                // other.
                && (self.memory.load(self.descriptor(*block, descriptor::TAIL)) == 0 || {
                    self.recycle(*block, None, 0);
                    true
                })
        })
    }

    /// The next block of the ring that has no live owner.
    fn claim(&self, me: Participant) -> Result<u64, Error> {
        let mut refused = None;
        for _ in 0..self.geometry.blocks * 2 {
            let block = self.memory.fetch_add(header::HAND, 1) % self.geometry.blocks;
            let owner = self.memory.load(self.descriptor(block, descriptor::OWNER));
            if owner & 0xf != FREE && !self.claimable(owner) {
                continue;
            }
            // A full disk is asked once, not once for every block that it has no room for.
            if refused.is_some() && !self.is_allocated(block) {
                continue;
            }
            match self.take(block, owner, me) {
                Ok(true) => return Ok(block),
                Ok(false) => {}
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or(Error::NoSpace(
            "live processes are writing every block; raise the byte limit or run fewer writers",
        )))
    }

    fn claimable(&self, owner: u64) -> bool {
        owner & 0xf == SEALED
            || (owner & 0xf == OPEN
                && !self.is_alive(Participant {
                    id: ((owner >> 4) & 0xfff) as u32,
                    incarnation: owner >> 16,
                }))
    }

    /// True while exactly this participant, not a later holder of its id, may still write.
    fn is_alive(&self, participant: Participant) -> bool {
        let incarnation = self.geometry.participants_at + participant.id as usize * 8;
        self.memory.load(incarnation) & 0xffff_ffff_ffff == participant.incarnation
            && self.environment.id_alive(participant.id)
    }

    /// Claims a block; `Ok(false)` when another process claimed it first.
    fn take(&self, block: u64, owner: u64, me: Participant) -> Result<bool, Error> {
        let at = self.descriptor(block, descriptor::OWNER);
        if !self.memory.compare_exchange(at, owner, owned(me)) {
            return Ok(false);
        }
        let allocated = self.descriptor(block, descriptor::ALLOCATED);
        if self.memory.load(allocated) == 0 {
            if let Err(error) = self.environment.allocate(block) {
                self.memory.compare_exchange(at, owned(me), FREE);
                return Err(error);
            }
            self.memory.store(allocated, 1);
        }
        self.memory.fetch_add(header::BLOCKS_CLAIMED, 1);
        Ok(true)
    }

    /// Unlinks every record of a claimed block, or moves it to `keep` if it was visited, up to `budget`
    /// bytes. Afterwards no slot points into the block, and it may be overwritten.
    fn recycle(&self, block: u64, mut keep: Option<&mut OpenBlock>, budget: u64) {
        let start = block * self.geometry.block_size;
        let tail = self.memory.load(self.descriptor(block, descriptor::TAIL));
        let (mut at, end) = (start, start + tail.min(self.geometry.block_size));
        // Records are read ahead in batches, because their words are spread over the index.
        let mut ahead: SmallVec<[(Record, KeyHash, u64); BATCH]> = SmallVec::new();
        let mut bytes = Vec::new();
        while at < end {
            ahead.clear();
            let from = at;
            while at < end && ahead.len() < BATCH {
                let Some((record, size)) = self.record_before(at, end) else {
                    break;
                };
                bytes.clear();
                self.read_key(&record, &mut bytes);
                let hash = key_hash(self.seed, &bytes);
                self.prefetch(hash);
                ahead.push((record, hash, size));
                at += size;
            }
            for (record, hash, size) in &ahead {
                let room = keep
                    .as_deref_mut()
                    .filter(|open| open.tail + size <= budget);
                self.unlink_or_keep(*record, *hash, *size, room, &mut bytes);
            }
            if at == from {
                break;
            }
        }
        if at != end {
            self.unlink_range(start, start + self.geometry.block_size);
        }
        self.memory
            .store(self.descriptor(block, descriptor::TAIL), 0);
        // The unlinked words become visible before any byte that overwrites the records.
        self.memory.fence();
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
        mut keep: Option<&mut OpenBlock>,
        bytes: &mut Vec<u8>,
    ) {
        let tag = self.geometry.candidates(hash).2;
        let location = (record.at / self.geometry.unit) as u32;
        let points_here = |word: Word| word.is_value_of(tag) && word.location() == location;
        let Some(slot) = self
            .slots_of(hash)
            .find(|slot| points_here(self.word(*slot)))
        else {
            return;
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
                return;
            }
            if let Some(open) = keep.as_deref_mut().filter(|_| current) {
                if self.memory.visited(visited) {
                    let moved = self.move_record(open, record, key, size);
                    if self.swap(slot, word, word.to_value(tag, moved)) {
                        self.memory.set_visited(visited, false);
                        self.memory.fetch_add(header::REINSERTED, 1);
                    }
                    return;
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
                return;
            }
        }
    }

    fn move_record(&self, open: &mut OpenBlock, record: Record, key: Key<'_>, size: u64) -> u32 {
        let mut entry = Vec::new();
        let len = record.header.entry_len as usize;
        self.memory.read(record.entry_at(), len, &mut entry);
        self.write_record(open, key, &entry, record.header.born, size)
    }

    /// Unlinks every word that points into a range of the blocks, when its records cannot be walked.
    #[cold]
    fn unlink_range(&self, start: u64, end: u64) {
        for slot in 0..self.geometry.slots() {
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

/// What `check` and recovery need from a block's descriptor.
impl<M: SharedMemory, E: Environment> Engine<M, E> {
    pub(crate) fn block_sequence(&self, block: u64) -> u64 {
        self.memory
            .load(self.descriptor(block, descriptor::SEQUENCE))
    }

    pub(crate) fn is_allocated(&self, block: u64) -> bool {
        self.memory
            .load(self.descriptor(block, descriptor::ALLOCATED))
            == 1
    }

    pub(crate) fn is_below_tail(&self, at: u64) -> bool {
        let block = at / self.geometry.block_size;
        let tail = self.memory.load(self.descriptor(block, descriptor::TAIL));
        at % self.geometry.block_size < tail
    }

    /// Recovery: seals the block with this tail, or frees it if it holds nothing, whatever its state
    /// was.
    pub(crate) fn seal_at(&self, block: u64, tail: u64) {
        let state = if tail == 0 { FREE } else { SEALED };
        self.memory
            .store(self.descriptor(block, descriptor::OWNER), state);
        self.memory
            .store(self.descriptor(block, descriptor::TAIL), tail);
    }

    /// Blocks that have disk space allocated.
    pub(crate) fn allocated_blocks(&self) -> u64 {
        (0..self.geometry.blocks)
            .filter(|block| self.is_allocated(*block))
            .count() as u64
    }
}
