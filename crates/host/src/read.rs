//! Reading: copy out, then check that the word and the epoch still stand.

use crate::engine::{Engine, Environment, Key, Look, Record};
use crate::hash::KeyHash;
use crate::layout::MOST_READS;
use crate::shared_memory::SharedMemory;
use crate::word::Word;

/// Where an entry was found. The memory tier serves its object while the slot's `ver` half and the epoch
/// are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The slot's number.
    pub slot: u64,
    /// Its word at the time the entry was copied.
    pub word: u64,
    /// The epoch read before the word.
    pub epoch: u64,
}

pub(crate) struct FoundRecord {
    pub slot: u64,
    pub word: Word,
    pub record: Record,
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Appends the key's entry to `out` and says where it was found; `None` is a miss and leaves `out`
    /// unchanged. `floor` gives the namespace's floor at an epoch.
    #[inline]
    pub fn get(&self, key: Key<'_>, floor: impl Fn(u64) -> u64, out: &mut Vec<u8>) -> Option<Hit> {
        let hit = self.peek(key, floor, out);
        match hit {
            Some(hit) => self.visit(hit.slot),
            // What is missed is often stored next, which looks for a ghost.
            None => self.prefetch_ghosts(key.hash),
        }
        hit
    }

    /// As [`Engine::get`], without marking the entry as read.
    // A hit is this and a byte: no call in between.
    #[inline(always)]
    pub fn peek(&self, key: Key<'_>, floor: impl Fn(u64) -> u64, out: &mut Vec<u8>) -> Option<Hit> {
        loop {
            let epoch = self.epoch();
            let found = self.find(key, self.geometry.levels_at(epoch))?;
            // Before the second look at the word: see `Engine::floor_of`.
            let floor = floor(epoch);
            let start = out.len();
            if found.record.header.is_large() {
                if !self.read_large(found.record.at, key.hash, out) {
                    if self.remove_unless_changed(found.slot, found.word, found.record.at, epoch) {
                        continue;
                    }
                    return None;
                }
            } else {
                let entry_len = found.record.header.entry_len as usize;
                self.memory.read(found.record.entry_at(), entry_len, out);
            }
            self.memory.fence();
            if self.word(found.slot) != found.word || self.epoch() != epoch {
                out.truncate(start);
                continue;
            }
            if !self.is_current(found.record.header.born, floor, &out[start..]) {
                out.truncate(start);
                return None;
            }
            return Some(Hit {
                slot: found.slot,
                word: found.word.0,
                epoch,
            });
        }
    }

    /// Fetches what reads of these keys will touch into the processor's caches: first the words of all, then
    /// the records that they point to, so that the reads do not wait for memory one after the other. Only a
    /// hint; nothing is read that counts.
    pub fn prefetch_many(&self, hashes: &[KeyHash]) {
        let levels = self.levels();
        for hash in hashes {
            self.prefetch(levels, *hash);
        }
        for hash in hashes {
            for slot in self.values_of(levels, *hash) {
                self.prefetch_hit(slot, self.word(slot));
            }
        }
    }

    /// True while the word and the epoch of a hit stand: the key has not changed since.
    #[inline]
    pub fn stands(&self, hit: Hit) -> bool {
        self.word(hit.slot).0 == hit.word && self.epoch() == hit.epoch
    }

    /// The key's slot in this many levels, by one pass that restarts when a word changes during it.
    #[inline]
    pub(crate) fn find(&self, key: Key<'_>, levels: usize) -> Option<FoundRecord> {
        let tag = key.hash.tag();
        'scan: loop {
            // Not `values_of`: this executes 2 % fewer instructions for a get.
            for first in self.buckets_in(levels, key.hash) {
                for slot in self.values_in(first, tag) {
                    let word = self.word(slot);
                    if !word.is_value_of(tag) {
                        continue;
                    }
                    self.prefetch_hit(slot, word);
                    match self.look(slot, word, key) {
                        Look::Same(record) => return Some(FoundRecord { slot, word, record }),
                        Look::Other => {}
                        Look::Changed => continue 'scan,
                    }
                }
            }
            return None;
        }
    }

    /// Prefetches all that a hit touches; the lengths of the record's parts are in its first line.
    #[inline(always)]
    fn prefetch_hit(&self, slot: u64, word: Word) {
        self.memory
            .prefetch_record(u64::from(word.location()) * self.geometry.unit);
        self.memory.prefetch(self.geometry.visited_byte_at(slot));
    }

    /// Counts a read of a slot's entry, so that recycling keeps what is read. Two reads at the same time may
    /// count as one.
    #[inline]
    pub fn visit(&self, slot: u64) {
        let at = self.geometry.visited_byte_at(slot);
        let reads = self.memory.visited(at);
        if reads < MOST_READS {
            self.memory.set_visited(at, reads + 1);
        }
    }

    /// Counts many reads of a slot's entry.
    #[inline]
    pub fn visit_often(&self, slot: u64) {
        let at = self.geometry.visited_byte_at(slot);
        if self.memory.visited(at) < MOST_READS {
            self.memory.set_visited(at, MOST_READS);
        }
    }
}
