//! Statistics, the report of a check and an entry's facts, as keyword arguments of the Python classes.

use crate::tiers::{seconds, Facts};
use polycache::{MachineStats, ProcessStats, Report, Stats, Usage};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

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

fn numbers<'py, const N: usize>(
    py: Python<'py>,
    numbers: [(&str, u64); N],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in numbers {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

pub fn machine<'py>(py: Python<'py>, stats: &MachineStats) -> PyResult<Bound<'py, PyDict>> {
    let MachineStats {
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
        ref processes,
    } = *stats;
    let dict = numbers(
        py,
        [
            ("since", since),
            ("hits", hits),
            ("memory_hits", memory_hits),
            ("misses", misses),
            ("writes", writes),
            ("deletes", deletes),
            ("loads", loads),
            ("failed_loads", failed_loads),
            ("invalidated_loads", invalidated_loads),
            ("unstored", unstored),
            ("wait_timeouts", wait_timeouts),
            ("entries", entries),
            ("bytes", bytes),
            ("limit", limit),
            ("evicted_by_age", evicted_by_age),
            ("evicted_by_conflict", evicted_by_conflict),
            ("evicted_by_failed_put", evicted_by_failed_put),
            ("expired", expired),
        ],
    )?;
    let list = PyList::empty(py);
    for one in processes {
        list.append(process(py, *one)?)?;
    }
    dict.set_item("processes", list)?;
    Ok(dict)
}

fn process(py: Python<'_>, stats: ProcessStats) -> PyResult<Bound<'_, PyDict>> {
    let ProcessStats {
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
    } = stats;
    numbers(
        py,
        [
            ("pid", u64::from(pid)),
            ("handles", handles),
            ("since", since),
            ("hits", hits),
            ("memory_hits", memory_hits),
            ("misses", misses),
            ("writes", writes),
            ("deletes", deletes),
            ("loads", loads),
            ("failed_loads", failed_loads),
        ],
    )
}

pub fn usage(py: Python<'_>, usage: Vec<Usage>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for Usage {
        namespace,
        entries,
        bytes,
    } in usage
    {
        let dict = numbers(py, [("entries", entries), ("bytes", bytes)])?;
        dict.set_item("namespace", namespace)?;
        list.append(dict)?;
    }
    Ok(list)
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
