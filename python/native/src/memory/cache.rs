//! The class that `polycache.MemoryCache` extends: the parts of its methods (`methods.rs`, and `fast.rs` for hits).

use super::equality::{forget, in_doubt, settled};
use super::isolation::{is_constant, is_constant_raw};
use super::key::{Asked, Key};
use super::listener::Listener;
use super::object::Object;
use super::options::{raise, Engine, Isolation, Options, Stored, Weigh, HEAVIEST};
use super::plain_copy;
use super::size;
use super::unlocked;
use crate::classes::imported;
use crate::clock::CallableClock;
use crate::duration::{self, TtlArgument};
use crate::errors;
use crate::flights::{Flights, Namespace};
use crate::machine::Copies;
use polycache_memory::Ttl;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBool;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

static DEEPCOPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The native half of `polycache.MemoryCache`.
#[pyclass(frozen, subclass, mapping, module = "polycache._native")]
pub struct MemoryCache {
    pub engine: Engine,
    pub max_entries: Option<u64>,
    pub max_bytes: Option<u64>,
    pub weigh: Weigh,
    isolation: Isolation,
    /// How long an entry lives if its write does not say.
    pub lifetime: Option<Py<PyAny>>,
    pub removal_listener: Option<Arc<Listener>>,
    pub clock: Option<CallableClock>,
    pub flights: Arc<Flights>,
    /// Without parts: for the list of loads, which have one.
    pub namespace: Namespace,
    /// Whether a hit needs no clock of users.
    plain: bool,
    /// Whether a write needs only that: no weight, and no time to live that has to be asked for.
    writes_plainly: bool,
    /// Reads in doubt that the engine counted as misses, and that were begun again.
    anew: AtomicU64,
    /// Reads that took the entry out: those that found one, and those that did not.
    takes: [AtomicU64; 2],
}

/// The result of a fast look.
pub enum Hit<'a> {
    /// A reference that belongs to the caller.
    Value(*mut ffi::PyObject),
    /// The same, to what each reader gets a copy of.
    Copied(*mut ffi::PyObject),
    Miss,
    /// To be asked for by the ordinary methods of this cache.
    Unknown(&'a MemoryCache),
    /// An exception, to be raised.
    Raised,
}

/// The result of a fast write.
pub enum Put {
    Done,
    /// Nothing: to be done by the ordinary methods.
    Unknown,
    /// Nothing but an exception, to be raised.
    Raised,
}

/// What a read gives.
pub type ReadResult<'py> = PyResult<Option<Bound<'py, PyAny>>>;

impl MemoryCache {
    pub fn with_options(py: Python<'_>, options: Options) -> PyResult<MemoryCache> {
        let plain = options.clock.is_none();
        let copies = match options.isolation {
            Isolation::None => Copies::None,
            Isolation::Clone => Copies::Deep,
        };
        let counts = matches!(options.weigh, Weigh::Count) && options.max_entries != Some(0);
        Ok(MemoryCache {
            plain,
            writes_plainly: plain && counts && options.lifetime.is_none(),
            engine: options.engine(py)?,
            max_entries: options.max_entries,
            max_bytes: options.max_bytes,
            weigh: options.weigh,
            isolation: options.isolation,
            lifetime: options.lifetime,
            removal_listener: options.removal_listener,
            clock: options.clock,
            flights: Flights::new(options.bounds, copies, None, true),
            namespace: Namespace::default(),
            anew: AtomicU64::new(0),
            takes: Default::default(),
        })
    }

    /// Asks the clock, if there is one of the user's.
    #[inline(always)]
    pub fn read_clock(&self, py: Python<'_>) -> PyResult<()> {
        match &self.clock {
            None => Ok(()),
            Some(clock) => clock.read_clock(py),
        }
    }

