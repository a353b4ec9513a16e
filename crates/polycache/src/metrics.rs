//! Numbers for the crate [`metrics`](https://docs.rs/metrics) (cargo feature `metrics`), which exporters
//! such as `metrics-exporter-prometheus` read.
//!
//! Two kinds. **Loads** are recorded as they happen, as histograms. **Counts** are kept by the cache anyway,
//! and are handed over when [`Cache::record_metrics`] or [`TypedCache::record_metrics`] is called: every few
//! seconds, or before an exporter's page is rendered. So a hit costs with metrics what it costs without.
//!
//! | name | what | labels | of |
//! |---|---|---|---|
//! | `polycache_reads_total` | reads, by what they found and by the tier that answered | tier, read outcome (`hit`, `miss`) | this handle |
//! | `polycache_writes_total` `polycache_deletes_total` | entries stored, deleted | tier | this handle |
//! | `polycache_evictions_total` | entries that left for want of room | tier, eviction cause (`age`, `conflict`, `failed_put`; in memory `room`) | the tier |
//! | `polycache_expirations_total` | expired entries removed | tier | the tier |
//! | `polycache_entries` `polycache_usage_bytes` `polycache_limit_bytes` | gauges | tier | the tier |
//! | `polycache_load_invalidated_total` `polycache_load_unstored_total` `polycache_load_wait_timeouts_total` | loads that a write came in between, that could not be stored, callers that waited too long | | this handle |
//! | `polycache_load_duration_seconds` | histogram of what loaders took | load outcome (`loaded`, `failed`, `abandoned`: panicked or cancelled) | this process |
//! | `polycache_load_wait_duration_seconds` | histogram of waiting for the loads of others, in whatever process | | this process |
//!
//! They are OpenTelemetry's names for Prometheus of the metrics that Polycache has in every language
//! (`spec/metrics.md`). So labels begin with `polycache_`: `polycache_tier` (`host`, a directory, or `memory`),
//! `polycache_read_outcome`, `polycache_eviction_cause`, `polycache_load_outcome`; and each metric has
//! `polycache_cache_name`: [`Builder::name`](crate::Builder::name), by default the namespace. What is of the
//! host tier is the same in every process that opened the directory: take its maximum, not its sum. A
//! handle counts for all its namespaces together, so call [`Cache::record_metrics`] on one of them; typed caches
//! that are to be told apart need names: [`Cache::named`].
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

use crate::observe::Answer;
use crate::{Cache, Error, MemoryStats, Stats, TypedCache, TypedValue};
use metrics::{counter, gauge, histogram, Label, Unit};
use std::sync::Arc;
use std::time::Duration;

/// What the cache is called.
const NAME: &str = "polycache_cache_name";
const LOADS: &str = "polycache_load_duration_seconds";
const WAITS: &str = "polycache_load_wait_duration_seconds";
/// Where there is no limit, it is this or more: the largest integer of every language.
const NO_LIMIT: u64 = i64::MAX as u64;

/// What is counted, and what that says.
const COUNTERS: [(&str, &str); 8] = [
    (
        "polycache_reads_total",
        "Reads, by what they found and by the tier that answered.",
    ),
    ("polycache_writes_total", "Entries stored."),
    ("polycache_deletes_total", "Entries deleted."),
    (
        "polycache_evictions_total",
        "Entries that left for want of room.",
    ),
    ("polycache_expirations_total", "Expired entries removed."),
    (
        "polycache_load_invalidated_total",
        "Loaded values that were not stored because a write or another load came first.",
    ),
    (
        "polycache_load_unstored_total",
        "Loaded values that could not be stored.",
    ),
    (
        "polycache_load_wait_timeouts_total",
        "Callers that waited too long for the loads of others.",
    ),
];

/// Says to the program's recorder what each number means, and its unit. To be called once, after the
/// recorder was installed; without it the numbers come without descriptions.
pub fn describe() {
    metrics::describe_histogram!(LOADS, Unit::Seconds, "Duration of loaders.");
    metrics::describe_histogram!(
        WAITS,
        Unit::Seconds,
        "How long callers waited for the loads of others."
    );
    for (name, meaning) in COUNTERS {
        metrics::describe_counter!(name, Unit::Count, meaning);
    }
    metrics::describe_gauge!("polycache_entries", Unit::Count, "Entries held.");
    metrics::describe_gauge!(
        "polycache_usage_bytes",
        Unit::Bytes,
        "Bytes that the entries take."
    );
    metrics::describe_gauge!(
        "polycache_limit_bytes",
        Unit::Bytes,
        "Bytes that the entries may take."
    );
}

impl Cache {
    /// Hands the numbers of [`Cache::stats`] to the program's recorder, see [`metrics`](crate::metrics).
    /// Walks the index of the directory, as that does.
    ///
    /// # Errors
    /// `Closed`.
    pub fn record_metrics(&self) -> Result<(), Error> {
        record(self.name_shared(), self.tier().answer(), &self.stats()?);
        Ok(())
    }
}

