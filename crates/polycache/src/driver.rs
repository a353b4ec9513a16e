//! Loads a missed key in a thread, which blocks while others load.

use crate::batch::{Batch, BatchNext};
use crate::caller::{since_start, Caller, Next, View};
use crate::observe::{self, Waits, What};
use crate::{Error, Ttl};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Wakes a thread that waits.
struct Sleeper {
    thread: Thread,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.thread.unpark();
    }
}

/// The number of this thread: unique, and never 0.
fn this_thread() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: u64 = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    }
    // A thread that ends loads nothing any more.
    NUMBER.try_with(|number| *number).unwrap_or(0)
}

/// What wakes this thread.
fn waker() -> Waker {
    let thread = std::thread::current();
    Waker::from(Arc::new(Sleeper { thread }))
}

/// Time on the clock of loads.
fn now() -> Duration {
    since_start(Instant::now())
}

/// The value of a key that was missed, blocking the thread while others load it.
#[inline(never)]
pub(crate) fn load<T, V: View<T>>(
    view: &V,
    key: &[u8],
    ttl: Ttl,
    load: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut waits = Waits::new(view.cache(), What::Key(key));
    let mut caller = Caller::new(view, key, ttl, this_thread(), now());
    loop {
        match caller.next(waker, now())? {
            Next::Value(value) => return Ok(value),
            Next::Wait(time) => {
                waits.begin();
                std::thread::park_timeout(time);
            }
            Next::Absent => {}
            Next::Load => {
                waits.pause();
                return match observe::load(view.cache(), What::Key(key), load) {
                    Ok(value) => caller.loaded(value),
                    Err(error) => Err(caller.failed(error)),
                };
            }
        }
    }
}

/// The values of several keys, by their places, blocking the thread while others load them.
pub(crate) fn load_many<T, V, K, M, Q>(
    view: &V,
    keys: &[K],
    ttl: Ttl,
    mut load: impl FnMut(Vec<K>) -> Result<M, Error>,
) -> Result<Vec<Option<T>>, Error>
where
    V: View<T>,
    K: AsRef<[u8]> + Clone,
    M: IntoIterator<Item = (Q, T)>,
    Q: AsRef<[u8]>,
{
    let mut waits = Waits::new(view.cache(), What::Keys(keys.len()));
    let mut batch = Batch::new(view, keys, ttl, this_thread(), now())?;
    loop {
        match batch.next(waker, now())? {
            BatchNext::Done => return Ok(batch.into_values()),
            BatchNext::Wait(time) => {
                waits.begin();
                std::thread::park_timeout(time);
            }
            BatchNext::Load => {
                waits.pause();
                let asked: Vec<K> = batch.asked().map(|place| keys[place].clone()).collect();
                let began = now();
                let what = What::Keys(asked.len());
                match observe::load(view.cache(), what, || load(asked)) {
                    Ok(loaded) => batch.loaded(loaded, now().saturating_sub(began))?,
                    Err(error) => return Err(batch.failed(error)),
                }
            }
        }
    }
}
