//! Recovery: what is kept of a directory that was written before this boot, or copied (`spec/host.md`,
//! "Reboots").
//!
//! After a power loss each piece of a page on the disk is from some moment since the last complete flush
//! began, and no two pieces need be from the same. So no word is trusted: it stays if the bytes that it
//! leads to are the very record that it published.
//!
//! Recovery goes through the blocks in their order, because the disk gives that faster than what words lead to.

use crate::block::Notes;
use crate::directory::Directory;
use crate::engine::{Engine, Environment, Key, Look, Record};
use crate::error::Error;
use crate::hash::{key_hash, KeyHash};
use crate::large::ChunkHeader;
use crate::layout::{header, RECORD_HEADER};
use crate::record::{checksum, checksum_of_entry, RecordHeader};
use crate::shared_memory::SharedMemory;
use crate::word::State;
use polycache_entry::HEADER_LEN;
use smallvec::SmallVec;
use std::ops::Range;

/// Added to the sequence number: no block gets a number that another one had before the power loss.
const SEQUENCE_JUMP: u64 = 1 << 24;
/// Slots after which recovery shows that it goes on.
const SHOW_EVERY: u64 = 1 << 16;
/// Records whose words are fetched at the same time: each wait for memory is then one for all of them.
const BATCH: usize = 16;

/// No participants: recovery runs alone, under the directory's lock.
struct Nobody;

impl Environment for Nobody {
    fn id_alive(&self, _: u32) -> bool {
        false
    }
    fn allocate(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
    fn ticks(&self) -> u32 {
        0
    }
    fn now(&self) -> u64 {
        0
    }
}

/// Recovers a directory. `levels` is the number of levels whose pages are there.
pub(crate) fn recover(directory: &Directory, levels: usize) {
    let engine = Engine {
        memory: &directory.memory,
        environment: Nobody,
        geometry: directory.geometry,
        seed: directory.seed,
        notes: Notes::default(),
    };
    engine.recover(levels);
}

/// What one recovery remembers.
#[derive(Default)]
struct Recovery {
    /// A bit for each slot whose word stays.
    kept: Vec<u64>,
    /// The prefix of the namespace that was asked about last, and what a record in it must be born at.
    namespace: Vec<u8>,
    floor: u64,
    /// For the bytes of keys, and of an entry.
    keys: Vec<u8>,
    entry: Vec<u8>,
}

/// An undamaged record in a block.
struct Found {
    record: Record,
    size: u64,
    hash: KeyHash,
    /// Where its key is in the batch's.
    key: Range<usize>,
}

impl Recovery {
    fn keeps(&self, slot: u64) -> bool {
        self.kept[(slot / 64) as usize] & 1 << (slot % 64) != 0
    }

    fn keep(&mut self, slot: u64) {
        self.kept[(slot / 64) as usize] |= 1 << (slot % 64);
    }

    fn drop(&mut self, slot: u64) {
        self.kept[(slot / 64) as usize] &= !(1 << (slot % 64));
    }
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Empties every slot whose word does not lead to the record that it published, and seals every block
    /// at its last undamaged record. No other process uses the memory.
    pub(crate) fn recover(&self, levels: usize) {
        // First: it moves the epoch, and a reader of an earlier copy must not miss what follows.
        self.open_all(levels);
        self.recover_floors();
        self.forget_cell_owners();
        let mut recovery = Recovery {
            kept: vec![0; self.open_slots().div_ceil(64) as usize],
            ..Recovery::default()
        };
        for block in 0..self.geometry.blocks {
            self.show_progress();
            self.recover_block(block, &mut recovery);
        }
        // Their chunks lie in blocks that had to be looked at before.
        for block in (0..self.geometry.blocks).filter(|block| self.is_of_large_value(*block)) {
            self.show_progress();
            self.recover_large(block, &mut recovery);
        }
        self.drop_words(&recovery);
        self.free_dead_blocks();
        self.memory.fetch_add(header::SEQUENCE, SEQUENCE_JUMP);
        // Ticks are counted from the boot.
        self.memory.store(header::MARK_TICK, 0);
        self.memory.store(header::WRITE_BACK_TICK, 0);
        self.forget_failed_flushes();
        self.forget_boards();
    }

