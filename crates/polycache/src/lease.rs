//! Locks by a key's name, for adapters such as dogpile.cache's mutex.

#[cfg(feature = "tokio")]
use crate::async_cache::elsewhere;
use crate::lock::LockStep;
use crate::{Cache, Error};
use polycache_host::Token;
use std::fmt;
#[cfg(feature = "tokio")]
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A lock by a key's name, for every process and language on the machine. From [`Cache::lease`].
///
/// It has nothing to do with the key's entry, nor with loads of it. A holder keeps it until it releases it or dies.
/// Under great pressure of other leases it may be lost: what it guards must stay right without it. Dropping it releases
/// it.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
/// use std::time::Duration;
/// let rebuild = cache.lease("rebuild");
/// if rebuild.acquire(Duration::ZERO)? {
///     // One process at a time is here.
///     assert!(cache.lease("rebuild").locked()?);
///     rebuild.release();
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Lease {
    cache: Cache,
    key: Vec<u8>,
    held: Mutex<Option<Held>>,
}

/// A lock that is held until this is dropped.
struct Held {
    cache: Cache,
    key: Vec<u8>,
    token: Token,
    /// A future holds it, whose thread must not wait for a server.
    #[cfg(feature = "tokio")]
    elsewhere: bool,
}

impl Held {
    fn new(cache: &Cache, key: &[u8], token: Token) -> Held {
        Held {
            cache: cache.clone(),
            key: key.to_vec(),
            token,
            #[cfg(feature = "tokio")]
            elsewhere: false,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        #[cfg(feature = "tokio")]
        if self.elsewhere {
            let (cache, key, token) = (
                self.cache.clone(),
                std::mem::take(&mut self.key),
                self.token,
            );
            return elsewhere(move || cache.unlock(&key, token));
        }
        self.cache.unlock(&self.key, self.token);
    }
}

impl Cache {
    /// A lock by the key's name; it is not held yet.
    #[must_use]
    pub fn lease(&self, key: impl AsRef<[u8]>) -> Lease {
        Lease {
            cache: self.clone(),
            key: key.as_ref().to_vec(),
            held: Mutex::new(None),
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("key", &String::from_utf8_lossy(&self.key))
            .finish_non_exhaustive()
    }
}

impl Lease {
    /// Takes the lock, and waits so long for it, blocking the thread. False when another held it all the time, or
    /// this one holds it already. [`Builder::wait_timeout`](crate::Builder::wait_timeout) is the
    /// time that callers wait for loads.
    ///
    /// # Errors
    /// `Closed`.
    pub fn acquire(&self, wait: Duration) -> Result<bool, Error> {
        let locking = self.cache.locking(wait);
        loop {
            match self.cache.lock_step(&self.key, &locking)? {
                LockStep::Acquired(token) => {
                    return Ok(self.hold(Held::new(&self.cache, &self.key, token)))
                }
                LockStep::Refused => return Ok(false),
                LockStep::Wait(time) => std::thread::sleep(time),
            }
        }
    }

    /// As [`Lease::acquire`], without blocking the thread.
    ///
    /// # Errors
    /// The same errors.
    #[cfg(feature = "tokio")]
    pub async fn acquire_async(&self, wait: Duration) -> Result<bool, Error> {
        let locking = Arc::new(self.cache.locking(wait));
        loop {
            let asked = locking.clone();
            let step = self.run(move |cache, key| {
                let step = cache.lock_step(key, &asked)?;
                Ok(match step {
                    // Held at once: its caller may have been dropped.
                    LockStep::Acquired(token) => {
                        let mut held = Held::new(cache, key, token);
                        held.elsewhere = cache.tier().waits();
                        Ok(held)
                    }
                    step => Err(step),
                })
            });
            match step.await? {
                Ok(held) => return Ok(self.hold(held)),
                Err(LockStep::Wait(time)) => tokio::time::sleep(time).await,
                Err(_) => return Ok(false),
            }
        }
    }

    /// Gives the lock back; does nothing if this one does not hold it. After [`Lease::acquire_async`] over a remote tier
    /// it does not wait for the server, and nor does dropping this lease.
    pub fn release(&self) {
        drop(self.take_held());
    }

    /// As [`Lease::release`], and returns when it is given back, without blocking the thread.
    #[cfg(feature = "tokio")]
    pub async fn release_async(&self) {
        let Some(mut held) = self.take_held() else {
            return;
        };
        held.elsewhere = false;
        // If the runtime ends it is dropped, and given back.
        let _ = self
            .run(move |_, _| {
                drop(held);
                Ok(())
            })
            .await;
    }

    /// True while the lock is held, by any process.
    ///
    /// # Errors
    /// `Closed`.
    pub fn locked(&self) -> Result<bool, Error> {
        self.cache.is_locked(&self.key)
    }

    /// As [`Lease::locked`], without blocking the thread.
    ///
    /// # Errors
    /// `Closed`.
    #[cfg(feature = "tokio")]
    pub async fn locked_async(&self) -> Result<bool, Error> {
        self.run(|cache, key| cache.is_locked(key)).await
    }

    #[cfg(feature = "tokio")]
    async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Cache, &[u8]) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        crate::async_cache::run(&self.cache, &self.key, work).await
    }

    fn take_held(&self) -> Option<Held> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.take()
    }

    fn hold(&self, held: Held) -> bool {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        true
    }
}
