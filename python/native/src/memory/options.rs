//! Options of a `MemoryCache`, as keyword arguments.

use super::key::Key;
use super::listener::Listener;
use super::object::Object;
use crate::clock::CallableClock;
use crate::machine::Bounds;
use crate::{duration, errors};
use polycache_memory::{Builder, RemovalCause};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// What the engine holds beside a key.
#[derive(Clone)]
pub struct Stored {
    pub object: Object,
    /// What it weighs with its key, and in the highest bit whether each reader gets a copy.
    size: u64,
}

const COPIED: u64 = 1 << 63;
/// The most that an entry can weigh.
pub const HEAVIEST: u64 = COPIED - 1;

impl Stored {
    #[inline]
    pub fn new(object: Object, size: u64, is_copied: bool) -> Stored {
        let size = size.min(HEAVIEST) | if is_copied { COPIED } else { 0 };
        Stored { object, size }
    }

    #[inline]
    pub fn size(&self) -> u64 {
        self.size & HEAVIEST
    }

    /// True when each reader gets a copy, false of what cannot change.
    #[inline(always)]
    pub fn is_copied(&self) -> bool {
        self.size & COPIED != 0
    }
}

pub type Engine = polycache_memory::MemoryCache<Key, Stored>;

/// How entries are weighed.
pub enum Weigh {
    /// Not at all: they are counted.
    Count,
    /// By an estimate of their bytes.
    Bytes,
    /// By a callable, of key and value.
    Weigher(Py<PyAny>),
    /// By a callable, of the value; `max_entries` bounds the sum, as in cachetools.
    Getsizeof(Py<PyAny>),
}

/// Which callers see a change of an object that was stored or handed out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// No other caller: the cache stores a copy and hands out another.
    Clone,
    /// Every caller: they share the object itself.
    None,
}

/// The options, read.
pub struct Options {
    /// None: as many as the engine takes.
    pub max_entries: Option<u64>,
    pub max_bytes: Option<u64>,
    pub weigh: Weigh,
    pub isolation: Isolation,
    pub removal_listener: Option<Arc<Listener>>,
    pub clock: Option<CallableClock>,
    /// Says how long an entry lives, by its key and value.
    pub lifetime: Option<Py<PyAny>>,
    /// Of its loads.
    pub bounds: Bounds,
    ttl: Option<std::time::Duration>,
    time_to_idle: Option<std::time::Duration>,
}

const NAMES: [&str; 11] = [
    "max_bytes",
    "weigher",
    "ttl",
    "time_to_idle",
    "policy",
    "isolation",
    "removal_listener",
    "lease_timeout",
    "wait_timeout",
    "store_errors",
    "clock",
];

const MOST_ENTRIES: u64 = 1 << 24;

impl Options {
    /// The options of `polycache.cachetools` and `polycache.functools` come as `_maxsize` and
    /// `_getsizeof`. Raises `InvalidArgument`.
    pub fn read<'py>(
        py: Python<'py>,
        max_entries: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Options> {
        let mut read = Options {
            max_entries: None,
            max_bytes: None,
            weigh: Weigh::Count,
            isolation: Isolation::Clone,
            removal_listener: None,
            clock: None,
            lifetime: None,
            bounds: Bounds::default(),
            ttl: None,
            time_to_idle: None,
        };
        let mut weighing = Weighing::default();
        let mut bound = max_entries.map(|value| ("max_entries", value.clone()));
        for (name, value) in options.into_iter().flatten() {
            match name.extract::<String>()?.as_str() {
                "_maxsize" => bound = Some(("maxsize", value)).filter(|(_, one)| !one.is_none()),
                name if weighing.option(name, &value)? => {}
                name => read.option(name, &value)?,
            }
        }
        read.max_bytes = weighing.max_bytes;
        read.weigh = weighing.weigh(py)?;
        let most = match read.weigh {
            Weigh::Getsizeof(_) => HEAVIEST,
            Weigh::Count | Weigh::Bytes | Weigh::Weigher(_) => MOST_ENTRIES,
        };
        let bound = bound.map(|(name, value)| number(name, &value, 0..=most));
        read.max_entries = bound.transpose()?;
        Ok(read)
    }

    fn option(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        if value.is_none() && NAMES.contains(&name) {
            return Ok(());
        }
        match name {
            "ttl" if value.is_callable() => self.lifetime = Some(value.clone().unbind()),
            "ttl" => self.ttl = Some(duration::extract(value)?),
            "time_to_idle" => self.time_to_idle = Some(duration::extract(value)?),
            "policy" => choice(name, value, &[("2q-clock", ())])?,
            "isolation" => {
                let choices = [("clone", Isolation::Clone), ("none", Isolation::None)];
                self.isolation = choice(name, value, &choices)?;
            }
            "removal_listener" => {
                self.removal_listener = Some(Arc::new(Listener(callable(name, value)?)));
            }
            "clock" => self.clock = Some(CallableClock::new(callable(name, value)?)),
            _ if self.bounds.option(name, value)? => {}
            _ => {
                let names = NAMES.join(", ");
                let what = format!("{name} is not an option: there are max_entries, {names}");
                return Err(errors::invalid_argument(py, &what));
            }
        }
        Ok(())
    }

