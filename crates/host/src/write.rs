//! Writing: put, add and delete. A key stays unique because an insert leases its slot first and looks again.

use crate::block::{Appended, Appender};
use crate::engine::{Engine, Environment, Key, Look, Participant, Record};
use crate::error::Error;
use crate::layout::header;
use crate::record::RecordHeader;
use crate::shared_memory::SharedMemory;
use crate::word::{State, Word};
use std::cmp::Reverse;

/// Ticks after which the lease of an insert is overdue, in case its process is stopped halfway: others
/// then load beside it.
const INSERT_TICKS: u32 = 16;

/// How an attempt to publish a record ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// The key has the record, or a later one counts.
    Published,
    /// Another change came first: look again.
    Lost,
    /// The key has an entry, and the record was to be published only without one.
    Present,
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// Stores an entry under the key, whatever was there. Once it returns, every read that begins
    /// anywhere on the host sees this entry or a later one.
    ///
    /// # Errors
    /// `EntryTooLarge`, `NoSpace`, `Io`; the old value is deleted in that case, because it is
    /// superseded.
    pub fn put(
        &self,
        appender: &mut Appender,
        me: Participant,
        key: Key<'_>,
        entry: &[u8],
    ) -> Result<(), Error> {
        let levels = self.levels();
        self.prefetch_newest(levels, key.hash);
        self.prefetch_ghosts(key.hash);
        match self.append(appender, me, key, entry, None) {
            Ok(appended) => {
                self.publish(levels, me, key, &appended);
                self.appended(&appended, me);
                Ok(())
            }
            Err(Error::Closed) => Err(Error::Closed),
            Err(error) => {
                self.delete_unreplaced(key);
                Err(error)
            }
        }
    }

    /// Removes the value that a failed put was meant to replace.
    pub(crate) fn delete_unreplaced(&self, key: Key<'_>) {
        self.memory.fetch_add(header::EVICTED_BY_FAILED_PUT, 1);
        self.delete(key);
    }

    /// Points the key at a written record, unless one that was born later is there. `levels` is a number of
    /// open levels, which may have grown since it was read.
    fn publish(&self, mut levels: usize, me: Participant, key: Key<'_>, appended: &Appended) {
        let tag = key.hash.tag();
        let mut attempt = 0;
        let published = |levels| self.try_publish::<false>(levels, me, key, tag, appended, &|_| 0);
        while published(levels) == Attempt::Lost {
            attempt += 1;
            self.back_off(attempt, me);
            levels = self.levels();
        }
    }

    /// Stores an entry if the key has none that a read would be served; false if it has one. Loads of the
    /// key are invalidated as by a put. `floor` gives the floor of the key's namespace at an epoch.
    ///
    /// # Errors
    /// As for [`Engine::put`]; nothing has changed.
    pub fn add(
        &self,
        appender: &mut Appender,
        me: Participant,
        key: Key<'_>,
        floor: impl Fn(u64) -> u64,
        entry: &[u8],
    ) -> Result<bool, Error> {
        let tag = key.hash.tag();
        let mut attempt = 0;
        // What can't be stored is an error whether an entry is there or not.
        self.fits(key, entry)?;
        if self.has(key, &floor) {
            return Ok(false);
        }
        // Its `born` is read after the key was seen without an entry: a clear that took the entry away is
        // not later than that, and does not clear the new record. A clear from here on is later than the add.
        let appended = self.append(appender, me, key, entry, None)?;
        let ended = loop {
            match self.try_publish::<true>(self.levels(), me, key, tag, &appended, &floor) {
                Attempt::Lost => attempt += 1,
                ended => break ended,
            }
            self.back_off(attempt, me);
        };
        if ended == Attempt::Present {
            self.never_published(&appended);
        }
        self.appended(&appended, me);
        Ok(ended == Attempt::Published)
    }

    /// True when the key has an entry that a read would be served.
    fn has(&self, key: Key<'_>, floor: &impl Fn(u64) -> u64) -> bool {
        while let Some(found) = self.find(key, self.levels()) {
            if self.is_dead(found.slot, found.word, &found.record, floor) {
                return false;
            }
            // Alive, unless the word changed before that was known.
            if self.word(found.slot) == found.word {
                return true;
            }
        }
        false
    }

    /// With `ONLY_ABSENT` the record is published only while the key has no entry that a read would be
    /// served; `floor` says which are cleared.
    fn try_publish<const ONLY_ABSENT: bool>(
        &self,
        levels: usize,
        me: Participant,
        key: Key<'_>,
        tag: u32,
        appended: &Appended,
        floor: &impl Fn(u64) -> u64,
    ) -> Attempt {
        let ended = |published| {
            if published {
                Attempt::Published
            } else {
                Attempt::Lost
            }
        };
        let location = appended.location;
        for slot in self.values_of(levels, key.hash) {
            let word = self.word(slot);
            if !word.is_value_of(tag) {
                continue;
            }
            self.prefetch_count_of_dead(word);
            match self.look(slot, word, key) {
                Look::Same(there) if ONLY_ABSENT && !self.is_dead(slot, word, &there, floor) => {
                    // Alive, unless the word changed before that was known.
                    return if self.word(slot) == word {
                        Attempt::Present
                    } else {
                        Attempt::Lost
                    };
                }
                // A clear came between the two births. This put began before that clear and the other
                // ended after it, so they overlapped, and this one may count as the earlier. Its own
                // record may lie below the floor: published here, it would hide a value that was
                // acknowledged after the clear.
                Look::Same(there) if !ONLY_ABSENT && there.header.born > appended.born => {
                    self.never_published(appended);
                    return Attempt::Published;
                }
                Look::Same(there) => {
                    let new = word.to_value(tag, location);
                    self.bind(location, appended.sequence, slot, new);
                    return ended(self.swap_out(slot, word, new, &there));
                }
                Look::Changed => return Attempt::Lost,
                Look::Other => {}
            }
        }
        let empty = self.empty_slot(levels, key.hash);
        let Some((slot, word)) = empty.or_else(|| self.make_room(key, levels, true).slot()) else {
            return Attempt::Lost;
        };
        let deadline = self.environment.ticks().wrapping_add(INSERT_TICKS);
        let lease = word.to_lease(tag, me.id, deadline);
        if !self.displace(slot, word, lease) {
            return Attempt::Lost;
        }
        // Two inserters may hold leases in different slots: each must see the other's lease or its
        // value.
        let others = self.values_and_leases_of(levels, key.hash);
        for other in others.filter(|other| *other != slot) {
            loop {
                let there = self.word(other);
                if there.is_value_of(tag) {
                    match self.look(other, there, key) {
                        Look::Other => break,
                        Look::Changed => continue,
                        Look::Same(_) => {
                            self.swap(slot, lease, lease.to_empty());
                            return Attempt::Lost;
                        }
                    }
                }
                if !there.is_lease_of(tag) || self.swap(other, there, there.to_empty()) {
                    break;
                }
            }
        }
        // Another inserter may know of a level that was opened meanwhile, and have looked here before the
        // lease stood.
        if self.levels() != levels {
            self.swap(slot, lease, lease.to_empty());
            return Attempt::Lost;
        }
        let new = lease.to_value(tag, location);
        self.bind(location, appended.sequence, slot, new);
        if !self.swap(slot, lease, new) {
            return Attempt::Lost;
        }
        self.memory
            .set_visited(self.geometry.visited_byte_at(slot), 0);
        Attempt::Published
    }

    /// Takes a slot and counts the entry that was there.
    pub(crate) fn displace(&self, slot: u64, word: Word, lease: Word) -> bool {
        if word.state() != State::Value {
            return self.swap(slot, word, lease);
        }
        // Counted first: a reader that misses the entry finds the counter increased.
        let counter = if self.is_dead_value(word) {
            header::EXPIRED
        } else {
            header::EVICTED_BY_CONFLICT
        };
        self.memory.fetch_add(counter, 1);
        let at = u64::from(word.location()) * self.geometry.unit;
        if !self.geometry.may_hold_record(at) {
            return self.swap(slot, word, lease);
        }
        let header = RecordHeader::parse(&self.memory.read_array(at));
        self.swap_out(slot, word, lease, &Record { at, header })
    }

    /// The slot to take when all of these are full: a lease whose holder is gone, else the oldest of the
    /// entries with the fewest reads; all of them lose a read. Live leases stay, unless `even_leases` is
    /// set and there is nothing else.
    #[cold]
    pub(crate) fn victim(
        &self,
        slots: impl Iterator<Item = u64>,
        even_leases: bool,
    ) -> Option<(u64, Word)> {
        let newest = self.memory.load(header::SEQUENCE);
        let age = |word: Word| {
            let block = u64::from(word.location()) * self.geometry.unit / self.geometry.block_size;
            newest.saturating_sub(self.block_sequence(block % self.geometry.blocks))
        };
        let mut oldest: Option<(Reverse<u8>, u64, u64, Word)> = None;
        let mut lease = None;
        for slot in slots {
            let word = self.word(slot);
            match word.state() {
                State::Empty => return Some((slot, word)),
                State::Lease if self.lease_is_dead(word) => return Some((slot, word)),
                State::Lease => lease = Some((slot, word)),
                State::Value => {
                    let at = self.geometry.visited_byte_at(slot);
                    let reads = self.memory.visited(at);
                    if reads > 0 {
                        self.memory.set_visited(at, reads - 1);
                    }
                    let candidate = (Reverse(reads), age(word), slot, word);
                    if oldest.is_none_or(|best| (candidate.0, candidate.1) > (best.0, best.1)) {
                        oldest = Some(candidate);
                    }
                }
            }
        }
        oldest
            .map(|(_, _, slot, word)| (slot, word))
            .or(lease.filter(|_| even_leases))
    }

    /// Removes the key and invalidates every load of it. True when an entry was there. Once it returns,
    /// no later read sees an entry older than the delete, and no load that began before it can fill one
    /// in.
    pub fn delete(&self, key: Key<'_>) -> bool {
        let tag = key.hash.tag();
        let mut removed = false;
        for slot in self.values_and_leases_of(self.levels(), key.hash) {
            loop {
                let word = self.word(slot);
                let found = if word.is_value_of(tag) {
                    self.look(slot, word, key)
                } else {
                    Look::Other
                };
                let emptied = match found {
                    Look::Same(record) => {
                        let emptied = self.swap_out(slot, word, word.to_empty(), &record);
                        removed |= emptied;
                        emptied
                    }
                    Look::Changed => false,
                    Look::Other if word.is_lease_of(tag) => self.swap(slot, word, word.to_empty()),
                    Look::Other => true,
                };
                if emptied {
                    break;
                }
            }
        }
        removed
    }
}
