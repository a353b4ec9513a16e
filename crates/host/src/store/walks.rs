//! What a store finds by walking the whole index: keys, and damage.

use super::Store;
use crate::check::Report;
use crate::error::Error;
use crate::namespace::Namespace;

impl Store {
    /// Looks at `budget` slots from `cursor` on and appends the namespace's keys that begin with
    /// `prefix`, without the namespace's part. Returns the cursor to go on from, `None` at the end.
    ///
    /// # Errors
    /// `Closed`; `Io` when the cache was replaced.
    pub fn keys(
        &self,
        namespace: &Namespace,
        prefix: &[u8],
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        let inner = self.open_inner()?;
        if cursor == 0 {
            inner.look_before_walk()?;
        }
        let wanted = namespace.full_key(prefix);
        let floor = inner.floor(namespace);
        let slots = inner.engine.open_slots();
        let end = slots.min(cursor.saturating_add(budget));
        for slot in cursor..end {
            if let Some(mut key) = inner.engine.key_at(slot, &wanted, &floor) {
                out.push(key.split_off(namespace.prefix().len()));
            }
        }
        inner.missed()?;
        Ok((end < slots).then_some(end))
    }

    /// Looks at `budget` slots from `cursor` on and appends the full keys of every namespace. Returns
    /// the cursor to go on from, `None` at the end.
    ///
    /// # Errors
    /// `Closed`; `Io` when the cache was replaced.
    pub fn full_keys(
        &self,
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        let inner = self.open_inner()?;
        if cursor == 0 {
            inner.look_before_walk()?;
        }
        let engine = &inner.engine;
        let slots = engine.open_slots();
        let end = slots.min(cursor.saturating_add(budget));
        for slot in cursor..end {
            // The floor hangs on the key: it is read first without one, then against its own.
            let Some(key) = engine.key_at(slot, b"", &|_| 0) else {
                continue;
            };
            let namespace = Namespace::new(key, engine.seed);
            let current = engine.key_at(slot, namespace.prefix(), &self.0.floor(&namespace));
            out.extend(current.filter(|key| key == namespace.prefix()));
        }
        inner.missed()?;
        Ok((end < slots).then_some(end))
    }

    /// Verifies every entry against its checksums.
    ///
    /// # Errors
    /// `Closed`; `Io` when the cache was replaced.
    pub fn check(&self) -> Result<Report, Error> {
        let inner = self.open_inner()?;
        inner.look_before_walk()?;
        let report = inner.engine.check();
        inner.missed()?;
        Ok(report)
    }
}
