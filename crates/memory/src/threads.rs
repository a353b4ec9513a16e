//! A small number for every thread, so that each has its own place in arrays.

use crate::sync::{lock, thread_local, AtomicUsize, Mutex, Ordering};
use std::cell::Cell;
use std::collections::BTreeSet;

/// The thread has no number yet.
const NONE: usize = usize::MAX;
/// The thread is ending and has returned its number: no array has this place.
const GONE: usize = usize::MAX - 1;

thread_local! {
    // Without a destructor, so reading it is a plain load.
    static NUMBER: Cell<usize> = const { Cell::new(NONE) };
    static THREAD_NUMBER: ThreadNumber = ThreadNumber::take();
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// The address of the lock that this thread reads without a place, the latest one; 0 for none.
pub(crate) fn inside() -> usize {
    INSIDE.with(Cell::get)
}

/// Sets it, and returns the previous one.
pub(crate) fn set_inside(lock: usize) -> usize {
    INSIDE.with(|inside| inside.replace(lock))
}

/// Returned numbers, reused from the smallest up.
static FREE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
/// Greater than every number given so far.
static GIVEN: AtomicUsize = AtomicUsize::new(0);

/// This thread's number; no other living thread has it.
#[inline]
pub(crate) fn number() -> usize {
    match NUMBER.with(Cell::get) {
        NONE => first(),
        number => number,
    }
}

/// Greater than every number given so far. If a thread got its number before one of its sequentially
/// consistent operations, every thread that calls this later in their single order counts it.
#[inline]
pub(crate) fn given() -> usize {
    GIVEN.load(Ordering::SeqCst)
}

#[cold]
fn first() -> usize {
    // Fails while the thread's locals are being destroyed.
    THREAD_NUMBER.try_with(|number| number.0).unwrap_or(GONE)
}

/// A number, until its thread ends.
struct ThreadNumber(usize);

impl ThreadNumber {
    fn take() -> ThreadNumber {
        let mut free = lock(&FREE);
        let number = free.pop_first().unwrap_or_else(|| {
            // Under the mutex, so that numbers have no gaps.
            GIVEN.fetch_add(1, Ordering::SeqCst)
        });
        drop(free);
        NUMBER.with(|mine| mine.set(number));
        ThreadNumber(number)
    }
}

impl Drop for ThreadNumber {
    fn drop(&mut self) {
        NUMBER.with(|mine| mine.set(GONE));
        lock(&FREE).insert(self.0);
    }
}
