//! Options of a cache, as keyword arguments.

use crate::byte_store;
use crate::clock::CallableClock;
use crate::jitter::{self, Random};
use crate::machine::Bounds;
use crate::memory::{choice, MemoryOptions};
use crate::types::Types;
use crate::{duration, encryption, errors, remote};
use polycache::{Builder, Cache, Compressor, Error, Jitter, Serializer, StoreErrors};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// What the extension itself has to know of the options.
pub struct Options {
    pub builder: Builder,
    pub serializer: Serializer,
    pub compressor: Compressor,
    pub clock: Option<CallableClock>,
    /// None: no memory tier.
    pub memory: Option<MemoryOptions>,
    /// Of the namespace.
    pub parts: Vec<String>,
    /// Of its loads.
    pub bounds: Bounds,
    /// Those that are registered by name.
    pub types: Option<Types>,
}

impl Options {
    /// Reads the path and the options. None stands for an option's default wherever it has no meaning
    /// of its own.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub fn read(path: Option<&Bound<'_, PyAny>>, options: &Bound<'_, PyDict>) -> PyResult<Options> {
        let builder = match path {
            Some(path) => Cache::builder().path(Options::path(path)?),
            None => Cache::builder(),
        };
        let mut read = Options {
            builder,
            serializer: Serializer::default(),
            compressor: Compressor::default(),
            clock: None,
            memory: Some(MemoryOptions::default()),
            parts: Vec::new(),
            bounds: Bounds::default(),
            types: None,
        };
        for (name, value) in options.iter() {
            let name = name.extract::<String>()?;
            read.builder = read.option(&name, &value)?;
        }
        Ok(read)
    }

    fn path(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
        let py = path.py();
        path.extract::<PathBuf>().map_err(|_| {
            if path.is_instance_of::<PyString>() {
                let what = "path holds a lone surrogate, which is in no file's name";
                return errors::invalid_argument(py, what);
            }
            let class = errors::class_of(path);
            errors::invalid_argument(py, &format!("path is str or os.PathLike, not {class}"))
        })
    }

    fn option(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Builder> {
        let py = value.py();
        let builder = std::mem::take(&mut self.builder);
        if value.is_none() && NAMES.contains(&name) {
            return Ok(builder);
        }
        Ok(match name {
            "namespace" => {
                self.parts = parts(value)?;
                builder.namespaces(self.parts.clone())
            }
            "name" => builder.name(text(name, value)?),
            "memory" => {
                self.memory = MemoryOptions::read(value)?;
                builder
            }
            "ttl" => builder.ttl(duration::extract(value)?),
            "time_to_idle" => builder.time_to_idle(duration::extract(value)?),
            "jitter" => builder.jitter(jitter::read(value)?),
            "_random" => {
                let random = Random::given(value)?;
                builder.jitter_source(move || random.next())
            }
            "limit" => builder.limit(size(name, value)?),
            "mode" => builder.mode(mode(value)?),
            "max_value" => builder.max_value(size(name, value)?),
            "serializer" => {
                self.serializer = parse(name, value, polycache::serializer::parse)?;
                builder.serializer(self.serializer)
            }
            "compressor" => {
                self.compressor = parse(name, value, polycache::compressor::parse)?;
                builder.compressor(self.compressor)
            }
            "dictionaries" => builder.dictionaries(dictionaries(value)?),
            "encryption" => builder.encryption(encryption::keys(value)?),
            // As `stores.kind_of` made it.
            "store" => builder.byte_store(byte_store::kind(value)?),
            "remote" => builder.remote(remote::read(value)?),
            "timeout" => builder.timeout(duration::extract(value)?),
            "max_staleness" => builder.max_staleness(staleness(value)?),
            "prefix" => builder.prefix(text(name, value)?),
            "types" => {
                self.types = Types::read(value)?;
                builder
            }
            _ if self.bounds.option(name, value)? => builder
                .lease_timeout(self.bounds.lease_timeout)
                .wait_timeout(self.bounds.wait_timeout)
                .store_errors(self.bounds.store_errors),
            "empty_at_boot" => match value.cast::<PyBool>() {
                Ok(empty) => builder.empty_at_boot(empty.is_true()),
                Err(_) => return Err(wrong(name, "True or False", value)),
            },
            "flush_every" if value.eq("never")? => builder.flush_every(None),
            "flush_every" => {
                let every = duration::extract(value)?;
                if !FLUSHES.contains(&every) {
                    return Err(wrong(name, "100 ms to 24 hours, or \"never\"", value));
                }
                builder.flush_every(every)
            }
            "clock" if value.is_callable() => {
                let clock = self
                    .clock
                    .insert(CallableClock::new(value.clone().unbind()));
                builder.clock(clock.engine())
            }
            "clock" => return Err(wrong(name, "a callable", value)),
            _ => return Err(unknown(py, name)),
        })
    }
}

