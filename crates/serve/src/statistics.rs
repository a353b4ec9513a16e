//! What the cache and the server do, for the page and for Prometheus.

mod prometheus;

use crate::app::{problem_of, App};
use polycache::bindings::Bindings;
use polycache::reads::ReadStats;
use polycache::{MachineStats, RemoteStats, Stats, Usage};
use polycache_http::Problem;
use polycache_json::{milliseconds, statistics};
use serde_json::{json, Map, Value};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, Mutex};

/// A look walks the index, so clients share one for that long.
const FRESH: Duration = Duration::from_secs(1);
/// One at the namespaces reads every key.
const FRESH_USAGE: Duration = Duration::from_secs(5);
/// Namespaces that are told.
const MOST_NAMESPACES: usize = 100;

/// What each namespace takes; `None` without a directory.
type Namespaces = Arc<Option<Vec<Usage>>>;

/// The last look, which the next clients are given, too.
#[derive(Default)]
pub(crate) struct Statistics {
    last: Mutex<Option<Arc<Look>>>,
    usage: Mutex<Option<(Instant, Namespaces)>>,
}

/// What was seen.
pub(crate) struct Look {
    at: Instant,
    /// Of the directory; `None` where there is none.
    machine: Option<MachineStats>,
    stats: Stats,
    remote: Option<RemoteStats>,
    listeners: Vec<Value>,
}

impl Statistics {
    /// A look that is a second old at most.
    pub async fn look(&self, app: &Arc<App>) -> Result<Arc<Look>, Problem> {
        let mut last = self.last.lock().await;
        if let Some(look) = last.as_ref().filter(|look| look.at.elapsed() < FRESH) {
            return Ok(look.clone());
        }
        let cache = app.cache.clone();
        let look = on_a_thread(move || {
            let failed = |error| problem_of(&error);
            let listeners = cache.listeners().map_err(failed)?;
            Ok(Arc::new(Look {
                at: Instant::now(),
                machine: cache.machine_stats().map_err(failed)?,
                stats: cache.stats().map_err(failed)?,
                remote: cache.remote_stats(),
                listeners: listeners.iter().map(polycache_json::listener).collect(),
            }))
        })
        .await?;
        Ok(last.insert(look).clone())
    }

    async fn usage(&self, app: &Arc<App>) -> Result<Namespaces, Problem> {
        let mut last = self.usage.lock().await;
        if let Some((at, usage)) = &*last {
            if at.elapsed() < FRESH_USAGE {
                return Ok(usage.clone());
            }
        }
        let cache = app.cache.clone();
        let usage = on_a_thread(move || {
            cache
                .usage(MOST_NAMESPACES)
                .map_err(|error| problem_of(&error))
        });
        let usage = Arc::new(usage.await?);
        *last = Some((Instant::now(), usage.clone()));
        Ok(usage)
    }

    /// As `polycache stats --json`, with the namespaces of `usage`, what the remote tier does, and the server itself.
    pub async fn json(&self, app: &Arc<App>) -> Result<Value, Problem> {
        let look = self.look(app).await?;
        let usage = self.usage(app).await?;
        let mut object = match &look.machine {
            Some(machine) => statistics(app.cache.path(), machine, &look.stats),
            None => memory(&look.stats),
        };
        let namespaces = usage.iter().flatten().map(namespace);
        object["namespaces"] = namespaces.collect();
        object["listeners"] = look.listeners.clone().into();
        object["remote"] = look.remote.as_ref().map_or(Value::Null, remote);
        object["serve"] = server(app);
        Ok(object)
    }

    /// In Prometheus' text format.
    pub async fn prometheus(&self, app: &Arc<App>) -> Result<String, Problem> {
        let look = self.look(app).await?;
        Ok(prometheus::text(app, &look))
    }
}

/// Looks on a thread of its own: those for what blocks may all wait for a Redis that hangs, and that is when people look. There
/// are two at most, because clients share a look.
async fn on_a_thread<T: Send + 'static>(
    look: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let (said, heard) = oneshot::channel();
    let thread = std::thread::Builder::new().name("polycache-look".into());
    let started = thread.spawn(move || drop(said.send(look())));
    match (started, heard.await) {
        (Ok(_), Ok(look)) => look,
        // No thread could be had, or it panicked and has printed why.
        _ => Err(Problem::internal()),
    }
}

/// The same members of a cache in this process' memory, as far as it has them.
fn memory(stats: &Stats) -> Value {
    let reads = stats.hits.saturating_add(stats.misses);
    let mut object = Map::new();
    let mut add = |name: &str, value: Value| object.insert(name.into(), value);
    add("path", Value::Null);
    add("hits", stats.hits.into());
    add("misses", stats.misses.into());
    add(
        "hit_ratio",
        (reads > 0).then(|| stats.hits as f64 / reads as f64).into(),
    );
    add("writes", stats.writes.into());
    add("deletes", stats.deletes.into());
    add("entries", stats.entries.into());
    add("bytes", stats.bytes.into());
    add(
        "limit",
        (stats.limit < prometheus::NO_LIMIT)
            .then_some(stats.limit)
            .into(),
    );
    add("expired", stats.expired.into());
    add("processes", json!([]));
    Value::Object(object)
}

fn namespace(usage: &Usage) -> Value {
    json!({"namespace": usage.namespace, "entries": usage.entries, "bytes": usage.bytes})
}

/// What this process' handle did with its remote tier, and how that is.
pub(crate) fn remote(stats: &RemoteStats) -> Value {
    json!({
        "listens": stats.listens,
        "lag": stats.lag.map(milliseconds),
        "refuses_tracking": stats.refuses_tracking,
        "is_open": stats.is_open,
        "round_trips": stats.round_trips,
        "faults": stats.faults,
        "last_fault": (stats.faults > 0).then_some(&stats.last_fault),
    })
}

/// What became of the reads of clients; `uncached` counts those whose replies were not kept, by the reason.
fn cached_reads(stats: &ReadStats) -> Value {
    let uncached = stats.uncached;
    json!({
        "memory_hits": stats.memory_hits,
        "host_hits": stats.host_hits,
        "sent": stats.sent,
        "joined": stats.joined,
        "uncached": {
            "deaf": uncached.deaf,
            "not_heard": uncached.not_heard,
            "busy": uncached.busy,
            "refused": uncached.refused,
        },
    })
}

fn server(app: &App) -> Value {
    let counts = &app.counts;
    let answers = |class: usize| counts.answers[class].load(Ordering::Relaxed);
    json!({
        "connections": counts.connections.now(),
        "most_connections": app.options.limits.connections,
        "refused_connections": counts.refused.load(Ordering::Relaxed),
        "listeners": counts.listeners.now(),
        "streams": app.hub.as_ref().map(crate::live::Hub::streams),
        "slow_clients": counts.slow.load(Ordering::Relaxed),
        "reads": app.reads.as_ref().map(|reads| cached_reads(&reads.stats())),
        "answers": {"2xx": answers(2), "3xx": answers(3), "4xx": answers(4), "5xx": answers(5)},
    })
}
