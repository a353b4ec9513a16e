//! Statistics, the report of a check and an entry's facts, as keyword arguments of the Python classes.

use crate::tiers::{seconds, Facts};
use polycache::{MachineStats, ProcessStats, RemoteStats, Report, Stats, Usage};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A dict of the counts of a struct. Without `..`: one that is added does not compile until it is shown.
macro_rules! counts {
    ($py:ident, $stats:ident as $of:ident { $($name:ident),+ $(,)? } $(beside { $($other:ident),+ })?) => {{
        let $of { $($name,)+ $($($other: _,)+)? } = *$stats;
        let dict = PyDict::new($py);
        $(dict.set_item(stringify!($name), $name)?;)+
        dict
    }};
}

pub fn stats<'py>(
    py: Python<'py>,
    stats: &Stats,
    memory_hits: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = counts!(py, stats as Stats {
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
    dict.set_item("hits", stats.hits + memory_hits)?;
    dict.set_item("memory_hits", memory_hits)?;
    Ok(dict)
}

pub fn remote<'py>(py: Python<'py>, stats: &RemoteStats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("near_hits", stats.near_hits)?;
    dict.set_item("remote_hits", stats.remote_hits)?;
    dict.set_item("joined_hits", stats.joined_hits)?;
    dict.set_item("round_trips", stats.round_trips)?;
    dict.set_item("faults", stats.faults)?;
    dict.set_item("last_fault", &stats.last_fault)?;
    dict.set_item("is_open", stats.is_open)?;
    dict.set_item("listens", stats.listens)?;
    dict.set_item("lag", stats.lag.map(|lag| lag.as_secs_f64()))?;
    dict.set_item("refuses_tracking", stats.refuses_tracking)?;
    Ok(dict)
}

pub fn machine<'py>(py: Python<'py>, stats: &MachineStats) -> PyResult<Bound<'py, PyDict>> {
    let dict = counts!(py, stats as MachineStats {
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
    let processes = PyList::empty(py);
    for one in &stats.processes {
        processes.append(process(py, one)?)?;
    }
    dict.set_item("processes", processes)?;
    Ok(dict)
}

fn process<'py>(py: Python<'py>, stats: &ProcessStats) -> PyResult<Bound<'py, PyDict>> {
    Ok(counts!(py, stats as ProcessStats {
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
    }))
}

pub fn usage(py: Python<'_>, usage: Vec<Usage>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for one in &usage {
        let dict = counts!(py, one as Usage { entries, bytes } beside { namespace });
        dict.set_item("namespace", &one.namespace)?;
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
