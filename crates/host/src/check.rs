//! Looks for damage: checks every word against its record, and every record against its checksums.

use crate::engine::{Engine, Environment, Key, Record};
use crate::hash::key_hash;
use crate::layout::{header, RECORD_HEADER};
use crate::record::{checksum, RecordHeader};
use crate::shared_memory::SharedMemory;
use crate::word::{State, Word};
use polycache_entry::{Header, Verify};

/// What `check` found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Entries whose checksums agree.
    pub whole: u64,
    /// Damaged entries with the reason, at most a hundred.
    pub damaged: Vec<String>,
    /// Loads in progress.
    pub leases: u64,
}

impl Report {
    fn note(&mut self, damage: String) {
        if self.damaged.len() < 100 {
            self.damaged.push(damage);
        }
    }
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Verifies every entry. Writers may continue: a word that changes meanwhile is checked again.
    #[must_use]
    pub fn check(&self) -> Report {
        let mut report = Report::default();
        let mut seen = std::collections::HashMap::new();
        for slot in 0..self.open_slots() {
            let found = loop {
                let word = self.word(slot);
                let found = match word.state() {
                    State::Value => Some(self.verify(slot, word)),
                    State::Lease => {
                        report.leases += 1;
                        None
                    }
                    State::Empty => None,
                };
                self.memory.fence();
                if self.word(slot) == word {
                    break found;
                }
            };
            match found {
                None => {}
                Some(Err(reason)) => report.note(format!("slot {slot}: {reason}")),
                Some(Ok(key)) => {
                    report.whole += 1;
                    // A key that moved here from a slot already visited is not a duplicate.
                    if let Some(first) = seen.insert(key.clone(), slot) {
                        let key = Key {
                            bytes: &key,
                            hash: key_hash(self.seed, &key),
                        };
                        let twice = [first, slot].iter().all(|slot| {
                            matches!(
                                self.look(*slot, self.word(*slot), key),
                                crate::engine::Look::Same(_)
                            ) && self.word(*slot).state() == State::Value
                        });
                        if twice {
                            report.note(format!("slots {first} and {slot} hold the same key"));
                        }
                    }
                }
            }
        }
        match self.damaged_floors() {
            0 => {}
            count => report.note(format!(
                "{count} floors lie above the count of clears: entries may be stored and not be found; clear their \
                 namespaces"
            )),
        }
        report
    }

    /// The key of a slot's record, or what is wrong with the record.
    fn verify(&self, slot: u64, word: Word) -> Result<Vec<u8>, String> {
        let at = u64::from(word.location()) * self.geometry.unit;
        if !self.geometry.may_hold_record(at) {
            return Err("its record lies outside the blocks".into());
        }
        let bytes = self.memory.read_array(at);
        let header = RecordHeader::parse(&bytes);
        let record = Record { at, header };
        header
            .bytes_within(&self.geometry, at)
            .ok_or("its record crosses the block's end, or holds no entry")?;
        let (mut key, mut entry) = (Vec::new(), Vec::new());
        let key_at = at + RECORD_HEADER as u64;
        self.memory.read(key_at, header.key_len as usize, &mut key);
        let hash = key_hash(self.seed, &key);
        if checksum(&bytes, hash) != header.checksum {
            return Err("the record's checksum is wrong".into());
        }
        let block = at / self.geometry.block_size;
        if header.block_seq != self.block_sequence(block) {
            return Err("the record is of an earlier use of its block".into());
        }
        if header.hash_hi != hash.hi
            || word.tag() != hash.tag()
            || !self.slots_of(hash).any(|place| place == slot)
        {
            return Err("the record's key does not belong to this slot".into());
        }
        if header.is_large() {
            self.verify_chunks(&record)?;
            if !self.read_large(at, hash, &mut entry) {
                return Err("one of its chunks is not in its place".into());
            }
        } else {
            let len = header.entry_len as usize;
            self.memory.read(record.entry_at(), len, &mut entry);
        }
        Header::parse(&entry, Verify::Checksum).map_err(|error| error.to_string())?;
        Ok(key)
    }

