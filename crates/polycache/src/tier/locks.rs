//! The locks of a process without a directory.

use polycache_host::Token;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The holder of each lock, by full keys.
#[derive(Default)]
pub(crate) struct Locks(Mutex<Held>);

#[derive(Default)]
struct Held {
    last: u64,
    by_key: HashMap<Vec<u8>, u64>,
}

impl Locks {
    /// The lock, if it is free.
    pub fn take(&self, full_key: Vec<u8>) -> Option<Token> {
        let mut held = self.held();
        if held.by_key.contains_key(&full_key) {
            return None;
        }
        held.last += 1;
        let word = held.last;
        held.by_key.insert(full_key, word);
        Some(Token {
            slot: 0,
            word,
            born: 0,
            beside: false,
        })
    }

    /// Gives a lock back, if it is still this one.
    pub fn give_back(&self, full_key: &[u8], token: Token) {
        let mut held = self.held();
        if held.by_key.get(full_key) == Some(&token.word) {
            held.by_key.remove(full_key);
        }
    }

    pub fn is_taken(&self, full_key: &[u8]) -> bool {
        self.held().by_key.contains_key(full_key)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
