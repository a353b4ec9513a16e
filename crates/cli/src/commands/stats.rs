//! `polycache stats`.

use super::server::{self, Server};
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::human::{bar, count, counted, delay, duration, ratio, size};
use crate::output::{Output, Style};
use crate::text;
use crate::{open, Outcome};
use polycache::bindings::remote::Listener;
use polycache::bindings::Bindings;
use polycache::{Cache, Error, MachineStats, Stats};
use polycache_json::{identity, listener, moment, statistics};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    let mut object = json!({});
    let mut all = Vec::new();
    if let Some(cache) = directory(arguments)? {
        let (machine, stats) = look(&cache)?;
        let listeners = cache.listeners()?;
        object = statistics(cache.path(), &machine, &stats);
        object["listeners"] = listeners.iter().map(listener).collect();
        all = lines(cache.path(), &machine, &stats);
        all.extend(remote_lines(&machine, &listeners));
    }
    let mut outcome = Outcome::Done;
    if let Some(url) = &arguments.remote {
        let server = server::look(arguments, url)?;
        object["server"] = server.json();
        all.extend(server.lines());
        if matches!(server, Server::Silent(_)) {
            outcome = Outcome::Negative;
        }
    }
    if output.json {
        output.json(&object)?;
        return Ok(outcome);
    }
    for (name, text) in all {
        let name = output.paint(Style::Dim, &format!("{name:<10}"));
        output.line(&format!("{name}  {text}"))?;
    }
    Ok(outcome)
}

/// The cache's directory; with a server there may be none.
fn directory(arguments: &Arguments) -> Result<Option<Cache>, Failure> {
    if arguments.remote.is_some() && arguments.path.is_none() {
        return Ok(None);
    }
    match open::directory_to_read(arguments) {
        // POLYCACHE_PATH may name another machine's.
        Err(Failure::Cache(Error::NoCache(_))) if arguments.remote.is_some() => Ok(None),
        opened => opened.map(Some),
    }
}

/// What all processes did, and what the directory tells besides. Every cache of this command has a directory.
pub fn look(cache: &Cache) -> Result<(MachineStats, Stats), Failure> {
    let machine = cache.machine_stats()?.unwrap_or_default();
    Ok((machine, cache.stats()?))
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

/// What caches with a server did, if there were any.
fn remote_lines(machine: &MachineStats, listeners: &[Listener]) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if machine.round_trips == 0 && machine.near_hits == 0 && listeners.is_empty() {
        return lines;
    }
    let directory = [
        machine.memory_hits,
        machine.near_hits,
        machine.remote_hits,
        machine.joined_hits,
    ];
    let other = directory
        .iter()
        .fold(machine.hits, |left, hits| left.saturating_sub(*hits));
    lines.push((
        "hits",
        format!(
            "{} by memory, {} by copies here, {} by the server, {} joined a load, {} of caches without a server",
            count(machine.memory_hits),
            count(machine.near_hits),
            count(machine.remote_hits),
            count(machine.joined_hits),
            count(other),
        ),
    ));
    let mut asked = format!(
        "{}; {} without an answer",
        counted(machine.round_trips, "round trip", "round trips"),
        count(machine.faults)
    );
    if let Some(at) = moment(machine.last_fault_at) {
        asked += &format!(", the last one {} ago", ago(at));
    }
    lines.push(("asked", asked));
    let breaker = match moment(machine.last_open_at) {
        None => "no process has found its circuit breaker open".into(),
        Some(at) => format!(
            "a process last found its circuit breaker open {} ago",
            ago(at)
        ),
    };
    lines.push(("breaker", breaker));
    lines.extend(listeners.iter().map(|one| ("listener", heard(one))));
    lines
}

fn heard(listener: &Listener) -> String {
    let data = identity(listener.identity);
    let Some(pid) = listener.process else {
        return format!("no process hears of writes now (data {data})");
    };
    let since = moment(listener.since).map_or_else(String::new, |at| format!(", for {}", ago(at)));
    let behind = match (listener.refuses_tracking, listener.lag) {
        (true, _) => "the server refuses to tell of writes, so every read asks it".into(),
        (_, Some(lag)) => format!("copies are {} behind", delay(lag)),
        (_, None) => "it has not heard of all writes yet, so every read asks the server".into(),
    };
    format!("process {pid}{since}: {behind} (data {data})")
}
