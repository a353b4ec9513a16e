//! Room for what is written: a hand goes round the keys of the store, and deletes those that were not used since it
//! came by last.

use super::shared::Shared;
use super::state::{State, Word};
use super::{ByteStore, NewFile};
use crate::Error;
use std::sync::{MutexGuard, PoisonError};

/// Keys that a write looks at before it evicts even those that were used.
const PATIENCE: usize = 1024;
/// Deletions after which a store that does not count is asked for its size.
const MEASURE_EVERY: usize = 32;

/// Where the hand stands.
#[derive(Default)]
pub struct Hand {
    cursor: Option<Vec<u8>>,
    /// Keys of the page that it is in, the next one last.
    page: Vec<Vec<u8>>,
}

impl Shared {
    /// Bytes above which there are evictions: a part is for what a store needs besides.
    fn high(&self) -> u64 {
        self.room - self.room / 8
    }

    fn used(&self, state: &State) -> u64 {
        let written = if self.kind.counts {
            0
        } else {
            state.get(Word::Written)
        };
        state.get(Word::Bytes).saturating_add(written)
    }

    /// Whether so much was written since the store told its size that it may have grown by much more: stores fill whole
    /// pages, and not to the brim.
    fn is_stale(&self, state: &State) -> bool {
        !self.kind.counts && state.get(Word::Written) > self.room / 32
    }

    /// Stores bytes under a key whose lock is held, and counts them.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.count(value.len(), || self.store.put(key, value))
    }

    /// Stores a file under a key whose lock is held, and counts its bytes.
    pub fn put_file(
        &self,
        key: &[u8],
        file: &NewFile,
        head: &[u8],
        tail: &[u8],
        end: u64,
    ) -> Result<(), Error> {
        let len = usize::try_from(end).unwrap_or(usize::MAX);
        self.count(len.saturating_add(tail.len()), || {
            self.store.put_file(key, file, head, tail, end)
        })
    }

    /// Deletes a key whose lock is held.
    pub fn delete(&self, key: &[u8]) -> Result<(), Error> {
        self.count(0, || self.store.delete(key))
    }

    /// Deletes a key whose lock is held, and appends the beginning of what it had. False if it was not there.
    pub fn pop(&self, key: &[u8], most: usize, out: &mut Vec<u8>) -> Result<bool, Error> {
        let mut was_there = false;
        self.count(0, || {
            let popped = self.store.pop(key, most, out)?;
            was_there = popped.was_there;
            Ok(popped.grown)
        })?;
        Ok(was_there)
    }

    fn count(
        &self,
        written: usize,
        change: impl FnOnce() -> Result<Option<i64>, Error>,
    ) -> Result<(), Error> {
        let Some(state) = &self.state else {
            return change().map(drop);
        };
        if !self.kind.counts {
            change()?;
            state.add(Word::Written, written as i64);
            return Ok(());
        }
        // It stays where a process is killed meanwhile or the store fails: then the count may be wrong.
        state.add(Word::Changing, 1);
        let Some(by) = change()? else {
            return Err(Error::Io(format!(
                "the store {} says that it counts, but not by how many bytes it grew",
                self.kind.name
            )));
        };
        state.add(Word::Bytes, by);
        state.add(Word::Changing, -1);
        Ok(())
    }

    fn measure(&self, state: &State) -> Result<(), Error> {
        if !self.kind.counts {
            // In this order: what others write meanwhile counts once more, rather than not at all.
            state.set(Word::Written, 0);
            state.set(Word::Bytes, self.store.size()?);
        }
        Ok(())
    }

    /// Evicts what it takes so that so many bytes have room.
    #[inline]
    pub fn make_room(&self, bytes: usize) -> Result<(), Error> {
        let Some(state) = &self.state else {
            return Ok(());
        };
        let has_room = self.used(state).saturating_add(bytes as u64) <= self.high();
        if has_room && !self.is_stale(state) {
            return Ok(());
        }
        self.evict_down_to(state, self.high().saturating_sub(bytes as u64))
    }

    #[cold]
    fn evict_down_to(&self, state: &State, most: u64) -> Result<(), Error> {
        self.measure(state)?;
        if self.used(state) <= most {
            return Ok(());
        }
        // A little more, so that not every write comes here; much more where it takes a rewrite of all.
        let reclaims = self.kind.reclaims;
        let more = if reclaims {
            self.room / 4
        } else {
            self.room / 64
        };
        let most = most.saturating_sub(more);
        let mut hand = self.hand();
        let (mut looked, mut laps, mut deleted) = (0, 0, 0);
        let (mut freed, mut record) = (0, Vec::new());
        while self.used(state).saturating_sub(freed) > most && laps < 2 {
            let Some(key) = self.next_key(&mut hand, &mut laps)? else {
                continue;
            };
            looked += 1;
            if state.take_use(&key) && looked <= PATIENCE {
                continue;
            }
            // One that is being changed is used.
            let Some(_lock) = self.locks.take_free(&key)? else {
                continue;
            };
            if reclaims {
                record.clear();
                self.store.get(&key, &mut record)?;
                freed += (key.len() + record.len()) as u64;
            }
            self.delete(&key)?;
            state.add(Word::Evicted, 1);
            deleted += 1;
            if deleted % MEASURE_EVERY == 0 && !reclaims {
                self.measure(state)?;
            }
        }
        if reclaims {
            self.store.reclaim()?;
        }
        self.measure(state)
    }

    /// Evicts some entries of about so many bytes although the store is not full; false if it is empty. For a disk
    /// without room.
    pub fn evict_some(&self, bytes: usize) -> Result<bool, Error> {
        let Some(state) = &self.state else {
            return Ok(false);
        };
        let mut hand = self.hand();
        let (mut laps, mut deleted, mut freed) = (0, 0, 0);
        let mut entry = Vec::new();
        // Many small ones, for a store that frees whole pages; but no more than a part of all.
        let most = (self.room / 16) as usize;
        while laps < 2 && (freed < bytes || (deleted < MEASURE_EVERY && freed < most)) {
            let Some(key) = self.next_key(&mut hand, &mut laps)? else {
                continue;
            };
            let Some(_lock) = self.locks.take_free(&key)? else {
                continue;
            };
            entry.clear();
            if self.store.get(&key, &mut entry)? {
                freed += entry.len();
                self.delete(&key)?;
                state.add(Word::Evicted, 1);
                deleted += 1;
            }
        }
        if self.kind.reclaims {
            self.store.reclaim()?;
        }
        self.measure(state)?;
        Ok(deleted > 0)
    }

    fn hand(&self) -> MutexGuard<'_, Hand> {
        let hand = self.hand.get();
        if let Ok(held) = hand.try_lock() {
            return held;
        }
        let mut held = None;
        self.store
            .aside(&mut || held = Some(hand.lock().unwrap_or_else(PoisonError::into_inner)));
        held.unwrap_or_else(|| hand.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The key that the hand comes to; `None` at the end of a page. Counts its laps.
    fn next_key(&self, hand: &mut Hand, laps: &mut u32) -> Result<Option<Vec<u8>>, Error> {
        if let Some(key) = hand.page.pop() {
            return Ok(Some(key));
        }
        let cursor = hand.cursor.take();
        hand.cursor = self.store.scan(b"", cursor.as_deref(), &mut hand.page)?;
        hand.page.reverse();
        *laps += u32::from(hand.cursor.is_none());
        Ok(None)
    }
}
