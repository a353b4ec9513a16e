//! The class that `polycache.Cache` extends. What a hit passes through is here.

use crate::classes;
use crate::clock::CallableClock;
use crate::duration::TtlArgument;
use crate::flights::{Flights, Namespace, Reads};
use crate::load::Load;
use crate::lock::Lock;
use crate::machine::Copies;
use crate::memory::{self, Memory, ProcessTier};
use crate::options::{part, Options, ProcessOptions};
use crate::own::Owner;
use crate::tiers::Tiers;
use crate::{entries, errors, from_python, key, many, statistics, to_python};
use polycache::{Compressor, Error, Serializer, Value};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use pyo3::{Borrowed, PyTraverseError, PyVisit};
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;
use std::time::Duration;

/// An open cache and what is needed to write to it.
pub struct Handle {
    pub cache: polycache::Cache,
    pub serializer: Serializer,
    /// Bytes from which on other Python threads may run while a value is encoded and stored.
    pub slow_from: usize,
    clock: Option<CallableClock>,
    /// The memory tier, if there is one.
    pub memory: Option<Memory>,
    /// Misses of `get_or_set` that are counted once more, or turn out a hit, when it asks for the lease.
    pub counted_twice: Arc<AtomicU64>,
    /// The loads under way in this process.
    pub flights: Arc<Flights>,
    pub namespace: Namespace,
}

/// Encoding so many bytes takes some 10 µs with zstd, and 100 µs without: longer than letting another
/// thread run costs.
const SLOW_TO_COMPRESS: usize = 4 * 1024;
const SLOW_TO_COPY: usize = 1024 * 1024;

impl Handle {
    pub fn with_cache(
        &self,
        py: Python<'_>,
        cache: polycache::Cache,
        memory: Option<Memory>,
    ) -> Handle {
        Handle {
            cache,
            memory,
            serializer: self.serializer,
            slow_from: self.slow_from,
            counted_twice: self.counted_twice.clone(),
            flights: self.flights.clone(),
            namespace: self.namespace.clone(),
            clock: self.clock.as_ref().map(|clock| clock.clone_ref(py)),
        }
    }

    /// Asks the clock, if there is one of the user's.
    #[inline(always)]
    pub fn tick(&self, py: Python<'_>) -> PyResult<()> {
        match &self.clock {
            None => Ok(()),
            Some(clock) => clock.tick(py),
        }
    }

    /// Hands the value of `object` to `write`.
    #[inline]
    pub fn write<R: Send>(
        &self,
        object: &Bound<'_, PyAny>,
        write: impl FnOnce(&polycache::Cache, &Value<'_>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let py = object.py();
        from_python::with_value(
            object,
            self.serializer,
            self.flights.types(),
            |value, size| {
                if size < self.slow_from {
                    write(&self.cache, value)
                } else {
                    py.detach(|| write(&self.cache, value))
                }
            },
        )?
        .map_err(|error| errors::raise(py, error))
    }
}

/// What a quick look into memory finds.
pub enum Quick<'a> {
    /// A reference that is the caller's.
    Value(*mut ffi::PyObject),
    /// Nothing: to be read from the host tier, and kept in memory.
    Missed(&'a Handle, &'a Memory),
    /// There was no look: the handle has no memory tier, or a clock that is to be asked first.
    Unasked(&'a Handle),
    /// To be asked of the memory tier tier.
    ProcessTier(&'a ProcessTier),
}

impl Quick<'_> {
    /// The value of a key that was not found quickly, or a default.
    #[inline]
    pub fn read_or<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        let found = match self {
            Quick::Missed(handle, memory) => handle.read_into(py, memory, key)?,
            Quick::Unasked(handle) => handle.read(py, key)?,
            Quick::ProcessTier(tier) => tier.read(key)?,
            Quick::Value(_) => None,
        };
        Ok(found.unwrap_or_else(|| default.unwrap_or_else(|| py.None().into_bound(py))))
    }
}

