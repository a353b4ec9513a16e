//! Loads and locks of a cache over a directory: leases that all processes of the host see.

use super::failed;
use crate::duration::TtlArgument;
use crate::errors;
use crate::from_python;
use crate::handle::Handle;
use crate::lock::{Locks, Waiting};
use crate::machine::{Filled, Loaded, Machine, Outcome, Step};
use crate::to_python;
use polycache::bindings::Bindings;
use polycache::{Error, LoadStep, Loading, LockStep, Locking, StoreErrors};
use polycache::{Token, Value};
use pyo3::prelude::*;
use std::cell::Cell;
use std::time::Duration;

/// A load by a lease of the host's.
pub struct HostLoad {
    /// Without its memory tier.
    pub handle: Handle,
    pub key: Box<[u8]>,
    pub loading: Loading,
}

impl Machine for HostLoad {
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Step<'py>> {
        self.handle.read_clock(py)?;
        let cache = &self.handle.cache;
        let named = Cell::new(false);
        let read = |value: Value<'_>| to_python::object(py, value, &named);
        let step = match failed(py, cache.step(&self.key, &mut self.loading, read))? {
            LoadStep::Hit(value, _) => Step::Hit(value?, named.get()),
            LoadStep::Load => Step::Load,
            LoadStep::Wait(time) => return Ok(Step::Wait(time)),
            LoadStep::TimedOut => return Err(errors::raise(py, Error::WaitTimeout)),
        };
        // The read before counted a miss, and this counts a hit or a miss.
        cache.count_found_later();
        Ok(step)
    }

    fn fill<'py>(
        &mut self,
        loaded: Loaded<'_, 'py>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<Filled<'py>> {
        let Loaded { value, read } = loaded;
        let py = value.py();
        let ttl = ttl.read()?;
        self.handle.read_clock(py)?;
        let HostLoad {
            handle,
            key,
            loading,
        } = self;
        let cache = &handle.cache;
        let mut back = None;
        let named = Cell::new(false);
        let read = read
            .unwrap_or_else(|| from_python::read(value, handle.serializer, handle.flights.types()));
        let outcome = match read.map(|read| {
            if read.differs || read.named {
                back = to_python::object(py, read.value().clone(), &named).ok();
            }
            let (size, read) = (read.size, read.value());
            if size < handle.slow_from {
                cache.fill(key, loading, read, ttl)
            } else {
                py.detach(|| cache.fill(key, loading, read, ttl))
            }
        }) {
            Ok(filled) => match failed(py, filled)? {
                polycache::Filled::Stored => Outcome::Stored,
                polycache::Filled::Refused => Outcome::Refused,
                polycache::Filled::Unstored(error) => {
                    if matches!(error, Error::UnsupportedValue { .. }) {
                        back = None;
                    }
                    Outcome::Unstored(errors::raise(py, error))
                }
            },
            Err(error) if cache.store_errors() == StoreErrors::Raise => return Err(error),
            Err(error) => {
                cache.unstorable(key, loading);
                Outcome::Unstored(error)
            }
        };
        let named = named.get() && back.is_some();
        let value = back.unwrap_or_else(|| value.clone());
        Ok(Filled {
            value,
            named,
            outcome,
        })
    }

    fn abandon(&mut self) {
        self.handle.cache.abandon(&self.key, &mut self.loading);
    }

    fn is_open(&self) -> bool {
        self.handle.cache.is_open(&self.loading)
    }

    fn is_open_to_itself(&self) -> bool {
        self.handle.cache.is_open_to_itself(&self.loading)
    }
}

/// Locks that all processes of the host see.
pub struct HostLocks(pub polycache::Cache);

impl Locks for HostLocks {
    fn begin(&self, wait: Duration) -> Box<dyn Waiting> {
        Box::new(HostLocking(self.0.clone(), self.0.locking(wait)))
    }

    fn is_locked(&self, py: Python<'_>, key: &[u8]) -> PyResult<bool> {
        failed(py, self.0.is_locked(key))
    }

    fn unlock(&self, key: &[u8], token: Token) {
        self.0.unlock(key, token);
    }
}

struct HostLocking(polycache::Cache, Locking);

impl Waiting for HostLocking {
    fn step(&self, py: Python<'_>, key: &[u8]) -> PyResult<LockStep> {
        failed(py, self.0.lock_step(key, &self.1))
    }
}