    /// What another boot heard of a remote database, by its clock, says nothing now.
    fn forget_boards(&self) {
        for word in (header::BOARDS..header::LEN as usize).step_by(8) {
            self.memory.store(word, 0);
        }
    }

    /// Opens exactly this many levels, those whose pages are there. The page with their number may be
    /// older than those pages or newer, and a level that is opened later must not hold words of before.
    fn open_all(&self, levels: usize) {
        let epoch = self.geometry.epoch_with(self.epoch(), levels);
        self.memory.store(header::EPOCH, epoch);
    }

    /// Seals a block behind its chain of undamaged records, and keeps the words that published them. All its bytes
    /// count as dead but those of kept records.
    fn recover_block(&self, block: u64, recovery: &mut Recovery) {
        let start = block * self.geometry.block_size;
        let sequence = self.block_sequence(block);
        self.memory.fetch_max(header::SEQUENCE, sequence);
        self.forget_cleaning(block);
        if !self.is_allocated(block) {
            return self.seal_at(block, 0);
        }
        if self.begins_large(block) {
            return self.seal_large(block);
        }
        let (mut at, mut clears) = (start, 0);
        let mut keys = std::mem::take(&mut recovery.keys);
        loop {
            keys.clear();
            let mut batch = SmallVec::<[Found; BATCH]>::new();
            while batch.len() < BATCH {
                let Some(found) = self.whole_record(at, start, sequence, &mut keys) else {
                    break;
                };
                self.prefetch(self.levels(), found.hash);
                at += found.size;
                batch.push(found);
            }
            for found in &batch {
                let key = Key {
                    bytes: &keys[found.key.clone()],
                    hash: found.hash,
                };
                clears = clears.max(found.record.header.born);
                if self.keep_words(&found.record, key, recovery) {
                    self.take_from_dead(block, found.size);
                }
            }
            if batch.len() < BATCH {
                break;
            }
        }
        recovery.keys = keys;
        // A clear must count higher than every `born`, although the count's page may be older.
        self.memory.fetch_max(header::CLEARS, clears);
        self.seal_at(block, at - start);
    }

    /// The undamaged record at `at` in the block that begins at `start`. Its key is appended to `keys`.
    fn whole_record(
        &self,
        at: u64,
        start: u64,
        sequence: u64,
        keys: &mut Vec<u8>,
    ) -> Option<Found> {
        // After the last record there may be less room than a record's fixed part takes.
        if at >= start + self.geometry.block_size || !self.geometry.may_hold_record(at) {
            return None;
        }
        let bytes = self.memory.read_array(at);
        let header = RecordHeader::parse(&bytes);
        let size = header.size_within(&self.geometry, at)?;
        let record = Record { at, header };
        let (from, hash) = (keys.len(), self.whole_key(&record, &bytes, sequence, keys)?);
        Some(Found {
            record,
            size,
            hash,
            key: from..keys.len(),
        })
    }

    /// Appends a record's key to `keys` and gives its hash; `None` unless the fixed part, the key and the checksum of
    /// the entry belong to each other, and to this use of the block.
    fn whole_key(
        &self,
        record: &Record,
        bytes: &[u8; RECORD_HEADER],
        sequence: u64,
        keys: &mut Vec<u8>,
    ) -> Option<KeyHash> {
        let header = &record.header;
        if header.block_seq() != sequence {
            return None;
        }
        let from = keys.len();
        let key_at = record.at + RECORD_HEADER as u64;
        self.memory.read(key_at, header.key_len as usize, keys);
        let hash = key_hash(self.seed, &keys[from..]);
        let entry: [u8; HEADER_LEN] = self.memory.read_array(record.entry_at());
        let is_whole = checksum(bytes, hash, checksum_of_entry(&entry)) == header.checksum;
        (is_whole && header.hash_hi == hash.hi).then_some(hash)
    }

