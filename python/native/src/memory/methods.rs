//! The methods of the class that `polycache.MemoryCache` extends; `fast.rs` stands in front of a few.

use super::cache::{hand_out, missing, ttl, MemoryCache};
use super::cache_load::CacheLoad;
use super::equality::settled;
use super::key::Key;
use super::numbers::number;
use super::options::{raise, Options, Stored, Weigh};
use crate::classes;
use crate::duration::TtlArgument;
use crate::errors;
use crate::load::Load;
use crate::many;
use crate::own::Owner;
use crate::tiers::seconds;
use polycache_memory::Ttl;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyType};
use pyo3::{PyTraverseError, PyVisit};
use std::sync::atomic::Ordering;

fn found_or_missing<'py>(
    py: Python<'py>,
    found: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match found {
        Some(value) => Ok(value),
        None => Ok(classes::missing(py)?.clone()),
    }
}

#[pymethods]
impl MemoryCache {
    #[new]
    #[pyo3(signature = (max_entries = None, **options))]
    fn new<'py>(
        py: Python<'py>,
        max_entries: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<MemoryCache> {
        MemoryCache::with_options(py, Options::read(py, max_entries, options)?)
    }

    pub fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().find(key)? {
            Some(value) => Ok(value),
            None => missing(slf, key),
        }
    }

    pub fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.store(key, value, Ttl::Default)
    }

    pub fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.pop(key)? {
            Some(_) => Ok(()),
            None => Err(errors::no_key(key)),
        }
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.has(key)
    }

    /// Entries that have not expired. Removes those that have, if there are any.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.purge_expired(py)?;
        Ok(self.engine.len())
    }

    /// The keys that are there now, as a list is gone through: the cache may change meanwhile.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self._keys(py)?.try_iter()?.into_any())
    }

    fn _keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.read_clock(py)?;
        let keys: Vec<Key> = self.engine.keys().collect();
        PyList::new(py, keys.into_iter().map(|key| key.object.into_bound(py)))
    }

    fn _items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.read_clock(py)?;
        let items = PyList::empty(py);
        let entries: Vec<(Key, Stored)> = self.engine.iter().collect();
        for (key, stored) in entries {
            let value = hand_out(py, stored)?;
            items.append((key.object.into_bound(py), value))?;
        }
        Ok(items)
    }

    /// The key's value, or `default` when there is none.
    #[pyo3(signature = (key, default = None, /))]
    pub fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.find(key)?;
        Ok(found.unwrap_or_else(|| default.unwrap_or_else(|| py.None().into_bound(py))))
    }

    /// What `get_or_set` begins with: the value, or MISSING.
    #[pyo3(signature = (key, ttl, /))]
    fn _hit<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        ttl: TtlArgument<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        ttl.read()?;
        found_or_missing(py, self.find(key)?)
    }

    /// What `get_or_set_many` begins with: the keys in a list, and the values of those that are there.
    #[pyo3(signature = (keys, ttl, /))]
    fn _hits<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        ttl: TtlArgument<'_, 'py>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyDict>)> {
        let keys = many::listed(keys)?;
        ttl.read()?;
        let found = self.get_many(py, keys.as_any())?;
        Ok((keys, found))
    }

    /// As `get`, without being a use of the entry, and not counted.
    #[pyo3(signature = (key, default = None, /))]
    fn peek<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.read(key, |engine, key| engine.peek(key))?;
        Ok(found.unwrap_or_else(|| default.unwrap_or_else(|| py.None().into_bound(py))))
    }

    /// True when the key has an entry; not a use of it. So does `key in cache`.
    #[pyo3(signature = (key, /))]
    fn has(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        self.read_clock(py)?;
        settled(py, || self.engine.has(&*asked), |found| *found)
    }

    /// Stores a value; every read that begins afterwards sees it or a later one.
    ///
    /// `ttl` is how long the entry lives: text like "5m", seconds, or a timedelta; None is for ever, and
    /// without it the cache's own `ttl` counts. Raises `InvalidArgument`, `UnsupportedValue` (with
    /// `isolation="clone"`) and `EntryTooLarge`, which change nothing.
    #[pyo3(signature = (key, value, *, ttl = TtlArgument::default()))]
    fn set(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<()> {
        self.store(key, value, self::ttl(ttl)?)
    }

    /// The key's value; when it has none, `default`, which is stored then.
    #[pyo3(signature = (key, default = None, /))]
    fn setdefault<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let default = default.unwrap_or_else(|| py.None().into_bound(py));
        self.find_or_store(key, default)
    }

    /// Deletes the key and invalidates its loads; True when an entry stood there.
    #[pyo3(signature = (key, /))]
    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.pop(key)?.is_some())
    }

    /// Deletes the key and gives its value, or MISSING.
    #[pyo3(signature = (key, /))]
    fn _pop<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        found_or_missing(py, self.pop(key)?)
    }

    /// Deletes the key and returns its value, or `default` when it has none. Of several callers one gets
    /// it. Counted as a read; like `delete`, it invalidates a load of the key.
    #[pyo3(signature = (key, default = None, /))]
    fn take<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let taken = self.taken(key)?;
        Ok(taken.unwrap_or_else(|| default.unwrap_or_else(|| py.None().into_bound(py))))
    }

    /// The key's value, the seconds that it has left, and what it weighs; None when there is none.
    #[pyo3(signature = (key, /))]
    fn _entry<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(Bound<'py, PyAny>, f64, u64)>> {
        let asked = Key::asked(key, ())?;
        self.read_clock(py)?;
        let look = || {
            let stored = self.engine.peek(&*asked)?;
            Some((stored, self.engine.ttl(&*asked)?))
        };
        let Some((stored, left)) = settled(py, look, Option::is_some)? else {
            return Ok(None);
        };
        let bytes = if self.is_weighed() { stored.size() } else { 0 };
        Ok(Some((hand_out(py, stored)?, seconds(left), bytes)))
    }

    /// Adds to the key's number, which begins at 0 where there is none, and returns the sum. The entry
    /// keeps its time to live. No addition is lost.
    ///
    /// Raises `InvalidArgument` when the value or `by` is not an int or float.
    #[pyo3(signature = (key, by = None, /))]
    fn increment<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        by: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let by = by.unwrap_or_else(|| PyInt::new(py, 1).into_any());
        self.add(key, number(&by)?)
    }

    /// As `increment`, downwards.
    #[pyo3(signature = (key, by = None, /))]
    fn decrement<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        by: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let by = by.unwrap_or_else(|| PyInt::new(py, 1).into_any());
        self.add(key, &number(&by)?.neg()?)
    }

    /// Gives the key's entry another time to live from now on, the cache's own without `ttl`, and is a
    /// use of it. True when there is one.
    #[pyo3(signature = (key, *, ttl = TtlArgument::default()))]
    fn touch(&self, key: &Bound<'_, PyAny>, ttl: TtlArgument<'_, '_>) -> PyResult<bool> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        let ttl = self::ttl(ttl)?;
        self.read_clock(py)?;
        let touched = settled(
            py,
            || self.engine.touch(&*asked, ttl),
            |touched| matches!(touched, Ok(true)),
        )?;
        touched.map_err(|error| raise(py, error))
    }

    /// Seconds that the key's entry has left, to live or to idle: infinite when it does not expire, None
    /// when there is none. Not a use of it.
    #[pyo3(signature = (key, /))]
    fn ttl(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        self.read_clock(py)?;
        let left = settled(py, || self.engine.ttl(&*asked), Option::is_some)?;
        Ok(left.map(seconds))
    }

    /// The values of those keys that are there, in a dict.
    #[pyo3(signature = (keys, /))]
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for key in many::keys(keys)? {
            let key = key?;
            if let Some(value) = self.find(&key)? {
                found.set_item(&key, value)?;
            }
        }
        Ok(found)
    }

    /// Stores every value of a mapping, in its order, with one time to live.
    ///
    /// Raises what `set` raises; the entries before the one that failed stay.
    #[pyo3(signature = (entries, *, ttl = TtlArgument::default()))]
    fn set_many(&self, entries: &Bound<'_, PyAny>, ttl: TtlArgument<'_, '_>) -> PyResult<()> {
        let pairs = many::pairs(entries)?;
        let ttl = self::ttl(ttl)?;
        for pair in pairs {
            let (key, value) = pair?;
            self.store(&key, &value, ttl)?;
        }
        Ok(())
    }

    /// Deletes several keys, and returns how many of them had an entry.
    #[pyo3(signature = (keys, /))]
    fn delete_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut stood = 0;
        for key in many::keys(keys)? {
            stood += usize::from(self.delete(&key?)?);
        }
        Ok(stood)
    }

    /// Deletes everything, and invalidates all loads under way.
    fn clear(&self) {
        self.flights.invalidate_below(&[]);
        self.engine.clear();
        self.flights.invalidate_below(&[]);
    }

    /// Removes all expired entries, and returns their keys and values. With a clock, `now` is its time, in
    /// milliseconds.
    #[pyo3(signature = (now = None, /))]
    fn _expire<'py>(&self, py: Python<'py>, now: Option<f64>) -> PyResult<Bound<'py, PyList>> {
        match (&self.clock, now) {
            (Some(clock), Some(now)) => clock.set(now),
            _ => self.read_clock(py)?,
        }
        let items = PyList::empty(py);
        for (key, stored) in self.engine.take_expired() {
            items.append((key.object.into_bound(py), stored.object.into_bound(py)))?;
        }
        Ok(items)
    }

    /// Removes all expired entries. Each write removes a few.
    fn purge_expired(&self, py: Python<'_>) -> PyResult<()> {
        self.read_clock(py)?;
        self.engine.purge_expired();
        Ok(())
    }

    /// The load of a key that was missed: see `Cache._begin`.
    fn _begin(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        task: Option<(Py<PyAny>, Py<PyAny>)>,
        _waited: f64,
    ) -> PyResult<Load> {
        let cache = slf.get();
        let place = (&cache.namespace, Key::asked(key, ())?.hash);
        let machine = |invalidated| CacheLoad::machine(slf, key, invalidated);
        let flights = &cache.flights;
        let part = flights.join_or_begin(key, place, Owner::new(task), machine)?;
        Ok(Load::new(flights.clone(), part))
    }

    /// Counts a wait that took too long, and raises `WaitTimeout`.
    fn _give_up(&self, py: Python<'_>) -> PyResult<()> {
        Err(self.flights.give_up(py))
    }

    /// Seconds that a caller waits for the loads of others.
    #[getter]
    fn _wait_timeout(&self) -> f64 {
        self.flights.bounds.wait_timeout.as_secs_f64()
    }

    /// The loads under way.
    fn _loads(&self) -> Vec<Load> {
        Load::all(&self.flights)
    }

    /// `MemoryCache[K, V]` is the class itself.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        _types: &Bound<'py, PyAny>,
    ) -> Bound<'py, PyType> {
        class.clone()
    }

    /// What it counts, as keyword arguments of `MemoryStats`.
    fn _stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.engine.stats();
        let (hits, misses) = self.reads();
        let dict = PyDict::new(py);
        for (name, value) in [
            ("entries", stats.entries),
            ("bytes", stats.bytes),
            ("hits", hits),
            ("misses", misses),
            ("writes", stats.writes),
            ("deletes", stats.deletes),
            ("evicted", stats.evicted),
            ("expired", stats.expired),
            (
                "invalidated_loads",
                self.flights.invalidated_loads.load(Ordering::Relaxed),
            ),
            ("unstored", self.flights.unstored.load(Ordering::Relaxed)),
            (
                "wait_timeouts",
                self.flights.wait_timeouts.load(Ordering::Relaxed),
            ),
        ] {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }

    /// The most entries that may be held; None: any number.
    #[getter]
    fn max_entries(&self) -> Option<u64> {
        self.max_entries
    }

    /// The most bytes that entries may weigh together; None when they are not weighed.
    #[getter]
    fn max_bytes(&self) -> Option<u64> {
        self.max_bytes
    }

    /// The bytes that all entries weigh together; 0 when they are not weighed.
    #[getter]
    fn bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.purge_expired(py)?;
        Ok(if self.is_weighed() {
            self.engine.bytes()
        } else {
            0
        })
    }

    /// How much is held of what `max_entries` bounds: `currsize` of the drop-in modules.
    #[getter]
    fn _held(&self, py: Python<'_>) -> PyResult<u64> {
        self.purge_expired(py)?;
        Ok(match self.weigh {
            Weigh::Getsizeof(_) => self.engine.bytes(),
            Weigh::Count | Weigh::Bytes | Weigh::Weigher(_) => self.engine.len() as u64,
        })
    }

    /// How much of that a value takes: `getsizeof` of the drop-in modules.
    #[pyo3(signature = (value, /))]
    fn _size_of(&self, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        match self.weigh {
            Weigh::Getsizeof(_) => self.weigh(value, value),
            Weigh::Count | Weigh::Bytes | Weigh::Weigher(_) => Ok(1),
        }
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<()> {
        let class = errors::class_of(slf.as_any());
        let what =
            format!("a {class} is one process' memory: it can be neither copied nor pickled");
        Err(PyTypeError::new_err(what))
    }

    /// Keys and values: so that the garbage collector finds cycles through the cache. It runs while no
    /// thread is in an operation of the engine, as the head of this module says.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for (key, stored) in self.engine.iter() {
            visit.call(key.object.as_py())?;
            visit.call(stored.object.as_py())?;
        }
        if let Weigh::Getsizeof(says) | Weigh::Weigher(says) = &self.weigh {
            visit.call(says)?;
        }
        if let Some(listener) = &self.removal_listener {
            visit.call(&listener.0)?;
        }
        if let Some(clock) = &self.clock {
            visit.call(clock.callable())?;
        }
        if let Some(lifetime) = &self.lifetime {
            visit.call(lifetime)?;
        }
        Ok(())
    }

    fn __clear__(&self) {
        self.engine.clear();
    }
}