impl Handle {
    /// A read that is all done at once, if it can be.
    ///
    /// # Safety
    /// Of an object, in an attached thread.
    #[inline(always)]
    unsafe fn quick(&self, key: *mut ffi::PyObject) -> Quick<'_> {
        let (Some(memory), None) = (&self.memory, &self.clock) else {
            return Quick::Unasked(self);
        };
        // SAFETY: as the caller promises; only plain references are made and let go of.
        let key = unsafe { Borrowed::from_ptr(Python::assume_attached(), key) };
        match memory.read(&self.cache, &key) {
            Some(value) => Quick::Value(value.into_ptr()),
            None => Quick::Missed(self, memory),
        }
    }

    /// What a reader gets of the object that a value became: with those of registered types in it, if it has some.
    #[inline]
    fn finished<'py>(
        &self,
        value: Bound<'py, PyAny>,
        named: &Cell<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.flights.types() {
            Some(types) if named.get() => memory::decoded(value, types),
            _ => Ok(value),
        }
    }

    /// The same from the host tier, kept in memory.
    #[inline(never)]
    fn read_into<'py>(
        &self,
        py: Python<'py>,
        memory: &Memory,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let cache = &self.cache;
        let bytes = key::bytes(key)?;
        let named = Cell::new(false);
        match cache.get_with_origin(bytes, |value| to_python::object(py, value, &named)) {
            Ok(Some((value, origin))) => {
                let value = self.finished(value?, &named)?;
                memory.remember(key, &value, origin, named.get());
                Ok(Some(value))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(errors::raise(py, error)),
        }
    }
}

impl Cache {
    /// See [`Handle::quick`].
    ///
    /// # Safety
    /// Of an object, in an attached thread.
    #[inline(always)]
    pub unsafe fn quick(&self, key: *mut ffi::PyObject) -> Quick<'_> {
        match &self.tiers {
            // SAFETY: as the caller promises.
            Host(handle) => unsafe { handle.quick(key) },
            InMemory(tier) => Quick::ProcessTier(tier),
        }
    }
}

/// The native half of `polycache.Cache`.
#[pyclass(frozen, subclass, module = "polycache._native")]
pub struct Cache {
    tiers: Kind,
}

/// What a cache consists of; hits tell them apart, all else goes through [`Tiers`].
enum Kind {
    /// A directory, with or without a memory tier over it.
    Host(Handle),
    /// The memory tier tier.
    InMemory(ProcessTier),
}

use Kind::{Host, InMemory};

impl Cache {
    pub fn of_host(handle: Handle) -> Cache {
        Cache {
            tiers: Host(handle),
        }
    }

    pub fn of_memory(tier: ProcessTier) -> Cache {
        Cache {
            tiers: InMemory(tier),
        }
    }

    fn tiers(&self) -> &dyn Tiers {
        match &self.tiers {
            Host(handle) => handle,
            InMemory(tier) => tier,
        }
    }

    fn nested(parent: &Cache, options: &Bound<'_, PyDict>) -> PyResult<Cache> {
        let py = options.py();
        match options.get_item("namespace")? {
            Some(value) => parent.tiers().nested(py, part(&value)?),
            None => Err(errors::invalid_argument(py, "a namespace needs a part")),
        }
    }

    /// The key's value, None for a miss.
    #[inline]
    fn read<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.tiers {
            Host(handle) => handle.read(py, key),
            InMemory(tier) => tier.read(key),
        }
    }

    fn failed<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
        result.map_err(|error| errors::raise(py, error))
    }
}

impl Handle {
    /// The key's value, None for a miss.
    #[inline]
    fn read<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(memory) = &self.memory else {
            return self.read_host(py, key::bytes(key)?);
        };
        self.tick(py)?;
        match memory.read(&self.cache, key) {
            Some(value) => Ok(Some(value)),
            None => self.read_into(py, memory, key),
        }
    }

    /// The same from the host tier.
    #[inline]
    fn read_host<'py>(&self, py: Python<'py>, key: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.tick(py)?;
        let cache = &self.cache;
        let named = Cell::new(false);
        match cache.get_with(key, |value| to_python::object(py, value, &named)) {
            Ok(Some(value)) => self.finished(value?, &named).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(errors::raise(py, error)),
        }
    }
}

