//! One caller of `get_or_set_many`: a [`Caller`] for each key that was not there, side by side. Threads and futures have
//! it in common; how they wait is theirs.
//!
//! It never holds a lease while it waits. It loads what it is granted at once, in one call. After that it waits for
//! what others load, and loads what falls to it in the end in another call.

use crate::caller::{Cached, Caller, Next, View};
use crate::{Error, Ttl};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::task::Waker;
use std::time::Duration;

/// The loads of one call.
pub(crate) struct Batch<'a, V: Cached, K, T> {
    view: &'a V,
    /// No two of them are the same.
    keys: &'a [K],
    ttl: Ttl,
    runner: u64,
    /// When it began to wait; time in its own loaders does not count.
    began: Duration,
    /// By the places of their keys.
    values: Vec<Option<T>>,
    /// Loads that wait for others, or have not asked yet.
    waiting: Vec<One<'a, V>>,
    /// Loads that were granted.
    granted: Vec<One<'a, V>>,
    /// Places of keys that were given up while a loader ran.
    given_up: Vec<usize>,
}

/// The load of one key.
struct One<'a, V: Cached> {
    place: usize,
    caller: Caller<'a, V>,
}

/// What the caller is to do next.
pub(crate) enum BatchNext {
    /// Nothing: it is done.
    Done,
    /// Run the loader for the keys [`Batch::asked`]; then [`Batch::loaded`] or [`Batch::failed`].
    Load,
    /// Ask again after so long, or when the waker is called.
    Wait(Duration),
}

/// The keys without repetitions.
pub(crate) fn distinct<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> Vec<K> {
    let keys: Vec<K> = keys.into_iter().collect();
    let mut seen = HashSet::with_capacity(keys.len());
    let first: Vec<bool> = keys.iter().map(|key| seen.insert(key.as_ref())).collect();
    let keys = keys.into_iter().zip(first);
    keys.filter_map(|(key, first)| first.then_some(key))
        .collect()
}

/// The keys that have values, with their values.
pub(crate) fn found<K: Eq + Hash, T>(keys: Vec<K>, values: Vec<Option<T>>) -> HashMap<K, T> {
    let pairs = keys.into_iter().zip(values);
    pairs
        .filter_map(|(key, value)| value.map(|value| (key, value)))
        .collect()
}

impl<'a, T: Serialize, V: View<T>, K: AsRef<[u8]> + Clone> Batch<'a, V, K, T> {
    /// Looks for all keys.
    ///
    /// # Errors
    /// Those of a read.
    pub fn new(
        view: &'a V,
        keys: &'a [K],
        ttl: Ttl,
        runner: u64,
        now: Duration,
    ) -> Result<Self, Error> {
        view.cache().still_open()?;
        let mut batch = Batch {
            view,
            keys,
            ttl,
            runner,
            began: now,
            values: Vec::with_capacity(keys.len()),
            waiting: Vec::new(),
            granted: Vec::new(),
            given_up: Vec::new(),
        };
        for (place, key) in keys.iter().enumerate() {
            let value = view.find(key.as_ref())?;
            if value.is_none() {
                batch.waiting.push(batch.one(place));
            }
            batch.values.push(value);
        }
        Ok(batch)
    }

    fn one(&self, place: usize) -> One<'a, V> {
        let key = self.keys[place].as_ref();
        One {
            place,
            caller: Caller::new(self.view, key, self.ttl, self.runner, self.began),
        }
    }

    /// `waker` is asked for when the caller is to wait for another one.
    ///
    /// # Errors
    /// Those of reads; `WaitTimeout`; those of loads that it joined.
    pub fn next(&mut self, waker: impl Fn() -> Waker, now: Duration) -> Result<BatchNext, Error> {
        for place in std::mem::take(&mut self.given_up) {
            match self.view.find(self.keys[place].as_ref())? {
                Some(value) => self.values[place] = Some(value),
                None => self.waiting.push(self.one(place)),
            }
        }
        let mut soonest = None;
        for mut one in std::mem::take(&mut self.waiting) {
            match one.caller.next(&waker, now)? {
                Next::Value(value) => self.values[one.place] = Some(value),
                Next::Load => self.granted.push(one),
                Next::Absent => one.caller.count_miss(),
                Next::Wait(time) => {
                    soonest = Some(soonest.map_or(time, |soonest: Duration| soonest.min(time)));
                    self.waiting.push(one);
                }
            }
        }
        Ok(match soonest {
            _ if !self.granted.is_empty() => BatchNext::Load,
            Some(time) => BatchNext::Wait(time),
            None => BatchNext::Done,
        })
    }

    /// The keys that the loader is to be called with.
    pub fn asked(&mut self) -> Vec<K> {
        // While the loader runs, this caller does not ask for keys that other processes load. Callers of this process
        // that joined such a key would wait for as long as the loader takes: they go on without this caller.
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let (follow, lead): (Vec<_>, Vec<_>) = waiting.partition(|one| one.caller.follows());
        self.waiting = follow;
        self.given_up.extend(lead.iter().map(|one| one.place));
        let granted = self.granted.iter();
        granted.map(|one| self.keys[one.place].clone()).collect()
    }

    /// Stores what the loader returned after it `took` so long. What it left out has no entry.
    ///
    /// # Errors
    /// `InvalidArgument` for a key that it was not asked for: then nothing is stored. The first error of a value that
    /// is to be raised; the others are stored.
    pub fn loaded<Q: AsRef<[u8]>>(
        &mut self,
        loaded: impl IntoIterator<Item = (Q, T)>,
        took: Duration,
    ) -> Result<(), Error> {
        let mut values: Vec<Option<T>> = self.granted.iter().map(|_| None).collect();
        let keys: &'a [K] = self.keys;
        let granted = self.granted.iter();
        let places: HashMap<&'a [u8], usize> = granted
            .map(|one| keys[one.place].as_ref())
            .zip(0..)
            .collect();
        for (key, value) in loaded {
            let Some(place) = places.get(key.as_ref()) else {
                return Err(self.failed(Error::InvalidArgument(format!(
                    "the loader returned the key {:?}, which it was not asked for",
                    String::from_utf8_lossy(key.as_ref())
                ))));
            };
            values[*place] = Some(value);
        }
        let mut failed = None;
        for (mut one, value) in std::mem::take(&mut self.granted).into_iter().zip(values) {
            let Some(value) = value else {
                one.caller.left_out();
                continue;
            };
            match one.caller.loaded(value) {
                Ok(value) => self.values[one.place] = Some(value),
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        self.began += took;
        for one in &mut self.waiting {
            one.caller.did_not_wait(took);
        }
        failed.map_or(Ok(()), Err)
    }

    /// Tells those that joined of the loader's error, which is the caller's too.
    pub fn failed(&mut self, error: Error) -> Error {
        for mut one in std::mem::take(&mut self.granted) {
            one.caller.failed(error.clone());
        }
        error
    }

    /// By the places of their keys.
    pub fn into_values(self) -> Vec<Option<T>> {
        self.values
    }
}
