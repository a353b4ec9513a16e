//! The class that `polycache.MemoryCache` extends. What a hit passes through is here.

use super::cache_load::CacheLoad;
use super::equality::{forget, in_doubt, settled};
use super::key::{Asked, Key};
use super::object::Object;
use super::options::{cause, raise, Engine, Isolation, Options, Stored, Weigh};
use super::quietly;
use super::size;
use crate::classes::{self, imported};
use crate::clock::CallableClock;
use crate::duration::{self, TtlArgument};
use crate::errors;
use crate::exit::attached;
use crate::flights::{Flights, Namespace};
use crate::load::Load;
use crate::machine::Copies;
use crate::many;
use crate::own::Owner;
use polycache_memory::{RemovalCause, Ttl, TtlLeft};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyType};
use pyo3::{PyTraverseError, PyVisit};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

static DEEPCOPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// What is told of entries that left.
pub struct Listener(pub Py<PyAny>);

impl Listener {
    /// Called by the engine without a lock, in an attached thread. Its exceptions have no caller to go
    /// to: `sys.unraisablehook` is given them.
    pub fn tell(&self, key: Key, stored: Stored, why: RemovalCause) {
        attached(|py| {
            let arguments = (
                key.object.into_bound(py),
                stored.object.into_bound(py),
                cause(why),
            );
            if let Err(error) = self.0.bind(py).call1(arguments) {
                error.write_unraisable(py, Some(self.0.bind(py)));
            }
        });
    }
}

/// The native half of `polycache.MemoryCache`.
#[pyclass(frozen, subclass, mapping, module = "polycache._native")]
pub struct MemoryCache {
    pub engine: Engine,
    maxsize: Option<u64>,
    max_bytes: Option<u64>,
    weigh: Weigh,
    isolation: Isolation,
    /// Says how long an entry lives whose write does not.
    lifetime: Option<Py<PyAny>>,
    listener: Option<Arc<Listener>>,
    clock: Option<CallableClock>,
    pub flights: Arc<Flights>,
    /// None: for the list of loads, which have one.
    namespace: Namespace,
    /// Whether a hit needs neither a clock nor a copy.
    plain: bool,
    /// Whether a write needs no more than that, nor a weight, nor a look at the value.
    writes_plainly: bool,
    /// Reads that the engine counted as misses, since they were in doubt, and that were begun anew.
    anew: AtomicU64,
}

/// What a quick look finds.
pub enum Hit<'a> {
    /// A reference that is the caller's.
    Value(*mut ffi::PyObject),
    Miss,
    /// To be asked for by the ordinary methods of this cache.
    Unknown(&'a MemoryCache),
    /// An exception, to be raised.
    Raised,
}

/// What became of a quick write.
pub enum Put {
    Done,
    /// Nothing: to be done by the ordinary methods.
    Unknown,
    /// Nothing but an exception, to be raised.
    Raised,
}

/// What a read gives.
pub type Found<'py> = PyResult<Option<Bound<'py, PyAny>>>;

impl MemoryCache {
    /// Asks the clock, if there is one of the user's.
    #[inline(always)]
    pub fn tick(&self, py: Python<'_>) -> PyResult<()> {
        match &self.clock {
            None => Ok(()),
            Some(clock) => clock.tick(py),
        }
    }

