//! What all processes did with a directory, and who hears of writes.

use polycache::bindings::remote::Listener;
use polycache::{MachineStats, ProcessStats, Stats};
use serde_json::{json, Value};
use std::path::Path;
use std::time::Duration;

/// What `polycache stats --json` prints of a directory, without the counts of this process's own reads and writes.
#[must_use]
pub fn statistics(path: &Path, machine: &MachineStats, stats: &Stats) -> Value {
    let reads = machine.hits.saturating_add(machine.misses);
    let processes: Vec<_> = machine.processes.iter().map(process).collect();
    json!({
        "path": path.to_string_lossy(),
        "since": machine.since,
        "hits": machine.hits,
        "memory_hits": machine.memory_hits,
        "misses": machine.misses,
        "hit_ratio": (reads > 0).then(|| machine.hits as f64 / reads as f64),
        "writes": machine.writes,
        "deletes": machine.deletes,
        "loads": machine.loads,
        "failed_loads": machine.failed_loads,
        "invalidated_loads": machine.invalidated_loads,
        "unstored": machine.unstored,
        "wait_timeouts": machine.wait_timeouts,
        "entries": machine.entries,
        "bytes": machine.bytes,
        "limit": machine.limit,
        "max_record": stats.max_record,
        "evicted_by_age": machine.evicted_by_age,
        "evicted_by_conflict": machine.evicted_by_conflict,
        "evicted_by_failed_put": machine.evicted_by_failed_put,
        "expired": machine.expired,
        "near_hits": machine.near_hits,
        "remote_hits": machine.remote_hits,
        "joined_hits": machine.joined_hits,
        "round_trips": machine.round_trips,
        "faults": machine.faults,
        "last_fault_at": moment(machine.last_fault_at),
        "last_open_at": moment(machine.last_open_at),
        "reinserted": stats.reinserted,
        "blocks_claimed": stats.blocks_claimed,
        "floor_overflows": stats.floor_overflows,
        "failed_flushes": stats.failed_flushes,
        "processes": processes,
    })
}

fn process(stats: &ProcessStats) -> Value {
    json!({
        "pid": stats.pid,
        "handles": stats.handles,
        "since": stats.since,
        "hits": stats.hits,
        "memory_hits": stats.memory_hits,
        "misses": stats.misses,
        "writes": stats.writes,
        "deletes": stats.deletes,
        "loads": stats.loads,
        "failed_loads": stats.failed_loads,
    })
}

/// Milliseconds since 1970, which 0 is not.
#[must_use]
pub fn moment(at: u64) -> Option<u64> {
    (at > 0).then_some(at)
}

/// The process that hears of writes to one server's data.
#[must_use]
pub fn listener(listener: &Listener) -> Value {
    json!({
        "identity": identity(listener.identity),
        "pid": listener.process,
        "since": moment(listener.since),
        "lag": listener.lag.map(milliseconds),
        "refuses_tracking": listener.refuses_tracking,
    })
}

/// A database's identity as text.
#[must_use]
pub fn identity(identity: u64) -> String {
    format!("{identity:016x}")
}

/// Milliseconds, with a fraction.
#[must_use]
pub fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
