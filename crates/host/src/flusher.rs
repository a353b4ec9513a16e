//! The thread that writes what was changed to the disk: one a process, and only while something waits to be
//! written. No caller waits for the disk.
//!
//! Nothing depends on it but how much a power loss takes back. A forked child has no thread, and what the
//! parent's knew is the parent's: the child begins anew, without a look at locks that the parent's threads may
//! have held.

use crate::io::Io;
use crate::platform;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Bytes of the thread's stack.
const STACK: usize = 128 << 10;

/// What is flushed when its time has come.
pub(crate) trait Flush: Send + Sync {
    /// Flushes; after how long to come again, or `None` until it is scheduled again.
    fn flush_due(&self) -> Option<Duration>;
}

struct Due {
    at: Instant,
    what: Weak<dyn Flush>,
}

#[derive(Default)]
struct Queue {
    due: Vec<Due>,
    has_thread: bool,
}

/// What belongs to one process.
struct Flusher {
    /// Of [`platform::forks`].
    generation: u64,
    queue: Mutex<Queue>,
    earlier: Condvar,
}

static FLUSHER: AtomicPtr<Flusher> = AtomicPtr::new(std::ptr::null_mut());

/// This process's. A parent's is leaked in the child: a thread that the child lacks may hold its mutex.
fn flusher() -> &'static Flusher {
    loop {
        let there = FLUSHER.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or comes from a box that is never freed.
        if let Some(flusher) = unsafe { there.as_ref() } {
            if flusher.generation == platform::forks() {
                return flusher;
            }
        }
        let mine = Box::into_raw(Box::new(Flusher {
            generation: platform::forks(),
            queue: Mutex::default(),
            earlier: Condvar::new(),
        }));
        if FLUSHER
            .compare_exchange(there, mine, Ordering::AcqRel, Ordering::Acquire)
            .is_err()
        {
            // SAFETY: the box was made above, and nothing else knows it.
            drop(unsafe { Box::from_raw(mine) });
        }
    }
}

/// Flushes `what` after this time. False when there is no thread, because the system refuses one: then it is left to
/// the kernel, which writes pages back after a while by itself.
pub(crate) fn schedule(io: &dyn Io, what: Weak<dyn Flush>, after: Duration) -> bool {
    let flusher = flusher();
    let mut queue = flusher.queue();
    queue.due.push(Due {
        at: Instant::now() + after,
        what,
    });
    if queue.has_thread {
        flusher.earlier.notify_one();
        return true;
    }
    let begun = io.begin_thread("polycache-flush", STACK, Box::new(|| flusher.run()));
    queue.has_thread = begun.is_ok();
    if begun.is_err() {
        // Who asks, asks again.
        queue.due.pop();
    }
    begun.is_ok()
}

/// A handle is closed: the thread, which may have nothing else to wait for, no longer flushes it. A process with a
/// thread is warned by Python when it forks.
pub(crate) fn forget(what: &Weak<dyn Flush>) {
    // SAFETY: as in `flusher`.
    let there = unsafe { FLUSHER.load(Ordering::Acquire).as_ref() };
    if let Some(flusher) = there.filter(|flusher| flusher.generation == platform::forks()) {
        let mut queue = flusher.queue();
        queue.due.retain(|due| !due.what.ptr_eq(what));
        if queue.has_thread {
            flusher.earlier.notify_one();
        }
    }
}

impl Flusher {
    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends when nothing is due any more.
    fn run(&self) {
        let mut queue = self.queue();
        loop {
            queue.due.retain(|due| due.what.strong_count() > 0);
            let next = (0..queue.due.len()).min_by_key(|place| queue.due[*place].at);
            let Some(next) = next else {
                queue.has_thread = false;
                return;
            };
            let left = queue.due[next].at.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                let waited = self.earlier.wait_timeout(queue, left);
                queue = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let due = queue.due.swap_remove(next);
            drop(queue);
            let again = due.what.upgrade().and_then(|what| what.flush_due());
            queue = self.queue();
            if let Some(after) = again {
                let at = Instant::now() + after;
                queue.due.push(Due { at, ..due });
            }
        }
    }
}
