//! Loads under way in the memory tier alone: since when, so that one that takes too long loses its key.

use super::key::Key;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Loads under way.
#[derive(Default)]
pub(crate) struct Loads(Mutex<Known>);

#[derive(Default)]
struct Known {
    by_key: HashMap<Key, Load>,
    last: u64,
}

#[derive(Clone, Copy)]
struct Load {
    number: u64,
    since: Instant,
}

/// A load, until it is dropped.
pub(crate) struct Listed<'a> {
    loads: &'a Loads,
    key: Key,
    number: u64,
}

/// What a caller who waits for a load should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Wait on, so long at most.
    Wait(Duration),
    /// Take the load's key from it: it took too long, and is not listed any more.
    Over,
    /// There is no such load: it begins or ends just now, or lost its key.
    Unlisted,
}

impl Loads {
    /// Lists a load that begins now.
    pub fn begin(&self, key: Key) -> Listed<'_> {
        let mut known = self.lock();
        known.last += 1;
        let load = Load {
            number: known.last,
            since: Instant::now(),
        };
        known.by_key.insert(key.clone(), load);
        Listed {
            loads: self,
            key,
            number: load.number,
        }
    }

    /// What who waits for this key should do, when loads may take so long. One caller is told that a
    /// load is over.
    pub fn patience(&self, key: &Key, timeout: Duration) -> Patience {
        let mut known = self.lock();
        let Some(load) = known.by_key.get(key) else {
            return Patience::Unlisted;
        };
        match timeout.checked_sub(load.since.elapsed()) {
            Some(left) if !left.is_zero() => Patience::Wait(left),
            _ => {
                known.by_key.remove(key);
                Patience::Over
            }
        }
    }

    pub fn count(&self) -> u64 {
        self.lock().by_key.len() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Whoever panicked left it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        let mut known = self.loads.lock();
        let listed = known.by_key.get(&self.key);
        if listed.is_some_and(|load| load.number == self.number) {
            known.by_key.remove(&self.key);
        }
    }
}