#[pymethods]
impl Cache {
    /// Opens the cache at `path`. With a cache instead of a path: its namespace nested by one
    /// part. With MISSING: the memory tier tier.
    #[new]
    fn new(path: &Bound<'_, PyAny>, options: &Bound<'_, PyDict>) -> PyResult<Cache> {
        if let Ok(parent) = path.cast::<Cache>() {
            return Cache::nested(parent.get(), options);
        }
        let py = path.py();
        if path.is(classes::missing(py)?) {
            let tier = ProcessTier::new(py, ProcessOptions::read(options)?)?;
            return Ok(Cache::of_memory(tier));
        }
        let read = Options::read(path, options)?;
        let builder = read.builder;
        let cache = Cache::failed(py, py.detach(|| builder.build()))?;
        let slow_from = match read.compressor {
            Compressor::None => SLOW_TO_COPY,
            Compressor::Zstd { .. } | Compressor::Smart => SLOW_TO_COMPRESS,
        };
        let shares_all = read.memory.as_ref().is_some_and(|tier| tier.shares_all);
        let copies = if shares_all {
            Copies::None
        } else {
            Copies::TypeMap
        };
        let reads = Reads {
            serializer: read.serializer,
            types: read.types,
        };
        Ok(Cache::of_host(Handle {
            cache,
            serializer: read.serializer,
            slow_from,
            counted_twice: Arc::default(),
            clock: read.clock,
            flights: Flights::new(read.bounds, copies, Some(reads), false),
            namespace: read.parts.iter().cloned().collect(),
            memory: read
                .memory
                .and_then(|options| Memory::new(&options, read.parts)),
        }))
    }

