//! Blocks of values larger than a block: a writer gathers as many as the value needs, and each of them then belongs to
//! the value alone. So nothing of it is ever moved, and the value is kept or evicted as one.

use super::append::OpenBlock;
use super::choose::Wanted;
use super::{descriptor, flags, Appended, Appender, BlockState, Queue};
use crate::engine::{Engine, Environment, Key, Participant, Record};
use crate::error::Error;
use crate::hash::{key_hash, KeyHash};
use crate::large::{ChunkHeader, Large, Part, Parts};
use crate::layout::{header, Shape, MOST_PREPARED, RECORD_HEADER};
use crate::read::Hit;
use crate::record::{checksum_of_entry, RecordHeader, LARGE};
use crate::shared_memory::SharedMemory;
use crate::word::{State, Word};
use polycache_entry::HEADER_LEN;

/// How often a writer tries to gather blocks before it gives up. It gives back all of them and yields the processor
/// between two attempts, so that of several such writers one gets enough.
const ROUNDS: u32 = 2_000;

/// A large value whose word stands.
struct Owner {
    slot: u64,
    word: Word,
    large: Large,
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// As [`Engine::append`], for a record that does not fit a block.
    #[cold]
    pub(super) fn append_large(
        &self,
        appender: &mut Appender,
        me: Participant,
        key: Key<'_>,
        entry: &[u8],
        born: Option<u64>,
    ) -> Result<Appended, Error> {
        let shape = self.shape_of(key, entry)?;
        let queue = if self.take_ghost(key.hash) {
            Queue::Main
        } else {
            Queue::Probation
        };
        let lane = appender.lane();
        let parts = self.gather(lane, me, shape.blocks(), queue)?;
        // As in `write_record`: between acquiring the blocks and the first byte.
        self.memory.fence();
        for (number, part) in parts[1..].iter().enumerate() {
            let bytes = &entry[shape.part(number)];
            let header = ChunkHeader {
                number: number as u32,
                len: bytes.len() as u32,
                hash: key.hash,
                block_seq: part.sequence,
            };
            let at = part.block * self.geometry.block_size;
            self.environment.prepare(part.block, 0, MOST_PREPARED);
            self.memory.write_words(at, header.encode());
            self.write_in_pieces(part.block, self.chunk_at(*part) - at, bytes);
        }
        let head = parts[0];
        self.environment.prepare(head.block, 0, MOST_PREPARED);
        self.write_head(head, &parts[1..], &shape, key, entry);
        // Only now, because a survey waits for it from here on.
        self.count_all_dead(&parts);
        let born = born.unwrap_or_else(|| self.clears());
        self.end_head(head, key, entry, born);
        self.end_blocks(&parts);
        self.note_expiry(polycache_entry::expires(entry));
        Ok(self.appended_in(head, lane, born, shape.blocks()))
    }

    /// How a value larger than a block is divided.
    ///
    /// # Errors
    /// `EntryTooLarge`.
    fn shape_of(&self, key: Key<'_>, entry: &[u8]) -> Result<Shape, Error> {
        let (key, entry) = (key.bytes.len(), entry.len());
        self.geometry.shape(key, entry).ok_or_else(|| {
            let size = (RECORD_HEADER + key + entry) as u64;
            let most = self.geometry.max_record();
            Error::EntryTooLarge {
                size,
                // Where the whole would fit it is the key that does not: it lies in one block.
                limit: if size > most {
                    most
                } else {
                    self.geometry.block_size
                },
            }
        })
    }

    /// True when the record fits this directory, in one block or in several.
    pub(crate) fn fits(&self, key: Key<'_>, entry: &[u8]) -> Result<(), Error> {
        let size = self.geometry.record_size(key.bytes.len(), entry.len());
        if size > self.geometry.block_size {
            self.shape_of(key, entry)?;
        }
        Ok(())
    }

