//! The locks of a process without a directory.

use polycache_host::Token;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The holder of each lock, by full keys.
#[derive(Default)]
pub(crate) struct Locks(Mutex<LocksByKey>);

#[derive(Default)]
struct LocksByKey {
    last: u64,
    by_key: HashMap<Vec<u8>, u64>,
}

impl Locks {
    /// The lock, if it is free.
    pub fn take(&self, full_key: Vec<u8>) -> Option<Token> {
        let mut locks = self.locks();
        if locks.by_key.contains_key(&full_key) {
            return None;
        }
        locks.last += 1;
        let word = locks.last;
        locks.by_key.insert(full_key, word);
        Some(Token {
            slot: 0,
            word,
            born: 0,
            beside: false,
        })
    }

    /// Gives a lock back, if it is still this one.
    pub fn give_back(&self, full_key: &[u8], token: Token) {
        let mut locks = self.locks();
        if locks.by_key.get(full_key) == Some(&token.word) {
            locks.by_key.remove(full_key);
        }
    }

    pub fn is_taken(&self, full_key: &[u8]) -> bool {
        self.locks().by_key.contains_key(full_key)
    }

    fn locks(&self) -> MutexGuard<'_, LocksByKey> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
