//! Loads and locks of a cache without a directory: the process' own lists of them are the leases.

use super::isolation::copy_out;
use super::options::raise;
use super::tier::{add, ttl_of, Key, MemoryTier};
use crate::duration::TtlArgument;
use crate::lock::{Locks, Waiting};
use crate::machine::{unstorable, Filled, Loaded, Machine, Outcome, Step};
use polycache::{LockStep, Token};
use polycache_operations::Acquire;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A load, which is invalidated by a set, delete, clear, or another load's fill.
pub struct MemoryTierLoad {
    tier: MemoryTier,
    key: Py<PyAny>,
    /// The namespace's number as the load began; a clear changes it.
    namespace_number: u64,
    invalidated: Arc<AtomicBool>,
}

impl MemoryTierLoad {
    pub fn new(
        tier: MemoryTier,
        key: &Bound<'_, PyAny>,
        invalidated: Arc<AtomicBool>,
    ) -> MemoryTierLoad {
        MemoryTierLoad {
            tier,
            key: key.clone().unbind(),
            namespace_number: 0,
            invalidated,
        }
    }

    fn store<'py>(
        &self,
        loaded: Loaded<'_, 'py>,
        ttl: TtlArgument<'_, '_>,
        back: &mut Option<Bound<'py, PyAny>>,
    ) -> PyResult<bool> {
        let py = loaded.value.py();
        let ttl = ttl_of(ttl)?;
        let key = self.key.bind(py);
        let tier = &self.tier;
        let read = loaded.read.transpose()?;
        let comes_back = read.as_ref().is_some_and(|read| read.differs || read.named);
        let mut stored = tier.stored(key, loaded.value, read)?;
        if comes_back {
            *back = Some(copy_out(stored.object.clone().into_bound(py), None)?);
        }
        tier.begin(py)?;
        let ttl = tier.shared.living(&mut stored, ttl);
        if !self.is_open() {
            return Ok(false);
        }
        // In the namespace as it was then: a clear since has invalidated the load.
        let asked = Key::asked(key, self.namespace_number)?;
        tier.refuse_too_large(py, &asked, stored.size)?;
        let shared = &tier.shared;
        // The first to end fills: that invalidates this load as well as others beside it.
        let admit = |key: &Key, _: Option<&super::tier::Stored>| {
            let stands = self.is_open();
            if stands {
                shared.flights.invalidate(&tier.parts, key.hash);
            }
            stands
        };
        let refused = shared.engine.set_if((*asked).clone(), stored, ttl, admit);
        Ok(refused.map_err(|error| raise(py, error))?.is_none())
    }
}

impl Machine for MemoryTierLoad {
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Step<'py>> {
        self.tier.begin(py)?;
        // After the load was listed: what a clear invalidates, and what it does not.
        self.namespace_number = self.tier.number();
        let asked = Key::asked(self.key.bind(py), self.namespace_number)?;
        // Another may have stored it since the caller missed it.
        Ok(match self.tier.find(&asked, py) {
            Some(value) => {
                self.tier
                    .shared
                    .counts
                    .misses
                    .fetch_sub(1, Ordering::Relaxed);
                // A shared value is the object itself; no `Named` stands for another.
                Step::Hit(value, !self.tier.shared.shares_all)
            }
            None => Step::Load,
        })
    }

    fn fill<'py>(
        &mut self,
        loaded: Loaded<'_, 'py>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<Filled<'py>> {
        let value = loaded.value;
        let mut named = matches!(&loaded.read, Some(Ok(read)) if read.named);
        let mut back = None;
        let shared = &self.tier.shared;
        let outcome = match self.store(loaded, ttl, &mut back) {
            Ok(true) => {
                add(&shared.counts.writes);
                Outcome::Stored
            }
            Ok(false) => {
                add(&shared.counts.invalidated_loads);
                Outcome::Refused
            }
            Err(error) => {
                self.invalidated.store(true, Ordering::SeqCst);
                let error = unstorable(value.py(), error, shared.flights.bounds.store_errors)?;
                add(&shared.flights.unstored);
                Outcome::Unstored(error)
            }
        };
        named &= back.is_some();
        let value = back.unwrap_or_else(|| value.clone());
        Ok(Filled {
            value,
            named,
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

impl Locks for MemoryTier {
    fn begin(&self, wait: Duration) -> Box<dyn Waiting> {
        Box::new(AloneLocking {
            tier: self.clone(),
            machine: Acquire::new(wait, Duration::ZERO),
            began: Instant::now(),
        })
    }

    fn is_locked(&self, py: Python<'_>, key: &[u8]) -> PyResult<bool> {
        self.check_open(py)?;
        Ok(self
            .shared
            .locks
            .is_locked(&(self.parts.clone(), key.into())))
    }

    fn unlock(&self, _: &[u8], token: Token) {
        self.shared.locks.unlock(token);
    }
}

struct AloneLocking {
    tier: MemoryTier,
    machine: Acquire,
    began: Instant,
}

impl Waiting for AloneLocking {
    fn step(&self, py: Python<'_>, key: &[u8]) -> PyResult<LockStep> {
        self.tier.check_open(py)?;
        let place = (self.tier.parts.clone(), key.into());
        Ok(self
            .tier
            .shared
            .locks
            .step(place, &self.machine, self.began))
    }
}
