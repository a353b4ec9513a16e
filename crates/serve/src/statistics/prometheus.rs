//! The text format of Prometheus (version 0.0.4), with the names of `docs/metrics.md`.

use super::Look;
use crate::app::App;
use polycache::reads::ReadStats;
use std::fmt::{Display, Write};
use std::sync::atomic::Ordering;

/// Where there is no limit, it is this or more: the largest integer of every language.
pub(super) const NO_LIMIT: u64 = i64::MAX as u64;

struct Text {
    text: String,
    /// The label that every metric of the cache has.
    cache: String,
}

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String does not fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A sample of the cache.
    fn cache(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.text, "{name}{{polycache_cache_name=\"{}\"", self.cache);
        for (label, value) in labels {
            let _ = write!(self.text, ",{label}=\"{value}\"");
        }
        let _ = writeln!(self.text, "}} {value}");
    }

    /// A sample of the server.
    fn server(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        let _ = writeln!(self.text, "{name} {value}");
    }
}

pub(super) fn text(app: &App, look: &Look) -> String {
    let name = app.options.name.as_str();
    let cache = name
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    let mut text = Text {
        text: String::with_capacity(4096),
        cache,
    };
    of_cache(&mut text, look);
    of_remote(&mut text, look);
    of_server(&mut text, app);
    text.text
}

fn of_cache(text: &mut Text, look: &Look) {
    let (stats, tier) = (&look.stats, "polycache_tier");
    let outcome = "polycache_read_outcome";
    let place = if look.machine.is_some() {
        "host"
    } else {
        "memory"
    };
    let reads = "polycache_reads_total";
    let help = "Reads, by what they found and by the tier that answered.";
    text.family(reads, "counter", help);
    let (mut writes, mut deletes) = (stats.writes, stats.deletes);
    let mut loads = [stats.invalidated_loads, stats.unstored, stats.wait_timeouts];
    match &look.machine {
        None => {
            text.cache(reads, &[(tier, place), (outcome, "hit")], stats.hits);
            text.cache(reads, &[(tier, place), (outcome, "miss")], stats.misses);
        }
        // All processes of the machine.
        Some(machine) => {
            let hits = machine.hits.saturating_sub(machine.memory_hits);
            text.cache(
                reads,
                &[(tier, "memory"), (outcome, "hit")],
                machine.memory_hits,
            );
            text.cache(reads, &[(tier, place), (outcome, "hit")], hits);
            text.cache(reads, &[(tier, place), (outcome, "miss")], machine.misses);
            (writes, deletes) = (machine.writes, machine.deletes);
            loads = [
                machine.invalidated_loads,
                machine.unstored,
                machine.wait_timeouts,
            ];
        }
    }
    let mut one = |name: &str, kind: &str, help: &str, labels: &[(&str, &str)], value: u64| {
        text.family(name, kind, help);
        text.cache(name, labels, value);
    };
    let at = [(tier, place)];
    one(
        "polycache_writes_total",
        "counter",
        "Entries stored.",
        &at,
        writes,
    );
    one(
        "polycache_deletes_total",
        "counter",
        "Entries deleted.",
        &at,
        deletes,
    );
    let help = "Expired entries removed.";
    one(
        "polycache_expirations_total",
        "counter",
        help,
        &at,
        stats.expired,
    );
    one(
        "polycache_entries",
        "gauge",
        "Entries held.",
        &at,
        stats.entries,
    );
    let help = "Bytes that the entries take.";
    one("polycache_usage_bytes", "gauge", help, &at, stats.bytes);
    if stats.limit < NO_LIMIT {
        let help = "Bytes that the entries may take.";
        one("polycache_limit_bytes", "gauge", help, &at, stats.limit);
    }
    let [invalidated, unstored, timeouts] = loads;
    let help = "Loaded values that were not stored because a write or another load came first.";
    one(
        "polycache_load_invalidated_total",
        "counter",
        help,
        &[],
        invalidated,
    );
    let help = "Loaded values that could not be stored.";
    one(
        "polycache_load_unstored_total",
        "counter",
        help,
        &[],
        unstored,
    );
    let help = "Callers that waited too long for the loads of others.";
    one(
        "polycache_load_wait_timeouts_total",
        "counter",
        help,
        &[],
        timeouts,
    );
    let evictions = "polycache_evictions_total";
    text.family(evictions, "counter", "Entries that left for want of room.");
    let causes: &[(&str, u64)] = match &look.machine {
        None => &[("room", stats.evicted_by_age)],
        Some(_) => &[
            ("age", stats.evicted_by_age),
            ("conflict", stats.evicted_by_conflict),
            ("failed_put", stats.evicted_by_failed_put),
        ],
    };
    for (cause, evicted) in causes {
        let labels = [(tier, place), ("polycache_eviction_cause", *cause)];
        text.cache(evictions, &labels, evicted);
    }
    if let Some(machine) = &look.machine {
        let help = "Processes of the machine that have the directory open.";
        text.family("polycache_processes", "gauge", help);
        text.cache("polycache_processes", &[], machine.processes.len());
    }
}