    /// The key's value, by one of the engine's ways to read it.
    #[inline(always)]
    pub fn read<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        read: impl Fn(&Engine, &Key) -> Option<Stored>,
    ) -> Found<'py> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        self.tick(py)?;
        let found = settled(py, || read(&self.engine, &asked), Option::is_some)?;
        match found {
            Some(stored) => Ok(Some(self.hand_out(stored.object.into_bound(py))?)),
            None => Ok(None),
        }
    }

    fn find<'py>(&self, key: &Bound<'py, PyAny>) -> Found<'py> {
        let looks = Cell::new(0);
        let found = self.read(key, |engine, key| {
            looks.set(looks.get() + 1);
            engine.get(key)
        });
        if looks.get() > 1 {
            self.anew.fetch_add(looks.get() - 1, Ordering::Relaxed);
        }
        found
    }

    /// A read that is all done at once, if it can be.
    ///
    /// # Safety
    /// Of an object, in an attached thread.
    #[inline(always)]
    pub unsafe fn hit(&self, key: *mut ffi::PyObject) -> Hit<'_> {
        if !self.plain {
            return Hit::Unknown(self);
        }
        // SAFETY: as the caller promises, who has the key.
        let Some(asked) = (unsafe { Key::asked_raw(key) }) else {
            return Hit::Raised;
        };
        // SAFETY: the thread is attached, and the head of this module says what keys and values do.
        let found = unsafe { quietly::get(&self.engine, &asked) };
        if in_doubt() {
            if found.is_none() {
                self.uncount_miss();
                return Hit::Unknown(self);
            }
            forget();
        }
        match found {
            Some(stored) => Hit::Value(stored.object.into_raw()),
            None => Hit::Miss,
        }
    }

    #[inline(always)]
    fn hand_out<'py>(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.isolation {
            Isolation::None => Ok(value),
            Isolation::Clone => copy(value),
        }
    }

    /// What a write stores: a copy where nobody is to see changes, and what it weighs.
    pub fn stored(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Stored> {
        let value = match self.isolation {
            Isolation::None => value.clone(),
            Isolation::Clone => copy(value.clone())?,
        };
        Ok(Stored {
            size: self.weigh(key, &value)?,
            object: Object::new(&value),
        })
    }

    fn weigh(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        match &self.weigh {
            Weigh::Count => Ok(1),
            Weigh::Bytes => {
                let bytes = |object| match size::flat(object) {
                    Some(bytes) => Ok(bytes),
                    None => size::estimate(object),
                };
                Ok(size::ENTRY + bytes(key)? + bytes(value)?)
            }
            Weigh::Getsizeof(getsizeof) => {
                let said = getsizeof.bind(value.py()).call1((value,))?;
                said.extract::<u64>()
                    .ok()
                    .filter(|_| !said.is_instance_of::<PyBool>())
                    .ok_or_else(|| {
                        let what = format!(
                            "getsizeof returned {}: a whole number, 0 or more, is wanted",
                            errors::represent(&said)
                        );
                        errors::invalid_argument(value.py(), &what)
                    })
            }
        }
    }

    /// A write that is all done at once, if it can be.
    ///
    /// # Safety
    /// Of two objects, in an attached thread.
    #[inline(always)]
    pub unsafe fn put(&self, key: *mut ffi::PyObject, value: *mut ffi::PyObject) -> Put {
        if !self.writes_plainly {
            return Put::Unknown;
        }
        // SAFETY: as the caller promises, who has both.
        let (asked, object) = unsafe {
            let Some(asked) = Key::asked_raw(key) else {
                return Put::Raised;
            };
            ffi::Py_INCREF(value);
            (asked, Object::from_raw(value))
        };
        let mut stored = Stored { size: 1, object };
        let free = || self.free_to_store_quickly();
        // SAFETY: as in `hit`.
        if unsafe { quietly::swap(&self.engine, &asked, &mut stored, free) } {
            return Put::Done;
        }
        self.put_anew(&asked, stored)
    }

    /// The same where a key may be new.
    #[inline(never)]
    fn put_anew(&self, asked: &Asked<'_>, stored: Stored) -> Put {
        let admit = |_: &Key, _: Option<&Stored>| self.free_to_store_quickly();
        let key = (**asked).clone();
        match self.engine.set_if(key, stored, Ttl::Default, admit) {
            Ok(None) => Put::Done,
            _ => {
                forget();
                Put::Unknown
            }
        }
    }

    /// The same of a quick write: false when there are loads, too.
    #[inline]
    fn free_to_store_quickly(&self) -> bool {
        !in_doubt() && !self.flights.any()
    }

    /// Asked under the lock by a write: false when a key in doubt was met. Else it voids loads.
    #[inline]
    fn free_to_store(&self, hash: u64) -> bool {
        if in_doubt() {
            return false;
        }
        // Here, since a load that begins after this sees the value, or is begun after all.
        self.flights.void(&self.namespace, hash);
        true
    }

    /// Takes a miss back that is asked for once more by other means.
    pub fn uncount_miss(&self) {
        self.anew.fetch_add(1, Ordering::Relaxed);
    }

    /// Stores a value if `admit` agrees, which is asked under the lock; false when it did not.
    pub fn write(
        &self,
        py: Python<'_>,
        asked: &Asked<'_>,
        stored: Stored,
        ttl: Ttl,
        admit: impl Fn(Option<&Stored>) -> bool,
    ) -> PyResult<bool> {
        let mut new = Some(((**asked).clone(), stored));
        let store = || {
            let (key, stored) = new.take()?;
            let hash = key.hash;
            let result = self.engine.set_if(key, stored, ttl, |_, stands| {
                admit(stands) && self.free_to_store(hash)
            });
            match result {
                Ok(None) => None,
                Ok(refused) => {
                    new = refused;
                    Some(Ok(()))
                }
                Err(error) => Some(Err(error)),
            }
        };
        let doubtless = |result: &Option<_>| result.is_none();
        match settled(py, store, doubtless)? {
            None => Ok(true),
            Some(Ok(())) => Ok(false),
            Some(Err(error)) => Err(raise(py, error)),
        }
    }

    #[inline]
    fn store(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, ttl: Ttl) -> PyResult<()> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        let stored = self.stored(key, value)?;
        let ttl = self.living(key, value, ttl)?;
        self.tick(py)?;
        self.refuse_too_large(py, stored.size)?;
        let Some(ttl) = ttl else {
            // Its time is over at once; so is that of what it supersedes.
            self.take(py, &asked)?;
            return Ok(());
        };
        self.write(py, &asked, stored, ttl, |_| true)?;
        Ok(())
    }

    /// How long an entry lives that is written; None when its time is over at once.
    pub fn living(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: Ttl,
    ) -> PyResult<Option<Ttl>> {
        let (Some(lifetime), Ttl::Default) = (&self.lifetime, ttl) else {
            return Ok(Some(ttl));
        };
        let said = lifetime.bind(key.py()).call1((key, value))?;
        if said.is_none() {
            return Ok(Some(Ttl::Forever));
        }
        if duration::is_over_at_once(&said)? {
            return Ok(None);
        }
        Ok(Some(Ttl::For(duration::extract(&said)?)))
    }

    /// Before anything is changed: what is too large leaves the key's value as it is, as users of
    /// cachetools expect.
    pub fn refuse_too_large(&self, py: Python<'_>, size: u64) -> PyResult<()> {
        match self.limit() {
            Some(limit) if size > limit => {
                let error = polycache_memory::Error::EntryTooLarge { size, limit };
                Err(raise(py, error))
            }
            _ => Ok(()),
        }
    }

    /// The most that entries may weigh.
    fn limit(&self) -> Option<u64> {
        match self.weigh {
            Weigh::Count | Weigh::Getsizeof(_) => self.maxsize,
            Weigh::Bytes if self.maxsize == Some(0) => Some(0),
            Weigh::Bytes => self.max_bytes,
        }
    }

    fn take(&self, py: Python<'_>, asked: &Asked<'_>) -> PyResult<Option<Stored>> {
        self.flights.void(&self.namespace, asked.hash);
        let taken = settled(py, || self.engine.take(&**asked), Option::is_some)?;
        // Those that began before the entry left.
        self.flights.void(&self.namespace, asked.hash);
        Ok(taken)
    }

    fn pop<'py>(&self, key: &Bound<'py, PyAny>) -> Found<'py> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        self.tick(py)?;
        let taken = self.take(py, &asked)?;
        Ok(taken.map(|stored| stored.object.into_bound(py)))
    }
}

