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
    /// Whether this thread holds the lock of a key. What the store's methods call would wait for it for ever.
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// The lock of a key, or of all.
pub struct KeyLock<'a> {
    between: Option<(&'a FileLocks, u64, u64)>,
    _mutexes: Held<'a>,
}

/// Of this process.
#[allow(dead_code)]
enum Held<'a> {
    One(MutexGuard<'a, ()>),
    All(Vec<MutexGuard<'a, ()>>),
}

impl Drop for KeyLock<'_> {
    fn drop(&mut self) {
        if let Some((locks, byte, len)) = self.between {
            locks.release(byte, len);
        }
        HOLDS.set(false);
    }
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
    pub fn lock(&self, full_key: &[u8], store: &dyn ByteStore) -> Result<KeyLock<'_>, Error> {
        check_free()?;
        let number = (key_hash(0, full_key).as_u64() >> 20) as usize % LOCKS;
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
            between = Some((locks, byte, 1));
        }
        HOLDS.set(true);
        Ok(KeyLock {
            between,
            _mutexes: Held::One(held),
        })
    }

    /// Waits for all locks: whoever changes a key has ended then.
    pub fn lock_all(&self, store: &dyn ByteStore) -> Result<KeyLock<'_>, Error> {
        check_free()?;
        let mutexes = &self.mutexes.get().0;
        let mut held = Vec::with_capacity(LOCKS);
        for mutex in mutexes {
            held.push(waited(mutex, store));
        }
        let mut between = None;
        if let Some(locks) = &self.between {
            let mut done = Ok(());
            store.aside(&mut || done = locks.wait(0, LOCKS as u64));
            done?;
            between = Some((locks, 0, LOCKS as u64));
        }
        HOLDS.set(true);
        Ok(KeyLock {
            between,
            _mutexes: Held::All(held),
        })
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
    if HOLDS.get() {
        return Err(Error::invalid(
            "a store's own methods, and what runs during them, cannot change the cache",
        ));
    }
    Ok(())
}