fn of_remote(text: &mut Text, look: &Look) {
    let Some(remote) = &look.remote else {
        return;
    };
    let mut one = |name: &str, kind: &str, help: &str, value: f64| {
        text.family(name, kind, help);
        text.cache(name, &[], value);
    };
    let help = "Round trips of this process to the remote tier.";
    one(
        "polycache_remote_round_trips_total",
        "counter",
        help,
        remote.round_trips as f64,
    );
    let help = "Operations of this process that had no answer from the remote tier.";
    one(
        "polycache_remote_faults_total",
        "counter",
        help,
        remote.faults as f64,
    );
    let help = "Whether the circuit breaker is open: commands fail at once.";
    one(
        "polycache_remote_breaker_open",
        "gauge",
        help,
        f64::from(u8::from(remote.is_open)),
    );
    let help = "Whether copies are served: this host hears of all writes.";
    one(
        "polycache_remote_listens",
        "gauge",
        help,
        f64::from(u8::from(remote.listens)),
    );
    if let Some(lag) = remote.lag {
        let help = "How far behind the remote tier copies may be now.";
        one(
            "polycache_remote_lag_seconds",
            "gauge",
            help,
            lag.as_secs_f64(),
        );
    }
}

fn of_server(text: &mut Text, app: &App) {
    let counts = &app.counts;
    let answers = "polycache_serve_answers_total";
    text.family(
        answers,
        "counter",
        "Answers, by the first digit of their status.",
    );
    for (class, counter) in counts.answers.iter().enumerate().skip(2) {
        let answered = counter.load(Ordering::Relaxed);
        let _ = writeln!(text.text, "{answers}{{status=\"{class}xx\"}} {answered}");
    }
    let help = "Connections that are open.";
    text.server(
        "polycache_serve_connections",
        "gauge",
        help,
        counts.connections.now(),
    );
    let help = "Connections that were refused because there were too many.";
    let refused = counts.refused.load(Ordering::Relaxed);
    text.server(
        "polycache_serve_refused_connections_total",
        "counter",
        help,
        refused,
    );
    let help = "Clients that listen to streams.";
    text.server(
        "polycache_serve_listeners",
        "gauge",
        help,
        counts.listeners.now(),
    );
    let help = "Clients that were dropped because they read too slowly.";
    let slow = counts.slow.load(Ordering::Relaxed);
    text.server("polycache_serve_slow_clients_total", "counter", help, slow);
    if let Some(reads) = &app.reads {
        of_reads(text, &reads.stats());
    }
}

fn of_reads(text: &mut Text, stats: &ReadStats) {
    let reads = "polycache_serve_reads_total";
    let help = "Reads of Redis for clients, by who answered: memory, host, Redis (sent), or another client's read (joined).";
    text.family(reads, "counter", help);
    for (answered, value) in [
        ("memory", stats.memory_hits),
        ("host", stats.host_hits),
        ("sent", stats.sent),
        ("joined", stats.joined),
    ] {
        let _ = writeln!(text.text, "{reads}{{answered=\"{answered}\"}} {value}");
    }
    let uncached = "polycache_serve_uncached_reads_total";
    let help = "Reads that were sent and whose replies were not kept, by the reason.";
    text.family(uncached, "counter", help);
    for (reason, value) in [
        ("deaf", stats.uncached.deaf),
        ("not_heard", stats.uncached.not_heard),
        ("busy", stats.uncached.busy),
        ("refused", stats.uncached.refused),
    ] {
        let _ = writeln!(text.text, "{uncached}{{reason=\"{reason}\"}} {value}");
    }
}
