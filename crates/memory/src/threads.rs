//! A small number for every thread, so that each has a place of its own in arrays.

use crate::sync::{lock, thread_local, AtomicUsize, Mutex, Ordering};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Of a thread that has no number yet.
const NONE: usize = usize::MAX;
/// Of a thread that is ending and gave its number back: no array has this place.
const GONE: usize = usize::MAX - 1;

thread_local! {
    // Without a destructor, hence a plain read.
    static NUMBER: Cell<usize> = const { Cell::new(NONE) };
    static HELD: Held = Held::take();
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Which lock this thread reads without a place of its own: the latest, by its address; 0 is none.
pub(crate) fn inside() -> usize {
    INSIDE.with(Cell::get)
}

/// Says so, and returns what was said before.
pub(crate) fn set_inside(lock: usize) -> usize {
    INSIDE.with(|inside| inside.replace(lock))
}

/// Numbers that were given back, to be given again, the smallest first.
static FREE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
/// Every number that was ever given is below.
static GIVEN: AtomicUsize = AtomicUsize::new(0);

/// This thread's number; no other living thread has it.
#[inline]
pub(crate) fn number() -> usize {
    match NUMBER.with(Cell::get) {
        NONE => first(),
        number => number,
    }
}

/// Every number given so far is below. A thread that got its number before an operation that is
/// sequentially consistent is counted by everybody who calls this after it in their one order.
#[inline]
pub(crate) fn given() -> usize {
    GIVEN.load(Ordering::SeqCst)
}

#[cold]
fn first() -> usize {
    // Fails while the thread's locals are being destroyed.
    HELD.try_with(|held| held.0).unwrap_or(GONE)
}

/// A number, until its thread ends.
struct Held(usize);

impl Held {
    fn take() -> Held {
        let mut free = lock(&FREE);
        let number = free.pop_first().unwrap_or_else(|| {
            // Under the mutex: numbers have no gaps.
            GIVEN.fetch_add(1, Ordering::SeqCst)
        });
        drop(free);
        NUMBER.with(|mine| mine.set(number));
        Held(number)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        NUMBER.with(|mine| mine.set(GONE));
        lock(&FREE).insert(self.0);
    }
}
