//! What blocking and async loads have in common.

use crate::cache::{Place, HITS, MISSES};
use crate::clock::Moment;
use crate::load::{Load, Outcome};
use crate::removed::Removed;
use crate::shard::{Lookup, New};
use crate::sync::Arc;
use crate::{Error, MemoryCache, Ttl};
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

/// The origin of a value that [`MemoryCache::load_async`] returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded<V> {
    /// From the cache, or from the load of another caller.
    Found(V),
    /// From the caller's own loader; it was stored.
    Stored(V),
    /// From the caller's own loader, but not stored: a set, delete or clear came first, or the value
    /// expired at once.
    NotStored(V),
}

impl<V> Loaded<V> {
    /// The value.
    pub fn into_value(self) -> V {
        match self {
            Loaded::Found(value) | Loaded::Stored(value) | Loaded::NotStored(value) => value,
        }
    }
}

/// What remains to be done for a caller that wants a value.
pub(crate) enum Step<'a, K: Eq + Hash, V: Clone, S: BuildHasher> {
    /// Nothing: there is a value.
    Have(V),
    /// Wait for another caller's load.
    Wait(Arc<Load<V>>),
    /// Load the value.
    Load(Loading<'a, K, V, S>),
}

/// The caller's own load. Dropped before its end, it leaves the key to the next caller.
pub(crate) struct Loading<'a, K: Eq + Hash, V: Clone, S: BuildHasher> {
    cache: &'a MemoryCache<K, V, S>,
    place: Place,
    load: Arc<Load<V>>,
    over: bool,
}

impl<'a, K: Eq + Hash, V: Clone, S: BuildHasher> Loading<'a, K, V, S> {
    /// A load that is listed.
    pub fn of(
        cache: &'a MemoryCache<K, V, S>,
        place: Place,
        load: Arc<Load<V>>,
    ) -> Loading<'a, K, V, S> {
        Loading {
            cache,
            place,
            load,
            over: false,
        }
    }

    /// Leaves the load on the list; returns its number.
    pub fn leave(mut self) -> u64 {
        self.over = true;
        self.load.number
    }
}

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// Looks up the key, and lists a load of it when it is neither there nor being loaded.
    pub(crate) fn step<Q>(
        &self,
        place: Place,
        key: &Q,
        load: fn() -> Arc<Load<V>>,
    ) -> Step<'_, K, V, S>
    where
        K: Borrow<Q>,
        Q: Eq + ToOwned<Owned = K> + ?Sized,
    {
        loop {
            if let Some(value) = self.look(place, key) {
                return Step::Have(value);
            }
            // This is user code, so it runs before the lock is taken, even if the result is not needed.
            let (owned, load) = (key.to_owned(), load());
            let mut shard = self.0.shards[place.shard].write(&self.0.readers);
            if let Lookup::Value(..) = shard.read(place.hash, key, false, || self.now()) {
                // The value came meanwhile, and values are not cloned under this lock.
                drop(shard);
                continue;
            }
            if let Some(other) = shard.load(place.hash, key) {
                let other = other.clone();
                drop(shard);
                return Step::Wait(other);
            }
            shard.begin_load(place.hash, owned, load.clone());
            drop(shard);
            return Step::Load(Loading {
                cache: self,
                place,
                load,
                over: false,
            });
        }
    }

    /// A read that is not counted.
    pub(crate) fn look<Q>(&self, place: Place, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let shard = self.0.shards[place.shard].read(&self.0.readers);
        match shard.read(place.hash, key, true, || self.now()) {
            Lookup::Value(value, _) => Some(value.clone()),
            Lookup::Expired | Lookup::Absent => None,
        }
    }

    /// Counts a caller that wants a value as a hit or a miss, by what it found first.
    pub(crate) fn count(&self, step: &Step<'_, K, V, S>) {
        let hit = matches!(step, Step::Have(_));
        self.0.readers.count(if hit { HITS } else { MISSES });
    }
}

impl<K: Eq + Hash, V: Clone, S: BuildHasher> Loading<'_, K, V, S> {
    /// Stores the loaded value and gives it to all waiting callers, unless a set, delete or clear came
    /// first.
    pub fn end(mut self, key: K, value: V, ttl: Ttl) -> Result<Loaded<V>, Error> {
        let cache = self.cache;
        let moment = Moment::of(&cache.0.settings.clock);
        let terms = cache.terms(&key, &value, ttl, &moment);
        if !matches!(terms, Ok(Some(_))) {
            // A value that was set meanwhile stays.
            cache.purge(self.place, &key);
        }
        let Some(terms) = terms? else {
            return Ok(self.end_without(value));
        };
        let mut new = Some(New {
            key,
            value: value.clone(),
            hash: self.place.hash,
            terms,
        });
        let mut listed = true;
        while listed && new.is_some() {
            let mut removed = Removed::new();
            let mut shard = cache.0.shards[self.place.shard].write(&cache.0.readers);
            // A load that is off the list may not be stored.
            let mut key = shard.end_load(self.place.hash, &self.load);
            listed = key.is_some();
            if listed {
                shard.store(&mut new, &cache.0.bounds, || cache.now(), &mut removed);
            }
            if new.is_some() {
                if let Some(key) = key.take() {
                    shard.begin_load(self.place.hash, key, self.load.clone());
                }
            }
            drop(shard);
            cache.tell(removed);
            if listed && new.is_some() {
                cache.make_room(self.place.shard);
            }
        }
        if listed {
            self.give(&value);
            return Ok(Loaded::Stored(value));
        }
        // The operation that invalidated the load wakes the waiting callers.
        self.over = true;
        Ok(Loaded::NotStored(value))
    }

    /// Tells waiting callers that the loader failed; its own caller gets the same error.
    pub fn fail(self, error: Error) -> Error {
        self.end_with(Outcome::Failed(error.clone()));
        error
    }

    /// Tells waiting callers that the loader of many keys left this one out.
    pub fn leave_out(self) {
        self.end_with(Outcome::Absent);
    }

    fn end_with(mut self, outcome: Outcome<V>) {
        self.over = true;
        self.end_as(outcome);
    }

    /// Takes the load off the list.
    fn end_as(&self, outcome: Outcome<V>) {
        let inner = &self.cache.0;
        let mut shard = inner.shards[self.place.shard].write(&inner.readers);
        let key = shard.end_load(self.place.hash, &self.load);
        drop(shard);
        drop(key);
        self.load.end(outcome);
    }

    /// As [`Loading::end`], for a value that expires at once.
    fn end_without(mut self, value: V) -> Loaded<V> {
        let inner = &self.cache.0;
        let mut shard = inner.shards[self.place.shard].write(&inner.readers);
        let key = shard.end_load(self.place.hash, &self.load);
        drop(shard);
        if key.is_some() {
            self.give(&value);
        }
        self.over = true;
        drop(key);
        Loaded::NotStored(value)
    }

    /// Gives the loaded value to all waiting callers.
    fn give(&mut self, value: &V) {
        // The load is on no list, so no other caller joins. Each waiting caller has a clone of the
        // `Arc`.
        let waited_for = Arc::strong_count(&self.load) > 1;
        let copy = waited_for.then(|| value.clone());
        // From here on the load is over. If user code panics before, waiting callers look again.
        self.over = true;
        self.load.end(copy.map_or(Outcome::Nothing, Outcome::Value));
    }
}

impl<K: Eq + Hash, V: Clone, S: BuildHasher> Drop for Loading<'_, K, V, S> {
    fn drop(&mut self) {
        if !self.over {
            self.end_as(Outcome::Nothing);
        }
    }
}
