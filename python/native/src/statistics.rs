//! Statistics, the report of a check and an entry's facts, as keyword arguments of the Python classes.

use crate::tiers::{seconds, Facts};
use polycache::{Report, Stats};
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub fn stats<'py>(
    py: Python<'py>,
    stats: &Stats,
    memory_hits: u64,
) -> PyResult<Bound<'py, PyDict>> {
    // Without `..`: a counter that is added does not compile until it is shown.
    let Stats {
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
    } = *stats;
    let dict = PyDict::new(py);
    for (name, value) in [
        ("hits", hits + memory_hits),
        ("memory_hits", memory_hits),
        ("misses", misses),
        ("writes", writes),
        ("deletes", deletes),
        ("invalidated_loads", invalidated_loads),
        ("unstored", unstored),
        ("wait_timeouts", wait_timeouts),
        ("entries", entries),
        ("bytes", bytes),
        ("limit", limit),
        ("max_record", max_record),
        ("evicted_by_age", evicted_by_age),
        ("evicted_by_conflict", evicted_by_conflict),
        ("evicted_by_failed_put", evicted_by_failed_put),
        ("expired", expired),
        ("reinserted", reinserted),
        ("blocks_claimed", blocks_claimed),
        ("floor_overflows", floor_overflows),
    ] {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

pub fn report(py: Python<'_>, report: Report) -> PyResult<Bound<'_, PyDict>> {
    let Report {
        whole,
        damaged,
        leases,
    } = report;
    let dict = PyDict::new(py);
    dict.set_item("whole", whole)?;
    dict.set_item("damaged", damaged)?;
    dict.set_item("leases", leases)?;
    Ok(dict)
}

pub fn entry<'py>(py: Python<'py>, facts: Facts<'py>) -> PyResult<Bound<'py, PyDict>> {
    let Facts {
        value,
        ttl,
        created,
        expires,
        size,
        serializer,
        compressor,
        version,
    } = facts;
    let dict = PyDict::new(py);
    dict.set_item("value", value)?;
    dict.set_item("ttl", seconds(ttl))?;
    dict.set_item("created", created)?;
    dict.set_item("expires", expires)?;
    dict.set_item("size", size)?;
    dict.set_item("serializer", serializer)?;
    dict.set_item("compressor", compressor)?;
    dict.set_item("version", version)?;
    Ok(dict)
}
