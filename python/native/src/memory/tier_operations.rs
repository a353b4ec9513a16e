//! What the methods of a `polycache.Cache` without a directory do (`process.rs` has what they do it with).

use super::options::raise;
use super::tier::{add, next_version, ttl_of, Key, MemoryTier, Stored};
use super::tier_load::MemoryTierLoad;
use crate::cache::Cache;
use crate::duration::TtlArgument;
use crate::flights::{Flights, Namespace};
use crate::key::{self, named};
use crate::lock::Locks;
use crate::machine::Machine;
use crate::many::Pair;
use crate::tiers::{seconds, Condition, Counting, Facts, Found, Tiers};
use polycache::{MachineStats, Report, Stats, TtlLeft, Usage};
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::{PyTraverseError, PyVisit};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

impl Tiers for MemoryTier {
    fn nested(&self, py: Python<'_>, part: String) -> PyResult<Cache> {
        self.check_open(py)?;
        let parts = self.parts.iter().cloned().chain([part]).collect();
        MemoryTier::of(py, self.shared.clone(), parts).map(Cache::of_memory)
    }

    fn set(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<()> {
        let name = named(key)?;
        self.put(&name, value, ttl_of(ttl)?)
    }

    fn set_several<'py>(
        &self,
        entries: &mut dyn Iterator<Item = PyResult<Pair<'py>>>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<()> {
        let ttl = ttl_of(ttl)?;
        for entry in entries {
            let (key, value) = entry?;
            self.put(&named(&key)?, &value, ttl)?;
        }
        Ok(())
    }

    fn set_if(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
        condition: Condition,
    ) -> PyResult<bool> {
        let name = named(key)?;
        self.put_if(&name, value, ttl_of(ttl)?, |stands| match condition {
            Condition::IsAbsent => stands.is_none(),
            Condition::IsEntry => stands.is_some(),
            Condition::HasVersion(version) => stands.is_some_and(|it| it.version == version),
        })
    }