impl<T: TypedValue> TypedCache<T> {
    /// Hands the numbers of [`TypedCache::memory_stats`] to the program's recorder: of its memory tier, over a
    /// directory. Reads that this had no answer to are those of the cache below, which
    /// [`TypedCache::cache`] gives. Without a directory there is one tier, and this is the same as
    /// [`Cache::record_metrics`].
    ///
    /// # Errors
    /// `Closed`.
    pub fn record_metrics(&self) -> Result<(), Error> {
        let cache = self.cache();
        cache.still_open()?;
        if cache.tier().answer() == Answer::Memory {
            return cache.record_metrics();
        }
        let (labels, stats) = (
            Labels::new(cache.name_shared(), "memory"),
            self.memory_stats(),
        );
        labels.reads("hit", stats.hits);
        labels.held(&stats);
        Ok(())
    }
}

fn record(cache: Arc<str>, tier: Answer, stats: &Stats) {
    let in_memory = tier == Answer::Memory;
    let labels = Labels::new(cache, if in_memory { "memory" } else { "host" });
    labels.reads("hit", stats.hits);
    labels.reads("miss", stats.misses);
    labels.count("polycache_writes_total", stats.writes);
    labels.count("polycache_deletes_total", stats.deletes);
    labels.count("polycache_expirations_total", stats.expired);
    if in_memory {
        labels.evictions("room", stats.evicted_by_age);
    } else {
        labels.evictions("age", stats.evicted_by_age);
        labels.evictions("conflict", stats.evicted_by_conflict);
        labels.evictions("failed_put", stats.evicted_by_failed_put);
    }
    labels.set("polycache_entries", stats.entries);
    labels.set("polycache_usage_bytes", stats.bytes);
    if stats.limit < NO_LIMIT {
        labels.set("polycache_limit_bytes", stats.limit);
    }
    labels.loads("polycache_load_invalidated_total", stats.invalidated_loads);
    labels.loads("polycache_load_unstored_total", stats.unstored);
    labels.loads("polycache_load_wait_timeouts_total", stats.wait_timeouts);
}

/// Hands the numbers of a [`MemoryCache`](crate::MemoryCache) to the program's recorder, under a name for
/// the label `polycache_cache_name`.
///
/// ```
/// use polycache::MemoryCache;
/// let sessions = MemoryCache::<u64, String>::new(10_000)?;
/// polycache::metrics::record_memory("sessions", &sessions.stats());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn record_memory(cache: impl Into<Arc<str>>, stats: &MemoryStats) {
    let labels = Labels::new(cache.into(), "memory");
    labels.reads("hit", stats.hits);
    labels.reads("miss", stats.misses);
    labels.count("polycache_writes_total", stats.writes);
    labels.count("polycache_deletes_total", stats.deletes);
    labels.held(stats);
    labels.loads("polycache_load_invalidated_total", stats.invalidated_loads);
}

/// The labels that the metrics of a tier have in common.
struct Labels {
    cache: Arc<str>,
    tier: &'static str,
}

impl Labels {
    fn new(cache: Arc<str>, tier: &'static str) -> Labels {
        Labels { cache, tier }
    }

    fn all(&self, more: Option<(&'static str, &'static str)>) -> Vec<Label> {
        let mut labels = vec![
            Label::new(NAME, self.cache.clone()),
            Label::from_static_parts("polycache_tier", self.tier),
        ];
        labels.extend(more.map(|(word, text)| Label::from_static_parts(word, text)));
        labels
    }

    /// What a tier of objects holds, and what became of the rest.
    fn held(&self, stats: &MemoryStats) {
        self.evictions("room", stats.evicted);
        self.count("polycache_expirations_total", stats.expired);
        self.set("polycache_entries", stats.entries);
        self.set("polycache_usage_bytes", stats.bytes);
    }

    fn reads(&self, outcome: &'static str, value: u64) {
        let labels = self.all(Some(("polycache_read_outcome", outcome)));
        counter!("polycache_reads_total", labels).absolute(value);
    }

    fn evictions(&self, cause: &'static str, value: u64) {
        let labels = self.all(Some(("polycache_eviction_cause", cause)));
        counter!("polycache_evictions_total", labels).absolute(value);
    }

    fn count(&self, name: &'static str, value: u64) {
        counter!(name, self.all(None)).absolute(value);
    }

    /// Loads are of no tier.
    fn loads(&self, name: &'static str, value: u64) {
        counter!(name, NAME => self.cache.clone()).absolute(value);
    }

    fn set(&self, name: &'static str, value: u64) {
        #[allow(clippy::cast_precision_loss)] // exact below 2^53
        gauge!(name, self.all(None)).set(value as f64);
    }
}

/// A load ended.
pub(crate) fn loaded(cache: Arc<str>, outcome: &'static str, took: Duration) {
    histogram!(LOADS, NAME => cache, "polycache_load_outcome" => outcome).record(took);
}

/// Loads of others were waited for.
pub(crate) fn waited(cache: Arc<str>, took: Duration) {
    histogram!(WAITS, NAME => cache).record(took);
}
