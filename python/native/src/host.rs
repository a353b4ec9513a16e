//! A cache over a directory: its methods except hits (those are in `cache.rs`).

mod load;

use crate::cache::Cache;
use crate::duration::TtlArgument;
use crate::flights::{Flights, Namespace};
use crate::handle::Handle;
use crate::lock::Locks;
use crate::machine::Machine;
use crate::many::Pair;
use crate::memory::MemoryOverHost;
use crate::tiers::{seconds, Condition, Counting, Facts, Found, Tiers};
use crate::{entries, errors, from_python, key, to_python};
use load::{HostLoad, HostLocks};
use polycache::bindings::Bindings;
use polycache::{Error, MachineStats, Report, Stats, Ttl, Usage, Value};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use pyo3::{PyTraverseError, PyVisit};
use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Places of the index that one page of keys is taken from.
const PLACES: u64 = 4096;

fn failed<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
    result.map_err(|error| errors::raise(py, error))
}

/// Slow calls: other Python threads run meanwhile. Separate, so that the fast way is one function.
#[cold]
#[inline(never)]
fn store_slowly<R: Send>(
    py: Python<'_>,
    write: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    py.detach(write)
}

impl Handle {
    #[inline]
    fn store(
        &self,
        key: &Bound<'_, PyAny>,
        bytes: &[u8],
        value: &Bound<'_, PyAny>,
        ttl: Ttl,
    ) -> PyResult<()> {
        let cache = &self.cache;
        self.store_by(key, value, |value| cache.set_value(bytes, value, ttl))
    }

    /// Stores several values over a remote tier, in one round trip; those before one that cannot be written.
    fn store_on_servers<'py>(
        &self,
        pairs: &mut dyn Iterator<Item = PyResult<Pair<'py>>>,
        ttl: Ttl,
    ) -> PyResult<()> {
        let mut py = None;
        let mut entries = Vec::new();
        let mut written = || {
            for pair in &mut *pairs {
                let (key, value) = pair?;
                py = Some(key.py());
                self.read_clock(key.py())?;
                let bytes = key::bytes(&key)?;
                let types = self.flights.types();
                let entry = from_python::with_value(&value, self.serializer, types, |value, _| {
                    self.cache.entry_of(bytes, value, ttl)
                });
                entries.push((bytes.to_vec(), failed(key.py(), entry?)?));
            }
            Ok(())
        };
        let refused = written();
        let Some(py) = py else {
            return refused;
        };
        failed(py, self.cache.store_entries(&entries)).and(refused)
    }

    /// Deletes several keys over a remote tier, in one round trip. How many had an entry.
    pub fn delete_on_servers(&self, keys: Bound<'_, PyIterator>) -> PyResult<usize> {
        let py = keys.py();
        let keys: Vec<Bound<'_, PyAny>> = keys.collect::<PyResult<_>>()?;
        let bytes: Vec<&[u8]> = keys.iter().map(key::bytes).collect::<PyResult<_>>()?;
        self.read_clock(py)?;
        let deleted = failed(py, self.cache.delete_many(&bytes))?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }

    /// Reads a value and has it written, and lets go of the object that memory has of the key.
    #[inline]
    fn store_by<R: Send>(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        write: impl FnOnce(&Value<'_>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        self.read_clock(value.py())?;
        let types = self.flights.types();
        let stored = from_python::with_value(value, self.serializer, types, |read, size| {
            if size < self.slow_from {
                write(read)
            } else {
                store_slowly(value.py(), || write(read))
            }
        })
        .and_then(|stored| failed(value.py(), stored));
        if let Some(memory) = &self.memory {
            memory.forget(key);
        }
        stored
    }
}

impl Handle {
    /// Adds the hits of the memory tier to what the machine counts.
    fn add_memory_hits(&self) {
        if let Some(memory) = &self.memory {
            memory.add_hits(&self.cache);
        }
    }
}

impl Tiers for Handle {
    fn nested(&self, py: Python<'_>, part: String) -> PyResult<Cache> {
        let nested = failed(py, self.cache.namespace(part.as_str()))?;
        let parts = self.namespace.iter().cloned().chain([part.clone()]);
        let memory = self.memory.as_ref();
        let memory = memory.and_then(|memory| memory.nested(part));
        let mut handle = self.with_cache(py, nested, memory);
        handle.namespace = parts.collect();
        Ok(Cache::of_host(handle))
    }

