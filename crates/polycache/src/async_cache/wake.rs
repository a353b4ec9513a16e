//! What wakes a future whose steps other threads take: they have no waker of its task.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Whether it was woken since it last waited.
#[derive(Default)]
pub(super) struct Woken(Arc<Notified>);

#[derive(Default)]
struct Notified(Notify);

impl Wake for Notified {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

impl Woken {
    pub fn waker(&self) -> Waker {
        Waker::from(self.0.clone())
    }

    /// Waits so long, or until it is woken.
    pub async fn wait(&self, time: Duration) {
        let _ = timeout(time, self.0 .0.notified()).await;
    }
}