    /// The engine that they ask for.
    pub fn engine(&self, py: Python<'_>) -> PyResult<Engine> {
        // One shard: with the GIL no two threads are in the engine at once, and the policy is exact.
        let mut builder: Builder<Key, Stored> = Engine::builder().shards(1);
        let weigher = |_: &Key, stored: &Stored| stored.size();
        // What is to hold nothing refuses all writes before the engine is asked.
        let most = self.max_entries.map(|most| most.max(1));
        builder = match (&self.weigh, most) {
            // Weighed without a bound as well, for `currsize`.
            (Weigh::Getsizeof(_), most) => {
                builder.max_bytes(most.unwrap_or(HEAVIEST)).weigher(weigher)
            }
            (_, most) => builder.max_entries(most.unwrap_or(u64::MAX)),
        };
        if let Some(bytes) = self.max_bytes {
            builder = builder.max_bytes(bytes).weigher(weigher);
        }
        if let Some(ttl) = self.ttl {
            builder = builder.ttl(ttl);
        }
        if let Some(time) = self.time_to_idle {
            builder = builder.time_to_idle(time);
        }
        if let Some(clock) = &self.clock {
            let time = clock.time();
            builder = builder.clock(move || time.load(Ordering::Relaxed));
        }
        if let Some(listener) = self.removal_listener.clone() {
            builder = builder
                .removal_listener(move |key, stored, cause| listener.tell(key, stored, cause));
        }
        builder.build().map_err(|error| raise(py, error))
    }
}

/// How entries are weighed, from options that depend on each other.
#[derive(Default)]
struct Weighing {
    max_bytes: Option<u64>,
    weigher: Option<Py<PyAny>>,
    getsizeof: Option<Py<PyAny>>,
}

impl Weighing {
    /// Takes an option if it is one of these; false when it is not. Raises `InvalidArgument`.
    fn option(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        match name {
            "max_bytes" | "weigher" | "_getsizeof" if value.is_none() => {}
            "max_bytes" => self.max_bytes = Some(bytes(name, value)?),
            "weigher" => self.weigher = Some(callable(name, value)?),
            "_getsizeof" => self.getsizeof = Some(callable("getsizeof", value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn weigh(self, py: Python<'_>) -> PyResult<Weigh> {
        Ok(match (self.getsizeof, self.weigher, self.max_bytes) {
            (Some(getsizeof), ..) => Weigh::Getsizeof(getsizeof),
            (None, Some(weigher), Some(_)) => Weigh::Weigher(weigher),
            (None, Some(_), None) => {
                let what = "a weigher needs max_bytes, which bounds what it says";
                return Err(errors::invalid_argument(py, what));
            }
            (None, None, Some(_)) => Weigh::Bytes,
            (None, None, None) => Weigh::Count,
        })
    }
}

/// The name of a cause, as listeners are given it.
pub fn cause(cause: RemovalCause) -> &'static str {
    match cause {
        RemovalCause::Replaced => "replaced",
        RemovalCause::Deleted => "deleted",
        RemovalCause::Expired => "expired",
        RemovalCause::Cleared => "cleared",
        // The engine may learn others.
        _ => "evicted",
    }
}

/// The exception for an error of the engine.
#[cold]
pub fn raise(py: Python<'_>, error: polycache_memory::Error) -> PyErr {
    let error = match error {
        polycache_memory::Error::EntryTooLarge { size, limit } => {
            polycache::Error::EntryTooLarge { size, limit }
        }
        polycache_memory::Error::InvalidArgument(what) => polycache::Error::InvalidArgument(what),
        // Loaders are Python, and called there.
        other => polycache::Error::InvalidArgument(other.to_string()),
    };
    errors::raise(py, error)
}

/// A whole number from 1 to `most`.
pub fn count(name: &str, value: &Bound<'_, PyAny>, most: u64) -> PyResult<u64> {
    number(name, value, 1..=most)
}

/// A whole number within a range, of any class that has an `__index__`, but no bool.
fn number(name: &str, value: &Bound<'_, PyAny>, range: RangeInclusive<u64>) -> PyResult<u64> {
    match value.extract::<u64>() {
        Ok(number) if !value.is_instance_of::<PyBool>() && range.contains(&number) => Ok(number),
        _ => {
            let (least, most) = range.into_inner();
            let wanted = format!("a whole number from {least} to {most}");
            Err(wrong(name, &wanted, value))
        }
    }
}

/// Bytes, as a number or text.
pub fn bytes(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    let Ok(text) = value.cast::<PyString>() else {
        return count(name, value, i64::MAX as u64);
    };
    let bytes = polycache::size::parse(&text.to_string_lossy());
    match bytes.map_err(|error| errors::raise(value.py(), error))? {
        0 => Err(wrong(name, "at least 1", value)),
        bytes => Ok(bytes),
    }
}

/// One of several words.
pub fn choice<T: Copy>(name: &str, value: &Bound<'_, PyAny>, choices: &[(&str, T)]) -> PyResult<T> {
    let text = value.extract::<String>().ok();
    let chosen = choices
        .iter()
        .find(|(word, _)| Some(*word) == text.as_deref());
    chosen.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
        wrong(name, &words.join(" or "), value)
    })
}

fn callable(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if value.is_callable() {
        Ok(value.clone().unbind())
    } else {
        Err(wrong(name, "a callable", value))
    }
}

#[cold]
fn wrong(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let shown = errors::represent(value);
    errors::invalid_argument(value.py(), &format!("{name} is {wanted}, not {shown}"))
}
