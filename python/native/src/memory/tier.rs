//! `polycache.Cache` without a directory: objects of this process (`spec/memory.md`, "Without a directory"). The same
//! operations and results, inside one process.
//!
//! Keys are exact `str`, or `bytes` that are not UTF-8, so that text and its bytes are one key, and comparing
//! keys runs no code of users. A namespace is a number, which a clear changes: what is stored under the old
//! one is no longer found, and is removed. The operations: `tier_operations.rs`.

use super::isolation::{copy_in, copy_out, is_constant};
use super::object::Object;
use super::options::raise;
use super::over_host::MemoryOptions;
use super::size;
use crate::clock::CallableClock;
use crate::duration::TtlArgument;
use crate::flights::{Flights, Namespace, Reads};
use crate::from_python::{self, Reading};
use crate::jitter::Lifetime;
use crate::key::named;
use crate::lock::LockTable;
use crate::machine::Copies;
use crate::options::MemoryTierOptions;
use crate::tiers::Tiers;
use crate::{errors, key};
use polycache::{Error, Serializer};
use polycache_entry::MAX_TIME_MS;
use polycache_memory::Ttl;
use pyo3::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is kept beside a key.
#[derive(Clone)]
pub struct Stored {
    pub object: Object,
    /// What it weighs with its key.
    pub size: u64,
    /// When it was written, by the user's clock; 0 where no clock can be set back, or it never expires.
    pub created: u64,
    /// Another for each write and touch, in all of this process.
    pub version: u64,
}

impl Stored {
    /// True of one and the same write.
    pub fn is(&self, other: &Stored) -> bool {
        self.version == other.version
    }
}

/// The version of a new entry.
pub fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Of a namespace, by its number.
pub type Key = super::key::Key<u64>;
pub type Asked<'a> = super::key::Asked<'a, u64>;
pub type Engine = polycache_memory::MemoryCache<Key, Stored>;

/// Milliseconds by which a clock may be set back without a change (`spec/entry.md`).
const TOLERANCE: u64 = 1000;

/// What a cache's namespaces share.
pub struct Shared {
    pub engine: Engine,
    /// How long entries live if a write does not say.
    lifetime: Lifetime,
    /// Readers are given the object itself: `isolation="none"`.
    pub shares_all: bool,
    pub max_bytes: Option<u64>,
    pub clock: Option<CallableClock>,
    pub flights: Arc<Flights>,
    pub locks: LockTable,
    namespace_numbers: Mutex<NamespaceNumbers>,
    pub closed: AtomicBool,
    pub counts: Counts,
}

#[derive(Default)]
pub struct Counts {
    pub hits: AtomicU64,
    pub misses: AtomicU64,
    pub writes: AtomicU64,
    pub deletes: AtomicU64,
    pub invalidated_loads: AtomicU64,
}

/// The namespaces that are open or have entries.
#[derive(Default)]
struct NamespaceNumbers {
    /// The number that was given last; none is given twice.
    last: u64,
    known: HashMap<Vec<String>, Arc<AtomicU64>>,
}