/// Those of a cache without a directory.
pub struct MemoryTierOptions {
    pub memory: MemoryOptions,
    pub parts: Vec<String>,
    pub ttl: Option<Duration>,
    pub time_to_idle: Option<Duration>,
    pub jitter: Option<Jitter>,
    /// Of the jitter.
    pub random: Random,
    pub bounds: Bounds,
    pub clock: Option<CallableClock>,
    pub types: Option<Types>,
}

/// What a load may last before others begin beside it, and how long callers may wait for others.
const LEASE_TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_millis(63)..=Duration::from_secs(8 * 3600);
const FLUSHES: RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(24 * 3600);
const WAIT_TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(24 * 3600);

impl Bounds {
    /// Takes an option if it is one of these; false when it is not. Raises `InvalidArgument`.
    pub fn option(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let within = |range: RangeInclusive<Duration>, words: &str| {
            let time = duration::extract(value)?;
            let fits = range.contains(&time);
            fits.then_some(time)
                .ok_or_else(|| wrong(name, words, value))
        };
        match name {
            "lease_timeout" => self.lease_timeout = within(LEASE_TIMEOUTS, "63 ms to 8 hours")?,
            "wait_timeout" => self.wait_timeout = within(WAIT_TIMEOUTS, "1 ms to 24 hours")?,
            "store_errors" => {
                let choices = [
                    ("report", StoreErrors::Report),
                    ("raise", StoreErrors::Raise),
                ];
                self.store_errors = choice(name, value, &choices)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl MemoryTierOptions {
    /// # Errors
    /// `InvalidArgument`, also for options about bytes and directories.
    pub fn read(options: &Bound<'_, PyDict>) -> PyResult<MemoryTierOptions> {
        let mut read = MemoryTierOptions {
            memory: MemoryOptions::default(),
            parts: Vec::new(),
            ttl: None,
            time_to_idle: None,
            jitter: None,
            random: Random::default(),
            bounds: Bounds::default(),
            clock: None,
            types: None,
        };
        for (name, value) in options.iter() {
            read.option(&name.extract::<String>()?, &value)?;
        }
        Ok(read)
    }

    fn option(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        if value.is_none() && NAMES.contains(&name) {
            return Ok(());
        }
        match name {
            "namespace" => self.parts = parts(value)?,
            // Python reads it.
            "name" => drop(text(name, value)?),
            "memory" => {
                self.memory = MemoryOptions::read(value)?.ok_or_else(|| {
                    errors::invalid_argument(py, "a cache needs a path, or memory")
                })?;
            }
            "ttl" => self.ttl = Some(duration::extract(value)?),
            "time_to_idle" => self.time_to_idle = Some(duration::extract(value)?),
            "jitter" => self.jitter = Some(jitter::read(value)?),
            "_random" => self.random = Random::given(value)?,
            "types" => self.types = Types::read(value)?,
            _ if self.bounds.option(name, value)? => {}
            "clock" if value.is_callable() => {
                self.clock = Some(CallableClock::new(value.clone().unbind()));
            }
            "clock" => return Err(wrong(name, "a callable", value)),
            _ if REMOTE.contains(&name) => {
                let what = format!("{name} is of a remote tier, and means nothing without remote");
                return Err(errors::invalid_argument(py, &what));
            }
            _ if NAMES.contains(&name) => {
                let what = format!("{name}: without a path there is no directory");
                return Err(errors::invalid_argument(py, &what));
            }
            _ => return Err(unknown(py, name)),
        }
        Ok(())
    }
}

#[cold]
fn unknown(py: Python<'_>, name: &str) -> PyErr {
    let names = NAMES.join(", ");
    errors::invalid_argument(py, &format!("{name} is not an option: there are {names}"))
}

/// Of the remote tier, beside `remote` itself.
const REMOTE: [&str; 3] = ["timeout", "max_staleness", "prefix"];

const NAMES: [&str; 26] = [
    "namespace",
    "name",
    "ttl",
    "time_to_idle",
    "jitter",
    "limit",
    "mode",
    "max_value",
    "serializer",
    "compressor",
    "dictionaries",
    "encryption",
    "types",
    "lease_timeout",
    "wait_timeout",
    "store_errors",
    "empty_at_boot",
    "flush_every",
    "memory",
    "store",
    "durability",
    "remote",
    "timeout",
    "max_staleness",
    "prefix",
    "clock",
];

/// The parts of a namespace: one as text, or a list of them.
fn parts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Ok(vec![part(value)?]);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return value.try_iter()?.map(|one| part(&one?)).collect();
    }
    Err(wrong("namespace", "text, or a list of text", value))
}

/// One part of a namespace.
pub fn part(value: &Bound<'_, PyAny>) -> PyResult<String> {
    text("a namespace's part", value)
}

fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.cast::<PyString>().ok();
    text.and_then(|text| text.to_str().ok().map(str::to_owned))
        .ok_or_else(|| wrong(name, "text", value))
}

/// Trained dictionaries: a list of bytes.
pub fn dictionaries(value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    let bytes = |one: Bound<'_, PyAny>| match one.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) => Err(wrong("one of dictionaries", "bytes", &one)),
    };
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return value.try_iter()?.map(|one| bytes(one?)).collect();
    }
    Err(wrong("dictionaries", "a list of bytes", value))
}

