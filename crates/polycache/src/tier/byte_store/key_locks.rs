//! Locks of keys: those who change one key do it one after the other, in all processes.

use super::ByteStore;
use crate::Error;
use polycache_host::hash::key_hash;
use polycache_host::{FileLocks, PerProcess};
use std::cell::Cell;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Keys share locks by their hashes.
const LOCKS: usize = 256;
/// The byte of a process that opens or closes the store.
const OPENING: u64 = 1 << 20;
/// The byte that every process holds that has the store open.
const PRESENCE: u64 = OPENING + 1;

struct Mutexes([Mutex<()>; LOCKS]);

impl Default for Mutexes {
    fn default() -> Mutexes {
        Mutexes([const { Mutex::new(()) }; LOCKS])
    }
}

pub struct KeyLocks {
    mutexes: PerProcess<Mutexes>,
    /// `None` for a store that one process has alone.
    between: Option<FileLocks>,
    presence: FileLocks,
}

thread_local! {
    /// The lock of a key that this thread holds. What the store's methods call would wait for it for ever.
    static HELD: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The lock of a key.
pub struct KeyLock<'a> {
    _lock: Lock<'a>,
}

impl Drop for KeyLock<'_> {
    fn drop(&mut self) {
        HELD.set(None);
    }
}

/// A lock, in this process and between all.
struct Lock<'a> {
    between: Option<(&'a FileLocks, u64)>,
    _mutex: MutexGuard<'a, ()>,
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if let Some((locks, byte)) = self.between {
            locks.release(byte, 1);
        }
    }
}

/// The lock of a key that was free; or the lock that the thread holds anyhow.
pub struct FreeLock<'a> {
    _lock: Option<Lock<'a>>,
}

fn number_of(stored_key: &[u8]) -> usize {
    (key_hash(0, stored_key).as_u64() >> 20) as usize % LOCKS
}

impl KeyLocks {
    pub fn new(directory: &Path, is_shared: bool) -> KeyLocks {
        let path = directory.join("locks");
        KeyLocks {
            mutexes: PerProcess::new(),
            between: is_shared.then(|| FileLocks::new(path.clone())),
            presence: FileLocks::new(path),
        }
    }

    /// Waits for the lock of a key, if need be.
    pub fn lock(&self, stored_key: &[u8], store: &dyn ByteStore) -> Result<KeyLock<'_>, Error> {
        check_free()?;
        let number = number_of(stored_key);
        let lock = self.wait(number, store)?;
        HELD.set(Some(number));
        Ok(KeyLock { _lock: lock })
    }

    fn wait(&self, number: usize, store: &dyn ByteStore) -> Result<Lock<'_>, Error> {
        let mutex = &self.mutexes.get().0[number];
        let held = match mutex.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => waited(mutex, store),
        };
        let mut between = None;
        if let Some(locks) = &self.between {
            let byte = number as u64;
            if !locks.take(byte)? {
                let mut done = Ok(());
                store.aside(&mut || done = locks.wait(byte, 1));
                done?;
            }
            between = Some((locks, byte));
        }
        Ok(Lock {
            between,
            _mutex: held,
        })
    }

    /// The lock of a key that nobody else is changing, for a thread that holds that of another key: it may not wait.
    pub fn take_free(&self, stored_key: &[u8]) -> Result<Option<FreeLock<'_>>, Error> {
        let number = number_of(stored_key);
        if HELD.get() == Some(number) {
            return Ok(Some(FreeLock { _lock: None }));
        }
        let held = match self.mutexes.get().0[number].try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        let mut between = None;
        if let Some(locks) = &self.between {
            if !locks.take(number as u64)? {
                return Ok(None);
            }
            between = Some((locks, number as u64));
        }
        Ok(Some(FreeLock {
            _lock: Some(Lock {
                between,
                _mutex: held,
            }),
        }))
    }

    /// Waits until each lock was free once: whoever was changing a key has ended then. One after the other, because all
    /// at once might never be free.
    pub fn pass_all(&self, store: &dyn ByteStore) -> Result<(), Error> {
        check_free()?;
        (0..LOCKS).try_for_each(|number| self.wait(number, store).map(drop))
    }

    /// Waits until nobody else opens or closes the store.
    pub fn begin_opening(&self) -> Result<(), Error> {
        Ok(self.presence.wait(OPENING, 1)?)
    }

    pub fn end_opening(&self) {
        self.presence.release(OPENING, 1);
    }

    /// True if no other process has the store open; then none can join.
    pub fn be_alone(&self) -> Result<bool, Error> {
        Ok(self.presence.take(PRESENCE)?)
    }

    /// Shows that this process has the store open, with others; false if one has it alone.
    pub fn be_present(&self) -> Result<bool, Error> {
        Ok(self.presence.share(PRESENCE)?)
    }

    pub fn be_absent(&self) {
        self.presence.release(PRESENCE, 1);
    }
}

fn waited<'a>(mutex: &'a Mutex<()>, store: &dyn ByteStore) -> MutexGuard<'a, ()> {
    let mut held = None;
    store.aside(&mut || held = Some(mutex.lock().unwrap_or_else(PoisonError::into_inner)));
    held.unwrap_or_else(|| mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

fn check_free() -> Result<(), Error> {
    if HELD.get().is_some() {
        return Err(Error::invalid(
            "a store's own methods, and what runs during them, cannot change the cache",
        ));
    }
    Ok(())
}
