//! What was seen at two moments, and what was done in between.

use crate::commands::stats;
use crate::failure::Failure;
use polycache::{Cache, MachineStats, ProcessStats, Stats};
use serde_json::{json, Value};
use std::time::{Duration, Instant};

/// What was seen at one moment.
#[derive(Clone)]
pub struct Sample {
    pub at: Instant,
    pub machine: MachineStats,
    pub stats: Stats,
}

impl Sample {
    pub fn of(cache: &Cache) -> Result<Sample, Failure> {
        let (machine, stats) = stats::look(cache)?;
        Ok(Sample {
            at: Instant::now(),
            machine,
            stats,
        })
    }
}

/// What was done between two moments.
pub struct Change {
    pub now: Sample,
    pub time: Duration,
    /// Counts of all processes; its sizes are those of now.
    pub machine: MachineStats,
    /// For each process that is open now.
    pub processes: Vec<ProcessStats>,
}

impl Change {
    pub fn between(before: &Sample, now: Sample) -> Change {
        let old = &before.machine;
        let new = &now.machine;
        // A directory that was made anew begins at 0.
        let from = |count: u64| if old.since == new.since { count } else { 0 };
        let more = |new: u64, old: u64| new.saturating_sub(from(old));
        let machine = MachineStats {
            hits: more(new.hits, old.hits),
            memory_hits: more(new.memory_hits, old.memory_hits),
            misses: more(new.misses, old.misses),
            writes: more(new.writes, old.writes),
            deletes: more(new.deletes, old.deletes),
            loads: more(new.loads, old.loads),
            failed_loads: more(new.failed_loads, old.failed_loads),
            evicted_by_age: more(new.evicted_by_age, old.evicted_by_age),
            evicted_by_conflict: more(new.evicted_by_conflict, old.evicted_by_conflict),
            evicted_by_failed_put: more(new.evicted_by_failed_put, old.evicted_by_failed_put),
            expired: more(new.expired, old.expired),
            ..new.clone()
        };
        let processes = new.processes.iter().map(|one| {
            let before = old.processes.iter().find(|other| other.pid == one.pid);
            let before = before.copied().unwrap_or_default();
            // Counts of a handle that was closed meanwhile are gone from its process.
            ProcessStats {
                hits: more(one.hits, before.hits),
                memory_hits: more(one.memory_hits, before.memory_hits),
                misses: more(one.misses, before.misses),
                writes: more(one.writes, before.writes),
                deletes: more(one.deletes, before.deletes),
                loads: more(one.loads, before.loads),
                failed_loads: more(one.failed_loads, before.failed_loads),
                ..*one
            }
        });
        Change {
            time: now.at.saturating_duration_since(before.at),
            machine,
            processes: processes.collect(),
            now,
        }
    }

    /// So many in this time, as a number a second.
    pub fn rate(&self, count: u64) -> f64 {
        if self.time.is_zero() {
            return 0.0;
        }
        count as f64 / self.time.as_secs_f64()
    }

    pub fn per_second(&self) -> Value {
        let of = &self.machine;
        json!({
            "hits": self.rate(of.hits),
            "misses": self.rate(of.misses),
            "writes": self.rate(of.writes),
            "deletes": self.rate(of.deletes),
            "loads": self.rate(of.loads),
            "failed_loads": self.rate(of.failed_loads),
            "evicted_by_age": self.rate(of.evicted_by_age),
            "evicted_by_conflict": self.rate(of.evicted_by_conflict),
            "evicted_by_failed_put": self.rate(of.evicted_by_failed_put),
            "expired": self.rate(of.expired),
        })
    }
}