/// The engine's word for a time to live.
pub fn ttl(given: TtlArgument<'_, '_>) -> PyResult<Ttl> {
    Ok(match given.read()? {
        polycache::Ttl::Default => Ttl::Default,
        polycache::Ttl::Forever => Ttl::Forever,
        polycache::Ttl::For(time) => Ttl::For(time),
    })
}

/// A copy to its depth, which is not made of what can't change. Raises `UnsupportedValue`.
pub fn copy(value: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let constant = value.is_none()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBool>();
    if constant {
        return Ok(value);
    }
    imported(value.py(), &DEEPCOPY, "polycache.copying", "copied")?.call1((value,))
}

#[cold]
pub fn missing<'py>(
    cache: &Bound<'py, MemoryCache>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    match cache.get_type().getattr("__missing__") {
        Ok(missing) => missing.call1((cache, key)),
        Err(_) => Err(no_key(key)),
    }
}

#[cold]
fn no_key(key: &Bound<'_, PyAny>) -> PyErr {
    PyKeyError::new_err((key.clone().unbind(),))
}

#[pymethods]
impl MemoryCache {
    #[new]
    #[pyo3(signature = (maxsize = None, **options))]
    fn new(
        py: Python<'_>,
        maxsize: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<MemoryCache> {
        let options = Options::read(maxsize, options)?;
        let plain = options.clock.is_none() && options.isolation == Isolation::None;
        let copies = match options.isolation {
            Isolation::None => Copies::None,
            Isolation::Clone => Copies::Deep,
        };
        let counts = matches!(options.weigh, Weigh::Count) && options.maxsize != Some(0);
        Ok(MemoryCache {
            plain,
            writes_plainly: plain && counts && options.lifetime.is_none(),
            engine: options.engine(py)?,
            maxsize: options.maxsize,
            max_bytes: options.max_bytes,
            weigh: options.weigh,
            isolation: options.isolation,
            lifetime: options.lifetime,
            listener: options.listener,
            clock: options.clock,
            flights: Flights::new(options.bounds, copies, None, true),
            namespace: Namespace::default(),
            anew: AtomicU64::new(0),
        })
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
            None => Err(no_key(key)),
        }
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.has(key)
    }

