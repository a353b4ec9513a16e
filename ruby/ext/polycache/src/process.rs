//! Which process this is: a number that a fork changes. Asking the system for an id costs as much as
//! half a load does here.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Once;

static FORKS: AtomicU32 = AtomicU32::new(0);

/// From here on a fork is noticed.
pub(crate) fn watch() {
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    static WATCHED: Once = Once::new();
    // SAFETY: the function only counts, which a child may do.
    WATCHED.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// How many forks lie between this process and the one that loaded the extension.
#[inline]
pub(crate) fn number() -> u32 {
    FORKS.load(Ordering::Relaxed)
}