    fn set(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<()> {
        let bytes = key::bytes(key)?;
        self.store(key, bytes, value, ttl.read()?)
    }

    fn set_several<'py>(
        &self,
        entries: &mut dyn Iterator<Item = PyResult<Pair<'py>>>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<()> {
        let ttl = ttl.read()?;
        if self.cache.is_remote() {
            return self.store_on_servers(entries, ttl);
        }
        for pair in entries {
            let (key, value) = pair?;
            self.store(&key, key::bytes(&key)?, &value, ttl)?;
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
        let bytes = key::bytes(key)?;
        let ttl = ttl.read()?;
        let cache = &self.cache;
        self.store_by(key, value, |value| match condition {
            Condition::IsAbsent => cache.add_value(bytes, value, ttl),
            Condition::IsEntry => cache.replace_value(bytes, value, ttl),
            Condition::HasVersion(version) => {
                cache.compare_and_set_value(bytes, version.into(), value, ttl)
            }
        })
    }

    fn find_to_update<'py>(
        &self,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Found)> {
        let py = key.py();
        let bytes = key::bytes(key)?;
        self.read_clock(py)?;
        let named = Cell::new(false);
        let read = |value: Value<'_>| to_python::object(py, value, &named);
        let (value, found) = failed(py, self.cache.find_to_update(bytes, read))?;
        let value = value.map(|value| self.finished(value?, &named));
        Ok((value.transpose()?, Found::Host(found)))
    }

    fn set_found(
        &self,
        key: &Bound<'_, PyAny>,
        found: &Found,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<bool> {
        let bytes = key::bytes(key)?;
        let ttl = Some(ttl.read()?).filter(|ttl| *ttl != Ttl::Default);
        let Found::Host(found) = found else {
            return Ok(false);
        };
        let cache = &self.cache;
        self.store_by(key, value, |value| {
            cache.set_updated(bytes, found, value, ttl)
        })
    }

    fn delete_found(&self, key: &Bound<'_, PyAny>, found: &Found) -> PyResult<bool> {
        let bytes = key::bytes(key)?;
        self.read_clock(key.py())?;
        let Found::Host(found) = found else {
            return Ok(false);
        };
        let deleted = self.cache.delete_updated(bytes, found);
        if let Some(memory) = &self.memory {
            memory.forget(key);
        }
        failed(key.py(), deleted)
    }

    fn count(
        &self,
        key: &Bound<'_, PyAny>,
        counting: Counting,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<i64> {
        let bytes = key::bytes(key)?;
        let ttl = ttl.read()?;
        self.read_clock(key.py())?;
        let Counting { by, down, initial } = counting;
        let sum = if down {
            self.cache.decrement_with_ttl(bytes, by, initial, ttl)
        } else {
            self.cache.increment_with_ttl(bytes, by, initial, ttl)
        };
        if let Some(memory) = &self.memory {
            memory.forget(key);
        }
        failed(key.py(), sum)
    }

    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = key.py();
        let bytes = key::bytes(key)?;
        self.read_clock(py)?;
        let deleted = self.cache.delete(bytes);
        if let Some(memory) = &self.memory {
            memory.forget(key);
        }
        failed(py, deleted)
    }

    fn has(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let bytes = key::bytes(key)?;
        self.read_clock(key.py())?;
        failed(key.py(), self.cache.has(bytes))
    }

    fn ttl(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let bytes = key::bytes(key)?;
        self.read_clock(key.py())?;
        let left = failed(key.py(), self.cache.ttl(bytes))?;
        Ok(left.map(seconds))
    }

    fn peek<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        let bytes = key::bytes(key)?;
        self.read_clock(py)?;
        let memory = self.memory.as_ref();
        if let Some(value) = memory.and_then(|memory| memory.peek(&self.cache, key)) {
            return Ok(Some(value));
        }
        let named = Cell::new(false);
        let read = |value: Value<'_>| to_python::object(py, value, &named);
        match failed(py, self.cache.peek_with(bytes, read))? {
            Some(value) => self.finished(value?, &named).map(Some),
            None => Ok(None),
        }
    }

