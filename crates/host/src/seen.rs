//! Changing just the entry that was read: a take removes it, a touch gives it other times, and an update,
//! an increment and a compare-and-set store another value.
//!
//! All read the entry first, and then change its word by one compare-and-swap from what the read saw. A set,
//! delete or eviction in between has changed the word, so it wins, and the caller looks again.

use crate::block::Appender;
use crate::engine::{Engine, Environment, Key, Look, Participant, Record};
use crate::error::Error;
use crate::hash::key_hash;
use crate::layout::header;
use crate::read::Hit;
use crate::shared_memory::SharedMemory;
use crate::word::Word;

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Removes the entry that a read of the key found; false if it is gone.
    pub fn remove(&self, key: Key<'_>, hit: Hit) -> bool {
        let word = Word(hit.word);
        self.seen(key, hit)
            .is_some_and(|record| self.swap_out(hit.slot, word, word.to_empty(), &record))
    }

    /// Stores an entry in the place of the one that a read of the key found; false when that stands there
    /// no more, and then nothing is stored.
    ///
    /// The new record is born when the old one was. So a clear that came after the old value was made clears
    /// the new entry as well, whenever that clear was acknowledged.
    ///
    /// # Errors
    /// As for `put`; the old entry stays.
    pub fn replace(
        &self,
        appender: &mut Appender,
        me: Participant,
        key: Key<'_>,
        hit: Hit,
        entry: &[u8],
    ) -> Result<bool, Error> {
        let Some(record) = self.seen(key, hit) else {
            return Ok(false);
        };
        if record.header.is_large() {
            if let Some(replaced) = self.replace_head(appender, me, key, hit, &record, entry)? {
                return Ok(replaced);
            }
        }
        let appended = self.append(appender, me, key, entry, Some(record.header.born))?;
        let (word, tag) = (Word(hit.word), key.hash.tag());
        let new = word.to_value(tag, appended.location);
        self.bind(appended.location, appended.sequence, hit.slot, new);
        let replaced = self.swap_out(hit.slot, word, new, &record);
        if replaced {
            self.visit(hit.slot);
        } else {
            self.never_published(&appended);
        }
        self.appended(&appended, me);
        Ok(replaced)
    }

    /// The version of the entry that a read of the key found; `None` if it is gone: look again.
    ///
    /// It says where the record was written: the block's sequence number, which is given out once, and the
    /// place in the block, to which one record is appended before the block has another number. So no
    /// two records of a directory have one version, however often words repeat. It is mixed with the seed and
    /// the boot id, because a new directory counts from the beginning again.
    pub fn version(&self, key: Key<'_>, hit: Hit) -> Option<u64> {
        let record = self.seen(key, hit)?;
        let units = self.geometry.block_size / self.geometry.unit;
        let place = u64::from(Word(hit.word).location()) % units;
        let written = record.header.block_seq().wrapping_mul(units) | place;
        let mut boot = [0; 16];
        boot[..8].copy_from_slice(&self.memory.load(header::BOOT_ID).to_le_bytes());
        boot[8..].copy_from_slice(&self.memory.load(header::BOOT_ID + 8).to_le_bytes());
        Some(written ^ key_hash(self.seed, &boot).as_u64())
    }

    /// Invalidates the loads of a key that has no entry, as a delete does; false when it has one by now. The
    /// floor is that of the key's namespace at the epoch given to it.
    pub fn invalidate_loads(&self, key: Key<'_>, floor: impl Fn(u64) -> u64) -> bool {
        let tag = key.hash.tag();
        for slot in self.values_and_leases_of(self.levels(), key.hash) {
            loop {
                let word = self.word(slot);
                let removed = if word.is_value_of(tag) {
                    match self.look(slot, word, key) {
                        Look::Other => break,
                        Look::Changed => continue,
                        Look::Same(record) if !self.is_dead(slot, word, &record, &floor) => {
                            return false;
                        }
                        Look::Same(record) => self.swap_out(slot, word, word.to_empty(), &record),
                    }
                } else if word.is_lease_of(tag) {
                    self.swap(slot, word, word.to_empty())
                } else {
                    break;
                };
                if removed {
                    break;
                }
            }
        }
        true
    }

    /// The record of a hit that stands.
    fn seen(&self, key: Key<'_>, hit: Hit) -> Option<Record> {
        let (word, tag) = (Word(hit.word), key.hash.tag());
        if !word.is_value_of(tag) {
            return None;
        }
        match self.look(hit.slot, word, key) {
            // The epoch last: it tells a word from its return a lap later.
            Look::Same(record) if self.epoch() == hit.epoch => Some(record),
            Look::Same(_) | Look::Other | Look::Changed => None,
        }
    }
}
