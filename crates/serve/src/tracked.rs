//! Numbers of the server itself.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

/// What the server did since it was started.
#[derive(Default)]
pub(crate) struct Counts {
    /// Answers by the first digit of their status; 0 is not used.
    pub answers: [AtomicU64; 6],
    /// Connections that are open.
    pub connections: Gauge,
    /// Connections that were refused, because there were too many.
    pub refused: AtomicU64,
    /// Clients that listen to streams.
    pub listeners: Gauge,
    /// Clients that were dropped because they read too slowly, of a stream or of any answer.
    pub slow: AtomicU64,
}

/// How many there are.
#[derive(Clone, Default)]
pub(crate) struct Gauge(Arc<AtomicUsize>);

/// One of them, until it is dropped.
pub(crate) struct One(Gauge);

impl Gauge {
    pub fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// One more, unless there are `most`.
    pub fn take(&self, most: usize) -> Option<One> {
        let more = |now| (now < most).then_some(now + 1);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| One(self.clone()))
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0 .0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
