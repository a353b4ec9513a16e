//! Locks by a key's name, for adapters such as dogpile.cache's mutex.

use crate::lock::LockStep;
use crate::{Cache, Error};
use polycache_host::Token;
use std::fmt;
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
    held: Mutex<Option<Token>>,
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
                LockStep::Acquired(token) => return Ok(self.hold(token)),
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
        let locking = self.cache.locking(wait);
        loop {
            match self.cache.lock_step(&self.key, &locking)? {
                LockStep::Acquired(token) => return Ok(self.hold(token)),
                LockStep::Refused => return Ok(false),
                LockStep::Wait(time) => tokio::time::sleep(time).await,
            }
        }
    }

    /// Gives the lock back; does nothing if this one does not hold it.
    pub fn release(&self) {
        let held = self
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(token) = held {
            self.cache.unlock(&self.key, token);
        }
    }

    /// True while the lock is held, by any process.
    ///
    /// # Errors
    /// `Closed`.
    pub fn locked(&self) -> Result<bool, Error> {
        self.cache.is_locked(&self.key)
    }

    fn hold(&self, token: Token) -> bool {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        true
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.release();
    }
}