    /// Whether the blocks that a large value's head lists still have the numbers that it lists, and belong to large
    /// values.
    fn verify_chunks(&self, record: &Record) -> Result<(), String> {
        let large = self
            .large(record)
            .ok_or("it lists a block that does not exist")?;
        for part in large.parts(self.geometry.block_size) {
            if self.block_sequence(part.block) != part.sequence
                || !self.is_of_large_value(part.block)
            {
                return Err(format!("its block {} has another use", part.block));
            }
        }
        Ok(())
    }

    /// Recovery: opens exactly this many levels, those whose pages are there. The page with their number may be
    /// older than those pages or newer, and a level that is opened later must not hold words of before.
    pub(crate) fn open_all(&self, levels: usize) {
        let epoch = self.geometry.epoch_with(self.epoch(), levels);
        self.memory.store(header::EPOCH, epoch);
    }

    /// Recovery, first half: sets each tail by the chain of undamaged records.
    pub(crate) fn seal_whole_records(&self) {
        for block in 0..self.geometry.blocks {
            let start = block * self.geometry.block_size;
            let end = start + self.geometry.block_size;
            if self.is_allocated(block) && self.may_be_large(block) {
                self.seal_large(block);
                continue;
            }
            let mut at = start;
            // After the last record there may be less room than a record's fixed part takes.
            while at < end && self.geometry.may_hold_record(at) && self.is_allocated(block) {
                let bytes = self.memory.read_array(at);
                let record = RecordHeader::parse(&bytes);
                let Some(size) = record.size_within(&self.geometry, at) else {
                    break;
                };
                let mut key = Vec::new();
                let key_at = at + RECORD_HEADER as u64;
                self.memory.read(key_at, record.key_len as usize, &mut key);
                if record.block_seq != self.block_sequence(block)
                    || checksum(&bytes, key_hash(self.seed, &key)) != record.checksum
                {
                    break;
                }
                self.memory.fetch_max(header::SEQUENCE, record.block_seq);
                // A clear must count higher than every `born`, although the count's page may be older.
                self.memory.fetch_max(header::CLEARS, record.born);
                at += size;
            }
            self.seal_at(block, at - start);
        }
    }

    /// Recovery: true for a block that begins with the undamaged head of a large value, or a chunk of one.
    fn may_be_large(&self, block: u64) -> bool {
        let at = block * self.geometry.block_size;
        let bytes = self.memory.read_array(at);
        let header = RecordHeader::parse(&bytes);
        let Some(hash) = self.hash_in(block) else {
            return false;
        };
        let is_whole = header.block_seq == self.block_sequence(block)
            && checksum(&bytes, hash) == header.checksum;
        if is_whole {
            self.memory.fetch_max(header::SEQUENCE, header.block_seq);
            if header.is_large() {
                // As for every record.
                self.memory.fetch_max(header::CLEARS, header.born);
            }
        }
        is_whole
    }

    /// Recovery, second half: empties words whose record is damaged, and leases of dead loaders. Then it frees the
    /// blocks of large values that have no word.
    pub(crate) fn drop_damaged(&self) {
        let mut seen = std::collections::HashSet::new();
        let mut used = std::collections::HashSet::new();
        for slot in 0..self.open_slots() {
            let word = self.word(slot);
            let keep = match word.state() {
                State::Value => self.verify(slot, word).is_ok_and(|key| {
                    let at = u64::from(word.location()) * self.geometry.unit;
                    self.is_below_tail(at) && seen.insert(key)
                }),
                State::Lease => false,
                State::Empty => true,
            };
            if !keep {
                self.swap(slot, word, word.to_empty());
            } else if let Some(large) = self.large_of(word) {
                let parts = large.parts(self.geometry.block_size);
                used.extend(parts.map(|part| part.block));
            }
        }
        self.free_large_beside(&used);
    }
}