    /// Entries whose time is not over. Those whose is are taken out, when there are any.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.purge_expired(py)?;
        Ok(self.engine.len())
    }

    /// The keys that are there now, as a list is gone through: the cache may change meanwhile.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self._keys(py)?.try_iter()?.into_any())
    }

    fn _keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.tick(py)?;
        let keys: Vec<Key> = self.engine.keys().collect();
        PyList::new(py, keys.into_iter().map(|key| key.object.into_bound(py)))
    }

    fn _items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.tick(py)?;
        let items = PyList::empty(py);
        let entries: Vec<(Key, Stored)> = self.engine.iter().collect();
        for (key, stored) in entries {
            let value = self.hand_out(stored.object.into_bound(py))?;
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
        match self.find(key)? {
            Some(value) => Ok(value),
            None => Ok(classes::missing(py)?.clone()),
        }
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
        self.tick(py)?;
        settled(py, || self.engine.has(&*asked), |found| *found)
    }

    /// Stores a value; every read that begins afterwards sees it or a later one.
    ///
    /// `ttl` is how long the entry lives: text like "5m", seconds, or a timedelta; None is for ever, and
    /// without it the cache's own `ttl` counts. Raises `InvalidArgument`, which changes nothing, and
    /// `EntryTooLarge`, after which the old value is gone as well.
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
        loop {
            if let Some(value) = self.find(key)? {
                return Ok(value);
            }
            let asked = Key::asked(key, ())?;
            let stored = self.stored(key, &default)?;
            let ttl = self.living(key, &default, Ttl::Default)?;
            self.tick(py)?;
            self.refuse_too_large(py, stored.size)?;
            let Some(ttl) = ttl else {
                return Ok(default);
            };
            if self.write(py, &asked, stored, ttl, |stands| stands.is_none())? {
                return Ok(default);
            }
        }
    }

    /// Deletes the key and voids a load of it under way; True when an entry stood there.
    #[pyo3(signature = (key, /))]
    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.pop(key)?.is_some())
    }

    /// Deletes the key and gives its value, or MISSING.
    #[pyo3(signature = (key, /))]
    fn _pop<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.pop(key)? {
            Some(value) => Ok(value),
            None => Ok(classes::missing(py)?.clone()),
        }
    }

    /// Gives the key's entry another time to live from now on, the cache's own without `ttl`, and is a
    /// use of it. True when there is one.
    #[pyo3(signature = (key, *, ttl = TtlArgument::default()))]
    fn touch(&self, key: &Bound<'_, PyAny>, ttl: TtlArgument<'_, '_>) -> PyResult<bool> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        let ttl = self::ttl(ttl)?;
        self.tick(py)?;
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
        self.tick(py)?;
        let left = settled(py, || self.engine.ttl(&*asked), Option::is_some)?;
        Ok(left.map(|left| match left {
            TtlLeft::Forever => f64::INFINITY,
            TtlLeft::For(left) => left.as_secs_f64(),
        }))
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

    /// Deletes everything, and voids all loads under way.
    fn clear(&self) {
        self.flights.void_below(&[]);
        self.engine.clear();
        self.flights.void_below(&[]);
    }

    /// Takes out every entry whose time is over, and returns their keys and values. With a clock, `now`
    /// says what time it is, in its milliseconds.
    #[pyo3(signature = (now = None, /))]
    fn _expire<'py>(&self, py: Python<'py>, now: Option<f64>) -> PyResult<Bound<'py, PyList>> {
        match (&self.clock, now) {
            (Some(clock), Some(now)) => clock.set(now),
            _ => self.tick(py)?,
        }
        let items = PyList::empty(py);
        for (key, stored) in self.engine.take_expired() {
            items.append((key.object.into_bound(py), stored.object.into_bound(py)))?;
        }
        Ok(items)
    }

    /// Takes out every entry whose time is over. Each write does so for a few.
    fn purge_expired(&self, py: Python<'_>) -> PyResult<()> {
        self.tick(py)?;
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
        let machine = |voided| CacheLoad::machine(slf, key, voided);
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
        let dict = PyDict::new(py);
        for (name, value) in [
            ("entries", stats.entries),
            ("bytes", stats.bytes),
            ("hits", stats.hits),
            (
                "misses",
                stats
                    .misses
                    .saturating_sub(self.anew.load(Ordering::Relaxed)),
            ),
            ("writes", stats.writes),
            ("deletes", stats.deletes),
            ("evicted", stats.evicted),
            ("expired", stats.expired),
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

    /// How much may be held: entries, or with `getsizeof` the sum of what that says; None: any number.
    #[getter]
    fn maxsize(&self) -> Option<u64> {
        self.maxsize
    }

    /// How many bytes may be held; None when they are not estimated.
    #[getter]
    fn max_bytes(&self) -> Option<u64> {
        self.max_bytes
    }

    /// How much is held, in the same terms as `maxsize`.
    #[getter]
    fn currsize(&self, py: Python<'_>) -> PyResult<u64> {
        self.purge_expired(py)?;
        Ok(match self.weigh {
            Weigh::Getsizeof(_) => self.engine.bytes(),
            Weigh::Count | Weigh::Bytes => self.engine.len() as u64,
        })
    }

    /// What a value counts of `maxsize`.
    #[pyo3(signature = (value, /))]
    fn getsizeof(&self, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        match self.weigh {
            Weigh::Getsizeof(_) => self.weigh(value, value),
            Weigh::Count | Weigh::Bytes => Ok(1),
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
        if let Weigh::Getsizeof(getsizeof) = &self.weigh {
            visit.call(getsizeof)?;
        }
        if let Some(listener) = &self.listener {
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
