//! Shuttle's versions of the names of `src/sync.rs`.

pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use shuttle::thread::ThreadId;
pub(crate) use std::sync::Arc;

use std::cell::UnsafeCell;
use std::sync::PoisonError;
use std::time::Duration;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}

/// Time stands still.
pub(crate) fn wait_for<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    _time: Duration,
) -> MutexGuard<'a, T> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}

/// So few that threads really sleep.
pub(crate) const LOOKS: u32 = 1;

pub(crate) fn pause(_step: u32) {
    shuttle::thread::yield_now();
}

pub(crate) fn thread_id() -> ThreadId {
    shuttle::thread::current().id()
}

/// Data that a lock guards. It detects which thread is inside: shuttle switches threads at the counters.
#[derive(Debug)]
pub(crate) struct Guarded<T> {
    data: UnsafeCell<T>,
    readers: AtomicU64,
    writers: AtomicU64,
}

impl<T> Guarded<T> {
    pub fn new(value: T) -> Guarded<T> {
        Guarded {
            data: UnsafeCell::new(value),
            readers: AtomicU64::new(0),
            writers: AtomicU64::new(0),
        }
    }

    pub fn reader_in(&self) {
        self.readers.fetch_add(1, Ordering::SeqCst);
        assert_eq!(
            self.writers.load(Ordering::SeqCst),
            0,
            "a reader beside a writer"
        );
    }

    pub fn reader_out(&self) {
        assert_eq!(
            self.writers.load(Ordering::SeqCst),
            0,
            "a reader beside a writer"
        );
        self.readers.fetch_sub(1, Ordering::SeqCst);
    }

    pub fn writer_in(&self) {
        let before = self.writers.fetch_add(1, Ordering::SeqCst);
        assert_eq!(before, 0, "a writer beside a writer");
        assert_eq!(
            self.readers.load(Ordering::SeqCst),
            0,
            "a writer beside a reader"
        );
    }

    pub fn writer_out(&self) {
        assert_eq!(
            self.readers.load(Ordering::SeqCst),
            0,
            "a writer beside a reader"
        );
        let before = self.writers.fetch_sub(1, Ordering::SeqCst);
        assert_eq!(before, 1, "a writer beside a writer");
    }

    pub fn get(&self) -> *mut T {
        self.data.get()
    }
}