    /// True for a block that begins with the undamaged head of a large value, or with a chunk of one.
    fn begins_large(&self, block: u64) -> bool {
        let at = block * self.geometry.block_size;
        let bytes = self.memory.read_array(at);
        let header = RecordHeader::parse(&bytes);
        let sequence = self.block_sequence(block);
        if let Some(chunk) = ChunkHeader::parse(&bytes) {
            return chunk.block_seq == sequence;
        }
        let record = Record { at, header };
        let is_whole = header.large_within(&self.geometry, at).is_some()
            && self
                .whole_key(&record, &bytes, sequence, &mut Vec::new())
                .is_some();
        if is_whole {
            // As for every record.
            self.memory.fetch_max(header::CLEARS, header.born);
        }
        is_whole
    }

    /// Keeps the word that published the large value whose head is in this block, if there is one.
    fn recover_large(&self, block: u64, recovery: &mut Recovery) {
        let at = block * self.geometry.block_size;
        let bytes = self.memory.read_array(at);
        let header = RecordHeader::parse(&bytes);
        let record = Record { at, header };
        if header.large_within(&self.geometry, at).is_none() {
            return;
        }
        let mut key = Vec::new();
        let Some(hash) = self.whole_key(&record, &bytes, self.block_sequence(block), &mut key)
        else {
            return;
        };
        let key = Key { bytes: &key, hash };
        let Some(large) = self.large(&record) else {
            return;
        };
        if self.keep_words(&record, key, recovery) {
            for part in large.parts(self.geometry.block_size) {
                self.take_from_dead(part.block, self.geometry.block_size);
            }
        }
    }

    /// Keeps the word that published this record, unless there is none, its entry is damaged or was cleared, or
    /// the key has a later one.
    fn keep_words(&self, record: &Record, key: Key<'_>, recovery: &mut Recovery) -> bool {
        let location = record.at / self.geometry.unit;
        for slot in self.values_of(self.levels(), key.hash) {
            let word = self.word(slot);
            let published =
                u64::from(word.location()) == location && word.bond(slot) == record.header.bond();
            if !published {
                continue;
            }
            let is_whole = self
                .verify_entry(record, key.hash, &mut recovery.entry)
                .is_ok();
            if is_whole
                && record.header.born >= self.floor_kept(key.bytes, recovery)
                && self.is_latest(slot, record, key, recovery)
            {
                recovery.keep(slot);
                return true;
            }
        }
        false
    }

    /// What a record of this key must be born at. Neighbours mostly share a namespace.
    fn floor_kept(&self, key: &[u8], recovery: &mut Recovery) -> u64 {
        let end = key.windows(2).position(|pair| pair == b"::");
        let namespace = &key[..end.map_or(0, |end| end + 2)];
        if namespace.is_empty() || namespace != recovery.namespace {
            recovery.floor = self.floor_on_disk(key);
            recovery.namespace.clear();
            recovery.namespace.extend_from_slice(namespace);
        }
        recovery.floor
    }

    /// The pages of two slots may be from moments between which the key moved from one to the other. Then
    /// each record was its value at its moment; the one that was written later stays.
    fn is_latest(&self, slot: u64, record: &Record, key: Key<'_>, recovery: &mut Recovery) -> bool {
        let others = self.values_of(self.levels(), key.hash);
        for other in others.filter(|other| *other != slot) {
            if !recovery.keeps(other) {
                continue;
            }
            let Look::Same(rival) = self.look(other, self.word(other), key) else {
                continue;
            };
            let age = |record: &Record| (record.header.block_seq(), record.at);
            if age(&rival) >= age(record) {
                return false;
            }
            recovery.drop(other);
            self.count_record_dead(&rival);
        }
        true
    }

    /// Empties all words but those that are kept.
    fn drop_words(&self, recovery: &Recovery) {
        for slot in 0..self.open_slots() {
            if slot % SHOW_EVERY == 0 {
                self.show_progress();
            }
            let word = self.word(slot);
            if word.state() != State::Empty && !recovery.keeps(slot) {
                self.swap(slot, word, word.to_empty());
            }
        }
    }

    /// For a process that waits for the directory's lock: it waits as long as this goes on.
    fn show_progress(&self) {
        self.memory.fetch_add(header::RECOVERED, 1);
    }
}
