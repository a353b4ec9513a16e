//! Loads: their leases, and what becomes of the loaded value.

use super::{is_entry, with_appender, Inner, Store};
use crate::counters::Counter;
use crate::error::Error;
use crate::lease::{Lease, Token};
use crate::namespace::Namespace;
use crate::own_leases::OwnLeases;

impl Store {
    /// Reads the key, or takes the lease to load it, or says that another caller holds it. A lease of this process
    /// that is another key's counts as overdue: see `own_leases.rs`.
    ///
    /// # Errors
    /// `Closed`; `Io` when a forked child cannot join.
    pub fn lease(
        &self,
        namespace: &Namespace,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Lease, Error> {
        let inner = self.open_inner()?;
        if inner.read_only {
            return self.lease_to_read(namespace, key, out);
        }
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        let me = inner.process()?.membership.me;
        let mut lease = inner
            .engine
            .lease(me, key, inner.floor(namespace), inner.lease_ticks, out);
        let (own, seed) = (OwnLeases::of_this_process(), inner.engine.seed);
        // A lock is no read.
        let count_miss = || {
            if !namespace.is_reserved() {
                inner.count_miss();
            }
        };
        match &mut lease {
            Lease::Hit(_) => inner.count_hit(),
            Lease::Acquired(token) => {
                own.note(seed, token.slot, token.word, key.hash);
                count_miss();
            }
            Lease::Bypass => count_miss(),
            Lease::Busy {
                slot,
                word,
                overdue,
            } => *overdue |= own.is_of_another(seed, *slot, *word, key.hash),
        }
        Ok(lease)
    }

    /// The answer of a store that can only be read: what is there, or that the caller loads for itself alone.
    #[cold]
    fn lease_to_read(
        &self,
        namespace: &Namespace,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Lease, Error> {
        let hit = self.get(namespace, key, out)?;
        Ok(hit.map_or(Lease::Bypass, Lease::Hit))
    }

    /// The right to load the key beside the caller that holds this lease, of a [`Lease::Busy`]; `None` when
    /// that lease stands no more: ask for one again.
    ///
    /// # Errors
    /// As for [`Store::lease`].
    pub fn beside(
        &self,
        namespace: &Namespace,
        key: &[u8],
        slot: u64,
        word: u64,
    ) -> Result<Option<Token>, Error> {
        let inner = self.open_inner()?;
        // Only a caller that can append loads.
        inner.process()?;
        let full = namespace.full_key(key);
        let (key, seed) = (inner.engine.key(&full), inner.engine.seed);
        let own = OwnLeases::of_this_process();
        let is_of_another = |slot, word| own.is_of_another(seed, slot, word, key.hash);
        let token = inner.engine.beside(key, slot, word, is_of_another);
        if token.is_some() {
            inner.count_miss();
        }
        Ok(token)
    }

    /// True while a living process holds a lease of the key (or of one that the index can't tell from it).
    ///
    /// # Errors
    /// `Closed`; `Io` when the cache was replaced.
    pub fn is_leased(&self, namespace: &Namespace, key: &[u8]) -> Result<bool, Error> {
        let inner = self.open_inner()?;
        inner.count_change();
        inner.still_open()?;
        let full = namespace.full_key(key);
        Ok(inner.engine.is_leased(inner.engine.key(&full)))
    }

    /// Counts a loader that begins.
    pub fn count_load(&self) {
        self.0.add(Counter::Loads, 1);
    }

    /// Counts a loader that ended without a value to store.
    pub fn count_failed_load(&self) {
        self.0.add(Counter::FailedLoads, 1);
    }

    /// Takes back the miss of a read whose caller went on to a load, which counts it, or found the entry then.
    pub fn count_found_later(&self) {
        self.0.uncount(Counter::Misses);
    }

    /// Counts a loaded value that could not be stored.
    pub fn count_unstored(&self) {
        self.0.count(Counter::Unstored);
    }

    /// Counts a caller that waited in vain for the loads of others.
    pub fn count_wait_timeout(&self) {
        self.0.count(Counter::WaitTimeouts);
    }

    /// Stores the entry that the lease's holder loaded; false when a set, delete, clear or eviction
    /// came in between, and then the value belongs to the caller alone.
    ///
    /// # Errors
    /// As for [`Store::put`]; the lease is released.
    pub fn fill(
        &self,
        namespace: &Namespace,
        key: &[u8],
        token: Token,
        entry: &[u8],
    ) -> Result<bool, Error> {
        self.0.forget(token);
        let inner = self.open_inner()?;
        let process = is_entry(entry)
            .and_then(|()| inner.process())
            .inspect_err(|_| self.release(token))?;
        if !inner.engine.is_open(token.slot) {
            return Ok(false);
        }
        // What was born before a clear would not be served.
        if token.born < inner.floor(namespace)(inner.engine.epoch()) {
            self.release(token);
            inner.count(Counter::InvalidatedLoads);
            return Ok(false);
        }
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        let me = process.membership.me;
        let filled = with_appender(|appender| inner.engine.fill(appender, me, key, token, entry))?;
        if filled {
            inner.changed(process);
            inner.count_write();
        } else {
            inner.count(Counter::InvalidatedLoads);
        }
        Ok(filled)
    }

    /// Gives a lease back without a value, so that the next caller loads. Does nothing when the lease
    /// is invalid already or the store closed.
    pub fn release(&self, token: Token) {
        self.0.forget(token);
        if self.0.engine.is_open(token.slot) && !self.0.read_only {
            self.0.engine.release(token);
        }
    }

    /// True while the load that a `Busy` answer told of may still fill.
    #[must_use]
    pub fn lease_stands(&self, slot: u64, word: u64) -> bool {
        self.0.engine.is_open(slot) && self.0.engine.lease_stands(slot, word)
    }

    /// True while what is loaded by this token would be stored and served: the key was not set, deleted, cleared or
    /// filled since.
    #[must_use]
    pub fn may_fill(&self, namespace: &Namespace, token: Token) -> bool {
        self.0.engine.is_open(token.slot) && self.0.engine.may_fill(token, self.0.floor(namespace))
    }
}

impl Inner {
    /// The lease ends.
    fn forget(&self, token: Token) {
        if !token.beside {
            OwnLeases::of_this_process().forget(self.engine.seed, token.slot, token.word);
        }
    }
}