    /// The key's value, by one of the engine's ways to read it.
    #[inline(always)]
    pub fn read<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        read: impl Fn(&Engine, &Key) -> Option<Stored>,
    ) -> ReadResult<'py> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        self.read_clock(py)?;
        let found = settled(py, || read(&self.engine, &asked), Option::is_some)?;
        match found {
            Some(stored) => Ok(Some(hand_out(py, stored)?)),
            None => Ok(None),
        }
    }

    pub fn find<'py>(&self, key: &Bound<'py, PyAny>) -> ReadResult<'py> {
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
        // SAFETY: as the caller promises, which has the key.
        let Some(asked) = (unsafe { Key::asked_raw(key) }) else {
            return Hit::Raised;
        };
        // SAFETY: the thread is attached, and the head of this module says what keys and values do.
        let found = unsafe { unlocked::get(&self.engine, &asked) };
        if in_doubt() {
            if found.is_none() {
                self.uncount_miss();
                return Hit::Unknown(self);
            }
            forget();
        }
        match found {
            Some(stored) if stored.is_copied() => Hit::Copied(stored.object.into_raw()),
            Some(stored) => Hit::Value(stored.object.into_raw()),
            None => Hit::Miss,
        }
    }

    /// What a write stores: the value or a copy of it, and what it weighs. Raises `UnsupportedValue`.
    pub fn stored(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Stored> {
        let kept = match self.isolation {
            Isolation::None => value.clone(),
            Isolation::Clone => copy(value.clone())?,
        };
        // What is its own copy cannot change: text, a number, a tuple of those.
        let is_copied = !kept.is(value);
        let size = self.weigh(key, &kept)?;
        Ok(Stored::new(Object::new(&kept), size, is_copied))
    }

    pub fn weigh(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        let bytes = |object| match size::flat(object) {
            Some(bytes) => Ok(bytes),
            None => size::estimate(object),
        };
        match &self.weigh {
            Weigh::Count => Ok(1),
            Weigh::Bytes => Ok(size::ENTRY + bytes(key)? + bytes(value)?),
            Weigh::Weigher(weigher) => {
                let said = weigher.bind(value.py()).call1((key, value))?;
                weight("the weigher", &said)
            }
            Weigh::Getsizeof(getsizeof) => {
                let said = getsizeof.bind(value.py()).call1((value,))?;
                weight("getsizeof", &said)
            }
        }
    }

    /// False where entries are only counted.
    pub fn is_weighed(&self) -> bool {
        !matches!(self.weigh, Weigh::Count)
    }

    /// A write that is all done at once, if it can be.
    ///
    /// # Safety
    /// Of two objects, in an attached thread.
    #[inline(always)]
    pub unsafe fn put(&self, key: *mut ffi::PyObject, value: *mut ffi::PyObject) -> Put {
        // SAFETY: of the caller's object, in an attached thread.
        let copies = || self.isolation == Isolation::Clone && !unsafe { is_constant_raw(value) };
        if !self.writes_plainly || copies() {
            return Put::Unknown;
        }
        // SAFETY: as the caller promises, which has both.
        let (asked, object) = unsafe {
            let Some(asked) = Key::asked_raw(key) else {
                return Put::Raised;
            };
            ffi::Py_INCREF(value);
            (asked, Object::from_raw(value))
        };
        let mut stored = Stored::new(object, 1, false);
        let free = || self.free_to_store_quickly();
        // SAFETY: as in `hit`.
        if unsafe { unlocked::swap(&self.engine, &asked, &mut stored, free) } {
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

    /// The same for a fast write: false when there are loads, too.
    #[inline]
    fn free_to_store_quickly(&self) -> bool {
        !in_doubt() && !self.flights.any()
    }

    /// Called under the lock by a write: false when a key in doubt was met. Otherwise it invalidates loads.
    #[inline]
    fn free_to_store(&self, hash: u64) -> bool {
        if in_doubt() {
            return false;
        }
        // Here, since a load that begins after this sees the value, or is begun after all.
        self.flights.invalidate(&self.namespace, hash);
        true
    }

    /// Takes back a miss that is asked for again in another way.
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
    pub fn store(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: Ttl,
    ) -> PyResult<()> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        let stored = self.stored(key, value)?;
        let ttl = self.living(key, value, ttl)?;
        self.read_clock(py)?;
        self.refuse_too_large(py, stored.size())?;
        let Some(ttl) = ttl else {
            // Its time is over at once; so is that of what it supersedes.
            self.remove(py, &asked)?;
            return Ok(());
        };
        self.write(py, &asked, stored, ttl, |_| true)?;
        Ok(())
    }

    /// The key's value; when it has none, `default`, which is stored then.
    pub fn find_or_store<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        loop {
            if let Some(value) = self.find(key)? {
                return Ok(value);
            }
            let asked = Key::asked(key, ())?;
            let stored = self.stored(key, &default)?;
            let ttl = self.living(key, &default, Ttl::Default)?;
            self.read_clock(py)?;
            self.refuse_too_large(py, stored.size())?;
            let Some(ttl) = ttl else {
                return Ok(default);
            };
            if self.write(py, &asked, stored, ttl, |stands| stands.is_none())? {
                return Ok(default);
            }
        }
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
        if duration::expires_at_once(&said)? {
            return Ok(None);
        }
        Ok(Some(Ttl::For(duration::extract(&said)?)))
    }

    /// Before anything is changed: what is too large leaves the key's value as it is, as users of
    /// cachetools expect.
    pub fn refuse_too_large(&self, py: Python<'_>, size: u64) -> PyResult<()> {
        match self.limit() {
            Some(limit) if size > limit => Err(self.too_large(py, size, limit)),
            _ => Ok(()),
        }
    }

    #[cold]
    fn too_large(&self, py: Python<'_>, size: u64, limit: u64) -> PyErr {
        let error = polycache::Error::EntryTooLarge { size, limit };
        let text = match self.weigh {
            Weigh::Getsizeof(_) => {
                format!("the value takes {size} of maxsize, which is {limit}: store less, or raise maxsize")
            }
            _ if self.max_entries == Some(0) => {
                "max_entries is 0, so the cache holds nothing: raise max_entries".into()
            }
            _ => return errors::raise(py, error),
        };
        errors::raise_as(py, &error, &text)
    }

    /// The most that entries may weigh.
    fn limit(&self) -> Option<u64> {
        match self.weigh {
            Weigh::Count | Weigh::Getsizeof(_) => self.max_entries,
            Weigh::Bytes | Weigh::Weigher(_) if self.max_entries == Some(0) => Some(0),
            Weigh::Bytes | Weigh::Weigher(_) => self.max_bytes,
        }
    }

    fn remove(&self, py: Python<'_>, asked: &Asked<'_>) -> PyResult<Option<Stored>> {
        self.flights.invalidate(&self.namespace, asked.hash);
        let taken = settled(py, || self.engine.take(&**asked), Option::is_some)?;
        // Those that began before the entry left.
        self.flights.invalidate(&self.namespace, asked.hash);
        Ok(taken)
    }

    /// Deletes the key and gives its value, which no other caller has: no copy is needed.
    pub fn pop<'py>(&self, key: &Bound<'py, PyAny>) -> ReadResult<'py> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        self.read_clock(py)?;
        let taken = self.remove(py, &asked)?;
        Ok(taken.map(|stored| stored.object.into_bound(py)))
    }

    /// The same as a read, which is counted.
    pub fn taken<'py>(&self, key: &Bound<'py, PyAny>) -> ReadResult<'py> {
        let taken = self.pop(key)?;
        let [hits, misses] = &self.takes;
        let count = if taken.is_some() { hits } else { misses };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(taken)
    }

    /// Reads that found an entry, and those that found none.
    pub fn reads(&self) -> (u64, u64) {
        let stats = self.engine.stats();
        let [hits, misses] = &self.takes;
        let anew = self.anew.load(Ordering::Relaxed);
        (
            stats.hits + hits.load(Ordering::Relaxed),
            stats.misses.saturating_sub(anew) + misses.load(Ordering::Relaxed),
        )
    }
}

