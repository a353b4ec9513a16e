//! Numbers of loom's threads, in place of `src/threads.rs`.

use std::cell::Cell;

/// More threads than any test has.
const MOST: usize = 3;

loom::thread_local! {
    static NUMBER: Cell<usize> = Cell::new(MOST);
    static INSIDE: Cell<usize> = Cell::new(0);
}

/// Gives this thread its number.
pub(crate) fn be(number: usize) {
    assert!(number < MOST);
    NUMBER.with(|mine| mine.set(number));
}

pub(crate) fn number() -> usize {
    NUMBER.with(Cell::get)
}

pub(crate) fn given() -> usize {
    MOST
}

pub(crate) fn inside() -> usize {
    INSIDE.with(Cell::get)
}

pub(crate) fn set_inside(lock: usize) -> usize {
    INSIDE.with(|inside| inside.replace(lock))
}
