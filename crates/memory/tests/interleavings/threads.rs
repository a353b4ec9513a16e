//! Numbers of shuttle's threads, in place of `src/threads.rs`.

/// More threads than any test has.
const MOST: usize = 6;

pub(crate) fn number() -> usize {
    let number = shuttle::current::me().into();
    assert!(number < MOST);
    number
}

pub(crate) fn given() -> usize {
    MOST
}

shuttle::thread_local! {
    static INSIDE: std::cell::Cell<usize> = std::cell::Cell::new(0);
}

pub(crate) fn inside() -> usize {
    INSIDE.with(std::cell::Cell::get)
}

pub(crate) fn set_inside(lock: usize) -> usize {
    INSIDE.with(|inside| inside.replace(lock))
}