fn size(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if value.is_instance_of::<PyString>() {
        return parse(name, value, polycache::size::parse);
    }
    let is_number = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    match value.extract() {
        Ok(bytes) if is_number => Ok(bytes),
        _ => Err(wrong(
            name,
            "bytes as an int, or text like \"64MiB\"",
            value,
        )),
    }
}

/// How far a read may be behind; 0, which is no other duration, means not at all.
pub fn staleness(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let is_number = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    if is_number && value.extract::<i64>().is_ok_and(|number| number == 0) {
        return Ok(Duration::ZERO);
    }
    duration::extract(value)
}

/// A file mode.
fn mode(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let is_number = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    match value.extract() {
        Ok(mode) if is_number => Ok(mode),
        _ => Err(wrong("mode", "an int like 0o660", value)),
    }
}

fn parse<T>(
    name: &str,
    value: &Bound<'_, PyAny>,
    parse: impl FnOnce(&str) -> Result<T, Error>,
) -> PyResult<T> {
    let text = value.cast::<PyString>().ok();
    match text.and_then(|text| text.to_str().ok()) {
        Some(text) => parse(text).map_err(|error| errors::raise(value.py(), error)),
        None => Err(wrong(name, "text", value)),
    }
}

#[cold]
fn wrong(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let shown = errors::represent(value);
    errors::invalid_argument(value.py(), &format!("{name} is {wanted}, not {shown}"))
}
