//! `polycache stats`.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::human::{bar, count, counted, duration, ratio, size};
use crate::output::{Output, Style};
use crate::text;
use crate::{open, Outcome};
use polycache::{Cache, MachineStats, ProcessStats, Stats};
use serde_json::{json, Value};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    open::needs_directory(arguments, "stats")?;
    let cache = open::to_read(arguments)?;
    let (machine, stats) = look(&cache)?;
    if output.json {
        output.json(&json(cache.path(), &machine, &stats))?;
        return Ok(Outcome::Done);
    }
    for (name, text) in lines(cache.path(), &machine, &stats) {
        let name = output.paint(Style::Dim, &format!("{name:<10}"));
        output.line(&format!("{name}  {text}"))?;
    }
    Ok(Outcome::Done)
}

/// What all processes did, and what the directory tells besides. Every cache of this command has a directory.
pub fn look(cache: &Cache) -> Result<(MachineStats, Stats), Failure> {
    let machine = cache.machine_stats()?.unwrap_or_default();
    Ok((machine, cache.stats()?))
}

/// For programs; without the counts of this process's own reads and writes.
pub fn json(path: &Path, machine: &MachineStats, stats: &Stats) -> Value {
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

/// How long ago a time was, in milliseconds since 1970.
pub fn ago(since: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let past = now
        .unwrap_or_default()
        .saturating_sub(Duration::from_millis(since));
    duration(past)
}

fn lines(path: &Path, machine: &MachineStats, stats: &Stats) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("directory", text::path(path)),
        (
            "made",
            format!("{} ago; counts are since then", ago(machine.since)),
        ),
        (
            "reads",
            if machine.hits == 0 && machine.misses == 0 {
                "none yet".into()
            } else {
                format!(
                    "{}, {}: {} found their key; {} hits came from a process' own memory",
                    counted(machine.hits, "hit", "hits"),
                    counted(machine.misses, "miss", "misses"),
                    ratio(machine.hits, machine.misses),
                    count(machine.memory_hits),
                )
            },
        ),
        (
            "writes",
            format!(
                "{}, {}",
                counted(machine.writes, "set", "sets"),
                counted(machine.deletes, "delete", "deletes")
            ),
        ),
        (
            "loads",
            format!(
                "{} began, {} ended without a value, {} were overtaken by a write",
                count(machine.loads),
                count(machine.failed_loads),
                count(machine.invalidated_loads)
            ),
        ),
        (
            "processes",
            match machine.processes.len() {
                0 => "none has it open now".into(),
                open => {
                    let pids: Vec<_> = machine
                        .processes
                        .iter()
                        .take(20)
                        .map(|one| one.pid.to_string())
                        .collect();
                    let more = if open > pids.len() { ", .." } else { "" };
                    format!("{} ({}{more})", count(open as u64), pids.join(", "))
                }
            },
        ),
        (
            "entries",
            format!(
                "{} (expired and cleared ones count until their place is recycled)",
                count(stats.entries)
            ),
        ),
        (
            "space",
            format!(
                "{} of {}  {}",
                size(stats.bytes),
                size(stats.limit),
                bar(stats.bytes, stats.limit)
            ),
        ),
        (
            "largest",
            format!("{} for a key and its entry", size(stats.max_record)),
        ),
        (
            "evicted",
            format!(
                "{} by age, {} by conflict, {} by a failed write",
                count(stats.evicted_by_age),
                count(stats.evicted_by_conflict),
                count(stats.evicted_by_failed_put)
            ),
        ),
        (
            "recycled",
            format!(
                "{} so far; kept {} that had been read, dropped {} that had expired",
                counted(stats.blocks_claimed, "block claimed", "blocks claimed"),
                counted(stats.reinserted, "entry", "entries"),
                counted(stats.expired, "entry", "entries"),
            ),
        ),
    ];
    if stats.floor_overflows > 0 {
        let times = counted(stats.floor_overflows, "clear", "clears");
        lines.push((
            "overflow",
            format!("{times} cleared a group of namespaces: too many were cleared"),
        ));
    }
    if stats.failed_flushes > 0 {
        let times = counted(stats.failed_flushes, "flush", "flushes");
        lines.push((
            "disk",
            format!("{times} failed: a power loss may take back more; see the system's log"),
        ));
    }
    lines
}
