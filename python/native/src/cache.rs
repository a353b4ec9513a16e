//! The class that `polycache.Cache` extends. What a hit passes through is here.

use crate::classes;
use crate::clock::CallableClock;
use crate::duration::TtlArgument;
use crate::lease::{Busy, Hit, Lease};
use crate::memory::{self, Alone, Memory};
use crate::options::{part, AloneOptions, Options};
use crate::{errors, from_python, key, many, statistics, to_python};
use polycache::{Compressor, Error, Leased, Serializer, Ttl, TtlLeft, Value};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3::{Borrowed, PyTraverseError, PyVisit};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// An open cache and what is needed to write to it.
pub struct Handle {
    pub cache: polycache::Cache,
    serializer: Serializer,
    /// Bytes from which on other Python threads may run while a value is encoded and stored.
    slow_from: usize,
    clock: Option<CallableClock>,
    /// The memory tier, if there is one.
    memory: Option<Memory>,
    /// Misses of `get_or_set` that are counted once more, or turn out a hit, when it asks for the lease.
    counted_twice: Arc<AtomicU64>,
}

/// Encoding so many bytes takes some 10 µs with zstd, and 100 µs without: longer than letting another
/// thread run costs.
const SLOW_TO_COMPRESS: usize = 4 * 1024;
const SLOW_TO_COPY: usize = 1024 * 1024;