    fn take<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        let bytes = key::bytes(key)?;
        self.read_clock(py)?;
        // With the result of a registered type's `decode`, because that may fail: then the entry stays.
        let read = |value: Value<'_>| {
            let named = Cell::new(false);
            self.finished(to_python::object(py, value, &named)?, &named)
        };
        let taken = self.cache.try_take_with(bytes, read);
        if let Some(memory) = &self.memory {
            memory.forget(key);
        }
        failed(py, taken)?.transpose()
    }

    fn touch(&self, key: &Bound<'_, PyAny>, ttl: TtlArgument<'_, '_>) -> PyResult<bool> {
        let py = key.py();
        let bytes = key::bytes(key)?;
        let ttl = ttl.read()?;
        self.read_clock(py)?;
        let touched = self.cache.touch(bytes, ttl);
        if let Some(memory) = &self.memory {
            memory.forget(key);
        }
        failed(py, touched)
    }

    fn entry<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Facts<'py>>> {
        let py = key.py();
        let bytes = key::bytes(key)?;
        self.read_clock(py)?;
        let Some(entry) = failed(py, self.cache.entry(bytes))? else {
            return Ok(None);
        };
        let named = Cell::new(false);
        let value = to_python::object(py, entry.value, &named)?;
        let facts = entry.facts;
        Ok(Some(Facts {
            value: self.finished(value, &named)?,
            ttl: facts.ttl,
            created: Some(facts.created),
            expires: facts.expires,
            size: Some(facts.size),
            serializer: Some(facts.serializer.name()),
            compressor: Some(entries::compressor_name(facts.compressor)),
            version: facts.version.into(),
        }))
    }

    fn delete_prefix(&self, prefix: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = prefix.py();
        let bytes = key::bytes(prefix)?;
        self.read_clock(py)?;
        let deleted = py.detach(|| self.cache.delete_prefix(bytes));
        if let Some(memory) = &self.memory {
            memory.forget_prefix(py, bytes)?;
        }
        failed(py, deleted)
    }

    fn keys<'py>(
        &self,
        prefix: &Bound<'py, PyAny>,
        cursor: u64,
    ) -> PyResult<(Bound<'py, PyList>, Option<u64>)> {
        let py = prefix.py();
        let prefix = key::bytes(prefix)?;
        self.read_clock(py)?;
        let mut keys = Vec::new();
        let next = self.cache.keys_page(prefix, cursor, PLACES, &mut keys);
        let next = failed(py, next)?;
        let keys = PyList::new(py, keys.iter().map(|bytes| key::object(py, bytes)))?;
        Ok((keys, next))
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.read_clock(py)?;
        let cleared = self.cache.clear();
        // The epoch moved: none of them stands.
        self.let_go();
        failed(py, cleared)
    }

    fn stats(&self, py: Python<'_>) -> PyResult<(Stats, u64)> {
        let cache = &self.cache;
        self.add_memory_hits();
        let mut stats = failed(py, py.detach(|| cache.stats()))?;
        // Those that never asked for a lease themselves.
        stats.wait_timeouts += self.flights.wait_timeouts.load(Ordering::Relaxed);
        Ok((stats, self.memory.as_ref().map_or(0, MemoryOverHost::hits)))
    }

    fn machine_stats(&self, py: Python<'_>) -> PyResult<Option<MachineStats>> {
        self.add_memory_hits();
        let cache = &self.cache;
        failed(py, py.detach(|| cache.machine_stats()))
    }

    fn usage(&self, py: Python<'_>, most: usize) -> PyResult<Option<Vec<Usage>>> {
        self.read_clock(py)?;
        let cache = &self.cache;
        failed(py, py.detach(|| cache.usage(most)))
    }

    fn check(&self, py: Python<'_>) -> PyResult<Report> {
        let cache = &self.cache;
        failed(py, py.detach(|| cache.check()))
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let cache = &self.cache;
        failed(py, py.detach(|| cache.flush()))
    }

    fn close(&self, py: Python<'_>) {
        self.add_memory_hits();
        let cache = &self.cache;
        py.detach(|| cache.close());
        self.let_go();
    }

    fn is_closed(&self) -> bool {
        self.cache.is_closed()
    }

    fn path(&self) -> Option<&Path> {
        Some(self.cache.path()).filter(|path| !path.as_os_str().is_empty())
    }

    fn flights(&self) -> &Arc<Flights> {
        &self.flights
    }

    fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    fn machine(
        &self,
        key: &Bound<'_, PyAny>,
        _invalidated: Arc<AtomicBool>,
        waited: Duration,
    ) -> Box<dyn Machine> {
        Box::new(HostLoad {
            handle: self.with_cache(key.py(), self.cache.clone(), None),
            key: key::bytes(key).unwrap_or_default().into(),
            loading: self.cache.loading_after(waited),
        })
    }

    fn locks(&self) -> Box<dyn Locks> {
        Box::new(HostLocks(self.cache.clone()))
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.flights.traverse(visit)?;
        match &self.memory {
            Some(memory) => memory.traverse(visit),
            None => Ok(()),
        }
    }

    fn let_go(&self) {
        if let Some(memory) = &self.memory {
            memory.clear();
        }
    }
}
