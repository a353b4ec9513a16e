//! Locks by the names of keys: what `polycache.lease` drives.

use crate::duration;
use crate::own;
use polycache::LockStep;
use polycache::Token;
use polycache_operations::{Acquire, Acquiring, Holder, Lease, Leases};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where the locks of a namespace are.
pub trait Locks: Send + Sync {
    /// Begins to wait for a key's lock, at most this long.
    fn begin(&self, wait: Duration) -> Box<dyn Waiting>;
    /// Raises `Closed`.
    fn is_locked(&self, py: Python<'_>, key: &[u8]) -> PyResult<bool>;
    fn unlock(&self, key: &[u8], token: Token);
}

/// One caller that wants a lock.
pub trait Waiting: Send + Sync {
    /// Asks for it, and says what is next. Raises `Closed`.
    fn step(&self, py: Python<'_>, key: &[u8]) -> PyResult<LockStep>;
}

/// The lock of a key's name.
#[pyclass(frozen, module = "polycache._native")]
pub struct Lock {
    locks: Box<dyn Locks>,
    key: Box<[u8]>,
    wait_timeout: Duration,
    held: Mutex<Option<HeldLock>>,
}

struct HeldLock {
    token: Token,
    /// A forked child has its parent's.
    forks: u64,
}

/// One attempt to acquire it.
#[pyclass(frozen, module = "polycache._native")]
pub struct Attempt {
    lock: Py<Lock>,
    waiting: Box<dyn Waiting>,
}

impl Lock {
    pub fn new(locks: Box<dyn Locks>, key: &[u8], wait_timeout: Duration) -> Lock {
        Lock {
            locks,
            key: key.into(),
            wait_timeout,
            held: Mutex::default(),
        }
    }

    fn take(&self) -> Option<HeldLock> {
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn give_back(&self) {
        if let Some(held) = self.take().filter(|held| held.forks == own::forks()) {
            self.locks.unlock(&self.key, held.token);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[pymethods]
impl Lock {
    /// Begins to acquire it: True waits for `wait_timeout`, False not at all.
    fn attempt(slf: &Bound<'_, Self>, wait: &Bound<'_, PyAny>) -> PyResult<Attempt> {
        let lock = slf.get();
        let wait = match wait.cast::<PyBool>() {
            Ok(wait) if wait.is_true() => lock.wait_timeout,
            Ok(_) => Duration::ZERO,
            Err(_) => duration::extract(wait)?,
        };
        Ok(Attempt {
            lock: slf.clone().unbind(),
            waiting: lock.locks.begin(wait),
        })
    }

    fn release(&self) {
        self.give_back();
    }

    fn locked(&self, py: Python<'_>) -> PyResult<bool> {
        self.locks.is_locked(py, &self.key)
    }
}

#[pymethods]
impl Attempt {
    /// Asks for the lock: True; False when another keeps it; or seconds after which to ask again.
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let lock = self.lock.get();
        let acquired = match self.waiting.step(py, &lock.key)? {
            LockStep::Acquired(token) => {
                let forks = own::forks();
                let held = HeldLock { token, forks };
                *lock.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
                true
            }
            LockStep::Refused => false,
            LockStep::Wait(time) => return Ok(time.as_secs_f64().into_pyobject(py)?.into_any()),
        };
        Ok(PyBool::new(py, acquired).to_owned().into_any())
    }
}

/// The locks of a process' own cache: by namespaces and keys.
#[derive(Default)]
pub struct LockTable {
    locks: Mutex<Listed>,
}

#[derive(Default)]
struct Listed {
    last: u64,
    held: HashMap<Place, HeldLock>,
}

/// A namespace and a key.
type Place = (Arc<[String]>, Box<[u8]>);

impl LockTable {
    pub fn is_locked(&self, place: &Place) -> bool {
        let listed = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        let held = listed.held.get(place);
        held.is_some_and(|held| held.forks == own::forks())
    }

    pub fn unlock(&self, token: Token) {
        let mut listed = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        listed.held.retain(|_, held| held.token != token);
    }

    fn try_lock(&self, place: Place) -> Option<Token> {
        let mut listed = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        let forks = own::forks();
        if listed
            .held
            .get(&place)
            .is_some_and(|held| held.forks == forks)
        {
            return None;
        }
        listed.last += 1;
        let token = Token {
            slot: 0,
            word: listed.last,
            born: 0,
            beside: false,
        };
        listed.held.insert(place, HeldLock { token, forks });
        Some(token)
    }

    /// One step of a caller that wants the lock.
    pub fn step(&self, place: Place, machine: &Acquire, began: Instant) -> LockStep {
        let now = began.elapsed();
        let Ok(next) = machine.step(&mut AtPlace { table: self, place }, now);
        match next {
            Acquiring::Acquired(token) => LockStep::Acquired(token),
            Acquiring::Refused => LockStep::Refused,
            Acquiring::Wait(until) => LockStep::Wait(until.saturating_sub(now)),
        }
    }
}

/// One place, as the machine sees it.
struct AtPlace<'a> {
    table: &'a LockTable,
    place: Place,
}

impl Leases for AtPlace<'_> {
    type Fence = Token;
    type Error = Infallible;

    fn lease(&mut self) -> Result<Lease<Token>, Infallible> {
        Ok(match self.table.try_lock(self.place.clone()) {
            Some(token) => Lease::Acquired(token),
            None => Lease::Busy {
                holder: Holder { slot: 0, word: 0 },
                overdue: false,
            },
        })
    }

    fn beside(&mut self, _: Holder) -> Result<Option<Token>, Infallible> {
        Ok(None)
    }

    fn fill(&mut self, _: Token, _: &[u8]) -> Result<bool, Infallible> {
        Ok(false)
    }

    fn release(&mut self, fence: Token) {
        self.table.unlock(fence);
    }
}
