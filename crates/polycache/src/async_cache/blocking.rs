//! Work that waits for a server or a disk: on tokio's threads for blocking work, never on the caller's.

use crate::observe::carried;
use crate::Error;
use tokio::runtime::Handle;

/// Runs slow work on a thread for blocking work. If its caller is dropped meanwhile, it goes on to its end.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(carried(work)).await {
        Ok(done) => done,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::Io("the runtime is shutting down".into())),
        },
    }
}

/// Runs what nobody waits for, on a thread of its own where there is no runtime.
pub(crate) fn elsewhere(work: impl FnOnce() + Send + 'static) {
    let work = InAnyCase(Some(carried(work)));
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(move || drop(work))),
        Err(_) => drop(std::thread::Builder::new().spawn(move || drop(work))),
    }
}

/// Work that is done when this is dropped: by a runtime that ends, or where no thread can be started, too.
struct InAnyCase<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for InAnyCase<F> {
    fn drop(&mut self) {
        if let Some(work) = self.0.take() {
            work();
        }
    }
}

/// What may wait for a server in its steps and when it is dropped: both happen on other threads.
pub(crate) struct Elsewhere<T: Send + 'static>(Option<T>);

impl<T: Send + 'static> Elsewhere<T> {
    pub fn new(inner: T) -> Elsewhere<T> {
        Elsewhere(Some(inner))
    }

    /// Takes a step. After an error it is gone.
    pub async fn step<R: Send + 'static>(
        self,
        step: impl FnOnce(&mut T) -> Result<R, Error> + Send + 'static,
    ) -> Result<(Elsewhere<T>, R), Error> {
        blocking(move || {
            // Without the cover: this thread may wait, and after an error or a panic it is the one that does.
            let mut inner = self.into_inner();
            let done = step(&mut inner)?;
            Ok((Elsewhere::new(inner), done))
        })
        .await
    }

    /// To be dropped where it waits for nobody.
    pub fn into_inner(mut self) -> T {
        self.0.take().expect("it is there between its steps")
    }
}

impl<T: Send + 'static> Drop for Elsewhere<T> {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            elsewhere(move || drop(inner));
        }
    }
}
