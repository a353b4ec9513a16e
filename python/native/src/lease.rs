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
    handle: Handle,
    key: Box<[u8]>,
    token: Token,
    process: u32,
}

impl Lease {
    pub fn new(handle: Handle, key: &[u8], token: Token) -> Lease {
        Lease {
            handle,
            key: key.into(),
            token,
            process: std::process::id(),
        }
    }
}

/// An interrupt can come between taking the lease and the `try` that would give it back.
impl Drop for Lease {
    fn drop(&mut self) {
        self.release();
    }
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

    /// Gives the lease back; does nothing after it was filled or voided, nor in a child that the
    /// loader forked: the load is its parent's.
    fn release(&self) {
        if self.process == std::process::id() {
            self.handle.cache.release(self.token);
        }
    }

    /// Names this load; equal to the `flight` of those who wait for it.
    #[getter]
    fn flight(&self) -> Flight {
        (self.token.slot, self.token.word)
    }
}
