//! Looks for damage: checks every word against its record, and every record against its checksums.

use crate::engine::{Engine, Environment, Key, Record};
use crate::hash::{key_hash, KeyHash};
use crate::layout::RECORD_HEADER;
use crate::record::{checksum, checksum_of_entry, RecordHeader};
use crate::shared_memory::SharedMemory;
use crate::word::{State, Word};
use polycache_entry::{Header, Verify, HEADER_LEN};

/// How many slots are put into order at a time: 64 MiB of memory for them.
const BATCH: usize = 1 << 22;

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
        for slot in self.slots_by_place() {
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

    /// All slots in the order in which their records lie in the blocks, a batch of them at a time. The index is
    /// in the order of hashes: each record of a directory that memory cannot hold would be read from the disk
    /// by itself, where a page has several.
    fn slots_by_place(&self) -> impl Iterator<Item = u64> + '_ {
        let end = self.open_slots();
        (0..end).step_by(BATCH).flat_map(move |first| {
            let batch = first..end.min(first + BATCH as u64);
            let mut slots: Vec<(u32, u64)> = batch
                .map(|slot| (self.word(slot).location(), slot))
                .collect();
            slots.sort_unstable();
            slots.into_iter().map(|(_, slot)| slot)
        })
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
        let mut key = Vec::new();
        let key_at = at + RECORD_HEADER as u64;
        self.memory.read(key_at, header.key_len as usize, &mut key);
        let hash = key_hash(self.seed, &key);
        let entry: [u8; HEADER_LEN] = self.memory.read_array(record.entry_at());
        if checksum(&bytes, hash, checksum_of_entry(&entry)) != header.checksum {
            return Err("the record's checksum is wrong".into());
        }
        let block = at / self.geometry.block_size;
        if header.block_seq() != self.block_sequence(block) {
            return Err("the record is of an earlier use of its block".into());
        }
        if header.bond() != word.bond(slot) {
            return Err("the record was not stored by the change that this slot shows".into());
        }
        if header.hash_hi != hash.hi
            || word.tag() != hash.tag()
            || !self.slots_of(hash).any(|place| place == slot)
        {
            return Err("the record's key does not belong to this slot".into());
        }
        self.verify_entry(&record, hash, &mut Vec::new())?;
        Ok(key)
    }

    /// Whether a record's entry, in all of its blocks, is what its checksum says. `out` is for its bytes.
    pub(crate) fn verify_entry(
        &self,
        record: &Record,
        hash: KeyHash,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        out.clear();
        if record.header.is_large() {
            self.verify_chunks(record)?;
            if !self.read_large(record.at, hash, out) {
                return Err("one of its chunks is not in its place".into());
            }
        } else {
            let len = record.header.entry_len as usize;
            self.memory.read(record.entry_at(), len, out);
        }
        Header::parse(out, Verify::Checksum).map_err(|error| error.to_string())?;
        Ok(())
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
}
