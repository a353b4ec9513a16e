//! A load in progress: what its loader's caller and the waiting callers share.

use crate::sync::{lock, thread_id, wait_for, Arc, Condvar, Mutex, ThreadId};
use crate::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The last number given.
static LAST: AtomicU64 = AtomicU64::new(0);

/// A load.
#[derive(Debug)]
pub(crate) struct Load<V> {
    /// Unique among all loads.
    pub number: u64,
    pub since: Instant,
    /// The thread that runs the loader, if the loader stays on one.
    loader: Option<ThreadId>,
    /// The result of the load. Read without a lock, so that values are cloned without one.
    outcome: OnceLock<Outcome<V>>,
    waiting: Mutex<Waiting>,
    over: Condvar,
}

/// The result of a load.
#[derive(Clone, Debug)]
pub(crate) enum Outcome<V> {
    Value(V),
    /// Its loader's error.
    Failed(Error),
    /// The loader of many keys left this one out: there is no value for others who load many keys. Each caller
    /// that wants this key alone looks again.
    Absent,
    /// Nothing: waiting callers look again, and one of them loads.
    Nothing,
}

#[derive(Debug, Default)]
struct Waiting {
    over: bool,
    /// The waiting futures, each under a number of its own.
    wakers: Vec<(u64, Waker)>,
    next: u64,
}

impl<V> Load<V> {
    /// A load that this thread runs to its end.
    pub fn on_this_thread() -> Arc<Load<V>> {
        Load::new(Some(thread_id()))
    }

    /// A load that runs wherever its future is polled.
    pub fn anywhere() -> Arc<Load<V>> {
        Load::new(None)
    }

    fn new(loader: Option<ThreadId>) -> Arc<Load<V>> {
        Arc::new(Load {
            number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            since: Instant::now(),
            loader,
            outcome: OnceLock::new(),
            waiting: Mutex::default(),
            over: Condvar::new(),
        })
    }

    /// True when this thread would wait for itself.
    pub fn is_mine(&self) -> bool {
        self.loader == Some(thread_id())
    }

    /// Ends the load with what the waiting callers get.
    pub fn end(&self, outcome: Outcome<V>) {
        // The first end counts. An end with a value comes from the caller that took the load off its
        // shard's list, and no other caller ends the load before that.
        let _ = self.outcome.set(outcome);
        let mut waiting = lock(&self.waiting);
        waiting.over = true;
        let wakers = std::mem::take(&mut waiting.wakers);
        drop(waiting);
        self.over.notify_all();
        for (_, waker) in wakers {
            waker.wake();
        }
    }

    /// Waits at most this long, blocking the thread; `None` on timeout.
    pub fn wait(&self, mut patience: Duration) -> Option<&Outcome<V>> {
        let begun = Instant::now();
        let mut waiting = lock(&self.waiting);
        while !waiting.over {
            if patience.is_zero() {
                return None;
            }
            waiting = wait_for(&self.over, waiting, patience);
            patience = patience.saturating_sub(begun.elapsed());
        }
        drop(waiting);
        self.outcome.get()
    }
}

/// A load that will not be stored. Drop it after the lock is released: dropping lets waiting callers
/// look again, and they find what came in between, or load.
pub(crate) struct Invalidated<K, V> {
    /// Also dropped after the lock is released.
    _key: K,
    load: Arc<Load<V>>,
}

impl<K, V> Invalidated<K, V> {
    #[inline]
    pub fn new(key: K, load: Arc<Load<V>>) -> Invalidated<K, V> {
        Invalidated { _key: key, load }
    }
}

impl<K, V> Drop for Invalidated<K, V> {
    fn drop(&mut self) {
        self.load.end(Outcome::Nothing);
    }
}

/// Waits without blocking for the result of a load.
pub(crate) struct Joined<V> {
    load: Arc<Load<V>>,
    /// The number that its waker is listed under.
    number: Option<u64>,
}

impl<V> Joined<V> {
    pub fn new(load: Arc<Load<V>>) -> Joined<V> {
        Joined { load, number: None }
    }
}

impl<V: Clone> Future for Joined<V> {
    type Output = Outcome<V>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<V>> {
        // Clone and drop of a waker may be user code: not under the mutex.
        let waker = context.waker().clone();
        let me = &mut *self;
        let mut waiting = lock(&me.load.waiting);
        if waiting.over {
            drop(waiting);
            me.number = None;
            let outcome = me.load.outcome.get().cloned();
            return Poll::Ready(outcome.unwrap_or(Outcome::Nothing));
        }
        let number = *me.number.get_or_insert(waiting.next);
        waiting.next = waiting.next.max(number + 1);
        let listed = waiting
            .wakers
            .iter_mut()
            .find(|(other, _)| *other == number);
        let old = match listed {
            Some((_, listed)) => Some(std::mem::replace(listed, waker)),
            None => {
                waiting.wakers.push((number, waker));
                None
            }
        };
        drop(waiting);
        drop(old);
        Poll::Pending
    }
}

impl<V> Drop for Joined<V> {
    fn drop(&mut self) {
        let Some(number) = self.number else {
            return;
        };
        let mut waiting = lock(&self.load.waiting);
        let place = waiting
            .wakers
            .iter()
            .position(|(other, _)| *other == number);
        let waker = place.map(|place| waiting.wakers.swap_remove(place));
        drop(waiting);
        drop(waker);
    }
}