/// What a reader gets of what is stored.
#[inline(always)]
pub fn hand_out(py: Python<'_>, stored: Stored) -> PyResult<Bound<'_, PyAny>> {
    let is_copied = stored.is_copied();
    let value = stored.object.into_bound(py);
    if is_copied {
        copy(value)
    } else {
        Ok(value)
    }
}

/// What a callable says that an entry weighs. Raises `InvalidArgument` for anything but a whole number.
fn weight(name: &str, said: &Bound<'_, PyAny>) -> PyResult<u64> {
    said.extract::<u64>()
        .ok()
        .filter(|size| !said.is_instance_of::<PyBool>() && *size <= HEAVIEST)
        .ok_or_else(|| {
            let said_so = errors::represent(said);
            let what = format!("{name} returned {said_so}: a whole number, 0 or more, is wanted");
            errors::invalid_argument(said.py(), &what)
        })
}

/// The engine's word for a time to live.
pub fn ttl(given: TtlArgument<'_, '_>) -> PyResult<Ttl> {
    Ok(match given.read()? {
        polycache::Ttl::Default => Ttl::Default,
        polycache::Ttl::Forever => Ttl::Forever,
        polycache::Ttl::For(time) => Ttl::For(time),
        polycache::Ttl::Until(time) => Ttl::Until(time),
    })
}

/// A copy to its depth; what cannot change is its own. Raises `UnsupportedValue`.
pub fn copy(value: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    if is_constant(&value) {
        return Ok(value);
    }
    if let Some(copy) = plain_copy::of(&value) {
        return Ok(copy);
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
        Err(_) => Err(errors::no_key(key)),
    }
}
