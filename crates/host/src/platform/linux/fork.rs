//! Forks: a child shares the mapping but not the parent's liveness, blocks or mutexes.
//!
//! A handler runs in every forked child. It closes the inherited lock descriptors, so that a parent's
//! lock is dropped when the parent dies, and counts the fork; a handle that sees a changed count joins
//! anew.

use super::Descriptor;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::Once;

static FORKS: AtomicU64 = AtomicU64::new(0);
/// Descriptors to close in a child. Locks of handles beyond these stay open in the child too. That errs
/// on the safe side: the parent looks alive for longer.
static LOCKS: [AtomicI32; 1024] = [const { AtomicI32::new(-1) }; 1024];
static HANDLER: Once = Once::new();

/// Runs in the child; makes only async-signal-safe calls.
extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::SeqCst);
    for lock in &LOCKS {
        let descriptor = lock.swap(-1, Ordering::SeqCst);
        if descriptor >= 0 {
            // SAFETY: close(2) is async-signal-safe. The owner registered the descriptor and takes it
            // back before it closes it, so it is still open, and the child never uses the owner's state
            // again (it joins anew).
            unsafe { libc::close(descriptor) };
        }
    }
}

/// Number of forks between the process that first loaded the library and this one.
#[inline(always)]
pub(crate) fn forks() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

/// Makes every forked child close this descriptor.
pub(crate) fn close_in_child(descriptor: Descriptor) {
    HANDLER.call_once(|| {
        // SAFETY: the handler is a plain function, valid for the life of the program.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    for lock in &LOCKS {
        if lock
            .compare_exchange(-1, descriptor, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
        {
            return;
        }
    }
}

/// Undoes `close_in_child`, before the owner closes the descriptor.
pub(crate) fn keep_in_child(descriptor: Descriptor) {
    for lock in &LOCKS {
        if lock
            .compare_exchange(descriptor, -1, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
        {
            return;
        }
    }
}
