//! What a caller that would load a key gets: `polycache::Leased` as Python objects.

use crate::cache::Handle;
use crate::duration::TtlArgument;
use crate::memory::{Alone, Loading};
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
    of: Of,
    process: u32,
}

/// Where the value goes.
enum Of {
    Host {
        handle: Handle,
        key: Box<[u8]>,
        token: Token,
    },
    Alone {
        alone: Alone,
        loading: Loading,
    },
}

impl Lease {
    pub fn new(handle: Handle, key: &[u8], token: Token) -> Lease {
        let key = key.into();
        Lease::made(Of::Host { handle, key, token })
    }

    /// In a cache without a directory.
    pub fn alone(alone: Alone, loading: Loading) -> Lease {
        Lease::made(Of::Alone { alone, loading })
    }

    fn made(of: Of) -> Lease {
        Lease {
            of,
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

/// A load under way: its lease's place and word; without a directory 0 and its token.
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
        let (handle, key, token) = match &self.of {
            Of::Host { handle, key, token } => (handle, key, *token),
            Of::Alone { alone, loading } => return alone.fill(loading, value, ttl),
        };
        let ttl = ttl.read()?;
        handle.tick(py)?;
        handle.write(value, |cache, value| {
            cache.fill_value(key, token, value, ttl)
        })
    }

    /// Gives the lease back; does nothing after it was filled or voided, nor in a child that the
    /// loader forked: the load is its parent's.
    fn release(&self) {
        if self.process == std::process::id() {
            match &self.of {
                Of::Host { handle, token, .. } => handle.cache.release(*token),
                Of::Alone { alone, loading } => alone.release(loading),
            }
        }
    }

    /// Names this load; equal to the `flight` of those who wait for it.
    #[getter]
    fn flight(&self) -> Flight {
        match &self.of {
            Of::Host { token, .. } => (token.slot, token.word),
            Of::Alone { loading, .. } => (0, loading.token),
        }
    }
}
