//! Statistics and check results as hashes.

use crate::cache::Counts;
use magnus::{Error, RHash, Ruby};
use polycache::{Report, Stats};
use std::sync::atomic::{AtomicU64, Ordering};

/// # Errors
/// What Ruby raises: no memory.
pub(crate) fn stats(ruby: &Ruby, stats: &Stats, counts: &Counts) -> Result<RHash, Error> {
    let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let memory_hits = now(&counts.memory_hits);
    let hash = ruby.hash_new();
    for (name, number) in [
        ("hits", stats.hits + memory_hits + now(&counts.joined)),
        ("memory_hits", memory_hits),
        ("misses", stats.misses + now(&counts.absent)),
        ("writes", stats.writes),
        ("deletes", stats.deletes),
        ("invalidated_loads", stats.invalidated_loads),
        ("unstored", stats.unstored),
        ("wait_timeouts", stats.wait_timeouts),
        ("entries", stats.entries),
        ("bytes", stats.bytes),
        ("limit", stats.limit),
        ("max_record", stats.max_record),
        ("evicted_by_age", stats.evicted_by_age),
        ("evicted_by_conflict", stats.evicted_by_conflict),
        ("evicted_by_failed_put", stats.evicted_by_failed_put),
        ("expired", stats.expired),
        ("reinserted", stats.reinserted),
        ("blocks_claimed", stats.blocks_claimed),
        ("floor_overflows", stats.floor_overflows),
    ] {
        hash.aset(ruby.sym_new(name), number)?;
    }
    Ok(hash)
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
