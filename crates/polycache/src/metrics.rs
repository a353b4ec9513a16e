//! Numbers for the crate [`metrics`](https://docs.rs/metrics) (cargo feature `metrics`), which exporters
//! such as `metrics-exporter-prometheus` read.
//!
//! There are two kinds. **Loads** are recorded as they happen, as histograms. **Counts** are kept by the cache anyway;
//! [`Cache::record_metrics`] or [`TypedCache::record_metrics`] hands them over: call it every few seconds, or before an
//! exporter's page is rendered. So metrics make a hit no slower.
//!
//! | name | what | of |
//! |---|---|---|
//! | `polycache_load_duration_seconds` | histogram of what loaders took, by `outcome`: `loaded`, `failed`, `abandoned` (panicked or cancelled) | this process |
//! | `polycache_load_wait_duration_seconds` | histogram of waiting for another caller's load, in whatever process | this process |
//! | `polycache_hits_total` `polycache_misses_total` `polycache_writes_total` `polycache_deletes_total` `polycache_voided_fills_total` | counters | this handle |
//! | `polycache_entries` `polycache_bytes` `polycache_limit_bytes` | gauges | the directory |
//! | `polycache_evictions_total` (by `cause`: `age`, `conflict`, `failed_put`) `polycache_expirations_total` | counters | the directory |
//! | `polycache_memory_hits_total` `polycache_memory_misses_total` `polycache_memory_evictions_total` `polycache_memory_expirations_total` | counters | one memory tier |
//! | `polycache_memory_entries` `polycache_memory_bytes` | gauges | one memory tier |
//!
//! Each has the label `cache`: [`Builder::name`](crate::Builder::name), by default the namespace. Values of the
//! directory are the same in every process that opened it: take their maximum, not their sum. A cache without a
//! directory counts for itself. A handle counts for all its namespaces together, so call [`Cache::record_metrics`] on
//! one of them; typed caches need names to be told apart: [`Cache::named`].
//!
//! ```
//! use polycache::Cache;
//! use std::time::Duration;
//!
//! polycache::metrics::describe(); // once, after the program's recorder was installed
//! let cache = Cache::builder().name("prices").build()?;
//! let recording = cache.clone();
//! std::thread::spawn(move || {
//!     while recording.record_metrics().is_ok() {
//!         std::thread::sleep(Duration::from_secs(10));
//!     }
//! });
//! # cache.close();
//! # Ok::<(), polycache::Error>(())
//! ```

use crate::{Cache, Error, MemoryStats, Stats, TypedCache, TypedValue};
use metrics::{counter, gauge, histogram, Unit};
use std::sync::Arc;
use std::time::Duration;

const LOADS: &str = "polycache_load_duration_seconds";
const WAITS: &str = "polycache_load_wait_duration_seconds";

/// What is counted, and what that says.
const COUNTERS: [(&str, &str); 11] = [
    ("polycache_hits_total", "Reads that found an entry."),
    ("polycache_misses_total", "Reads that found none."),
    ("polycache_writes_total", "Entries stored."),
    ("polycache_deletes_total", "Entries deleted."),
    (
        "polycache_voided_fills_total",
        "Loaded values that were not stored, because a set, delete or clear came in between.",
    ),
    (
        "polycache_evictions_total",
        "Entries that left for want of room.",
    ),
    ("polycache_expirations_total", "Expired entries removed."),
    (
        "polycache_memory_hits_total",
        "Reads that the memory tier answered.",
    ),
    (
        "polycache_memory_misses_total",
        "Reads that the memory tier could not answer.",
    ),
    (
        "polycache_memory_evictions_total",
        "Objects that left the memory tier because it was full.",
    ),
    (
        "polycache_memory_expirations_total",
        "Objects of the memory tier that expired.",
    ),
];

