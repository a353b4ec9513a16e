//! The memory tier of `polycache.Cache`: objects that reads of the host tier have made, given out again
//! while the host tier stands as it was read (`spec/memory.md`, "Over the host tier"). With a server the host tier has
//! copies of what that holds ("Over the remote tier").
//!
//! Keys are `str` and `bytes` themselves: their comparison runs no code of users. Text and its bytes are one key of the
//! host tier but two here, which costs one more read at most. The host tier's word says whether an entry is current,
//! also after a change by a forked child, another process or another handle.

use super::object::Object;
use super::options::{bytes, choice, count};
use super::size;
use crate::errors;
use polycache::bindings::{Bindings, MemoryHits};
use polycache::{Cache, Origin};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PySet, PyString};
use pyo3::{PyTraverseError, PyVisit};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// One in so many hits marks its host slot as read often, unless it is; a power of two.
const LOOKS: u32 = 16;
/// The machine's counters get the hits when there are so many more, and the first of them with each look.
const HITS_ADDED: u32 = 128;

/// Of a namespace, by its number.
type Key = super::key::Key<u64>;

/// An object, and where and when its entry was read.
#[derive(Clone)]
struct Kept {
    object: Object,
    origin: Origin,
    size: u64,
}

/// Of all caches over one handle.
pub struct Shared {
    engine: polycache_memory::MemoryCache<Key, Kept>,
    doorkeeper: polycache_memory::Doorkeeper,
    /// Lists, dicts and sets are kept and given out, too: `isolation="none"`.
    shares_all: bool,
    hits: AtomicU32,
    /// Hits of the engine on stale objects.
    stale: AtomicU64,
    /// Hits that the machine's counters have.
    added: MemoryHits,
    /// Numbers of the namespaces that are open, by their prefixes. No number is given twice.
    namespace_numbers: Mutex<NamespaceNumbers>,
}

/// Namespaces that are open.
#[derive(Default)]
struct NamespaceNumbers {
    /// The number that was given last.
    last: u64,
    open: HashMap<Vec<u8>, Weak<u64>>,
}

/// The tier as a cache of one namespace sees it.
pub struct MemoryOverHost {
    shared: Arc<Shared>,
    namespace_number: Arc<u64>,
    parts: Vec<String>,
}

/// What the option `memory` says.
pub struct MemoryOptions {
    pub max_entries: u64,
    pub max_bytes: Option<u64>,
    pub shares_all: bool,
}

impl Default for MemoryOptions {
    fn default() -> MemoryOptions {
        MemoryOptions {
            max_entries: 10_000,
            max_bytes: Some(64 << 20),
            shares_all: false,
        }
    }
}

impl MemoryOptions {
    /// None when there is to be no memory tier. Raises `InvalidArgument`.
    pub fn read(value: &Bound<'_, PyAny>) -> PyResult<Option<MemoryOptions>> {
        if let Ok(wanted) = value.cast::<PyBool>() {
            return Ok(wanted.is_true().then(MemoryOptions::default));
        }
        let Ok(options) = value.cast::<PyDict>() else {
            let shown = errors::represent(value);
            let what = format!("memory is a dict of options, or a bool, not {shown}");
            return Err(errors::invalid_argument(value.py(), &what));
        };
        let mut read = MemoryOptions::default();
        for (name, value) in options {
            read.option(&name.extract::<String>()?, &value)?;
        }
        Ok(Some(read))
    }

    fn option(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match name {
            "max_entries" => self.max_entries = count(name, value, 1 << 24)?,
            // Nothing is weighed.
            "max_bytes" if value.is_none() => self.max_bytes = None,
            "max_bytes" => self.max_bytes = Some(bytes(name, value)?),
            "policy" => choice(name, value, &[("2q-clock", ())])?,
            "isolation" => {
                self.shares_all = choice(name, value, &[("clone", false), ("none", true)])?;
            }
            _ => {
                let names = "max_entries, max_bytes, policy, isolation";
                let what = format!("{name} is not an option of memory: there are {names}");
                return Err(errors::invalid_argument(value.py(), &what));
            }
        }
        Ok(())
    }
}

impl MemoryOverHost {
    pub fn new(options: &MemoryOptions, parts: Vec<String>) -> Option<MemoryOverHost> {
        // One shard, as for `MemoryCache`.
        let mut builder = polycache_memory::MemoryCache::builder()
            .shards(1)
            .max_entries(options.max_entries);
        if let Some(bytes) = options.max_bytes {
            builder = builder
                .max_bytes(bytes)
                .weigher(|_: &Key, kept: &Kept| kept.size);
        }
        let shared = Arc::new(Shared {
            engine: builder.build().ok()?,
            doorkeeper: polycache_memory::Doorkeeper::new(),
            shares_all: options.shares_all,
            hits: AtomicU32::new(0),
            stale: AtomicU64::new(0),
            added: MemoryHits::default(),
            namespace_numbers: Mutex::default(),
        });
        MemoryOverHost::of(shared, parts)
    }

    /// None for a namespace that there can't be.
    fn of(shared: Arc<Shared>, parts: Vec<String>) -> Option<MemoryOverHost> {
        let prefix = polycache_host::keys::prefix(&parts).ok()?;
        let namespace_number = shared.namespace_number(prefix);
        Some(MemoryOverHost {
            shared,
            namespace_number,
            parts,
        })
    }

    pub fn nested(&self, part: String) -> Option<MemoryOverHost> {
        let mut parts = self.parts.clone();
        parts.push(part);
        MemoryOverHost::of(self.shared.clone(), parts)
    }

