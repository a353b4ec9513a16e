//! Loads of a `MemoryCache`: its own list of them is the lease.

use super::cache::{ttl, MemoryCache};
use super::key::Key;
use crate::duration::TtlArgument;
use crate::machine::{unstorable, Filled, Loaded, Machine, Outcome, Step};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A load, which is invalidated by a set, delete, clear, or another load's fill.
pub struct CacheLoad {
    cache: Py<MemoryCache>,
    key: Py<PyAny>,
    invalidated: Arc<AtomicBool>,
}

impl CacheLoad {
    pub fn machine(
        cache: &Bound<'_, MemoryCache>,
        key: &Bound<'_, PyAny>,
        invalidated: Arc<AtomicBool>,
    ) -> Box<dyn Machine> {
        Box::new(CacheLoad {
            cache: cache.clone().unbind(),
            key: key.clone().unbind(),
            invalidated,
        })
    }

    fn store(&self, value: &Bound<'_, PyAny>, given: TtlArgument<'_, '_>) -> PyResult<bool> {
        let py = value.py();
        let (cache, key) = (self.cache.get(), self.key.bind(py));
        let ttl = ttl(given)?;
        let asked = Key::asked(key, ())?;
        let stored = cache.stored(key, value)?;
        let ttl = cache.living(key, value, ttl)?;
        cache.read_clock(py)?;
        let (true, Some(ttl)) = (self.is_open(), ttl) else {
            return Ok(false);
        };
        cache.refuse_too_large(py, stored.size())?;
        // The first to end fills: that invalidates this load as well as others beside it.
        cache.write(py, &asked, stored, ttl, |_| self.is_open())
    }
}

impl Machine for CacheLoad {
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Step<'py>> {
        // It may have come between the first look and the beginning of the load.
        let cache = self.cache.get();
        let found = cache.read(self.key.bind(py), |engine, key| engine.peek(key))?;
        Ok(found.map_or(Step::Load, |value| Step::Hit(value, false)))
    }

    fn fill<'py>(
        &mut self,
        loaded: Loaded<'_, 'py>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<Filled<'py>> {
        let value = loaded.value;
        let stored = self.store(value, ttl);
        let was_open = self.is_open();
        self.abandon();
        let flights = &self.cache.get().flights;
        let outcome = match stored {
            Ok(true) => Outcome::Stored,
            Ok(false) => {
                // Else its time was over at once.
                flights
                    .invalidated_loads
                    .fetch_add(u64::from(!was_open), Ordering::Relaxed);
                Outcome::Refused
            }
            Err(error) => {
                let error = unstorable(value.py(), error, flights.bounds.store_errors)?;
                flights.unstored.fetch_add(1, Ordering::Relaxed);
                Outcome::Unstored(error)
            }
        };
        let value = value.clone();
        Ok(Filled {
            value,
            named: false,
            outcome,
        })
    }

    fn abandon(&mut self) {
        self.invalidated.store(true, Ordering::SeqCst);
    }

    fn is_open(&self) -> bool {
        !self.invalidated.load(Ordering::SeqCst)
    }
}
