//! The namespaces of a thread by number: how a plain callback finds the one it is called for. A number
//! that is wrong is refused, which a pointer would not be.

use crate::error;
use crate::namespace::Namespace;
use napi::Result;
use std::cell::RefCell;

thread_local! {
    static NAMESPACES: RefCell<Vec<Option<Namespace>>> = const { RefCell::new(Vec::new()) };
}

/// Adds a namespace and returns its number.
pub(crate) fn add(namespace: Namespace) -> u32 {
    NAMESPACES.with_borrow_mut(|all| {
        let free = all.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            all.push(None);
            all.len() - 1
        });
        all[place] = Some(namespace);
        place as u32
    })
}

/// Drops a namespace. Does nothing when the thread is ending, which drops all.
pub(crate) fn remove(number: u32) {
    let removed = NAMESPACES.try_with(|all| all.borrow_mut().get_mut(number as usize)?.take());
    // Outside the borrow: with the last namespace a directory may be closed.
    drop(removed);
}

/// Calls `f` with a namespace.
#[inline(always)]
pub(crate) fn with<R>(number: u32, f: impl FnOnce(&mut Namespace) -> Result<R>) -> Result<R> {
    NAMESPACES.with_borrow_mut(|all| match all.get_mut(number as usize) {
        Some(Some(namespace)) => f(namespace),
        _ => Err(error::invalid("no such namespace")),
    })
}
