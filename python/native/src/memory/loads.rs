//! Loads under way: which of them a set, delete or clear has come before.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The loads of a cache, by the hashes of their keys: another key of the same hash voids a load, too,
/// which is no more than a value that is not stored.
#[derive(Default)]
pub struct Loads {
    /// Of `listed`.
    count: AtomicUsize,
    listed: Mutex<Vec<(u64, Arc<AtomicBool>)>>,
}

impl Loads {
    pub fn begin(&self, hash: u64) -> Load {
        let void = Arc::new(AtomicBool::new(false));
        let mut listed = self.listed();
        listed.push((hash, void.clone()));
        self.count.store(listed.len(), Ordering::SeqCst);
        Load { hash, void }
    }

    /// A load is over.
    pub fn end(&self, load: &Load) {
        self.keep(|(_, void)| !Arc::ptr_eq(void, &load.void));
    }

    /// Voids the loads of the hash.
    #[inline]
    pub fn void(&self, hash: u64) {
        if self.count.load(Ordering::SeqCst) > 0 {
            self.void_where(|of| of == hash);
        }
    }

    /// Voids all.
    pub fn void_all(&self) {
        self.void_where(|_| true);
    }

    #[cold]
    fn void_where(&self, wanted: impl Fn(u64) -> bool) {
        self.keep(|(hash, void)| {
            if wanted(*hash) {
                void.store(true, Ordering::SeqCst);
                return false;
            }
            true
        });
    }

    fn keep(&self, keep: impl FnMut(&(u64, Arc<AtomicBool>)) -> bool) {
        let mut listed = self.listed();
        listed.retain(keep);
        self.count.store(listed.len(), Ordering::SeqCst);
    }

    /// Held for a walk through the list, in which nothing of Python's is used.
    fn listed(&self) -> MutexGuard<'_, Vec<(u64, Arc<AtomicBool>)>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A load of the caller's own.
#[pyclass(frozen, module = "polycache._native")]
pub struct Load {
    pub hash: u64,
    void: Arc<AtomicBool>,
}

#[pymethods]
impl Load {
    /// True when a set, delete or clear came before it: what it loads will not be stored.
    #[getter]
    pub fn voided(&self) -> bool {
        self.void.load(Ordering::SeqCst)
    }
}

/// Flights by the hashes of their keys, several of one hash in a tuple. It changes only where it is as the
/// caller saw it, so that keys can be compared, which is code of users, without a lock.
#[pyclass(frozen, module = "polycache._native")]
#[derive(Default)]
pub struct FlightTable {
    listed: Mutex<HashMap<isize, Py<PyTuple>>>,
}

#[pymethods]
impl FlightTable {
    #[new]
    fn new() -> FlightTable {
        FlightTable::default()
    }

    /// Those of a hash; None when there are none.
    fn get(&self, py: Python<'_>, hash: isize) -> Option<Py<PyTuple>> {
        let listed = self.listed();
        listed.get(&hash).map(|flights| flights.clone_ref(py))
    }

    /// Puts others in the place of what `get` gave; False when that is not there any more.
    fn swap(&self, hash: isize, seen: Option<Py<PyTuple>>, new: Option<Py<PyTuple>>) -> bool {
        let mut listed = self.listed();
        let now = listed.get(&hash).map(|flights| flights.as_ptr());
        if now != seen.as_ref().map(|flights| flights.as_ptr()) {
            return false;
        }
        // `seen` is held by the caller: no object ends here, under the lock.
        match new {
            Some(new) => listed.insert(hash, new),
            None => listed.remove(&hash),
        };
        true
    }

    /// Hashes that have flights.
    fn __len__(&self) -> usize {
        self.listed().len()
    }
}

impl FlightTable {
    fn listed(&self) -> MutexGuard<'_, HashMap<isize, Py<PyTuple>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
