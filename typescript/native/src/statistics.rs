//! What all processes of the machine do with a directory, as objects of JavaScript.

use crate::error;
use napi::{Env, Result, Task};
use napi_derive::napi;
use polycache_host::Store;

/// What all processes of the machine did with a directory, and what it holds.
#[napi(object)]
pub struct MachineStats {
    /// When the directory was made, in milliseconds since 1970.
    pub since: f64,
    /// Reads that found an entry.
    pub hits: f64,
    /// Those of them that a memory tier answered.
    pub memory_hits: f64,
    /// Reads that found none.
    pub misses: f64,
    /// Entries stored.
    pub writes: f64,
    /// Entries deleted.
    pub deletes: f64,
    /// Loaders that began.
    pub loads: f64,
    /// Loaders that ended without a value to store.
    pub failed_loads: f64,
    /// Loads whose entry was refused.
    pub invalidated_loads: f64,
    /// Loaded values that could not be stored.
    pub unstored: f64,
    /// Callers that waited too long.
    pub wait_timeouts: f64,
    /// Entries in the index.
    pub entries: f64,
    /// Bytes of disk space.
    pub bytes: f64,
    /// Byte limit.
    pub limit: f64,
    /// Entries evicted because their block was the oldest.
    pub evicted_by_age: f64,
    /// Entries evicted because the index had no place for a new key.
    pub evicted_by_conflict: f64,
    /// Old values removed because their replacement could not be stored.
    pub evicted_by_failed_put: f64,
    /// Expired entries that were removed.
    pub expired: f64,
    /// The processes that have the directory open.
    pub processes: Vec<ProcessStats>,
}

/// What one process has done with a directory since it opened it.
#[napi(object)]
pub struct ProcessStats {
    /// Its process id.
    pub pid: u32,
    /// Its open handles that count for themselves.
    pub handles: f64,
    /// When it opened the first of them, in milliseconds since 1970.
    pub since: f64,
    /// Reads that found an entry.
    pub hits: f64,
    /// Those of them that its memory tier answered.
    pub memory_hits: f64,
    /// Reads that found none.
    pub misses: f64,
    /// Entries stored.
    pub writes: f64,
    /// Entries deleted.
    pub deletes: f64,
    /// Loaders that began.
    pub loads: f64,
    /// Loaders that ended without a value to store.
    pub failed_loads: f64,
}

impl From<polycache_host::MachineStats> for MachineStats {
    fn from(stats: polycache_host::MachineStats) -> MachineStats {
        MachineStats {
            since: stats.since as f64,
            hits: stats.hits as f64,
            memory_hits: stats.memory_hits as f64,
            misses: stats.misses as f64,
            writes: stats.writes as f64,
            deletes: stats.deletes as f64,
            loads: stats.loads as f64,
            failed_loads: stats.failed_loads as f64,
            invalidated_loads: stats.invalidated_loads as f64,
            unstored: stats.unstored as f64,
            wait_timeouts: stats.wait_timeouts as f64,
            entries: stats.entries as f64,
            bytes: stats.bytes as f64,
            limit: stats.limit as f64,
            evicted_by_age: stats.evicted_by_age as f64,
            evicted_by_conflict: stats.evicted_by_conflict as f64,
            evicted_by_failed_put: stats.evicted_by_failed_put as f64,
            expired: stats.expired as f64,
            processes: stats.processes.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<polycache_host::ProcessStats> for ProcessStats {
    fn from(stats: polycache_host::ProcessStats) -> ProcessStats {
        ProcessStats {
            pid: stats.pid,
            handles: stats.handles as f64,
            since: stats.since as f64,
            hits: stats.hits as f64,
            memory_hits: stats.memory_hits as f64,
            misses: stats.misses as f64,
            writes: stats.writes as f64,
            deletes: stats.deletes as f64,
            loads: stats.loads as f64,
            failed_loads: stats.failed_loads as f64,
        }
    }
}

/// What the entries of one namespace take.
#[napi(object)]
pub struct NamespaceUsage {
    /// The namespace's parts.
    pub namespace: Vec<String>,
    /// Entries that a read would find.
    pub entries: f64,
    /// Bytes of their records.
    pub bytes: f64,
}

/// Finds the namespaces that take the most space, at most so many.
pub struct Usage(pub(crate) Store, pub(crate) usize);

impl Task for Usage {
    type Output = Vec<polycache_host::Usage>;
    type JsValue = Vec<NamespaceUsage>;

    fn compute(&mut self) -> Result<Self::Output> {
        self.0.usage(self.1).map_err(error::host)
    }

    fn resolve(&mut self, _: Env, usage: Self::Output) -> Result<Self::JsValue> {
        let all = usage.into_iter().map(|one| NamespaceUsage {
            namespace: one.namespace,
            entries: one.entries as f64,
            bytes: one.bytes as f64,
        });
        Ok(all.collect())
    }
}
