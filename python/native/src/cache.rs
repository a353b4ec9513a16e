//! The class that `polycache.Cache` extends; `fast.rs` stands in front of its hits.

use crate::classes;
use crate::duration::TtlArgument;
use crate::flights::{Flights, Reads};
use crate::handle::{Handle, Quick, SLOW_TO_COMPRESS, SLOW_TO_COPY};
use crate::load::Load;
use crate::lock::Lock;
use crate::machine::Copies;
use crate::memory::{self, MemoryOverHost, MemoryTier};
use crate::options::{part, MemoryTierOptions, Options};
use crate::own::Owner;
use crate::tiers::Tiers;
use crate::{entries, errors, files, key, many, statistics};
use polycache::bindings::Bindings;
use polycache::{Compressor, Error};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use pyo3::{PyTraverseError, PyVisit};
use std::path::PathBuf;
use std::time::Duration;

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
            InMemory(tier) => Quick::MemoryTier(tier),
        }
    }
}

/// The native half of `polycache.Cache`.
#[pyclass(frozen, subclass, mapping, module = "polycache._native")]
pub struct Cache {
    tiers: Kind,
}

/// What a cache consists of; hits tell them apart, all else goes through [`Tiers`].
enum Kind {
    /// A directory, with or without a memory tier over it.
    Host(Handle),
    /// The memory tier alone.
    InMemory(MemoryTier),
}

use Kind::{Host, InMemory};

impl Cache {
    pub fn of_host(handle: Handle) -> Cache {
        Cache {
            tiers: Host(handle),
        }
    }

    pub fn of_memory(tier: MemoryTier) -> Cache {
        Cache {
            tiers: InMemory(tier),
        }
    }

    /// The engine of a cache with a directory or a server.
    pub fn engine(&self) -> Option<&polycache::Cache> {
        match &self.tiers {
            Host(handle) => Some(&handle.cache),
            InMemory(_) => None,
        }
    }

    pub fn tiers(&self) -> &dyn Tiers {
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

    /// The handle of one with a directory or a server.
    pub fn handle(&self) -> Option<&Handle> {
        match &self.tiers {
            Host(handle) => Some(handle),
            InMemory(_) => None,
        }
    }

    /// For several keys, which may be none: then no operation on a key raises `Closed`.
    pub fn check_open(&self, py: Python<'_>) -> PyResult<()> {
        if self.tiers().is_closed() {
            return Err(errors::raise(py, Error::Closed));
        }
        Ok(())
    }

    fn failed<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
        result.map_err(|error| errors::raise(py, error))
    }
}

#[inline]
fn or_none<'py>(py: Python<'py>, default: Option<Bound<'py, PyAny>>) -> Bound<'py, PyAny> {
    default.unwrap_or_else(|| py.None().into_bound(py))
}

