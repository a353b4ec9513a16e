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
    listed: Mutex<Vec<Listed>>,
    /// Those who wait for loads that were voided: to be called when no lock is held.
    woken: Mutex<Vec<Py<PyAny>>>,
}

struct Listed {
    hash: u64,
    void: Arc<AtomicBool>,
    /// Wakes those who wait.
    wake: Py<PyAny>,
}

impl Loads {
    /// `wake` is called when the load is voided.
    pub fn begin(&self, hash: u64, wake: Py<PyAny>) -> Load {
        let void = Arc::new(AtomicBool::new(false));
        let mut listed = self.listed();
        listed.push(Listed {
            hash,
            void: void.clone(),
            wake,
        });
        self.count.store(listed.len(), Ordering::SeqCst);
        Load { hash, void }
    }

    /// A load is over.
    pub fn end(&self, load: &Load) {
        let ended = self.take(|one| Arc::ptr_eq(&one.void, &load.void));
        drop(ended);
    }

    /// True when there are loads under way.
    #[inline]
    pub fn any(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    /// Voids the loads of the hash, but for the one whose value is written. Under a lock of the engine:
    /// [`Loads::tell`] is to follow.
    #[inline]
    pub fn void(&self, hash: u64, written: Option<&Load>) {
        if self.any() {
            self.void_where(|one| {
                let is_written = written.is_some_and(|load| Arc::ptr_eq(&one.void, &load.void));
                one.hash == hash && !is_written
            });
        }
    }

    /// Voids all.
    pub fn void_all(&self) {
        self.void_where(|_| true);
    }

    /// Calls those who wait for loads that were voided. They look at the cache again.
    #[inline]
    pub fn tell(&self, py: Python<'_>) -> PyResult<()> {
        // Most often nobody loads.
        if self.woken_is_empty() {
            return Ok(());
        }
        self.tell_woken(py)
    }

    fn woken_is_empty(&self) -> bool {
        self.woken().is_empty()
    }

    #[cold]
    fn tell_woken(&self, py: Python<'_>) -> PyResult<()> {
        let woken = std::mem::take(&mut *self.woken());
        for wake in woken {
            wake.bind(py).call0()?;
        }
        Ok(())
    }

    #[cold]
    fn void_where(&self, wanted: impl Fn(&Listed) -> bool) {
        let voided = self.take(wanted);
        for one in voided {
            one.void.store(true, Ordering::SeqCst);
            self.woken().push(one.wake);
        }
    }

    /// Takes some off the list; they are let go of without the lock.
    fn take(&self, wanted: impl Fn(&Listed) -> bool) -> Vec<Listed> {
        let mut listed = self.listed();
        let mut taken = Vec::new();
        let mut place = 0;
        while let Some(one) = listed.get(place) {
            if wanted(one) {
                taken.push(listed.swap_remove(place));
            } else {
                place += 1;
            }
        }
        self.count.store(listed.len(), Ordering::SeqCst);
        taken
    }

    /// Held for a walk through the list, in which nothing of Python's is used.
    fn listed(&self) -> MutexGuard<'_, Vec<Listed>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn woken(&self) -> MutexGuard<'_, Vec<Py<PyAny>>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
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