impl Handle {
    fn with_cache(
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
            clock: self.clock.as_ref().map(|clock| clock.clone_ref(py)),
        }
    }

    fn clone_ref(&self, py: Python<'_>) -> Handle {
        let memory = self.memory.as_ref().map(Memory::share);
        self.with_cache(py, self.cache.clone(), memory)
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
        from_python::with_value(object, self.serializer, |value, size| {
            if size < self.slow_from {
                write(&self.cache, value)
            } else {
                py.detach(|| write(&self.cache, value))
            }
        })?
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
    /// To be asked of the memory tier alone.
    Alone(&'a Alone),
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
            Quick::Alone(alone) => alone.read(key)?,
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
        match cache.get_with_origin(bytes, |value| to_python::object(py, value)) {
            Ok(Some((value, origin))) => {
                let value = value?;
                memory.remember(key, &value, origin);
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
            InMemory(alone) => Quick::Alone(alone),
        }
    }
}

/// The native half of `polycache.Cache`.
#[pyclass(frozen, subclass, module = "polycache._native")]
pub struct Cache {
    tiers: Tiers,
}

/// What a cache consists of.
enum Tiers {
    /// A directory, with or without a memory tier over it.
    Host(Handle),
    /// The memory tier alone.
    Alone(Alone),
}

use Tiers::{Alone as InMemory, Host};

impl Cache {
    fn nested(parent: &Cache, options: &Bound<'_, PyDict>) -> PyResult<Cache> {
        let py = options.py();
        let part = match options.get_item("namespace")? {
            Some(value) => part(&value)?,
            None => return Err(errors::invalid_argument(py, "a namespace needs a part")),
        };
        let handle = match &parent.tiers {
            Host(handle) => handle,
            InMemory(alone) => {
                let tiers = InMemory(alone.nested(py, part)?);
                return Ok(Cache { tiers });
            }
        };
        let nested = handle.cache.namespace(part.as_str());
        let nested = nested.map_err(|error| errors::raise(py, error))?;
        let memory = handle.memory.as_ref();
        let memory = memory.and_then(|memory| memory.nested(part));
        Ok(Cache {
            tiers: Host(handle.with_cache(py, nested, memory)),
        })
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
            InMemory(alone) => alone.read(key),
        }
    }

    fn lease_alone<'py>(alone: &Alone, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        Ok(match alone.lease(key)? {
            memory::Leased::Hit(value) => {
                let value = value.unbind();
                Bound::new(py, Hit { value })?.into_any()
            }
            memory::Leased::Acquired(loading) => {
                Bound::new(py, Lease::alone(alone.share(), loading))?.into_any()
            }
            memory::Leased::Busy(token) => {
                let flight = (0, token);
                Bound::new(py, Busy { flight })?.into_any()
            }
        })
    }

    fn failed<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
        result.map_err(|error| errors::raise(py, error))
    }
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
        self.tick(value.py())?;
        let stored = self.write(value, |cache, value| cache.set_value(bytes, value, ttl));
        if let Some(memory) = &self.memory {
            memory.forget(key);
        }
        stored
    }

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
        match cache.get_with(key, |value| to_python::object(py, value)) {
            Ok(found) => found.transpose(),
            Err(error) => Err(errors::raise(py, error)),
        }
    }
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
        if path.is(classes::missing(py)?) {
            let tiers = InMemory(Alone::new(py, AloneOptions::read(options)?)?);
            return Ok(Cache { tiers });
        }
        let read = Options::read(path, options)?;
        let builder = read.builder;
        let cache = Cache::failed(py, py.detach(|| builder.build()))?;
        let slow_from = match read.compressor {
            Compressor::None => SLOW_TO_COPY,
            Compressor::Zstd { .. } | Compressor::Smart => SLOW_TO_COMPRESS,
        };
        Ok(Cache {
            tiers: Host(Handle {
                cache,
                serializer: read.serializer,
                slow_from,
                counted_twice: Arc::default(),
                clock: read.clock,
                memory: read
                    .memory
                    .and_then(|options| Memory::new(&options, read.parts)),
            }),
        })
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
        let found = match &self.tiers {
            Host(handle) => {
                let found = handle.read(py, key)?;
                if found.is_none() {
                    handle.counted_twice.fetch_add(1, Ordering::Relaxed);
                }
                found
            }
            InMemory(alone) => alone.peek(key)?,
        };
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
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => return alone.set(key, value, ttl),
        };
        let bytes = key::bytes(key)?;
        handle.store(key, bytes, value, ttl.read()?)
    }

    /// Deletes the key and voids every load of it under way. True when an entry stood there.
    fn delete(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => return alone.delete(key),
        };
        let bytes = key::bytes(key)?;
        handle.tick(py)?;
        let deleted = handle.cache.delete(bytes);
        if let Some(memory) = &handle.memory {
            memory.forget(key);
        }
        Cache::failed(py, deleted)
    }

    /// True when the key has an entry; its value is not decoded. So does `key in cache`.
    fn has(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => return alone.has(key),
        };
        let bytes = key::bytes(key)?;
        handle.tick(py)?;
        Cache::failed(py, handle.cache.has(bytes))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.has(py, key)
    }

    /// Seconds that the key's entry has left: infinite when it does not expire, None for a miss.
    fn ttl(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => return alone.ttl(key),
        };
        let bytes = key::bytes(key)?;
        handle.tick(py)?;
        let left = Cache::failed(py, handle.cache.ttl(bytes))?;
        Ok(left.map(|left| match left {
            TtlLeft::Forever => f64::INFINITY,
            TtlLeft::For(left) => left.as_secs_f64(),
        }))
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
        let mut pairs = many::pairs(entries)?;
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => return alone.set_several(pairs, ttl),
        };
        let ttl = ttl.read()?;
        pairs.try_for_each(|pair| {
            let (key, value) = pair?;
            handle.store(&key, key::bytes(&key)?, &value, ttl)
        })
    }

    /// Deletes several keys, and returns how many of them had an entry.
    fn delete_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut stood = 0;
        for key in many::keys(keys)? {
            stood += usize::from(self.delete(keys.py(), &key?)?);
        }
        Ok(stood)
    }

    /// Reads the key, or takes the lease to load it; None when there is no room for a lease.
    fn _lease<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => return Cache::lease_alone(alone, key).map(Some),
        };
        let bytes = key::bytes(key)?;
        handle.tick(py)?;
        let leased = handle
            .cache
            .lease_with(bytes, |value| to_python::object(py, value));
        Ok(match Cache::failed(py, leased)? {
            Leased::Hit(object) => {
                let value = object?.unbind();
                Some(Bound::new(py, Hit { value })?.into_any())
            }
            Leased::Acquired(token) => {
                let lease = Lease::new(handle.clone_ref(py), bytes, token);
                Some(Bound::new(py, lease)?.into_any())
            }
            Leased::Busy { slot, word } => {
                let flight = (slot, word);
                Some(Bound::new(py, Busy { flight })?.into_any())
            }
            Leased::Bypass => None,
        })
    }

    /// The keys found from `cursor` on (0 at first), and the cursor to go on from, None at the end.
    fn _keys_page<'py>(
        &self,
        py: Python<'py>,
        prefix: &Bound<'py, PyAny>,
        cursor: u64,
    ) -> PyResult<(Bound<'py, PyList>, Option<u64>)> {
        const PLACES: u64 = 4096;
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => return Ok((alone.keys(prefix)?, None)),
        };
        let prefix = key::bytes(prefix)?;
        handle.tick(py)?;
        let mut keys = Vec::new();
        let next = handle.cache.keys_page(prefix, cursor, PLACES, &mut keys);
        let next = Cache::failed(py, next)?;
        let keys = PyList::new(py, keys.iter().map(|bytes| key::object(py, bytes)))?;
        Ok((keys, next))
    }

    /// Clears this namespace and those nested in it, at once; loads under way are not stored.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => return alone.clear(py),
        };
        handle.tick(py)?;
        let cleared = handle.cache.clear();
        if let Some(memory) = &handle.memory {
            // The epoch moved: none of them stands.
            memory.clear();
        }
        Cache::failed(py, cleared)
    }

    fn _stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => {
                let (stats, hits) = alone.stats(py)?;
                return statistics::stats(py, &stats, hits);
            }
        };
        let cache = &handle.cache;
        let mut stats = Cache::failed(py, py.detach(|| cache.stats()))?;
        let counted_twice = handle.counted_twice.load(Ordering::Relaxed);
        stats.misses = stats.misses.saturating_sub(counted_twice);
        let memory = handle.memory.as_ref();
        statistics::stats(py, &stats, memory.map_or(0, Memory::hits))
    }

    fn _check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cache = match &self.tiers {
            Host(handle) => &handle.cache,
            InMemory(alone) => return statistics::report(py, alone.check(py)?),
        };
        statistics::report(py, Cache::failed(py, py.detach(|| cache.check()))?)
    }

    /// Writes the directory to its disk; only `keep_after_reboot` has a use for it.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let cache = match &self.tiers {
            Host(handle) => &handle.cache,
            InMemory(alone) => return alone.flush(py),
        };
        Cache::failed(py, py.detach(|| cache.flush()))
    }

    /// Closes the handle, and with it every namespace made from it. Closing again does nothing.
    fn close(&self, py: Python<'_>) {
        let handle = match &self.tiers {
            Host(handle) => handle,
            InMemory(alone) => return alone.close(),
        };
        let cache = &handle.cache;
        py.detach(|| cache.close());
        if let Some(memory) = &handle.memory {
            memory.clear();
        }
    }

    /// What readers share, and may have put into a cycle.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.tiers {
            Host(handle) => match &handle.memory {
                Some(memory) => memory.traverse(&visit),
                None => Ok(()),
            },
            InMemory(alone) => alone.traverse(&visit),
        }
    }

    fn __clear__(&self) {
        match &self.tiers {
            Host(handle) => {
                if let Some(memory) = &handle.memory {
                    memory.clear();
                }
            }
            InMemory(alone) => alone.let_go(),
        }
    }

    /// True after `close`.
    #[getter]
    fn closed(&self) -> bool {
        match &self.tiers {
            Host(handle) => handle.cache.is_closed(),
            InMemory(alone) => alone.is_closed(),
        }
    }

    /// The cache's directory, absolute; None without one.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        match &self.tiers {
            Host(handle) => Some(handle.cache.path().to_owned()),
            InMemory(_) => None,
        }
    }
}