    pub fn share(&self) -> MemoryOverHost {
        MemoryOverHost {
            shared: self.shared.clone(),
            namespace_number: self.namespace_number.clone(),
            parts: self.parts.clone(),
        }
    }

    /// The key's value, if the host tier would give the same.
    // Always: a call takes a tenth of what a hit does.
    #[inline(always)]
    pub fn read<'py>(&self, cache: &Cache, key: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let asked = MemoryOverHost::asked(key, &self.namespace_number)?;
        let kept = self.shared.engine.get(&*asked)?;
        if !cache.stands(&kept.origin) {
            self.shared.stale.fetch_add(1, Ordering::Relaxed);
            self.shared.engine.delete(&*asked);
            return None;
        }
        // Two threads that count at once may lose one: this only delays the next look.
        let hits = self.shared.hits.load(Ordering::Relaxed).wrapping_add(1);
        self.shared.hits.store(hits, Ordering::Relaxed);
        if hits & (LOOKS - 1) == 0 {
            cache.mark_visited(&kept.origin);
            if hits & (HITS_ADDED - 1) == 0 || hits < HITS_ADDED {
                self.add_hits(cache);
            }
        }
        Some(kept.object.into_bound(key.py()))
    }

    /// The same without a trace.
    pub fn peek<'py>(&self, cache: &Cache, key: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let asked = MemoryOverHost::asked(key, &self.namespace_number)?;
        let kept = self.shared.engine.peek(&*asked)?;
        cache
            .stands(&kept.origin)
            .then(|| kept.object.into_bound(key.py()))
    }

    /// Keeps what was just read from the host tier, if there is room or it was read there lately. What can be changed, and what
    /// holds values of registered types (`named`), is made anew for each reader instead, unless all readers are to share it.
    pub fn remember(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        origin: Origin,
        named: bool,
    ) {
        if !origin.is_known() {
            return;
        }
        let changes = named
            || value.is_exact_instance_of::<PyDict>()
            || value.is_exact_instance_of::<PyList>()
            || value.is_exact_instance_of::<PySet>();
        if changes && !self.shared.shares_all {
            return;
        }
        let Shared {
            engine, doorkeeper, ..
        } = &*self.shared;
        if engine.is_full() && !doorkeeper.admits(origin.place(), engine.len()) {
            return;
        }
        let Some(asked) = MemoryOverHost::asked(key, &self.namespace_number) else {
            return;
        };
        let bytes = |object| size::flat(object).or_else(|| size::estimate(object).ok());
        let (Some(key_size), Some(value_size)) = (bytes(key), bytes(value)) else {
            return;
        };
        let kept = Kept {
            object: Object::new(value),
            origin,
            size: size::ENTRY + key_size + value_size,
        };
        // What is too large is read anew each time.
        let _ = engine.set((*asked).clone(), kept);
    }

    /// Releases a value that the host tier no longer has.
    pub fn forget(&self, key: &Bound<'_, PyAny>) {
        if self.shared.engine.is_empty() {
            return;
        }
        if let Some(asked) = MemoryOverHost::asked(key, &self.namespace_number) {
            self.shared.engine.delete(&*asked);
        }
    }

    /// Lets go of the values of all keys that begin so.
    pub fn forget_prefix(&self, py: Python<'_>, prefix: &[u8]) -> PyResult<()> {
        let keys: Vec<Key> = self.shared.engine.keys().collect();
        for key in keys
            .iter()
            .filter(|key| key.namespace_number == *self.namespace_number)
        {
            let object = key.object.clone().into_bound(py);
            if crate::key::bytes(&object)?.starts_with(prefix) {
                self.shared.engine.delete(key);
            }
        }
        Ok(())
    }

    /// Lets go of everything.
    pub fn clear(&self) {
        self.shared.engine.clear();
    }

    /// Values that were given out.
    pub fn hits(&self) -> u64 {
        let stale = self.shared.stale.load(Ordering::Relaxed);
        self.shared.engine.hits().saturating_sub(stale)
    }

    /// Adds the hits since the last time to what the machine counts.
    #[cold]
    pub fn add_hits(&self, cache: &Cache) {
        cache.add_memory_hits(&self.shared.added, self.hits());
    }

    /// The objects, for the garbage collector; only what a single cache owns can be a cycle's part.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.shared.shares_all || Arc::strong_count(&self.shared) > 1 {
            return Ok(());
        }
        for (_, kept) in self.shared.engine.iter() {
            visit.call(kept.object.as_py())?;
        }
        Ok(())
    }

    /// The key, if it is one of those that are kept here. Hashing these runs no code of users.
    #[inline]
    fn asked<'a>(
        key: &'a Bound<'_, PyAny>,
        namespace_number: &u64,
    ) -> Option<super::key::Asked<'a, u64>> {
        if !key.is_exact_instance_of::<PyString>() && !key.is_exact_instance_of::<PyBytes>() {
            return None;
        }
        Key::asked(key, *namespace_number).ok()
    }
}

impl Shared {
    fn namespace_number(&self, prefix: Vec<u8>) -> Arc<u64> {
        let mut namespace_numbers = self
            .namespace_numbers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let NamespaceNumbers { last, open } = &mut *namespace_numbers;
        if let Some(namespace_number) = open.get(&prefix).and_then(Weak::upgrade) {
            return namespace_number;
        }
        // Those of caches that are gone; their entries are no longer found, and age.
        if open.len().is_power_of_two() {
            open.retain(|_, namespace_number| namespace_number.strong_count() > 0);
        }
        *last += 1;
        let namespace_number = Arc::new(*last);
        open.insert(prefix, Arc::downgrade(&namespace_number));
        namespace_number
    }
}