    /// Holds so many empty blocks of a queue, each with a number of its own.
    ///
    /// # Errors
    /// `NoSpace`, `Io` when the disk has no room and the blocks that are here are too few; `Closed`.
    fn gather(&self, lane: u64, me: Participant, count: u64, queue: Queue) -> Result<Parts, Error> {
        if !self.has_empty_blocks(count) {
            // What is served no more goes before anything live. A writer of as many bytes in small records would pay
            // for as many steps of a survey.
            let steps = count * (self.geometry.block_size / self.geometry.step());
            for _ in 0..steps {
                if !self.survey_for_space() {
                    break;
                }
            }
        }
        for round in 1..=ROUNDS {
            let mut parts = Parts::new();
            let refused = loop {
                if parts.len() as u64 == count {
                    return Ok(parts);
                }
                let wanted = Wanted::ForValue {
                    blocks: count,
                    left: count - parts.len() as u64,
                };
                match self.take_empty(lane, me, wanted) {
                    Ok(Some(block)) => parts.push(self.begin_block(block, queue)),
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            for part in &parts {
                self.empty_block(part.block);
            }
            if !parts.is_empty() {
                self.renew_pace();
            }
            if self.environment.is_closed() {
                return Err(Error::Closed);
            }
            if let Some(error) = refused {
                return Err(error);
            }
            self.back_off(round, me);
        }
        Err(Error::NoSpace(
            "other processes, perhaps stopped ones, hold too many blocks for a value of this size; try again, end them, \
             or raise the byte limit",
        ))
    }

    /// A block that was taken empty begins to belong to a large value.
    fn begin_block(&self, block: u64, queue: Queue) -> Part {
        let sequence = self.number_block(block);
        let bits = queue.in_flags() | flags::LARGE;
        self.set_field(block, descriptor::FLAGS, bits);
        self.set_field(block, descriptor::MOVED, sequence);
        Part { block, sequence }
    }

    /// Writes the head but for its fixed part.
    fn write_head(&self, head: Part, chunks: &[Part], shape: &Shape, key: Key<'_>, entry: &[u8]) {
        let at = head.block * self.geometry.block_size;
        let list: Vec<u8> = chunks.iter().flat_map(|part| part.encode()).collect();
        self.memory.write(at + RECORD_HEADER as u64, key.bytes);
        let place = (RECORD_HEADER + key.bytes.len()) as u64;
        self.write_in_pieces(head.block, place, &entry[..shape.in_head]);
        self.memory.write(self.geometry.list_at(at, shape), &list);
    }

    /// Writes the fixed part of a head.
    fn end_head(&self, head: Part, key: Key<'_>, entry: &[u8], born: u64) {
        let record = RecordHeader {
            checksum: 0,
            key_len: key.bytes.len() as u32,
            flags: LARGE,
            entry_len: entry.len() as u32,
            hash_hi: key.hash.hi,
            // Without a bond yet.
            origin: head.sequence,
            born,
        };
        let at = head.block * self.geometry.block_size;
        let record = record.encode(key.hash, checksum_of_entry(entry));
        self.memory.write_words(at, record);
    }

    /// Until a value is published its blocks count as dead: those of a killed writer are used again first. Sequentially
    /// consistent: a survey that finds one not dead announced its target before the writer's next look at it.
    fn count_all_dead(&self, parts: &[Part]) {
        let size = self.geometry.block_size;
        (parts.iter()).for_each(|part| self.count_dead(part.block * size, size));
    }

    /// True while the writer of a large value, which holds this block, has not yet looked at the clears.
    pub(super) fn is_before_birth(&self, block: u64) -> bool {
        self.is_of_large_value(block) && self.field(block, descriptor::DEAD) == 0
    }

    /// All bytes are written: the tails cover the blocks. Before this they say that the blocks are empty.
    fn end_blocks(&self, parts: &[Part]) {
        for part in parts {
            self.set_field(part.block, descriptor::TAIL, self.geometry.block_size);
        }
    }

    /// The append of a value whose head is in this block. `blocks` are held for it.
    fn appended_in(&self, head: Part, lane: u64, born: u64, blocks: u64) -> Appended {
        let size = self.geometry.block_size;
        Appended {
            location: (head.block * size / self.geometry.unit) as u32,
            born,
            sequence: head.sequence,
            open: OpenBlock {
                block: head.block,
                sequence: head.sequence,
                tail: size,
                lane,
                is_for_one: true,
            },
            size: blocks * size,
        }
    }

    /// The parts of an appended value; its blocks are still held.
    fn appended_parts(&self, appended: &Appended) -> Parts {
        let at = appended.open.block * self.geometry.block_size;
        let header = RecordHeader::parse(&self.memory.read_array(at));
        self.large(&Record { at, header })
            .map(|large| large.parts(self.geometry.block_size).collect())
            .unwrap_or_default()
    }

    /// As [`Engine::never_published`]: its blocks stay dead when they are left.
    #[cold]
    pub(super) fn large_never_published(&self, appended: &Appended) {
        for part in self.appended_parts(appended) {
            self.count_block_dead(part);
        }
    }

    /// As [`Engine::appended`]: leaves all blocks, which are no longer dead.
    #[cold]
    pub(super) fn large_appended(&self, appended: &Appended, me: Participant) {
        let size = self.geometry.block_size;
        for part in self.appended_parts(appended) {
            self.take_from_dead(part.block, size);
            self.leave_block(part.block, BlockState::Sealed);
        }
        self.pay(size, appended.open.lane, me);
    }

    /// Counts a block of a large value as dead, unless it was used again since.
    pub(crate) fn count_block_dead(&self, part: Part) {
        if self.block_sequence(part.block) == part.sequence {
            let size = self.geometry.block_size;
            self.count_dead(part.block * size, size);
        }
    }

    pub(crate) fn take_from_dead(&self, block: u64, bytes: u64) {
        let at = self.descriptor(block, descriptor::DEAD);
        self.memory.fetch_add(at, bytes.wrapping_neg());
    }

    /// As [`Engine::replace`], for a large value whose entry differs only in the head's part, as that of a touch
    /// does: only the head is written anew, and it lists the same chunks. `None` when more differs.
    ///
    /// # Errors
    /// As for `replace`.
    #[cold]
    pub(crate) fn replace_head(
        &self,
        appender: &mut Appender,
        me: Participant,
        key: Key<'_>,
        hit: Hit,
        record: &Record,
        entry: &[u8],
    ) -> Result<Option<bool>, Error> {
        let Some(large) = self.large(record) else {
            return Ok(None);
        };
        let Large { shape, chunks, .. } = &large;
        let stays = |(number, part): (usize, &Part)| {
            let bytes = &entry[shape.part(number)];
            self.is_chunk(*part, number, bytes.len(), key.hash)
                && self.memory.equal(self.chunk_at(*part), bytes)
        };
        // The chunks are compared while the word stands, for the swap below fails unless it stands until then.
        if entry.len() != record.header.entry_len as usize || !chunks.iter().enumerate().all(stays)
        {
            return Ok(None);
        }
        let queue = self.queue_of(record.at / self.geometry.block_size);
        let lane = appender.lane();
        let parts = self.gather(lane, me, 1, queue)?;
        self.memory.fence();
        self.write_head(parts[0], chunks, shape, key, entry);
        self.end_head(parts[0], key, entry, record.header.born);
        self.count_all_dead(&parts);
        self.end_blocks(&parts);
        self.note_expiry(polycache_entry::expires(entry));
        let appended = self.appended_in(parts[0], lane, record.header.born, 1);
        let old = Part {
            block: record.at / self.geometry.block_size,
            sequence: record.header.block_seq(),
        };
        let word = Word(hit.word);
        let new = word.to_value(key.hash.tag(), appended.location);
        self.bind(appended.location, appended.sequence, hit.slot, new);
        // Not `swap_out`: the chunks live on.
        let replaced = self.swap(hit.slot, word, new);
        if replaced {
            self.count_block_dead(old);
            self.take_from_dead(parts[0].block, self.geometry.block_size);
            self.visit(hit.slot);
        }
        self.leave_block(parts[0].block, BlockState::Sealed);
        self.pay(self.geometry.block_size, lane, me);
        Ok(Some(replaced))
    }

    pub(crate) fn is_of_large_value(&self, block: u64) -> bool {
        self.field(block, descriptor::FLAGS) & flags::LARGE != 0
    }

    /// Recovery: the block begins with the head or a chunk of a large value, whole or not.
    pub(crate) fn seal_large(&self, block: u64) {
        let bits = self.queue_of(block).in_flags() | flags::LARGE;
        self.set_field(block, descriptor::FLAGS, bits);
        self.set_field(block, descriptor::MOVED, self.block_sequence(block));
        self.seal_at(block, self.geometry.block_size);
    }

    /// Cleans a held block of a large value. It becomes empty if the value is gone. Else the value is kept or evicted
    /// as one, whichever of its blocks this is; when it is kept, all of them count as new.
    pub(super) fn clean_large(&self, block: u64, me: Participant) -> bool {
        let dead = self.field(block, descriptor::DEAD);
        while let Some(owner) = self.owner_of(block) {
            if dead > 0 {
                // It was counted as dead and is not: its writer was killed just after it published the value.
                self.take_from_dead(block, dead);
                self.leave_block(block, BlockState::Sealed);
                return true;
            }
            if self.keep_or_evict(&owner, block, me) {
                self.leave_block(block, BlockState::Sealed);
                return true;
            }
        }
        let start = block * self.geometry.block_size;
        if self.field(block, descriptor::TAIL) > 0 && self.hash_in(block).is_none() {
            // Damaged: a head's word is found without its key.
            self.unlink_range(start, start + self.geometry.block_size);
        }
        self.empty_block(block);
        self.renew_pace();
        true
    }

    /// The value that a held block belongs to. A word that stands all the while is found: it never moves to another
    /// slot, and a head that takes another one's place lists the same blocks.
    fn owner_of(&self, block: u64) -> Option<Owner> {
        if self.field(block, descriptor::TAIL) == 0 {
            return None;
        }
        let hash = self.hash_in(block)?;
        let sequence = self.block_sequence(block);
        let this = Part { block, sequence };
        let tag = hash.tag();
        for slot in self.values_of(self.levels(), hash) {
            loop {
                let word = self.word(slot);
                if !word.is_value_of(tag) {
                    break;
                }
                let found = self.large_of(word);
                self.memory.fence();
                if self.word(slot) != word {
                    continue;
                }
                let lists = |large: &Large| {
                    large
                        .parts(self.geometry.block_size)
                        .any(|part| part == this)
                };
                match found.filter(lists) {
                    Some(large) => return Some(Owner { slot, word, large }),
                    None => break,
                }
            }
        }
        None
    }

    /// The large value that a value's word points to. It counts only once the word was seen to stand.
    pub(crate) fn large_of(&self, word: Word) -> Option<Large> {
        let at = u64::from(word.location()) * self.geometry.unit;
        if word.state() != State::Value || !self.geometry.may_hold_record(at) {
            return None;
        }
        let header = RecordHeader::parse(&self.memory.read_array(at));
        self.large(&Record { at, header })
    }

    /// The hash of the key whose head or chunk is in a held block.
    pub(crate) fn hash_in(&self, block: u64) -> Option<KeyHash> {
        let at = block * self.geometry.block_size;
        let bytes = self.memory.read_array(at);
        if let Some(chunk) = ChunkHeader::parse(&bytes) {
            return Some(chunk.hash);
        }
        let header = RecordHeader::parse(&bytes);
        header.large_within(&self.geometry, at)?;
        let mut key = Vec::new();
        self.memory
            .read(at + RECORD_HEADER as u64, header.key_len as usize, &mut key);
        Some(key_hash(self.seed, &key))
    }

    /// Decides on a value of which one block is held; false when its word changed, or changes by this.
    fn keep_or_evict(&self, owner: &Owner, held: u64, me: Participant) -> bool {
        let Owner { slot, word, large } = owner;
        let record = &large.record;
        let mut key = Vec::new();
        let len = record.header.key_len as usize;
        self.memory
            .read(record.at + RECORD_HEADER as u64, len, &mut key);
        let entry: [u8; HEADER_LEN] = self.memory.read_array(record.entry_at());
        let current = self.is_current(record.header.born, self.floor_of_key(&key), &entry);
        // The head may lie in another block, which this cleaner does not hold.
        self.memory.fence();
        if self.word(*slot) != *word {
            return false;
        }
        let queue = self.queue_of(held);
        let at = self.geometry.visited_byte_at(*slot);
        let reads = self.memory.visited(at);
        if current && queue.keeps(reads) && self.may_keep_all() {
            self.memory.set_visited(at, queue.reads_left(reads));
            self.keep_parts(large, held, me);
            self.memory.fetch_add(header::REINSERTED, 1);
            self.note_gain(false);
            return true;
        }
        // Counted first: a reader that misses the entry finds the counter increased.
        let counter = if current {
            header::EVICTED_BY_AGE
        } else {
            header::EXPIRED
        };
        self.memory.fetch_add(counter, 1);
        if self.swap_out_large(*slot, *word, word.to_empty(), record.at) {
            self.note_gain(true);
            if current && queue == Queue::Probation {
                let bytes = large.shape.blocks() * self.geometry.block_size;
                self.leave_ghost(key_hash(self.seed, &key), bytes);
            }
        }
        false
    }

    /// All blocks of a value go to the main queue, as its newest. One that another participant holds is left out: it
    /// may be a cleaner, which looks at the value itself.
    fn keep_parts(&self, large: &Large, held: u64, me: Participant) {
        let newest = self.memory.load(header::SEQUENCE);
        let renew = |block| {
            self.set_field(block, descriptor::FLAGS, flags::LARGE | flags::MAIN);
            self.set_field(block, descriptor::MOVED, newest);
        };
        for part in large.parts(self.geometry.block_size) {
            if part.block == held {
                renew(part.block);
            } else if self.hold_block(
                part.block,
                BlockState::Sealed.into(),
                BlockState::Cleaning(me),
            ) {
                if self.block_sequence(part.block) == part.sequence {
                    renew(part.block);
                }
                self.leave_block(part.block, BlockState::Sealed);
            }
        }
    }
}
