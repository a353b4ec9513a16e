//! Forks: a child shares the mapping but not the parent's liveness, blocks or mutexes.
//!
//! A handler that runs in every forked child closes the inherited lock descriptors, so that a parent's
//! lock falls with the parent, and counts; a handle that sees the count changed joins anew.

use super::Descriptor;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::Once;

static FORKS: AtomicU64 = AtomicU64::new(0);
/// Descriptors to close in a child. A handle beyond these leaves its lock to the child as well, which
/// errs on the safe side: its parent looks alive for longer.
static LOCKS: [AtomicI32; 1024] = [const { AtomicI32::new(-1) }; 1024];
static HANDLER: Once = Once::new();

/// Runs in the child; only async-signal-safe calls.
extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::SeqCst);
    for lock in &LOCKS {
        let descriptor = lock.swap(-1, Ordering::SeqCst);
        if descriptor >= 0 {
            // SAFETY: close(2) is async-signal-safe; the descriptor was registered by its owner, whose
            // state the child never uses again (it joins anew).
            unsafe { libc::close(descriptor) };
        }
    }
}

/// Forks that lie between this process and the first one that loaded the library.
#[inline(always)]
pub(crate) fn forks() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

/// Has a child close this descriptor.
pub(crate) fn close_in_child(descriptor: Descriptor) {
    HANDLER.call_once(|| {
        // SAFETY: the handler is a plain function that lives as long as the program.
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

/// Takes a descriptor back before its owner closes it.
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
