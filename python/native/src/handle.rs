//! A cache over a directory: its handle, and its reads, which a hit passes through.

use crate::clock::CallableClock;
use crate::flights::{Flights, Namespace};
use crate::memory::{self, MemoryOverHost, MemoryTier};
use crate::{errors, key, to_python};
use polycache::bindings::{Bindings, PREFETCHED};
use polycache::Serializer;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};
use pyo3::Borrowed;
use std::cell::Cell;
use std::sync::Arc;

/// An open cache and what is needed to write to it.
pub struct Handle {
    pub cache: polycache::Cache,
    pub serializer: Serializer,
    /// Bytes from which on other Python threads may run while a value is encoded and stored.
    pub slow_from: usize,
    pub clock: Option<CallableClock>,
    /// The memory tier, if there is one.
    pub memory: Option<MemoryOverHost>,
    /// The loads under way in this process.
    pub flights: Arc<Flights>,
    pub namespace: Namespace,
}

/// Encoding so many bytes takes some 10 µs with zstd, and 100 µs without: longer than letting another
/// thread run costs.
pub const SLOW_TO_COMPRESS: usize = 4 * 1024;
pub const SLOW_TO_COPY: usize = 1024 * 1024;

impl Handle {
    pub fn with_cache(
        &self,
        py: Python<'_>,
        cache: polycache::Cache,
        memory: Option<MemoryOverHost>,
    ) -> Handle {
        Handle {
            cache,
            memory,
            serializer: self.serializer,
            slow_from: self.slow_from,
            flights: self.flights.clone(),
            namespace: self.namespace.clone(),
            clock: self.clock.as_ref().map(|clock| clock.clone_ref(py)),
        }
    }

    /// Asks the clock, if there is one of the user's.
    #[inline(always)]
    pub fn read_clock(&self, py: Python<'_>) -> PyResult<()> {
        match &self.clock {
            None => Ok(()),
            Some(clock) => clock.read_clock(py),
        }
    }
}

/// The result of a fast look into memory.
pub enum Quick<'a> {
    /// A reference that is the caller's.
    Value(*mut ffi::PyObject),
    /// Nothing: read it from the host tier, and keep it in memory.
    Missed(&'a Handle, &'a MemoryOverHost),
    /// No look: the handle has no memory tier, or a clock that has to be called first.
    Unasked(&'a Handle),
    /// To be asked of the memory tier, which is alone.
    MemoryTier(&'a MemoryTier),
}

impl Quick<'_> {
    /// The value of a key that the fast way did not find, or a default.
    #[inline]
    pub fn read_or<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        let found = self.read(key)?;
        Ok(found.unwrap_or_else(|| default.unwrap_or_else(|| py.None().into_bound(py))))
    }

    /// The value of a key that the fast way did not find; None for a miss.
    #[inline]
    pub fn read<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self {
            Quick::Missed(handle, memory) => handle.read_into(key.py(), memory, key),
            Quick::Unasked(handle) => handle.read(key.py(), key),
            Quick::MemoryTier(tier) => tier.read(key),
            Quick::Value(_) => Ok(None),
        }
    }
}

impl Handle {
    /// A read that completes at once, if possible.
    ///
    /// # Safety
    /// Of an object, in an attached thread.
    #[inline(always)]
    pub unsafe fn quick(&self, key: *mut ffi::PyObject) -> Quick<'_> {
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
    pub fn finished<'py>(
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
        memory: &MemoryOverHost,
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

impl Handle {
    /// The key's value, None for a miss.
    #[inline]
    pub fn read<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(memory) = &self.memory else {
            return self.read_host(py, key::bytes(key)?);
        };
        self.read_clock(py)?;
        match memory.read(&self.cache, key) {
            Some(value) => Ok(Some(value)),
            None => self.read_into(py, memory, key),
        }
    }

    /// Reads several keys into a dict. What reads of the host tier touch is fetched from memory for some keys at once.
    pub fn read_several<'py>(
        &self,
        keys: Bound<'py, PyIterator>,
        found: &Bound<'py, PyDict>,
    ) -> PyResult<()> {
        let py = found.py();
        if self.cache.is_remote() {
            return self.read_from_servers(keys, found);
        }
        let mut keys = keys.fuse();
        loop {
            let mut batch = Vec::new();
            for key in keys.by_ref().take(PREFETCHED) {
                batch.push((key?, None));
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.read_clock(py)?;
            let mut missed = Vec::with_capacity(batch.len());
            for (key, value) in &mut batch {
                let bytes = key::bytes(key)?;
                let memory = self.memory.as_ref();
                *value = memory.and_then(|memory| memory.read(&self.cache, key));
                if value.is_none() {
                    missed.push(bytes);
                }
            }
            self.cache.prefetch(&missed);
            for (key, value) in batch {
                let value = match (value, &self.memory) {
                    (Some(value), _) => Some(value),
                    (None, Some(memory)) => self.read_into(py, memory, &key)?,
                    (None, None) => self.read_host(py, key::bytes(&key)?)?,
                };
                if let Some(value) = value {
                    found.set_item(&key, value)?;
                }
            }
        }
    }

    /// The same over a remote tier: in one round trip. Copies on this machine answer, and not objects in memory.
    fn read_from_servers<'py>(
        &self,
        keys: Bound<'py, PyIterator>,
        found: &Bound<'py, PyDict>,
    ) -> PyResult<()> {
        let py = found.py();
        let keys: Vec<Bound<'py, PyAny>> = keys.collect::<PyResult<_>>()?;
        let bytes: Vec<&[u8]> = keys.iter().map(key::bytes).collect::<PyResult<_>>()?;
        self.read_clock(py)?;
        let values = self.cache.get_from_servers(&bytes);
        let values = values.map_err(|error| errors::raise(py, error))?;
        for (key, value) in keys.iter().zip(values.unwrap_or_default()) {
            if let Some(value) = value {
                let named = Cell::new(false);
                let value = to_python::object(py, value, &named)?;
                found.set_item(key, self.finished(value, &named)?)?;
            }
        }
        Ok(())
    }

    /// The same from the host tier.
    #[inline]
    fn read_host<'py>(&self, py: Python<'py>, key: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.read_clock(py)?;
        let cache = &self.cache;
        let named = Cell::new(false);
        match cache.get_with(key, |value| to_python::object(py, value, &named)) {
            Ok(Some(value)) => self.finished(value?, &named).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(errors::raise(py, error)),
        }
    }
}
