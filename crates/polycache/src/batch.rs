//! One caller of `get_or_set_many`: a [`Caller`] for each key that was not there, side by side. Threads and futures have
//! it in common; how they wait is theirs.
//!
//! It never holds a lease while it waits. It loads what it is granted at once, in one call. After that it waits for
//! what others load, and loads what falls to it in the end in another call.

use crate::caller::{Cached, Caller, Next, View};
use crate::{Error, Ttl};
use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::task::Waker;
use std::time::Duration;

/// The keys of one call, no two of them the same.
pub(crate) trait BatchKeys {
    type Key: AsRef<[u8]> + Borrow<[u8]> + Eq + Hash;
    fn len(&self) -> usize;
    fn key(&self, place: usize) -> Self::Key;
}

impl<'a, K: AsRef<[u8]>> BatchKeys for &'a [K] {
    type Key = &'a [u8];

    fn len(&self) -> usize {
        <[K]>::len(self)
    }

    fn key(&self, place: usize) -> &'a [u8] {
        self[place].as_ref()
    }
}

/// The loads of one call. It owns its view and its keys where another thread takes its steps.
pub(crate) struct Batch<V: Cached, K: BatchKeys, T> {
    view: V,
    keys: K,
    ttl: Ttl,
    runner: u64,
    /// When it began to wait; time in its own loaders does not count.
    began: Duration,
    /// By the places of their keys.
    values: Vec<Option<T>>,
    /// Loads that wait for others, or have not asked yet.
    waiting: Vec<One<V, K::Key>>,
    /// Loads that were granted.
    granted: Vec<One<V, K::Key>>,
    /// Places of keys that were given up while a loader ran.
    given_up: Vec<usize>,
}

/// The load of one key.
struct One<V: Cached, K: AsRef<[u8]>> {
    place: usize,
    caller: Caller<V, K>,
}

/// What the caller is to do next.
pub(crate) enum BatchNext {
    /// Nothing: it is done.
    Done,
    /// Run the loader for the keys at the places [`Batch::asked`]; then [`Batch::loaded`] or [`Batch::failed`].
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

impl<T, V: View<T> + Clone, K: BatchKeys> Batch<V, K, T> {
    /// Looks for all keys.
    ///
    /// # Errors
    /// Those of a read.
    pub fn new(view: V, keys: K, ttl: Ttl, runner: u64, now: Duration) -> Result<Self, Error> {
        view.cache().still_open()?;
        let len = keys.len();
        let mut batch = Batch {
            view,
            keys,
            ttl,
            runner,
            began: now,
            values: Vec::with_capacity(len),
            waiting: Vec::new(),
            granted: Vec::new(),
            given_up: Vec::new(),
        };
        for place in 0..len {
            let value = batch.find(place)?;
            if value.is_none() {
                batch.waiting.push(batch.one(place));
            }
            batch.values.push(value);
        }
        Ok(batch)
    }

    fn find(&self, place: usize) -> Result<Option<T>, Error> {
        self.view.find(self.keys.key(place).as_ref())
    }

    fn one(&self, place: usize) -> One<V, K::Key> {
        let (view, key) = (self.view.clone(), self.keys.key(place));
        One {
            place,
            caller: Caller::new(view, key, self.ttl, self.runner, self.began),
        }
    }

    /// `waker` is asked for when the caller is to wait for another one.
    ///
    /// # Errors
    /// Those of reads; `WaitTimeout`; those of loads that it joined.
    pub fn next(&mut self, waker: impl Fn() -> Waker, now: Duration) -> Result<BatchNext, Error> {
        for place in std::mem::take(&mut self.given_up) {
            match self.find(place)? {
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

    /// The places of the keys that the loader is to be called with.
    pub fn asked(&mut self) -> impl Iterator<Item = usize> + '_ {
        // While the loader runs, this caller does not ask for keys that other processes load. Callers of this process
        // that joined such a key would wait for as long as the loader takes: they go on without this caller.
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let (follow, lead): (Vec<_>, Vec<_>) = waiting.partition(|one| one.caller.follows());
        self.waiting = follow;
        self.given_up.extend(lead.iter().map(|one| one.place));
        self.granted.iter().map(|one| one.place)
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
        let granted = self.granted.iter();
        let places: HashMap<K::Key, usize> = granted
            .map(|one| self.keys.key(one.place))
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
