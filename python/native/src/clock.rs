//! The option `clock`: a callable that tells the time, for tests.

use crate::errors;
use polycache::Clock;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// A callable that returns milliseconds since 1970. It is called before each operation, because no
/// Python code runs within one.
pub struct CallableClock {
    callable: Py<PyAny>,
    time: Arc<AtomicU64>,
}

impl CallableClock {
    pub fn new(callable: Py<PyAny>) -> CallableClock {
        CallableClock {
            callable,
            time: Arc::new(AtomicU64::new(0)),
        }
    }

    pub fn clone_ref(&self, py: Python<'_>) -> CallableClock {
        CallableClock {
            callable: self.callable.clone_ref(py),
            time: self.time.clone(),
        }
    }

    /// The engine's view of it.
    pub fn engine(&self) -> Clock {
        Clock::Manual(self.time.clone())
    }

    pub fn callable(&self) -> &Py<PyAny> {
        &self.callable
    }

    /// Where its last answer is.
    pub fn time(&self) -> Arc<AtomicU64> {
        self.time.clone()
    }

    /// Its last answer.
    pub fn now(&self) -> u64 {
        self.time.load(Ordering::Relaxed)
    }

    /// Takes this for its answer, until it is asked again.
    pub fn set(&self, now: f64) {
        self.time.store(now as u64, Ordering::Relaxed);
    }

    /// Asks the callable.
    pub fn read_clock(&self, py: Python<'_>) -> PyResult<()> {
        let answer = self.callable.bind(py).call0()?;
        let now = answer.extract::<f64>().ok().filter(|now| *now >= 0.0);
        let Some(now) = now.filter(|now| now.is_finite()) else {
            return Err(errors::invalid_argument(
                py,
                "the clock returns milliseconds since 1970, as an int or a float",
            ));
        };
        self.time.store(now as u64, Ordering::Relaxed);
        Ok(())
    }
}
