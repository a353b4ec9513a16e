//! Drives the load of a key that was missed, in a thread, which blocks while others load.

use crate::caller::{since_start, Caller, Next, View};
use crate::observe;
use crate::{Error, Ttl};
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;
use std::time::Instant;

/// Wakes a thread that waits.
struct Sleeper {
    thread: Thread,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.thread.unpark();
    }
}

/// The number of this thread; that of no other, nor 0.
fn this_thread() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: u64 = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    }
    // While the thread ends nothing of it loads.
    NUMBER.try_with(|number| *number).unwrap_or(0)
}

/// The value of a key that was missed, blocking the thread while others load it.
#[inline(never)]
pub(crate) fn load<T: Serialize, V: View<T>>(
    view: &V,
    key: &[u8],
    ttl: Ttl,
    load: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let now = || since_start(Instant::now());
    let mut caller = Caller::new(view, key, ttl, this_thread(), now());
    let waker = || {
        let thread = std::thread::current();
        Waker::from(Arc::new(Sleeper { thread }))
    };
    loop {
        match caller.next(waker, now())? {
            Next::Value(value) => return Ok(value),
            Next::Wait(time) => std::thread::park_timeout(time),
            Next::Load => {
                return match observe::load(view.cache(), key, load) {
                    Ok(value) => caller.loaded(value),
                    Err(error) => Err(caller.failed(error)),
                };
            }
        }
    }
}
