//! The namespaces of a thread by number.

use crate::error;
use crate::namespace::Namespace;
use crate::slab::Slab;
use napi::Result;
use std::cell::RefCell;

thread_local! {
    static NAMESPACES: RefCell<Slab<Namespace>> = const { RefCell::new(Slab::new()) };
}

/// Adds a namespace and returns its number.
pub(crate) fn add(namespace: Namespace) -> u32 {
    NAMESPACES.with_borrow_mut(|all| all.add(namespace))
}

/// Drops a namespace. Does nothing when the thread is ending, which drops all.
pub(crate) fn remove(number: u32) {
    let removed = NAMESPACES.try_with(|all| all.borrow_mut().remove(number));
    // Outside the borrow: with the last namespace a directory may be closed.
    drop(removed);
}

/// Calls `f` with a namespace.
#[inline(always)]
pub(crate) fn with<R>(number: u32, f: impl FnOnce(&mut Namespace) -> Result<R>) -> Result<R> {
    NAMESPACES.with_borrow_mut(|all| match all.get(number) {
        Some(namespace) => f(namespace),
        None => Err(error::invalid("no such namespace")),
    })
}
