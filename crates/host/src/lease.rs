//! Leases: one caller loads for all (see memcached at Facebook, NSDI'13).
//!
//! A lease is a slot's word, so an absent key without a load costs nothing. Every set, delete and
//! eviction of the slot invalidates the lease by changing the word; a fill is one compare-and-swap from
//! it. A living holder keeps its lease. A caller that has waited too long loads beside it, and fills by
//! a compare-and-swap from the same word: the first of the two fills, and a change that invalidates one
//! invalidates both.

use crate::block::Appender;
use crate::engine::{Engine, Environment, Key, Look, Participant};
use crate::error::Error;
use crate::layout::header;
use crate::levels::Room;
use crate::read::Hit;
use crate::shared_memory::SharedMemory;
use crate::word::Word;

/// The right to load a key and to fill it. `fill` or `release` returns it; a dead holder is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The slot's number.
    pub slot: u64,
    /// The lease's word.
    pub word: u64,
    /// Clears before the load: a clear during the load makes its value invalid.
    pub born: u64,
    /// The word belongs to another caller, and this one loads beside it: `release` leaves the word
    /// alone.
    pub beside: bool,
}

/// The answer to a caller that would load the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// The entry is there; it was appended to the buffer.
    Hit(Hit),
    /// The caller loads.
    Acquired(Token),
    /// Another caller loads: wait and ask again, or load beside it.
    Busy {
        /// The slot's number.
        slot: u64,
        /// The other caller's word: while it stands, its load is the one to wait for.
        word: u64,
        /// Its load takes longer than other callers are asked to wait, or it is known to be of another key.
        overdue: bool,
    },
    /// All buckets of the key are full of loads: load without a lease and do not store.
    Bypass,
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// True when the holder of this lease can no longer fill.
    pub(crate) fn lease_is_dead(&self, word: Word) -> bool {
        !self.environment.id_alive(word.owner())
    }

    /// Reads the key or takes the lease to load it, overdue after `ticks` ticks.
    pub fn lease(
        &self,
        me: Participant,
        key: Key<'_>,
        floor: impl Fn(u64) -> u64,
        ticks: u32,
        out: &mut Vec<u8>,
    ) -> Lease {
        let mut attempt = 0;
        loop {
            if let Some(answer) = self.try_lease(me, key, &floor, ticks, out) {
                return answer;
            }
            attempt += 1;
            self.back_off(attempt, me);
        }
    }

    /// One attempt; `None` when it lost a race.
    fn try_lease(
        &self,
        me: Participant,
        key: Key<'_>,
        floor: &impl Fn(u64) -> u64,
        ticks: u32,
        out: &mut Vec<u8>,
    ) -> Option<Lease> {
        if let Some(hit) = self.get(key, floor, out) {
            return Some(Lease::Hit(hit));
        }
        let tag = key.hash.tag();
        let now = self.environment.ticks();
        let levels = self.levels();
        let mut target = None;
        for slot in self.values_and_leases_of(levels, key.hash) {
            let word = self.word(slot);
            if word.is_value_of(tag) {
                match self.look(slot, word, key) {
                    Look::Other => {}
                    Look::Changed => return None,
                    Look::Same(record) => {
                        // The read above missed it: it is expired or cleared, or it was stored
                        // meanwhile.
                        if self.is_dead(slot, word, &record, floor) {
                            self.swap_out(slot, word, word.to_empty(), &record);
                        }
                        return None;
                    }
                }
            } else if word.is_lease_of(tag) {
                if !self.lease_is_dead(word) {
                    return Some(Lease::Busy {
                        slot,
                        word: word.0,
                        overdue: word.expired_at(now),
                    });
                }
                target = Some((slot, word));
            }
        }
        let empty = || self.empty_slot(levels, key.hash);
        let (slot, word) = match target.or_else(empty) {
            Some(found) => found,
            None => match self.make_room(key, levels, false) {
                Room::At(slot, word) => (slot, word),
                Room::Opened => return None,
                Room::Nowhere => return Some(Lease::Bypass),
            },
        };
        let mine = word.to_lease(tag, me.id, now.wrapping_add(ticks));
        if !self.displace(slot, word, mine) {
            return None;
        }
        // The levels last: an inserter that knows of one more may have looked here before the lease stood.
        if !self.alone(levels, slot, key, tag, |_, _| false) || self.levels() != levels {
            self.swap(slot, mine, mine.to_empty());
            return None;
        }
        if self.word(slot) != mine {
            return None;
        }
        Some(Lease::Acquired(Token {
            slot,
            word: mine.0,
            born: self.clears(),
            beside: false,
        }))
    }

    /// The right to load the key beside the holder of this word, which keeps its lease. `None` when the
    /// word no longer stands, or another slot holds something of the key: ask for the lease again.
    /// `is_of_another` says of a slot and a word whether that lease is known to be another key's.
    ///
    /// While the word stands no other caller can insert the key, because an inserter invalidates it
    /// first.
    pub fn beside(
        &self,
        key: Key<'_>,
        slot: u64,
        word: u64,
        is_of_another: impl Fn(u64, u64) -> bool,
    ) -> Option<Token> {
        let tag = key.hash.tag();
        // Read after the word was seen, for its holder may have known fewer: an inserter that looked here
        // before the word stood knows no level that this does not, and a later one invalidates the word.
        let levels = self.levels();
        let mut slots = self.slots_in(levels, key.hash);
        if !Word(word).is_lease_of(tag) || !slots.any(|mine| mine == slot) {
            return None;
        }
        let alone = self.alone(levels, slot, key, tag, is_of_another);
        // Read before the word: a clear from here on makes the load's value invalid.
        let born = self.clears();
        (alone && self.word(slot).0 == word).then_some(Token {
            slot,
            word,
            born,
            beside: true,
        })
    }

    /// True when a living participant holds a lease of the key's tag in the key's slots.
    pub fn is_leased(&self, key: Key<'_>) -> bool {
        let tag = key.hash.tag();
        self.slots_of(key.hash).any(|slot| {
            let word = self.word(slot);
            word.is_lease_of(tag) && !self.lease_is_dead(word)
        })
    }

    /// After the lease was taken: checks that no value of the key and no other live lease is in its
    /// slots, but those that are known to be another key's.
    fn alone(
        &self,
        levels: usize,
        slot: u64,
        key: Key<'_>,
        tag: u32,
        is_of_another: impl Fn(u64, u64) -> bool,
    ) -> bool {
        let others = self.values_and_leases_of(levels, key.hash);
        for other in others.filter(|other| *other != slot) {
            loop {
                let there = self.word(other);
                if there.is_value_of(tag) {
                    match self.look(other, there, key) {
                        Look::Other => break,
                        Look::Changed => continue,
                        Look::Same(_) => return false,
                    }
                }
                if !there.is_lease_of(tag) || is_of_another(other, there.0) {
                    break;
                }
                if !self.lease_is_dead(there) {
                    return false;
                }
                if self.swap(other, there, there.to_empty()) {
                    break;
                }
            }
        }
        true
    }

    /// True when the record, copied while its word stood, may no longer be served.
    pub(crate) fn is_dead(
        &self,
        slot: u64,
        word: Word,
        record: &crate::engine::Record,
        floor: &impl Fn(u64) -> u64,
    ) -> bool {
        let floor = floor(self.epoch());
        let entry: [u8; polycache_entry::HEADER_LEN] = self.memory.read_array(record.entry_at());
        self.memory.fence();
        self.word(slot) == word && !self.is_current(record.header.born, floor, &entry)
    }

    /// Publishes the loaded entry; false, with nothing stored, when the lease was invalidated.
    ///
    /// # Errors
    /// As for `put`; the lease is released.
    pub fn fill(
        &self,
        appender: &mut Appender,
        me: Participant,
        key: Key<'_>,
        token: Token,
        entry: &[u8],
    ) -> Result<bool, Error> {
        let lease = Word(token.word);
        if self.word(token.slot) != lease {
            return Ok(false);
        }
        let tag = key.hash.tag();
        let appended = match self.append(appender, me, key, entry, Some(token.born)) {
            Ok(appended) => appended,
            Err(error) => {
                self.release(token);
                return Err(error);
            }
        };
        // While the block is held: a survey whose target is announced after this waits for the block.
        let may_store = self.may_store(token.born);
        let new = lease.to_value(tag, appended.location);
        self.bind(appended.location, appended.sequence, token.slot, new);
        let filled = may_store && self.swap(token.slot, lease, new);
        if filled {
            self.memory
                .set_visited(self.geometry.visited_byte_at(token.slot), 0);
        } else {
            self.never_published(&appended);
        }
        self.appended(&appended, me);
        if !may_store {
            self.release(token);
        }
        Ok(filled)
    }

    /// Returns a lease without a value: the next caller loads. Does nothing for an invalidated lease or
    /// another caller's.
    pub fn release(&self, token: Token) {
        if !token.beside {
            let lease = Word(token.word);
            self.swap(token.slot, lease, lease.to_empty());
        }
    }

    /// True while the load behind this word may still fill.
    pub fn lease_stands(&self, slot: u64, word: u64) -> bool {
        self.word(slot).0 == word
    }

    /// True while a value loaded by this token would be stored and served: its lease stands, and no
    /// clear came since. `floor` gives the floor of the key's namespace at an epoch.
    pub fn may_fill(&self, token: Token, floor: impl Fn(u64) -> u64) -> bool {
        // In this order: a caller that asks after a clear was acknowledged sees its floor.
        // The floor may have ended before it was looked up, and then the target says so.
        token.born >= floor(self.epoch())
            && self.may_store(token.born)
            && self.lease_stands(token.slot, token.word)
    }

    /// Old values removed because their replacement could not be stored; part of the statistics.
    pub fn failed_puts(&self) -> u64 {
        self.memory.load(header::EVICTED_BY_FAILED_PUT)
    }
}