    /// The value of the key, or `default` when there is none.
    ///
    /// Lists, dicts and sets are each caller's own, unless the memory tier was told to share them.
    /// None is a value that can be stored: pass `polycache.MISSING` as the default to tell it from a
    /// miss. Raises `MalformedEntry`, `UnsupportedSerializer` and their like for an entry that cannot
    /// be read; `set` and `delete` get rid of it.
    #[pyo3(signature = (key, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.read(py, key)?;
        Ok(found.unwrap_or_else(|| default.unwrap_or_else(|| py.None().into_bound(py))))
    }

    /// What `get_or_set` begins with: the value, or MISSING. The time to live is checked also for a
    /// hit, which has no use for it.
    #[pyo3(signature = (key, ttl))]
    fn _hit<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        ttl: TtlArgument<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // The first wrong argument is the one that is reported.
        key::bytes(key)?;
        ttl.read()?;
        let found = self.read(py, key)?;
        match found {
            Some(value) => Ok(value),
            None => Ok(classes::missing(py)?.clone()),
        }
    }

    /// Stores a value; every read on this machine that begins afterwards sees it or a later one.
    ///
    /// `ttl` is how long the entry lives: text like "5m", seconds, or a timedelta; None is for ever, and
    /// without it the cache's own `ttl` counts. Raises `InvalidArgument` and `UnsupportedValue`,
    /// which change nothing, and `EntryTooLarge`, `NoSpace` or `IoError`, after which the old value
    /// is gone as well.
    #[pyo3(signature = (key, value, *, ttl = TtlArgument::default()))]
    fn set(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<()> {
        self.tiers().set(key, value, ttl)
    }

    /// Deletes the key and voids every load of it under way. True when an entry stood there.
    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.tiers().delete(key)
    }

    /// True when the key has an entry; its value is not decoded. So does `key in cache`.
    fn has(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.tiers().has(key)
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.tiers().has(key)
    }

    /// Seconds that the key's entry has left: infinite when it does not expire, None for a miss.
    fn ttl(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        self.tiers().ttl(key)
    }

    /// The values of those keys that are there, in a dict, under the keys as they were given.
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for key in many::keys(keys)? {
            let key = key?;
            if let Some(value) = self.read(py, &key)? {
                found.set_item(&key, value)?;
            }
        }
        Ok(found)
    }

    /// Stores every value of a mapping, in its order, with one time to live.
    ///
    /// Raises what `set` raises; the entries before the one that failed stay.
    #[pyo3(signature = (entries, *, ttl = TtlArgument::default()))]
    fn set_many(&self, entries: &Bound<'_, PyAny>, ttl: TtlArgument<'_, '_>) -> PyResult<()> {
        self.tiers().set_several(&mut many::pairs(entries)?, ttl)
    }

    /// Deletes several keys, and returns how many of them had an entry.
    fn delete_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut stood = 0;
        for key in many::keys(keys)? {
            stood += usize::from(self.delete(&key?)?);
        }
        Ok(stood)
    }

    /// The load of a key that was missed, by a task of asyncio's (weak references to it and its loop) or a thread:
    /// one to join, or the caller's own. It has waited so many seconds for others before.
    fn _begin(
        &self,
        key: &Bound<'_, PyAny>,
        task: Option<(Py<PyAny>, Py<PyAny>)>,
        waited: f64,
    ) -> PyResult<Load> {
        let key = key::named(key)?;
        let tiers = self.tiers();
        let flights = tiers.flights();
        let waited = Duration::try_from_secs_f64(waited).unwrap_or_default();
        let part = flights.join_or_begin(
            &key,
            (tiers.namespace(), memory::hash(&key)?),
            Owner::new(task),
            |voided| tiers.machine(&key, voided, waited),
        )?;
        Ok(Load::new(flights.clone(), part))
    }

    /// Counts a wait that took too long, and raises `WaitTimeout`.
    fn _give_up(&self, py: Python<'_>) -> PyResult<()> {
        Err(self.tiers().flights().give_up(py))
    }

    /// Seconds that a caller waits for the loads of others.
    #[getter]
    fn _wait_timeout(&self) -> f64 {
        self.tiers().flights().bounds.wait_timeout.as_secs_f64()
    }

    /// The loads under way.
    fn _loads(&self) -> Vec<Load> {
        Load::all(self.tiers().flights())
    }

    /// The key of a memoized function's result, by its arguments. Raises `UnsupportedValue`.
    fn _encode_arguments<'py>(
        &self,
        arguments: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        entries::encode_arguments(arguments, self.tiers().flights().types())
    }

    /// The lock of a key's name.
    fn _lock(&self, key: &Bound<'_, PyAny>) -> PyResult<Lock> {
        let tiers = self.tiers();
        let timeout = tiers.flights().bounds.wait_timeout;
        Ok(Lock::new(tiers.locks(), key::bytes(key)?, timeout))
    }

    /// The keys found from `cursor` on (0 at first), and the cursor to go on from, None at the end.
    fn _keys_page<'py>(
        &self,
        prefix: &Bound<'py, PyAny>,
        cursor: u64,
    ) -> PyResult<(Bound<'py, PyList>, Option<u64>)> {
        self.tiers().keys(prefix, cursor)
    }

    /// Clears this namespace and those nested in it, at once; loads under way are not stored.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.tiers().clear(py)
    }

    fn _stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (stats, memory_hits) = self.tiers().stats(py)?;
        statistics::stats(py, &stats, memory_hits)
    }

    fn _check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        statistics::report(py, self.tiers().check(py)?)
    }

    /// Writes the directory to its disk; only `keep_after_reboot` has a use for it.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.tiers().flush(py)
    }

    /// Closes the handle, and with it every namespace made from it. Closing again does nothing.
    fn close(&self, py: Python<'_>) {
        self.tiers().close(py);
    }

    /// What readers share, and may have put into a cycle.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.tiers().traverse(&visit)
    }

    fn __clear__(&self) {
        self.tiers().let_go();
    }

    /// True after `close`.
    #[getter]
    fn closed(&self) -> bool {
        self.tiers().is_closed()
    }

    /// The cache's directory, absolute; None without one.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.tiers().path().map(std::path::Path::to_owned)
    }
}