#[pymethods]
impl Cache {
    /// Opens the cache at `path`. With a cache instead of a path: its namespace nested by one
    /// part. With MISSING: the memory tier alone.
    #[new]
    fn new(path: &Bound<'_, PyAny>, options: &Bound<'_, PyDict>) -> PyResult<Cache> {
        if let Ok(parent) = path.cast::<Cache>() {
            return Cache::nested(parent.get(), options);
        }
        let py = path.py();
        let has_path = !path.is(classes::missing(py)?);
        let remote = options.get_item("remote")?;
        let has_remote = remote.is_some_and(|remote| !remote.is_none());
        let store = options.get_item("store")?;
        let has_store = store.is_some_and(|store| !store.is_none());
        if !has_path && !has_remote {
            let tier = MemoryTier::new(py, MemoryTierOptions::read(options)?)?;
            return Ok(Cache::of_memory(tier));
        }
        let read = Options::read(has_path.then_some(path), options)?;
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
            clock: read.clock,
            flights: Flights::new(read.bounds, copies, Some(reads), false),
            namespace: read.parts.iter().cloned().collect(),
            // A memory tier asks the tier below whether an object stands, which a store does not know.
            memory: read
                .memory
                .filter(|_| !has_store)
                .and_then(|options| MemoryOverHost::new(&options, read.parts)),
        }))
    }

    /// The value of the key, or `default` when there is none.
    ///
    /// Each caller gets its own lists, dicts and sets, unless the memory tier shares them. A stored None is a value:
    /// `default=polycache.MISSING` tells it from a miss. Raises `MalformedEntry`, `UnsupportedSerializer` and others
    /// for an entry that cannot be read; `set` and `delete` remove it.
    #[pyo3(signature = (key, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.read(py, key)?.unwrap_or_else(|| or_none(py, default)))
    }

    /// `cache[key]`: the value; KeyError when there is none.
    pub fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, key)?.ok_or_else(|| errors::no_key(key))
    }

    /// `cache[key] = value`: see `set`.
    fn __setitem__(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        Cache::set(slf, key, value, TtlArgument::default(), None)
    }

    /// `del cache[key]`: see `delete`; KeyError when there is no entry.
    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.tiers().delete(key)? {
            Ok(())
        } else {
            Err(errors::no_key(key))
        }
    }

    /// The value of the key as `get` gives it, without using the entry: it is not counted and fills no memory tier.
    #[pyo3(signature = (key, default = None))]
    fn peek<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.tiers().peek(key)?;
        Ok(found.unwrap_or_else(|| or_none(py, default)))
    }

    /// Deletes the key and returns its value, or `default` when it has none. Of all callers in all processes one gets
    /// it.
    ///
    /// An entry that cannot be read raises what `get` raises, and stays. Counted as a read and a delete;
    /// like `delete`, it invalidates loads of the key.
    #[pyo3(signature = (key, default = None))]
    fn take<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.tiers().take(key)?;
        Ok(found.unwrap_or_else(|| or_none(py, default)))
    }

    /// Gives the key's entry another time to live from now on: the cache's own without `ttl`, None for ever. True when
    /// there is an entry. Its value is not decoded.
    ///
    /// A set, delete or clear meanwhile wins. Not counted.
    #[pyo3(signature = (key, *, ttl = TtlArgument::default(), expires_at = None))]
    fn touch(
        &self,
        key: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
        expires_at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        self.tiers().touch(key, ttl.or(expires_at))
    }

    /// The fields of an `Entry`, as keyword arguments; None for a miss.
    fn _entry<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let facts = self.tiers().entry(key)?;
        facts.map(|facts| statistics::entry(py, facts)).transpose()
    }

    /// The first step of `get_or_set`: the value, or MISSING. The time to live is checked even for
    /// a hit, which does not need it.
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

    /// The first step of `get_or_set_many`: the keys in a list, and the values of those that have one.
    #[pyo3(signature = (keys, ttl))]
    fn _hits<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        ttl: TtlArgument<'_, 'py>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyDict>)> {
        let keys = many::listed(keys)?;
        ttl.read()?;
        let found = self.get_many(py, keys.as_any())?;
        Ok((keys, found))
    }

    /// Stores a value; every read on this machine that begins afterwards sees it or a later one.
    ///
    /// `ttl` is how long the entry lives: text like "5m", seconds, or a timedelta; None is for ever. Default: the
    /// cache's own `ttl`. `expires_at` is a time instead, a datetime with a time zone. Raises `InvalidArgument` and
    /// `UnsupportedValue`, which change nothing, and `EntryTooLarge`, `NoSpace` or `IoError`, after which the old
    /// value is gone as well.
    ///
    /// A file that is open for reading bytes, or anything else with their `read`, is read to its end and stored as
    /// bytes, in memory of constant size where `open` writes so.
    #[pyo3(signature = (key, value, *, ttl = TtlArgument::default(), expires_at = None))]
    fn set(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
        expires_at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let ttl = ttl.or(expires_at);
        let stored = slf.get().tiers().set(key, value, ttl);
        stored.or_else(|error| files::set_by_reading(slf, key, value, ttl, error))
    }

    /// Deletes the key and invalidates all loads of it under way. True when it had an entry.
    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.tiers().delete(key)
    }

    /// True when the key has an entry; its value is not decoded. The same as `key in cache`.
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

    /// The values of the keys that have one, in a dict, under the keys as they were given.
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        let keys = many::keys(keys)?;
        self.check_open(py)?;
        if let Host(handle) = &self.tiers {
            handle.read_several(keys, &found)?;
            return Ok(found);
        }
        for key in keys {
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
    #[pyo3(signature = (entries, *, ttl = TtlArgument::default(), expires_at = None))]
    fn set_many(
        &self,
        entries: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
        expires_at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut pairs = many::pairs(entries)?;
        self.check_open(entries.py())?;
        self.tiers().set_several(&mut pairs, ttl.or(expires_at))
    }

    /// Deletes several keys, and returns how many of them had an entry.
    fn delete_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut stood = 0;
        let several = many::keys(keys)?;
        self.check_open(keys.py())?;
        if let Host(handle) = &self.tiers {
            if handle.cache.is_remote() {
                return handle.delete_on_servers(several);
            }
        }
        for key in several {
            stood += usize::from(self.delete(&key?)?);
        }
        Ok(stood)
    }

    /// Deletes the keys of this namespace, without those nested in it, that begin with `prefix`, and returns how many
    /// entries it deleted. Keys written meanwhile may stay.
    fn delete_prefix(&self, prefix: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.tiers().delete_prefix(prefix)
    }

    /// The load of a missed key, by a task of asyncio's (weak references to it and its loop) or a thread: one to join,
    /// or the caller's own. `waited` is how many seconds it has waited for others.
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
            |invalidated| tiers.machine(&key, invalidated, waited),
        )?;
        Ok(Load::new(flights.clone(), part))
    }

    /// Another value like one that was handed out, as another reader is given it.
    #[pyo3(signature = (value, /))]
    fn _copy_of<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.tiers().flights().copy_of(value)
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

    fn _remote_stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let stats = match &self.tiers {
            Host(handle) => handle.cache.remote_stats(),
            InMemory(_) => None,
        };
        stats
            .map(|stats| statistics::remote(py, &stats))
            .transpose()
    }

    fn _machine_stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let stats = self.tiers().machine_stats(py)?;
        stats
            .map(|stats| statistics::machine(py, &stats))
            .transpose()
    }

    fn _usage<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Option<Bound<'py, PyList>>> {
        let usage = self.tiers().usage(py, most)?;
        usage.map(|usage| statistics::usage(py, usage)).transpose()
    }

    fn _check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        statistics::report(py, self.tiers().check(py)?)
    }

    /// Writes the directory to its disk, and waits for it: a power loss undoes nothing that was done before.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.tiers().flush(py)
    }

    /// Closes the handle, and with it every namespace made from it. Closing again does nothing.
    fn close(&self, py: Python<'_>) {
        self.tiers().close(py);
    }

    /// Objects that readers share, and may have put into a cycle.
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
