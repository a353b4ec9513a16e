//! Writing: put and delete. A key stays unique because an insert leases its slot first and looks again.

use crate::block::{Appended, Appender};
use crate::engine::{Engine, Environment, Key, Look, Participant, Record};
use crate::error::Error;
use crate::layout::header;
use crate::record::RecordHeader;
use crate::shared_memory::SharedMemory;
use crate::word::{State, Word};

/// Ticks after which the lease of an insert is overdue, in case its process is stopped halfway: others
/// then load beside it.
const INSERT_TICKS: u32 = 16;

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
        self.prefetch(key.hash);
        let born = self.clears();
        match self.append(appender, me, key, entry, born) {
            Ok(appended) => {
                self.publish(me, key, &appended, born);
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

    /// Points the key at a written record with this `born`, unless a later one is there.
    fn publish(&self, me: Participant, key: Key<'_>, appended: &Appended, born: u64) {
        let tag = self.geometry.candidates(key.hash).2;
        let mut attempt = 0;
        while !self.try_publish(me, key, tag, appended, born) {
            attempt += 1;
            self.back_off(attempt, me);
        }
    }

    fn try_publish(
        &self,
        me: Participant,
        key: Key<'_>,
        tag: u32,
        appended: &Appended,
        born: u64,
    ) -> bool {
        let location = appended.location;
        let mut empty = None;
        for slot in self.slots_of(key.hash) {
            let word = self.word(slot);
            if word.is_value_of(tag) {
                match self.look(slot, word, key) {
                    // A clear came between the two births. This put began before that clear and the
                    // other ended after it, so they overlapped, and this one may count as the earlier.
                    // Its own record may lie below the floor: published here, it would hide a value that
                    // was acknowledged after the clear.
                    Look::Same(there) if there.header.born > born => {
                        self.never_published(appended);
                        return true;
                    }
                    Look::Same(there) => {
                        return self.swap_out(slot, word, word.to_value(tag, location), &there);
                    }
                    Look::Changed => return false,
                    Look::Other => {}
                }
            } else if word.state() == State::Empty && empty.is_none() {
                empty = Some((slot, word));
            }
        }
        let Some((slot, word)) = empty.or_else(|| self.victim(key, true)) else {
            return false;
        };
        let deadline = self.environment.ticks().wrapping_add(INSERT_TICKS);
        let lease = word.to_lease(tag, me.id, deadline);
        if !self.displace(slot, word, lease) {
            return false;
        }
        // Two inserters may hold leases in different slots: each must see the other's lease or its
        // value.
        for other in self.slots_of(key.hash).filter(|other| *other != slot) {
            loop {
                let there = self.word(other);
                if there.is_value_of(tag) {
                    match self.look(other, there, key) {
                        Look::Other => break,
                        Look::Changed => continue,
                        Look::Same(_) => {
                            self.swap(slot, lease, lease.to_empty());
                            return false;
                        }
                    }
                }
                if !there.is_lease_of(tag) || self.swap(other, there, there.to_empty()) {
                    break;
                }
            }
        }
        if !self.swap(slot, lease, lease.to_value(tag, location)) {
            return false;
        }
        self.memory
            .set_visited(self.geometry.visited_byte_at(slot), false);
        true
    }

    /// Takes a slot and counts the entry that was there.
    pub(crate) fn displace(&self, slot: u64, word: Word, lease: Word) -> bool {
        if word.state() != State::Value {
            return self.swap(slot, word, lease);
        }
        // Counted first: a reader that misses the entry finds the counter increased.
        self.memory.fetch_add(header::EVICTED_BY_CONFLICT, 1);
        let at = u64::from(word.location()) * self.geometry.unit;
        if !self.geometry.may_hold_record(at) {
            return self.swap(slot, word, lease);
        }
        let header = RecordHeader::parse(&self.memory.read_array(at));
        self.swap_out(slot, word, lease, &Record { at, header })
    }

    /// The slot to take when both buckets are full: a lease whose holder is gone, else the oldest
    /// unvisited entry, else the oldest. Live leases stay, unless `even_leases` is set and there is
    /// nothing else.
    #[cold]
    pub(crate) fn victim(&self, key: Key<'_>, even_leases: bool) -> Option<(u64, Word)> {
        let newest = self.memory.load(header::SEQUENCE);
        let age = |word: Word| {
            let block = u64::from(word.location()) * self.geometry.unit / self.geometry.block_size;
            newest.saturating_sub(self.block_sequence(block % self.geometry.blocks))
        };
        let mut oldest: Option<(bool, u64, u64, Word)> = None;
        let mut lease = None;
        for slot in self.slots_of(key.hash) {
            let word = self.word(slot);
            match word.state() {
                State::Empty => return Some((slot, word)),
                State::Lease if self.lease_is_dead(word) => return Some((slot, word)),
                State::Lease => lease = Some((slot, word)),
                State::Value => {
                    let at = self.geometry.visited_byte_at(slot);
                    let unvisited = !self.memory.visited(at);
                    self.memory.set_visited(at, false);
                    let candidate = (unvisited, age(word), slot, word);
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
        let tag = self.geometry.candidates(key.hash).2;
        let mut removed = false;
        for slot in self.slots_of(key.hash) {
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