impl NamespaceNumbers {
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

/// One namespace.
#[derive(Clone)]
pub struct MemoryTier {
    pub shared: Arc<Shared>,
    pub parts: Namespace,
    namespace_number: Arc<AtomicU64>,
}

/// The time to live of a write, as the engine has it.
pub fn ttl_of(given: TtlArgument<'_, '_>) -> PyResult<Ttl> {
    Ok(match given.read()? {
        polycache::Ttl::Default => Ttl::Default,
        polycache::Ttl::Forever => Ttl::Forever,
        polycache::Ttl::For(time) => Ttl::For(time),
        polycache::Ttl::Until(time) => Ttl::Until(time),
    })
}

#[inline]
pub fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl MemoryTier {
    /// Raises `InvalidArgument` and `InvalidNamespace`.
    pub fn new(py: Python<'_>, options: MemoryTierOptions) -> PyResult<MemoryTier> {
        let MemoryOptions {
            max_entries,
            max_bytes,
            shares_all,
        } = options.memory;
        // One shard, as for `MemoryCache`.
        let mut builder = Engine::builder().shards(1).max_entries(max_entries);
        if let Some(bytes) = max_bytes {
            let weigher = |_: &Key, stored: &Stored| stored.size;
            builder = builder.max_bytes(bytes).weigher(weigher);
        }
        if let Some(ttl) = options.ttl {
            // For what it refuses: each write says how long it is to live.
            builder = builder.ttl(ttl);
        }
        if let Some(time) = options.time_to_idle {
            builder = builder.time_to_idle(time);
        }
        if let Some(clock) = &options.clock {
            let time = clock.time();
            builder = builder.clock(move || time.load(Ordering::Relaxed));
        }
        let copies = if shares_all {
            Copies::None
        } else {
            Copies::TypeMap
        };
        // What is shared is kept itself, of any class: nothing is encoded.
        let reads = (!shares_all).then_some(Reads {
            serializer: Serializer::MessagePack,
            types: options.types,
        });
        let shared = Shared {
            engine: builder.build().map_err(|error| raise(py, error))?,
            lifetime: Lifetime::new(py, options.ttl, options.jitter, options.random)?,
            shares_all,
            max_bytes,
            clock: options.clock,
            flights: Flights::new(options.bounds, copies, reads, true),
            locks: LockTable::default(),
            namespace_numbers: Mutex::default(),
            closed: AtomicBool::new(false),
            counts: Counts::default(),
        };
        MemoryTier::of(py, Arc::new(shared), options.parts)
    }

    pub fn of(py: Python<'_>, shared: Arc<Shared>, parts: Vec<String>) -> PyResult<MemoryTier> {
        // For what it refuses.
        polycache_host::keys::prefix(&parts).map_err(|error| errors::raise(py, error.into()))?;
        let namespace_number = shared.namespace_number(&parts);
        Ok(MemoryTier {
            shared,
            parts: parts.into(),
            namespace_number,
        })
    }

    /// Asks the clock, if there is one of the user's, and whether the cache is open.
    #[inline]
    pub fn begin(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(clock) = &self.shared.clock {
            clock.read_clock(py)?;
        }
        self.check_open(py)
    }

    #[inline]
    pub fn check_open(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_closed() {
            return Err(errors::raise(py, Error::Closed));
        }
        Ok(())
    }

    pub fn number(&self) -> u64 {
        self.namespace_number.load(Ordering::SeqCst)
    }

    /// What a reader gets of what is stored.
    #[inline]
    pub fn hand_out<'py>(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.shared.shares_all {
            return Ok(value);
        }
        copy_out(value, self.shared.flights.types())
    }

    /// The object that is stored.
    #[inline]
    pub fn find<'py>(&self, asked: &Asked<'_>, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let found = self.shared.engine.get(&**asked);
        let stored = found.filter(|stored| self.shared.serves(stored))?;
        add(&self.shared.counts.hits);
        Some(stored.object.into_bound(py))
    }

    /// The key's value, counted as a hit or a miss.
    #[inline]
    pub fn read<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = key.py();
        let key = named(key)?;
        self.begin(py)?;
        match self.find(&Key::asked(&key, self.number())?, py) {
            Some(value) => self.hand_out(value).map(Some),
            None => {
                add(&self.shared.counts.misses);
                Ok(None)
            }
        }
    }

    /// What is stored, without a use of it.
    pub fn seen(&self, key: &Key) -> Option<Stored> {
        let found = self.shared.engine.peek(key);
        found.filter(|stored| self.shared.serves(stored))
    }

    /// What a write stores: the value itself, or a copy made of what was read. Raises `UnsupportedValue`.
    pub fn stored<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
        read: Option<Reading<'py>>,
    ) -> PyResult<Stored> {
        let value = match read {
            None => value.clone(),
            Some(read) => copy_in(value, read)?,
        };
        let size = match self.shared.max_bytes {
            None => 1,
            Some(_) => {
                let bytes = |object| match size::flat(object) {
                    Some(bytes) => Ok(bytes),
                    None => size::estimate(object),
                };
                size::ENTRY + bytes(key)? + bytes(&value)?
            }
        };
        Ok(Stored {
            object: Object::new(&value),
            size,
            created: 0,
            version: next_version(),
        })
    }

    /// The same of a value that is not read yet.
    #[inline]
    pub fn made(&self, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Stored> {
        let read = if self.shared.shares_all {
            None
        } else {
            let types = self.shared.flights.types();
            if is_constant(value) {
                // For what it refuses.
                from_python::with_value(value, Serializer::MessagePack, types, |_, _| ())?;
                None
            } else {
                Some(from_python::read(value, Serializer::MessagePack, types)?)
            }
        };
        self.stored(name, value, read)
    }

    pub fn put(&self, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, ttl: Ttl) -> PyResult<()> {
        let py = name.py();
        let mut stored = self.made(name, value)?;
        self.begin(py)?;
        let ttl = self.shared.living(&mut stored, ttl);
        let namespace_number = self.number();
        let asked = Key::asked(name, namespace_number)?;
        self.refuse_too_large(py, &asked, stored.size)?;
        let flights = &self.shared.flights;
        // Under the engine's lock: no load that began before can store its value after this.
        let admit = |key: &Key, _: Option<&Stored>| {
            flights.invalidate(&self.parts, key.hash);
            true
        };
        let written = self
            .shared
            .engine
            .set_if((*asked).clone(), stored, ttl, admit);
        written.map_err(|error| raise(py, error))?;
        add(&self.shared.counts.writes);
        Ok(())
    }

    /// A value that is too large still supersedes the key's value.
    pub fn refuse_too_large(&self, py: Python<'_>, asked: &Asked<'_>, size: u64) -> PyResult<()> {
        match self.shared.max_bytes {
            Some(limit) if size > limit => {
                self.remove(asked);
                Err(errors::raise(py, Error::EntryTooLarge { size, limit }))
            }
            _ => Ok(()),
        }
    }

    /// Takes the key's entry out, and invalidates loads of the key.
    pub fn remove(&self, key: &Key) -> Option<Stored> {
        self.shared.flights.invalidate(&self.parts, key.hash);
        let taken = self.shared.engine.take(key);
        // Those that began before the entry left.
        self.shared.flights.invalidate(&self.parts, key.hash);
        taken.filter(|stored| self.shared.serves(stored))
    }

    /// The same if it is just this entry; true when it was.
    pub fn remove_seen(&self, key: &Key, seen: &Stored) -> bool {
        self.shared.flights.invalidate(&self.parts, key.hash);
        let is_it = |stands: Option<&Stored>| stands.is_some_and(|stands| stands.is(seen));
        let removed = self.shared.engine.delete_if(key, is_it);
        self.shared.flights.invalidate(&self.parts, key.hash);
        removed
    }

    /// The keys of this namespace that begin with `prefix`.
    pub fn keys_with(&self, py: Python<'_>, prefix: &[u8]) -> PyResult<Vec<Key>> {
        let namespace_number = self.number();
        let all: Vec<(Key, Stored)> = self.shared.engine.iter().collect();
        let mut keys = Vec::new();
        for (key, stored) in all {
            if key.namespace_number != namespace_number || !self.shared.serves(&stored) {
                continue;
            }
            if key::bytes(&key.object.clone().into_bound(py))?.starts_with(prefix) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// Counts a hit or a miss.
    pub fn counted(&self, found: bool) -> bool {
        let counts = &self.shared.counts;
        add(if found { &counts.hits } else { &counts.misses });
        found
    }
}

impl Shared {
    /// False for an entry from the future: otherwise it would live on when the clock is set back.
    #[inline]
    pub fn serves(&self, stored: &Stored) -> bool {
        match &self.clock {
            Some(clock) if stored.created > 0 => clock.now() + TOLERANCE >= stored.created,
            _ => true,
        }
    }

    pub fn has(&self, asked: &Asked<'_>) -> bool {
        let found = self.engine.peek(&**asked);
        found.is_some_and(|stored| self.serves(&stored))
    }

    /// Milliseconds since 1970.
    pub fn now(&self) -> u64 {
        match &self.clock {
            Some(clock) => clock.now(),
            None => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH);
                since.map_or(0, |since| since.as_millis() as u64)
            }
        }
    }

    /// How long it lives, by the default where its write does not say: until the last time that an entry
    /// can hold at most.
    pub fn living(&self, stored: &mut Stored, given: Ttl) -> Ttl {
        let ttl = match given {
            Ttl::Default => self.lifetime.next().map_or(Ttl::Forever, Ttl::For),
            given => given,
        };
        stored.created = 0;
        match (ttl, &self.clock) {
            (Ttl::For(time), Some(clock)) => {
                stored.created = clock.now();
                let most = MAX_TIME_MS.saturating_sub(clock.now()).max(1);
                Ttl::For(time.min(Duration::from_millis(most)))
            }
            // The engine would measure the distance by the system's clock.
            (Ttl::Until(time), Some(clock)) => {
                stored.created = clock.now();
                match Ttl::since_1970(time).saturating_sub(clock.now()) {
                    0 => Ttl::Until(UNIX_EPOCH),
                    left => Ttl::For(Duration::from_millis(left)),
                }
            }
            (ttl, _) => ttl,
        }
    }

    fn namespace_number(&self, parts: &[String]) -> Arc<AtomicU64> {
        let mut namespace_numbers = self
            .namespace_numbers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(namespace_number) = namespace_numbers.known.get(parts) {
            return namespace_number.clone();
        }
        // Programs may open any number of namespaces: those without a cache or an entry go.
        let known = namespace_numbers.known.len();
        if known >= 8 && known.is_power_of_two() {
            let used: HashSet<u64> = self.engine.keys().map(|key| key.namespace_number).collect();
            namespace_numbers.known.retain(|_, namespace_number| {
                Arc::strong_count(namespace_number) > 1
                    || used.contains(&namespace_number.load(Ordering::SeqCst))
            });
        }
        let namespace_number = Arc::new(AtomicU64::new(namespace_numbers.number()));
        namespace_numbers
            .known
            .insert(parts.to_vec(), namespace_number.clone());
        namespace_number
    }

    pub fn clear(&self, parts: &[String]) {
        let mut gone = HashSet::new();
        {
            let mut namespace_numbers = self
                .namespace_numbers
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let nested = |of: &&Vec<String>| of.starts_with(parts);
            let names: Vec<_> = namespace_numbers
                .known
                .keys()
                .filter(nested)
                .cloned()
                .collect();
            for name in names {
                let number = namespace_numbers.number();
                if let Some(namespace_number) = namespace_numbers.known.get(&name) {
                    gone.insert(namespace_number.swap(number, Ordering::SeqCst));
                }
            }
        }
        self.flights.invalidate_below(parts);
        if parts.is_empty() {
            self.engine.clear();
            return;
        }
        let keys: Vec<Key> = self.engine.keys().collect();
        for key in keys
            .iter()
            .filter(|key| gone.contains(&key.namespace_number))
        {
            self.engine.delete(key);
        }
    }
}
