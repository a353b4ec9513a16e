//! What threads share, from one place: `tests/interleavings` compiles this crate's other files with
//! shuttle's versions of these names.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use std::thread_local;

use std::cell::UnsafeCell;
use std::sync::PoisonError;
use std::time::Duration;

/// Locks a mutex. A panic under it leaves no change half done: no user code that could panic runs there
/// between two changes that belong together.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the condition variable is notified; may wake spuriously.
pub(crate) fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}

/// As `wait`, for at most this long.
pub(crate) fn wait_for<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    time: Duration,
) -> MutexGuard<'a, T> {
    match condition.wait_timeout(guard, time) {
        Ok((guard, _)) => guard,
        Err(poisoned) => poisoned.into_inner().0,
    }
}

/// How often a thread checks a lock that a writer holds, before it sleeps.
pub(crate) const LOOKS: u32 = 32;

/// One step of waiting for another thread that is about to finish.
pub(crate) fn pause(step: u32) {
    if step < 64 {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

/// Data that [`Lock`](crate::lock::Lock) guards. Shuttle's version detects a reader and a writer that
/// are inside at once.
#[derive(Debug)]
pub(crate) struct Guarded<T>(UnsafeCell<T>);

impl<T> Guarded<T> {
    pub fn new(value: T) -> Guarded<T> {
        Guarded(UnsafeCell::new(value))
    }

    /// Called when a reader has entered.
    #[inline(always)]
    pub fn reader_in(&self) {}

    /// Called before a reader leaves.
    #[inline(always)]
    pub fn reader_out(&self) {}

    /// Called when the writer has entered.
    #[inline(always)]
    pub fn writer_in(&self) {}

    /// Called before the writer leaves.
    #[inline(always)]
    pub fn writer_out(&self) {}

    #[inline(always)]
    pub fn get(&self) -> *mut T {
        self.0.get()
    }
}

pub(crate) use std::thread::ThreadId;

/// The identity of this thread.
pub(crate) fn thread_id() -> ThreadId {
    std::thread::current().id()
}
