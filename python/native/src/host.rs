//! A cache over a directory: its methods except hits (those are in `cache.rs`).

use crate::cache::Cache;
use crate::duration::TtlArgument;
use crate::flights::{Flights, Namespace};
use crate::handle::Handle;
use crate::lock::{Locks, Waiting};
use crate::machine::{Filled, Loaded, Machine, Outcome, Step};
use crate::many::Pair;
use crate::memory::MemoryOverHost;
use crate::tiers::{seconds, Facts, Tiers};
use crate::{entries, errors, from_python, key, to_python};
use polycache::bindings::Bindings;
use polycache::{Error, LoadStep, Loading, LockStep, Locking, StoreErrors};
use polycache::{Report, Stats, Token, Ttl, Value};
use pyo3::prelude::*;
use pyo3::types::PyList;
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
fn store_slowly(
    py: Python<'_>,
    cache: &polycache::Cache,
    key: &[u8],
    value: &Value<'_>,
    ttl: Ttl,
) -> Result<(), Error> {
    py.detach(|| cache.set_value(key, value, ttl))
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
        self.read_clock(value.py())?;
        let types = self.flights.types();
        let stored = from_python::with_value(value, self.serializer, types, |read, size| {
            if size < self.slow_from {
                self.cache.set_value(bytes, read, ttl)
            } else {
                store_slowly(value.py(), &self.cache, bytes, read, ttl)
            }
        })
        .and_then(|stored| failed(value.py(), stored));
        if let Some(memory) = &self.memory {
            memory.forget(key);
        }
        stored
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
        for pair in entries {
            let (key, value) = pair?;
            self.store(&key, key::bytes(&key)?, &value, ttl)?;
        }
        Ok(())
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
        let mut stats = failed(py, py.detach(|| cache.stats()))?;
        let counted_twice = self.counted_twice.load(Ordering::Relaxed);
        stats.misses = stats.misses.saturating_sub(counted_twice);
        // Those that never asked for a lease themselves.
        stats.wait_timeouts += self.flights.wait_timeouts.load(Ordering::Relaxed);
        Ok((stats, self.memory.as_ref().map_or(0, MemoryOverHost::hits)))
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
        let cache = &self.cache;
        py.detach(|| cache.close());
        self.let_go();
    }

    fn is_closed(&self) -> bool {
        self.cache.is_closed()
    }

    fn path(&self) -> Option<&Path> {
        Some(self.cache.path())
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

/// A load by a lease of the host's.
struct HostLoad {
    /// Without its memory tier.
    handle: Handle,
    key: Box<[u8]>,
    loading: Loading,
}

impl Machine for HostLoad {
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Step<'py>> {
        self.handle.read_clock(py)?;
        let cache = &self.handle.cache;
        let named = Cell::new(false);
        let read = |value: Value<'_>| to_python::object(py, value, &named);
        let step = match failed(py, cache.step(&self.key, &mut self.loading, read))? {
            LoadStep::Hit(value, _) => Step::Hit(value?, named.get()),
            LoadStep::Load => Step::Load,
            LoadStep::Wait(time) => return Ok(Step::Wait(time)),
            LoadStep::TimedOut => return Err(errors::raise(py, Error::WaitTimeout)),
        };
        self.handle.counted_twice.fetch_add(1, Ordering::Relaxed);
        Ok(step)
    }

    fn fill<'py>(
        &mut self,
        loaded: Loaded<'_, 'py>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<Filled<'py>> {
        let Loaded { value, read } = loaded;
        let py = value.py();
        let ttl = ttl.read()?;
        self.handle.read_clock(py)?;
        let HostLoad {
            handle,
            key,
            loading,
        } = self;
        let cache = &handle.cache;
        let mut back = None;
        let named = Cell::new(false);
        let read = read
            .unwrap_or_else(|| from_python::read(value, handle.serializer, handle.flights.types()));
        let outcome = match read.map(|read| {
            if read.differs || read.named {
                back = to_python::object(py, read.value().clone(), &named).ok();
            }
            let (size, read) = (read.size, read.value());
            if size < handle.slow_from {
                cache.fill(key, loading, read, ttl)
            } else {
                py.detach(|| cache.fill(key, loading, read, ttl))
            }
        }) {
            Ok(filled) => match failed(py, filled)? {
                polycache::Filled::Stored => Outcome::Stored,
                polycache::Filled::Refused => Outcome::Refused,
                polycache::Filled::Unstored(error) => {
                    if matches!(error, Error::UnsupportedValue { .. }) {
                        back = None;
                    }
                    Outcome::Unstored(errors::raise(py, error))
                }
            },
            Err(error) if cache.store_errors() == StoreErrors::Raise => return Err(error),
            Err(error) => {
                cache.unstorable(key, loading);
                Outcome::Unstored(error)
            }
        };
        let named = named.get() && back.is_some();
        let value = back.unwrap_or_else(|| value.clone());
        Ok(Filled {
            value,
            named,
            outcome,
        })
    }

    fn abandon(&mut self) {
        self.handle.cache.abandon(&self.key, &mut self.loading);
    }

    fn is_open(&self) -> bool {
        self.handle.cache.is_open(&self.loading)
    }
}

/// Locks that all processes of the host see.
struct HostLocks(polycache::Cache);

impl Locks for HostLocks {
    fn begin(&self, wait: Duration) -> Box<dyn Waiting> {
        Box::new(HostLocking(self.0.clone(), self.0.locking(wait)))
    }

    fn is_locked(&self, py: Python<'_>, key: &[u8]) -> PyResult<bool> {
        failed(py, self.0.is_locked(key))
    }

    fn unlock(&self, key: &[u8], token: Token) {
        self.0.unlock(key, token);
    }
}

struct HostLocking(polycache::Cache, Locking);

impl Waiting for HostLocking {
    fn step(&self, py: Python<'_>, key: &[u8]) -> PyResult<LockStep> {
        failed(py, self.0.lock_step(key, &self.1))
    }
}
