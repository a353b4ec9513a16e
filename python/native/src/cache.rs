//! The class that `polycache.Cache` extends. What a hit passes through is here.

use crate::clock::CallableClock;
use crate::duration::TtlArgument;
use crate::lease::{Busy, Flight, Hit, Lease};
use crate::options::{part, Options};
use crate::{errors, from_python, key, statistics, to_python};
use polycache::{Compressor, Error, Leased, Serializer, Ttl, TtlLeft, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// An open cache and what is needed to write to it.
pub struct Handle {
    pub cache: polycache::Cache,
    serializer: Serializer,
    /// Bytes from which on other Python threads may run while a value is encoded and stored.
    slow_from: usize,
    clock: Option<CallableClock>,
}

/// Encoding so many bytes takes some 10 µs with zstd, and 100 µs without: longer than letting another
/// thread run costs.
const SLOW_TO_COMPRESS: usize = 4 * 1024;
const SLOW_TO_COPY: usize = 1024 * 1024;

impl Handle {
    fn with_cache(&self, py: Python<'_>, cache: polycache::Cache) -> Handle {
        Handle {
            cache,
            serializer: self.serializer,
            slow_from: self.slow_from,
            clock: self.clock.as_ref().map(|clock| clock.clone_ref(py)),
        }
    }

    fn clone_ref(&self, py: Python<'_>) -> Handle {
        self.with_cache(py, self.cache.clone())
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

/// The native half of `polycache.Cache`.
#[pyclass(frozen, subclass, module = "polycache._native")]
pub struct Cache {
    handle: Handle,
}

impl Cache {
    fn nested(parent: &Cache, options: &Bound<'_, PyDict>) -> PyResult<Cache> {
        let py = options.py();
        let part = match options.get_item("namespace")? {
            Some(value) => part(&value)?,
            None => return Err(errors::invalid_argument(py, "a namespace needs a part")),
        };
        let nested = parent.handle.cache.namespace(part);
        let nested = nested.map_err(|error| errors::raise(py, error))?;
        Ok(Cache {
            handle: parent.handle.with_cache(py, nested),
        })
    }

    fn failed<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
        result.map_err(|error| errors::raise(py, error))
    }
}

#[pymethods]
impl Cache {
    /// Opens the cache at `path`. With a cache instead of a path: its namespace nested by one part.
    #[new]
    fn new(path: &Bound<'_, PyAny>, options: &Bound<'_, PyDict>) -> PyResult<Cache> {
        if let Ok(parent) = path.cast::<Cache>() {
            return Cache::nested(parent.get(), options);
        }
        let py = path.py();
        let read = Options::read(path, options)?;
        let builder = read.builder;
        let cache = Cache::failed(py, py.detach(|| builder.build()))?;
        let slow_from = match read.compressor {
            Compressor::None => SLOW_TO_COPY,
            Compressor::Zstd { .. } => SLOW_TO_COMPRESS,
        };
        Ok(Cache {
            handle: Handle {
                cache,
                serializer: read.serializer,
                slow_from,
                clock: read.clock,
            },
        })
    }

    #[pyo3(signature = (key, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = key::bytes(key)?;
        self.handle.tick(py)?;
        let found = self
            .handle
            .cache
            .get_with(bytes, |value| to_python::object(py, value));
        match found {
            Ok(Some(object)) => object,
            Ok(None) => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
            Err(error) => Err(errors::raise(py, error)),
        }
    }

    #[pyo3(signature = (key, value, *, ttl = TtlArgument(Ttl::Default)))]
    fn set(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument,
    ) -> PyResult<()> {
        let bytes = key::bytes(key)?;
        self.handle.tick(py)?;
        self.handle
            .write(value, |cache, value| cache.set_value(bytes, value, ttl.0))
    }

    fn delete(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let bytes = key::bytes(key)?;
        self.handle.tick(py)?;
        Cache::failed(py, self.handle.cache.delete(bytes))
    }

    fn has(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let bytes = key::bytes(key)?;
        self.handle.tick(py)?;
        Cache::failed(py, self.handle.cache.has(bytes))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.has(py, key)
    }

    fn ttl(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let bytes = key::bytes(key)?;
        self.handle.tick(py)?;
        let left = Cache::failed(py, self.handle.cache.ttl(bytes))?;
        Ok(left.map(|left| match left {
            TtlLeft::Forever => f64::INFINITY,
            TtlLeft::For(left) => left.as_secs_f64(),
        }))
    }

    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for key in several(keys)? {
            let key = key?;
            let bytes = key::bytes(&key)?;
            self.handle.tick(py)?;
            let read = self
                .handle
                .cache
                .get_with(bytes, |value| to_python::object(py, value));
            if let Some(value) = Cache::failed(py, read)? {
                found.set_item(&key, value?)?;
            }
        }
        Ok(found)
    }

    fn delete_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut stood = 0;
        for key in several(keys)? {
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
        let bytes = key::bytes(key)?;
        self.handle.tick(py)?;
        let leased = self
            .handle
            .cache
            .lease_with(bytes, |value| to_python::object(py, value));
        Ok(match Cache::failed(py, leased)? {
            Leased::Hit(object) => {
                let value = object?.unbind();
                Some(Bound::new(py, Hit { value })?.into_any())
            }
            Leased::Acquired(token) => {
                let handle = self.handle.clone_ref(py);
                let key = bytes.into();
                let lease = Lease { handle, token, key };
                Some(Bound::new(py, lease)?.into_any())
            }
            Leased::Busy { slot, word } => {
                let handle = self.handle.clone_ref(py);
                let key = bytes.into();
                let flight = Flight { slot, word, key };
                Some(Bound::new(py, Busy { handle, flight })?.into_any())
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
        let prefix = key::bytes(prefix)?;
        self.handle.tick(py)?;
        let mut keys = Vec::new();
        let next = self
            .handle
            .cache
            .keys_page(prefix, cursor, PLACES, &mut keys);
        let next = Cache::failed(py, next)?;
        let keys = PyList::new(py, keys.iter().map(|bytes| key::object(py, bytes)))?;
        Ok((keys, next))
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.tick(py)?;
        Cache::failed(py, self.handle.cache.clear())
    }

    fn _stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cache = &self.handle.cache;
        statistics::stats(py, &Cache::failed(py, py.detach(|| cache.stats()))?)
    }

    fn _check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cache = &self.handle.cache;
        statistics::report(py, Cache::failed(py, py.detach(|| cache.check()))?)
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let cache = &self.handle.cache;
        Cache::failed(py, py.detach(|| cache.flush()))
    }

    fn close(&self, py: Python<'_>) {
        let cache = &self.handle.cache;
        py.detach(|| cache.close());
    }

    #[getter]
    fn closed(&self) -> bool {
        self.handle.cache.is_closed()
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.handle.cache.path().to_owned()
    }
}

/// Iterates over keys; a single one is a mistake.
fn several<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
    if key::is_single(keys) {
        return Err(errors::invalid_argument(
            keys.py(),
            "several keys are wanted, like a list of them, not a single one",
        ));
    }
    keys.try_iter()
}
