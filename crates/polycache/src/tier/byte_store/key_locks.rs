//! Locks of keys: those who change one key do it one after the other, in all processes.

use super::word_locks::{Held, WordLocks};
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
    between: Option<WordLocks>,
    file: FileLocks,
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

/// A lock, in this process and between all: given back between all first.
struct Lock<'a> {
    _between: Option<Held<'a>>,
    _mutex: MutexGuard<'a, ()>,
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
            between: is_shared.then(|| WordLocks::new(&path, LOCKS)),
            file: FileLocks::new(path),
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
        let between = match &self.between {
            Some(locks) => Some(self.between(locks, number, store)?),
            None => None,
        };
        Ok(Lock {
            _between: between,
            _mutex: held,
        })
    }

    #[inline]
    fn between<'a>(
        &'a self,
        locks: &'a WordLocks,
        number: usize,
        store: &dyn ByteStore,
    ) -> Result<Held<'a>, Error> {
        if let Some(held) = locks.take(number, &self.file)? {
            return Ok(held);
        }
        let mut waited = None;
        store.aside(&mut || waited = Some(locks.wait(number, &self.file)));
        waited.unwrap_or_else(|| locks.wait(number, &self.file))
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
        let between = match &self.between {
            Some(locks) => match locks.take(number, &self.file)? {
                Some(held) => Some(held),
                None => return Ok(None),
            },
            None => None,
        };
        Ok(Some(FreeLock {
            _lock: Some(Lock {
                _between: between,
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
        Ok(self.file.wait(OPENING, 1)?)
    }

    /// The locks of a process that is alone are free, whatever it finds.
    pub fn open(&self, alone: bool) -> Result<(), Error> {
        if let Some(locks) = &self.between {
            locks.open()?;
            if alone {
                locks.free_all();
            }
        }
        Ok(())
    }

    pub fn end_opening(&self) {
        self.file.release(OPENING, 1);
    }

    /// True if no other process has the store open; then none can join.
    pub fn be_alone(&self) -> Result<bool, Error> {
        Ok(self.file.take(PRESENCE)?)
    }

    /// Shows that this process has the store open, with others; false if one has it alone.
    pub fn be_present(&self) -> Result<bool, Error> {
        Ok(self.file.share(PRESENCE)?)
    }

    pub fn be_absent(&self) {
        self.file.release(PRESENCE, 1);
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
