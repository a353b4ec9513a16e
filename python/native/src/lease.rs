//! What a caller that would load a key gets: `polycache::Leased` as Python objects.

use crate::cache::Handle;
use crate::duration::TtlArgument;
use polycache::Token;
use pyo3::prelude::*;

/// The value is there.
#[pyclass(frozen, module = "polycache._native")]
pub struct Hit {
    #[pyo3(get)]
    pub value: Py<PyAny>,
}

/// Another caller loads.
#[pyclass(frozen, module = "polycache._native")]
pub struct Busy {
    /// Names that load, so that those who wait for the same one can wait together.
    #[pyo3(get)]
    pub flight: Flight,
}

/// The caller loads; then it fills, and in any case releases.
#[pyclass(frozen, module = "polycache._native")]
pub struct Lease {
    pub handle: Handle,
    pub key: Box<[u8]>,
    pub token: Token,
}

/// A load under way: its lease's place and word.
pub type Flight = (u64, u64);

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
            cache.fill_value(&self.key, self.token, value, ttl)
        })
    }

    /// Gives the lease back; does nothing after it was filled or voided.
    fn release(&self) {
        self.handle.cache.release(self.token);
    }

    /// Names this load; equal to the `flight` of those who wait for it.
    #[getter]
    fn flight(&self) -> Flight {
        (self.token.slot, self.token.word)
    }
}
