//! What a caller that would load a key gets: `polycache::Leased` as Python objects.

use crate::cache::Handle;
use crate::duration::TtlArgument;
use polycache::Token;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The value is there.
#[pyclass(frozen, module = "polycache._native")]
pub struct Hit {
    #[pyo3(get)]
    pub value: Py<PyAny>,
}

/// Another caller loads.
#[pyclass(frozen, module = "polycache._native")]
pub struct Busy {
    pub flight: Flight,
}

#[pymethods]
impl Busy {
    /// Names that load.
    #[getter]
    fn flight<'py>(&self, py: Python<'py>) -> (u64, u64, Bound<'py, PyBytes>) {
        self.flight.name(py)
    }
}

/// The caller loads; then it fills, and in any case releases.
#[pyclass(frozen, module = "polycache._native")]
pub struct Lease {
    pub handle: Handle,
    pub token: Token,
    pub flight: Flight,
}

#[pymethods]
impl Lease {
    /// Stores the loaded value; False when a set, delete or clear came in between.
    #[pyo3(signature = (value, *, ttl = TtlArgument::default()))]
    fn fill(
        &self,
        py: Python<'_>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<bool> {
        let ttl = ttl.read()?;
        self.handle.tick(py)?;
        self.handle.write(value, |cache, value| {
            cache.fill_value(&self.flight.key, self.token, value, ttl)
        })
    }

    /// Gives the lease back; does nothing after it was filled or voided.
    fn release(&self) {
        self.handle.cache.release(self.token);
    }

    /// Names this load; equal to the `flight` of those who wait for it.
    #[getter]
    fn flight<'py>(&self, py: Python<'py>) -> (u64, u64, Bound<'py, PyBytes>) {
        self.flight.name(py)
    }
}

/// A load under way. The key belongs to it, because a lease matches a part of the hash only.
pub struct Flight {
    slot: u64,
    word: u64,
    key: Box<[u8]>,
}

impl Flight {
    pub fn new(slot: u64, word: u64, key: &[u8]) -> Flight {
        let key = key.into();
        Flight { slot, word, key }
    }

    fn name<'py>(&self, py: Python<'py>) -> (u64, u64, Bound<'py, PyBytes>) {
        (self.slot, self.word, PyBytes::new(py, &self.key))
    }
}
