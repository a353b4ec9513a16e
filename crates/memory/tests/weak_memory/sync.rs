//! Loom's versions of the names of `src/sync.rs` that the lock uses.

pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};

use loom::sync::atomic::{self, fence};
use std::cell::{Cell, UnsafeCell};
use std::sync::PoisonError;

/// Sequentially consistent accesses are built from such fences, which loom has: see the head of
/// `main.rs`. A fence stands between a change and the loads after it only if both are sequentially
/// consistent, so weakening either is detected.
#[derive(Debug)]
pub(crate) struct AtomicUsize(atomic::AtomicUsize);

impl AtomicUsize {
    pub fn new(value: usize) -> AtomicUsize {
        AtomicUsize(atomic::AtomicUsize::new(value))
    }

    pub fn load(&self, order: Ordering) -> usize {
        if order != Ordering::SeqCst {
            return self.0.load(order);
        }
        if CHANGED.with(Cell::get) {
            fence(Ordering::SeqCst);
        }
        self.0.load(Ordering::Acquire)
    }

    pub fn store(&self, value: usize, order: Ordering) {
        assert_ne!(order, Ordering::SeqCst, "the lock has no such store");
        self.0.store(value, order);
    }

    pub fn swap(&self, value: usize, order: Ordering) -> usize {
        noted(order, |order| self.0.swap(value, order))
    }

    pub fn compare_exchange(
        &self,
        old: usize,
        new: usize,
        success: Ordering,
        failure: Ordering,
    ) -> Result<usize, usize> {
        noted(success, |success| {
            self.0.compare_exchange(old, new, success, failure)
        })
    }

    pub fn fetch_add(&self, by: usize, order: Ordering) -> usize {
        noted(order, |order| self.0.fetch_add(by, order))
    }

    pub fn fetch_sub(&self, by: usize, order: Ordering) -> usize {
        noted(order, |order| self.0.fetch_sub(by, order))
    }
}

loom::thread_local! {
    /// True when this thread made a sequentially consistent change.
    static CHANGED: Cell<bool> = Cell::new(false);
}

fn noted<T>(order: Ordering, change: impl FnOnce(Ordering) -> T) -> T {
    if order != Ordering::SeqCst {
        return change(order);
    }
    CHANGED.with(|changed| changed.set(true));
    change(Ordering::AcqRel)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}

/// So few that threads really sleep.
pub(crate) const LOOKS: u32 = 1;

pub(crate) fn pause(_step: u32) {
    loom::thread::yield_now();
}

/// Data that a lock guards, in loom's cell: it fails on an access that does not happen after all earlier
/// ones, or that runs beside one that excludes it.
#[derive(Debug)]
pub(crate) struct Guarded<T> {
    data: UnsafeCell<T>,
    access: loom::cell::UnsafeCell<()>,
}

impl<T> Guarded<T> {
    pub fn new(value: T) -> Guarded<T> {
        Guarded {
            data: UnsafeCell::new(value),
            access: loom::cell::UnsafeCell::new(()),
        }
    }

    pub fn reader_in(&self) {
        self.access.with(|_| ());
    }

    pub fn reader_out(&self) {
        self.access.with(|_| ());
    }

    pub fn writer_in(&self) {
        self.access.with_mut(|_| ());
    }

    pub fn writer_out(&self) {
        self.access.with_mut(|_| ());
    }

    pub fn get(&self) -> *mut T {
        self.data.get()
    }
}
