//! Waiting for a future, blocking the thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

/// How a wait ended.
pub(crate) enum Waited<T> {
    Done(T),
    /// There was no patience left.
    GivenUp,
}

/// A thread that waits.
struct Sleeper {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Runs a future to its end, unless `patience`, which is asked whenever it waits, gives up.
pub(crate) fn block_on<T>(
    mut future: Pin<&mut impl Future<Output = T>>,
    mut patience: impl FnMut() -> Option<Duration>,
) -> Waited<T> {
    let sleeper = Arc::new(Sleeper {
        thread: std::thread::current(),
        woken: AtomicBool::new(false),
    });
    let waker = Waker::from(sleeper.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Waited::Done(done);
        }
        while !sleeper.woken.swap(false, Ordering::Acquire) {
            let Some(left) = patience() else {
                return Waited::GivenUp;
            };
            std::thread::park_timeout(left);
        }
    }
}

/// What the future has to say now, if anything.
#[cfg(feature = "tokio")]
pub(crate) async fn poll_once<T>(mut future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}