    fn find_to_update<'py>(
        &self,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Found)> {
        let (value, seen) = self.find_seen(&named(key)?)?;
        Ok((value, Found::Memory(seen)))
    }

    fn set_found(
        &self,
        key: &Bound<'_, PyAny>,
        found: &Found,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<bool> {
        let name = named(key)?;
        let ttl = ttl_of(ttl)?;
        match found {
            Found::Memory(seen) => self.exchange(&name, seen.as_ref(), value, ttl),
            Found::Host(_) => Ok(false),
        }
    }

    fn delete_found(&self, key: &Bound<'_, PyAny>, found: &Found) -> PyResult<bool> {
        match found {
            Found::Memory(seen) => self.delete_seen(&named(key)?, seen.as_ref()),
            Found::Host(_) => Ok(false),
        }
    }

    fn count(
        &self,
        key: &Bound<'_, PyAny>,
        counting: Counting,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<i64> {
        self.sum(&named(key)?, counting, ttl_of(ttl)?)
    }

    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let name = named(key)?;
        self.begin(key.py())?;
        let asked = Key::asked(&name, self.number())?;
        let stood = self.remove(&asked).is_some();
        if stood {
            add(&self.shared.counts.deletes);
        }
        Ok(stood)
    }

    fn has(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let name = named(key)?;
        self.begin(key.py())?;
        let asked = Key::asked(&name, self.number())?;
        Ok(self.counted(self.shared.has(&asked)))
    }

    fn ttl(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let name = named(key)?;
        self.begin(key.py())?;
        let asked = Key::asked(&name, self.number())?;
        let there = self.shared.has(&asked);
        let left = self.shared.engine.ttl(&*asked).filter(|_| there);
        self.counted(left.is_some());
        Ok(left.map(seconds))
    }

    fn peek<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        let name = named(key)?;
        self.begin(py)?;
        let seen = self.seen(&*Key::asked(&name, self.number())?);
        let value = seen.map(|seen| self.hand_out(seen.object.into_bound(py)));
        value.transpose()
    }

    fn take<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        let name = named(key)?;
        self.begin(py)?;
        let counts = &self.shared.counts;
        loop {
            let asked = Key::asked(&name, self.number())?;
            let Some(seen) = self.seen(&asked) else {
                self.remove(&asked);
                add(&counts.misses);
                return Ok(None);
            };
            // It may run `decode` of a registered type, which may fail: then the entry stays.
            let value = self.hand_out(seen.object.clone().into_bound(py));
            let value = value.inspect_err(|_| add(&counts.hits))?;
            self.check_open(py)?;
            if self.remove_seen(&asked, &seen) {
                add(&counts.hits);
                add(&counts.deletes);
                return Ok(Some(value));
            }
        }
    }

    fn touch(&self, key: &Bound<'_, PyAny>, ttl: TtlArgument<'_, '_>) -> PyResult<bool> {
        let py = key.py();
        let name = named(key)?;
        let ttl = ttl_of(ttl)?;
        self.begin(py)?;
        let asked = Key::asked(&name, self.number())?;
        loop {
            let Some(seen) = self.seen(&asked) else {
                return Ok(false);
            };
            // In the place of what was seen: for a clock that is set back it is a new write.
            let mut anew = seen.clone();
            anew.version = next_version();
            let ttl = self.shared.living(&mut anew, ttl);
            let same = |_: &Key, stands: Option<&Stored>| stands.is_some_and(|one| one.is(&seen));
            let engine = &self.shared.engine;
            let refused = engine.set_if((*asked).clone(), anew, ttl, same);
            if refused.map_err(|error| raise(py, error))?.is_none() {
                return Ok(true);
            }
        }
    }

    fn entry<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Facts<'py>>> {
        let py = key.py();
        let name = named(key)?;
        self.begin(py)?;
        let asked = Key::asked(&name, self.number())?;
        let (Some(seen), Some(left)) = (self.seen(&asked), self.shared.engine.ttl(&*asked)) else {
            return Ok(None);
        };
        let expires = match left {
            TtlLeft::Forever => None,
            TtlLeft::For(left) => Some(self.shared.now() + left.as_millis() as u64),
        };
        let size = self.shared.max_bytes.map(|_| seen.size);
        let version = seen.version;
        Ok(Some(Facts {
            value: self.hand_out(seen.object.into_bound(py))?,
            ttl: left,
            created: None,
            expires,
            size,
            serializer: None,
            compressor: None,
            version,
        }))
    }

    fn delete_prefix(&self, prefix: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = prefix.py();
        let prefix = key::bytes(prefix)?;
        self.begin(py)?;
        let mut deleted = 0;
        for key in self.keys_with(py, prefix)? {
            if self.remove(&key).is_some() {
                add(&self.shared.counts.deletes);
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    /// The keys that begin with `prefix`, all of them.
    fn keys<'py>(
        &self,
        prefix: &Bound<'py, PyAny>,
        _: u64,
    ) -> PyResult<(Bound<'py, PyList>, Option<u64>)> {
        let py = prefix.py();
        let prefix = key::bytes(prefix)?;
        self.begin(py)?;
        let keys = self.keys_with(py, prefix)?;
        let keys = PyList::new(py, keys.into_iter().map(|key| key.object.into_bound(py)))?;
        Ok((keys, None))
    }

    /// Clears this namespace and those nested in it.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.begin(py)?;
        self.shared.clear(&self.parts);
        Ok(())
    }

    fn machine_stats(&self, py: Python<'_>) -> PyResult<Option<MachineStats>> {
        self.begin(py)?;
        Ok(None)
    }

    fn usage(&self, py: Python<'_>, _: usize) -> PyResult<Option<Vec<Usage>>> {
        self.begin(py)?;
        Ok(None)
    }

    fn stats(&self, py: Python<'_>) -> PyResult<(Stats, u64)> {
        self.begin(py)?;
        let engine = self.shared.engine.stats();
        let counts = &self.shared.counts;
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // Without a bound: the largest that fits every language's integers.
        let limit = self.shared.max_bytes.unwrap_or(i64::MAX as u64);
        let stats = Stats {
            hits: 0,
            misses: now(&counts.misses),
            writes: now(&counts.writes),
            deletes: now(&counts.deletes),
            invalidated_loads: now(&counts.invalidated_loads),
            unstored: now(&self.shared.flights.unstored),
            wait_timeouts: now(&self.shared.flights.wait_timeouts),
            entries: engine.entries,
            bytes: engine.bytes,
            limit,
            max_record: limit,
            evicted_by_age: engine.evicted,
            evicted_by_conflict: 0,
            evicted_by_failed_put: 0,
            expired: engine.expired,
            reinserted: 0,
            blocks_claimed: 0,
            floor_overflows: 0,
            failed_flushes: 0,
        };
        Ok((stats, now(&counts.hits)))
    }

    /// There are no bytes that could be damaged.
    fn check(&self, py: Python<'_>) -> PyResult<Report> {
        self.begin(py)?;
        Ok(Report {
            whole: self.shared.engine.stats().entries,
            damaged: Vec::new(),
            leases: self.shared.flights.all().len() as u64,
        })
    }

    /// There is nothing to be written to a disk.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.check_open(py)
    }

    fn close(&self, _: Python<'_>) {
        if !self.shared.closed.swap(true, Ordering::SeqCst) {
            self.shared.clear(&[]);
        }
    }

    fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::SeqCst)
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn flights(&self) -> &Arc<Flights> {
        &self.shared.flights
    }

    fn namespace(&self) -> &Namespace {
        &self.parts
    }

    fn machine(
        &self,
        key: &Bound<'_, PyAny>,
        invalidated: Arc<AtomicBool>,
        _: Duration,
    ) -> Box<dyn Machine> {
        Box::new(MemoryTierLoad::new(self.clone(), key, invalidated))
    }

    fn locks(&self) -> Box<dyn Locks> {
        Box::new(self.clone())
    }

    /// The objects, for the garbage collector: copies refer to nothing of users, and only what a single cache owns
    /// can be a cycle's part.
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if Arc::strong_count(&self.shared) > 1 {
            return Ok(());
        }
        self.shared.flights.traverse(visit)?;
        if !self.shared.shares_all {
            return Ok(());
        }
        for (_, stored) in self.shared.engine.iter() {
            visit.call(stored.object.as_py())?;
        }
        match &self.shared.clock {
            Some(clock) => visit.call(clock.callable()),
            None => Ok(()),
        }
    }

    /// Lets go of everything, for the garbage collector.
    fn let_go(&self) {
        self.shared.engine.clear();
    }
}
