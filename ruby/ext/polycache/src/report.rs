//! Statistics and check results as hashes.

use crate::cache::Counts;
use magnus::{Error, RArray, RHash, Ruby};
use polycache::{MachineStats, ProcessStats, RemoteStats, Report, Stats, Usage};
use std::sync::atomic::{AtomicU64, Ordering};

/// A Hash of the counts of a struct. Without `..`: one that is added does not compile until it is shown.
macro_rules! counts {
    ($ruby:ident, $stats:ident as $of:ident { $($name:ident),+ $(,)? } $(beside { $($other:ident),+ })?) => {{
        let $of { $($name,)+ $($($other: _,)+)? } = *$stats;
        let hash = $ruby.hash_new();
        $(hash.aset($ruby.sym_new(stringify!($name)), $name)?;)+
        hash
    }};
}

/// # Errors
/// What Ruby raises: no memory.
pub(crate) fn stats(ruby: &Ruby, stats: &Stats, own: &Counts) -> Result<RHash, Error> {
    let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let memory_hits = now(&own.memory_hits);
    let hash = counts!(ruby, stats as Stats {
        hits,
        misses,
        writes,
        deletes,
        invalidated_loads,
        unstored,
        wait_timeouts,
        entries,
        bytes,
        limit,
        max_record,
        evicted_by_age,
        evicted_by_conflict,
        evicted_by_failed_put,
        expired,
        reinserted,
        blocks_claimed,
        floor_overflows,
        failed_flushes,
    });
    let hits = stats.hits + memory_hits + now(&own.joined);
    hash.aset(ruby.sym_new("hits"), hits)?;
    hash.aset(ruby.sym_new("memory_hits"), memory_hits)?;
    hash.aset(ruby.sym_new("misses"), stats.misses + now(&own.absent))?;
    Ok(hash)
}

/// # Errors
/// What Ruby raises: no memory.
pub(crate) fn machine(ruby: &Ruby, stats: &MachineStats) -> Result<RHash, Error> {
    let hash = counts!(ruby, stats as MachineStats {
        since,
        hits,
        memory_hits,
        misses,
        writes,
        deletes,
        loads,
        failed_loads,
        invalidated_loads,
        unstored,
        wait_timeouts,
        entries,
        bytes,
        limit,
        evicted_by_age,
        evicted_by_conflict,
        evicted_by_failed_put,
        expired,
        near_hits,
        remote_hits,
        joined_hits,
        round_trips,
        faults,
        last_fault_at,
        last_open_at,
    } beside { processes });
    let processes = ruby.ary_new();
    for one in &stats.processes {
        processes.push(counts!(ruby, one as ProcessStats {
            pid,
            handles,
            since,
            hits,
            memory_hits,
            misses,
            writes,
            deletes,
            loads,
            failed_loads,
        }))?;
    }
    hash.aset(ruby.sym_new("processes"), processes)?;
    Ok(hash)
}

/// # Errors
/// What Ruby raises: no memory.
pub(crate) fn remote(ruby: &Ruby, stats: &RemoteStats) -> Result<RHash, Error> {
    let hash = ruby.hash_new();
    hash.aset(ruby.sym_new("near_hits"), stats.near_hits)?;
    hash.aset(ruby.sym_new("remote_hits"), stats.remote_hits)?;
    hash.aset(ruby.sym_new("joined_hits"), stats.joined_hits)?;
    hash.aset(ruby.sym_new("round_trips"), stats.round_trips)?;
    hash.aset(ruby.sym_new("faults"), stats.faults)?;
    hash.aset(ruby.sym_new("last_fault"), stats.last_fault.as_str())?;
    hash.aset(ruby.sym_new("is_open"), stats.is_open)?;
    hash.aset(ruby.sym_new("listens"), stats.listens)?;
    let lag = stats.lag.map(|lag| lag.as_secs_f64());
    hash.aset(ruby.sym_new("lag"), lag)?;
    hash.aset(ruby.sym_new("refuses_tracking"), stats.refuses_tracking)?;
    Ok(hash)
}

/// # Errors
/// What Ruby raises: no memory.
pub(crate) fn usage(ruby: &Ruby, usage: &[Usage]) -> Result<RArray, Error> {
    let list = ruby.ary_new();
    for one in usage {
        let hash = counts!(ruby, one as Usage { entries, bytes } beside { namespace });
        let namespace = ruby.ary_new();
        for part in &one.namespace {
            namespace.push(part.as_str())?;
        }
        hash.aset(ruby.sym_new("namespace"), namespace)?;
        list.push(hash)?;
    }
    Ok(list)
}

/// # Errors
/// What Ruby raises: no memory.
pub(crate) fn check(ruby: &Ruby, report: &Report) -> Result<RHash, Error> {
    let hash = ruby.hash_new();
    hash.aset(ruby.sym_new("whole"), report.whole)?;
    let damaged = ruby.ary_new();
    for reason in &report.damaged {
        damaged.push(reason.as_str())?;
    }
    hash.aset(ruby.sym_new("damaged"), damaged)?;
    hash.aset(ruby.sym_new("leases"), report.leases)?;
    Ok(hash)
}