/// Tells the program's recorder what each number means, and its unit. Call it once, after the recorder was installed;
/// without it the numbers have no descriptions.
pub fn describe() {
    metrics::describe_histogram!(LOADS, Unit::Seconds, "What a loader took.");
    metrics::describe_histogram!(WAITS, Unit::Seconds, "Waiting for another caller's load.");
    for (name, meaning) in COUNTERS {
        metrics::describe_counter!(name, Unit::Count, meaning);
    }
    metrics::describe_gauge!("polycache_entries", Unit::Count, "Entries held.");
    metrics::describe_gauge!("polycache_bytes", Unit::Bytes, "Bytes taken.");
    metrics::describe_gauge!(
        "polycache_limit_bytes",
        Unit::Bytes,
        "Bytes that may be taken."
    );
    metrics::describe_gauge!(
        "polycache_memory_entries",
        Unit::Count,
        "Objects in the memory tier."
    );
    metrics::describe_gauge!(
        "polycache_memory_bytes",
        Unit::Bytes,
        "Bytes that the memory tier's objects weigh."
    );
}

impl Cache {
    /// Hands the numbers of [`Cache::stats`] to the program's recorder, see [`metrics`](crate::metrics).
    /// Walks the index of the directory, as that does.
    ///
    /// # Errors
    /// `Closed`.
    pub fn record_metrics(&self) -> Result<(), Error> {
        record(&self.name_shared(), &self.stats()?);
        Ok(())
    }
}

impl<T: TypedValue> TypedCache<T> {
    /// Hands the numbers of [`TypedCache::memory_stats`] to the program's recorder. They differ from those of the cache
    /// below: its hits are reads that memory could not answer.
    ///
    /// # Errors
    /// `Closed`.
    pub fn record_metrics(&self) -> Result<(), Error> {
        self.cache().still_open()?;
        record_memory(self.cache().name_shared(), &self.memory_stats());
        Ok(())
    }
}

fn record(cache: &Arc<str>, stats: &Stats) {
    count("polycache_hits_total", cache, stats.hits);
    count("polycache_misses_total", cache, stats.misses);
    count("polycache_writes_total", cache, stats.writes);
    count("polycache_deletes_total", cache, stats.deletes);
    count("polycache_voided_fills_total", cache, stats.voided_fills);
    count("polycache_expirations_total", cache, stats.expired);
    for (cause, evicted) in [
        ("age", stats.evicted_by_age),
        ("conflict", stats.evicted_by_conflict),
        ("failed_put", stats.evicted_by_failed_put),
    ] {
        counter!("polycache_evictions_total", "cache" => cache.clone(), "cause" => cause)
            .absolute(evicted);
    }
    set("polycache_entries", cache, stats.entries);
    set("polycache_bytes", cache, stats.bytes);
    set("polycache_limit_bytes", cache, stats.limit);
}

/// Hands the numbers of a [`MemoryCache`](crate::MemoryCache) to the program's recorder, under a name for
/// the label `cache`.
///
/// ```
/// use polycache::MemoryCache;
/// let sessions = MemoryCache::<u64, String>::new(10_000)?;
/// polycache::metrics::record_memory("sessions", &sessions.stats());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn record_memory(cache: impl Into<Arc<str>>, stats: &MemoryStats) {
    let cache = cache.into();
    count("polycache_memory_hits_total", &cache, stats.hits);
    count("polycache_memory_misses_total", &cache, stats.misses);
    count("polycache_memory_evictions_total", &cache, stats.evicted);
    count("polycache_memory_expirations_total", &cache, stats.expired);
    set("polycache_memory_entries", &cache, stats.entries);
    set("polycache_memory_bytes", &cache, stats.bytes);
}

fn count(name: &'static str, cache: &Arc<str>, value: u64) {
    counter!(name, "cache" => cache.clone()).absolute(value);
}

fn set(name: &'static str, cache: &Arc<str>, value: u64) {
    #[allow(clippy::cast_precision_loss)] // exact below 2^53
    gauge!(name, "cache" => cache.clone()).set(value as f64);
}

/// A load ended.
pub(crate) fn loaded(cache: Arc<str>, outcome: &'static str, took: Duration) {
    histogram!(LOADS, "cache" => cache, "outcome" => outcome).record(took);
}

/// Another caller's load was waited for.
pub(crate) fn waited(cache: Arc<str>, took: Duration) {
    histogram!(WAITS, "cache" => cache).record(took);
}
