//! Reading without use, and writing on a condition: only without an entry, or only over the one that was read.

use super::{is_entry, with_appender, Store};
use crate::counters::Counter;
use crate::error::Error;
use crate::hash::KeyHash;
use crate::namespace::Namespace;
use crate::read::Hit;

/// Keys whose memory is fetched at once.
const PREFETCHED: usize = 32;

impl Store {
    /// As [`Store::get`], but it is not a use of the entry: the read is not counted, and the entry is not marked
    /// as read.
    ///
    /// # Errors
    /// `Closed`.
    #[inline]
    pub fn peek(
        &self,
        namespace: &Namespace,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Hit>, Error> {
        let inner = self.open_inner()?;
        // A process that only peeks must notice, too, that the cache was replaced.
        inner.count_change();
        inner.still_open()?;
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        let hit = inner.engine.peek(key, inner.floor(namespace), out);
        if hit.is_none() {
            inner.missed()?;
        }
        Ok(hit)
    }

    /// Deletes just the entry that a read of the key found; false if it is gone: look again.
    ///
    /// # Errors
    /// `ReadOnly`, `Closed`.
    pub fn remove(&self, namespace: &Namespace, key: &[u8], hit: Hit) -> Result<bool, Error> {
        let inner = self.open_inner()?;
        inner.count_change();
        inner.may_change()?;
        let full = namespace.full_key(key);
        let removed =
            inner.engine.is_open(hit.slot) && inner.engine.remove(inner.engine.key(&full), hit);
        if removed {
            inner.changed_by_any();
            inner.count(Counter::Deletes);
        }
        Ok(removed)
    }

    /// Stores an entry in the place of just the one that a read of the key found, and marks it as read; false
    /// when that one stands there no more: look again. A clear that came after the old value was written clears
    /// the new entry, too. It is not counted: see [`Store::count_write`].
    ///
    /// # Errors
    /// `MalformedEntry` for bytes that are not an entry; `EntryTooLarge`, `NoSpace`, `Io`, after which the old
    /// entry is as it was; `Closed`.
    pub fn replace(
        &self,
        namespace: &Namespace,
        key: &[u8],
        hit: Hit,
        entry: &[u8],
    ) -> Result<bool, Error> {
        let inner = self.open_inner()?;
        is_entry(entry)?;
        inner.count_change();
        let process = inner.process()?;
        if !inner.engine.is_open(hit.slot) {
            return Ok(false);
        }
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        let me = process.membership.me;
        let replaced =
            with_appender(|appender| inner.engine.replace(appender, me, key, hit, entry))?;
        inner.changed(process);
        Ok(replaced)
    }

    /// Stores an entry if the key has none; false if it has one. Loads of the key under way are invalidated.
    ///
    /// # Errors
    /// `MalformedEntry` for bytes that are not an entry; `EntryTooLarge`, `NoSpace`, `Io`, after which nothing has
    /// changed; `ReadOnly`; `Closed`.
    pub fn add(&self, namespace: &Namespace, key: &[u8], entry: &[u8]) -> Result<bool, Error> {
        let inner = self.open_inner()?;
        is_entry(entry)?;
        inner.may_change()?;
        let process = inner.process()?;
        let me = process.membership.me;
        let full = namespace.full_key(key);
        let (key, floor) = (inner.engine.key(&full), inner.floor(namespace));
        let added = with_appender(|appender| inner.engine.add(appender, me, key, floor, entry))?;
        if added {
            inner.changed(process);
            inner.count(Counter::Writes);
        }
        inner.count_change();
        Ok(added)
    }

    /// The version of the entry that a read of the key found: no other entry of the directory has it, and every
    /// change gives another. `None` if the entry is gone: look again.
    ///
    /// # Errors
    /// `Closed`.
    pub fn version(
        &self,
        namespace: &Namespace,
        key: &[u8],
        hit: Hit,
    ) -> Result<Option<u64>, Error> {
        let inner = self.open_inner()?;
        if !inner.engine.is_open(hit.slot) {
            return Ok(None);
        }
        let full = namespace.full_key(key);
        Ok(inner.engine.version(inner.engine.key(&full), hit))
    }

    /// Fetches what reads of these keys will touch into the processor's caches, for a caller that goes on to
    /// read them. A few dozen at a time; more would not stay there. Does nothing for a store that was closed.
    pub fn prefetch<'k>(&self, namespace: &Namespace, keys: impl IntoIterator<Item = &'k [u8]>) {
        let Ok(inner) = self.open_inner() else { return };
        let mut hashes = [KeyHash { lo: 0, hi: 0 }; PREFETCHED];
        let mut count = 0;
        for key in keys {
            if count == PREFETCHED {
                inner.engine.prefetch_many(&hashes);
                count = 0;
            }
            hashes[count] = inner.engine.key(&namespace.full_key(key)).hash;
            count += 1;
        }
        inner.engine.prefetch_many(&hashes[..count]);
    }

    /// Invalidates the loads under way of a key that has no entry, as [`Store::delete`] does; false when it
    /// has one by now: look again.
    ///
    /// # Errors
    /// `ReadOnly`, `Closed`.
    pub fn invalidate_loads(&self, namespace: &Namespace, key: &[u8]) -> Result<bool, Error> {
        let inner = self.open_inner()?;
        inner.may_change()?;
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        Ok(inner.engine.invalidate_loads(key, inner.floor(namespace)))
    }

    /// Counts a value that was stored by [`Store::replace`], or elsewhere.
    pub fn count_write(&self) {
        self.0.count_write();
    }

    /// Counts an entry that was deleted elsewhere.
    pub fn count_delete(&self) {
        self.0.count(Counter::Deletes);
    }

    /// Counts a loaded value that was refused elsewhere, because its lease had ended.
    pub fn count_invalidated_load(&self) {
        self.0.count(Counter::InvalidatedLoads);
    }
}
