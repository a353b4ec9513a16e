//! Statistics and check results as hashes.

use crate::cache::Counts;
use magnus::{Error, RArray, RHash, Ruby};
use polycache::{MachineStats, Report, Stats, Usage};
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
pub(crate) fn machine(ruby: &Ruby, stats: &MachineStats) -> Result<RHash, Error> {
    let hash = numbers(
        ruby,
        &[
            ("since", stats.since),
            ("hits", stats.hits),
            ("memory_hits", stats.memory_hits),
            ("misses", stats.misses),
            ("writes", stats.writes),
            ("deletes", stats.deletes),
            ("loads", stats.loads),
            ("failed_loads", stats.failed_loads),
            ("invalidated_loads", stats.invalidated_loads),
            ("unstored", stats.unstored),
            ("wait_timeouts", stats.wait_timeouts),
            ("entries", stats.entries),
            ("bytes", stats.bytes),
            ("limit", stats.limit),
            ("evicted_by_age", stats.evicted_by_age),
            ("evicted_by_conflict", stats.evicted_by_conflict),
            ("evicted_by_failed_put", stats.evicted_by_failed_put),
            ("expired", stats.expired),
        ],
    )?;
    let processes = ruby.ary_new();
    for one in &stats.processes {
        processes.push(numbers(
            ruby,
            &[
                ("pid", one.pid.into()),
                ("handles", one.handles),
                ("since", one.since),
                ("hits", one.hits),
                ("memory_hits", one.memory_hits),
                ("misses", one.misses),
                ("writes", one.writes),
                ("deletes", one.deletes),
                ("loads", one.loads),
                ("failed_loads", one.failed_loads),
            ],
        )?)?;
    }
    hash.aset(ruby.sym_new("processes"), processes)?;
    Ok(hash)
}

/// # Errors
/// What Ruby raises: no memory.
pub(crate) fn usage(ruby: &Ruby, usage: &[Usage]) -> Result<RArray, Error> {
    let list = ruby.ary_new();
    for one in usage {
        let hash = numbers(ruby, &[("entries", one.entries), ("bytes", one.bytes)])?;
        let namespace = ruby.ary_new();
        for part in &one.namespace {
            namespace.push(part.as_str())?;
        }
        hash.aset(ruby.sym_new("namespace"), namespace)?;
        list.push(hash)?;
    }
    Ok(list)
}

fn numbers(ruby: &Ruby, numbers: &[(&str, u64)]) -> Result<RHash, Error> {
    let hash = ruby.hash_new();
    for (name, number) in numbers {
        hash.aset(ruby.sym_new(*name), *number)?;
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
