//! Walks the index: keys of a namespace, numbers of entries, space of namespaces.

use crate::engine::{Engine, Environment};
use crate::layout::RECORD_HEADER;
use crate::record::RecordHeader;
use crate::shared_memory::SharedMemory;
use crate::word::{State, Word};

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// The full key in a slot, if it begins with `wanted` and its entry may be served.
    pub(crate) fn key_at(
        &self,
        slot: u64,
        wanted: &[u8],
        floor: &impl Fn(u64) -> u64,
    ) -> Option<Vec<u8>> {
        loop {
            let epoch = self.epoch();
            let word = self.word(slot);
            if word.state() != State::Value {
                return None;
            }
            let key = self.matching_key(u64::from(word.location()) * self.geometry.unit, wanted);
            // Before the second look at the word: see `Engine::floor_of`.
            let floor = floor(epoch);
            self.memory.fence();
            if self.word(slot) != word || self.epoch() != epoch {
                continue;
            }
            let (record, key, entry) = key?;
            return self.is_current(record.born, floor, &entry).then_some(key);
        }
    }

    #[allow(clippy::type_complexity)]
    fn matching_key(
        &self,
        at: u64,
        wanted: &[u8],
    ) -> Option<(RecordHeader, Vec<u8>, [u8; polycache_entry::HEADER_LEN])> {
        if !self.geometry.may_hold_record(at) {
            return None;
        }
        let record = RecordHeader::parse(&self.memory.read_array(at));
        record.bytes_within(&self.geometry, at)?;
        let key_at = at + RECORD_HEADER as u64;
        let key_len = record.key_len as usize;
        if key_len < wanted.len() || !self.memory.equal(key_at, wanted) {
            return None;
        }
        let mut key = Vec::new();
        self.memory.read(key_at, key_len, &mut key);
        let entry = self.memory.read_array(key_at + key_len as u64);
        Some((record, key, entry))
    }

    /// True when the entry that a value's word points to may not be served. It is known of the word only
    /// once that is changed, or seen to stand.
    #[cold]
    pub(crate) fn is_dead_value(&self, word: Word) -> bool {
        let at = u64::from(word.location()) * self.geometry.unit;
        let found = self.matching_key(at, b"");
        self.memory.fence();
        found.is_some_and(|(record, key, entry)| {
            !self.is_current(record.born, self.floor_of_key(&key), &entry)
        })
    }

    /// The prefix of the namespace of a slot's entry, and the bytes that its record takes, if it may be served.
    pub(crate) fn usage_at(&self, slot: u64) -> Option<(Vec<u8>, u64)> {
        loop {
            let epoch = self.epoch();
            let word = self.word(slot);
            if word.state() != State::Value {
                return None;
            }
            let at = u64::from(word.location()) * self.geometry.unit;
            let found = self.matching_key(at, b"");
            // Before the second look at the word: see `Engine::floor_of`.
            let floor = found.as_ref().map(|(_, key, _)| self.floor_of_key(key));
            self.memory.fence();
            if self.word(slot) != word || self.epoch() != epoch {
                continue;
            }
            let (record, mut key, entry) = found?;
            if !self.is_current(record.born, floor?, &entry) {
                return None;
            }
            let size = record.bytes_within(&self.geometry, at)?;
            let prefix = key.windows(2).position(|pair| pair == b"::")? + 2;
            key.truncate(prefix);
            return Some((key, size));
        }
    }

    /// Number of slots that hold a value.
    pub(crate) fn count_values(&self) -> u64 {
        (0..self.open_slots())
            .filter(|slot| self.word(*slot).state() == State::Value)
            .count() as u64
    }
}
