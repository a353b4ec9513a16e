//! What a cache consists of, as its methods see it: a directory with or without memory over it
//! (`host.rs`), or memory alone (`memory/tier.rs`).

use crate::cache::Cache;
use crate::duration::TtlArgument;
use crate::flights::{Flights, Namespace};
use crate::lock::Locks;
use crate::machine::Machine;
use crate::many::Pair;
use crate::memory::Stored;
use polycache::{MachineStats, Report, Stats, TtlLeft, Usage};
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::{PyTraverseError, PyVisit};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Duration;

/// An entry's value, and what the entry says of it. Without a directory it says little.
pub struct Facts<'py> {
    pub value: Bound<'py, PyAny>,
    pub ttl: TtlLeft,
    /// Milliseconds since 1970.
    pub created: Option<u64>,
    /// Milliseconds since 1970; None for never.
    pub expires: Option<u64>,
    /// Bytes.
    pub size: Option<u64>,
    pub serializer: Option<&'static str>,
    pub compressor: Option<&'static str>,
    /// Another after each write and touch of the key.
    pub version: u64,
}

/// When a value is to be stored.
#[derive(Clone, Copy)]
pub enum Condition {
    IsAbsent,
    IsEntry,
    HasVersion(u64),
}

/// What to add to a key's integer, or to subtract from it.
#[derive(Clone, Copy)]
pub struct Counting {
    pub by: i64,
    pub down: bool,
    /// What a key without an entry counts as.
    pub initial: i64,
}

/// What an update found at a key, in the tiers that it asked.
pub enum Found {
    Host(polycache::bindings::Found),
    Memory(Option<Stored>),
}

/// Seconds, as the methods `ttl` give them.
pub fn seconds(left: TtlLeft) -> f64 {
    match left {
        TtlLeft::Forever => f64::INFINITY,
        TtlLeft::For(left) => left.as_secs_f64(),
    }
}

/// One namespace of some tiers. Keys are checked here: `InvalidKey`.
pub trait Tiers: Send + Sync {
    /// The cache of a namespace nested in this one by one part.
    fn nested(&self, py: Python<'_>, part: String) -> PyResult<Cache>;
    /// See the methods of `Cache`.
    fn set(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<()>;
    fn set_several<'py>(
        &self,
        entries: &mut dyn Iterator<Item = PyResult<Pair<'py>>>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<()>;
    /// Stores a value on a condition; true when it was stored. What fails has changed nothing.
    fn set_if(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
        condition: Condition,
    ) -> PyResult<bool>;
    /// The key's value without a trace, None for a miss, and what was found.
    fn find_to_update<'py>(
        &self,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Found)>;
    /// Stores a value if the key is still as it was found. Without a `ttl` an entry keeps its own.
    fn set_found(
        &self,
        key: &Bound<'_, PyAny>,
        found: &Found,
        value: &Bound<'_, PyAny>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<bool>;
    /// Deletes the key if it is still as it was found.
    fn delete_found(&self, key: &Bound<'_, PyAny>, found: &Found) -> PyResult<bool>;
    /// Gives the sum. The entry keeps its time to live; `ttl` is for a key without one.
    fn count(
        &self,
        key: &Bound<'_, PyAny>,
        counting: Counting,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<i64>;
    fn delete(&self, key: &Bound<'_, PyAny>) -> PyResult<bool>;
    fn has(&self, key: &Bound<'_, PyAny>) -> PyResult<bool>;
    fn ttl(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<f64>>;
    /// Without a trace; None for a miss.
    fn peek<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>>;
    /// Deletes the key and gives its value; None for a miss.
    fn take<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>>;
    fn touch(&self, key: &Bound<'_, PyAny>, ttl: TtlArgument<'_, '_>) -> PyResult<bool>;
    /// Without a trace; None for a miss.
    fn entry<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Facts<'py>>>;
    fn delete_prefix(&self, prefix: &Bound<'_, PyAny>) -> PyResult<u64>;
    /// Keys of some places of the index from `cursor` on, and where to go on.
    fn keys<'py>(
        &self,
        prefix: &Bound<'py, PyAny>,
        cursor: u64,
    ) -> PyResult<(Bound<'py, PyList>, Option<u64>)>;
    fn clear(&self, py: Python<'_>) -> PyResult<()>;
    /// Counts and sizes, and the hits of the memory tier.
    fn stats(&self, py: Python<'_>) -> PyResult<(Stats, u64)>;
    /// Of all processes; None without a directory.
    fn machine_stats(&self, py: Python<'_>) -> PyResult<Option<MachineStats>>;
    /// The namespaces that take the most space; None without a directory.
    fn usage(&self, py: Python<'_>, most: usize) -> PyResult<Option<Vec<Usage>>>;
    fn check(&self, py: Python<'_>) -> PyResult<Report>;
    fn flush(&self, py: Python<'_>) -> PyResult<()>;
    fn close(&self, py: Python<'_>);
    fn is_closed(&self) -> bool;
    fn path(&self) -> Option<&Path>;

    /// The loads under way of the handle.
    fn flights(&self) -> &Arc<Flights>;
    fn namespace(&self) -> &Namespace;
    /// What a load of the key asks, by a caller that has waited so long for others.
    fn machine(
        &self,
        key: &Bound<'_, PyAny>,
        invalidated: Arc<AtomicBool>,
        waited: Duration,
    ) -> Box<dyn Machine>;
    /// Where locks by the names of keys are.
    fn locks(&self) -> Box<dyn Locks>;

    /// The objects, for the garbage collector.
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError>;
    /// Lets go of them, for the garbage collector.
    fn let_go(&self);
}
