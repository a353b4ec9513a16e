//! What the cargo feature `metrics` hands over.

use metrics::{Label, Unit};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use metrics_util::MetricKind;
use polycache::Cache;
use std::collections::BTreeMap;

/// Numbers by name and labels, as `name{cache=prices,cause=age}`.
type Numbers = BTreeMap<String, DebugValue>;

fn numbers(snapshotter: &Snapshotter) -> Numbers {
    let taken = snapshotter.snapshot().into_vec().into_iter();
    taken
        .map(|(key, _, _, value)| {
            let labels = key.key().labels();
            let labels: Vec<String> = labels
                .map(|label: &Label| format!("{}={}", label.key(), label.value()))
                .collect();
            (
                format!("{}{{{}}}", key.key().name(), labels.join(",")),
                value,
            )
        })
        .collect()
}

/// Runs `program` under a recorder of its own, and gives what it heard.
fn recorded(program: impl FnOnce()) -> Numbers {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, program);
    numbers(&snapshotter)
}

fn count(numbers: &Numbers, name: &str) -> u64 {
    match numbers.get(name) {
        Some(DebugValue::Counter(count)) => *count,
        other => panic!("{name}: {other:?} among {numbers:#?}"),
    }
}

fn gauge(numbers: &Numbers, name: &str) -> f64 {
    match numbers.get(name) {
        Some(DebugValue::Gauge(value)) => value.into_inner(),
        other => panic!("{name}: {other:?} among {numbers:#?}"),
    }
}

/// How many times a histogram was recorded; none of them below zero.
fn times(numbers: &Numbers, name: &str) -> usize {
    match numbers.get(name) {
        Some(DebugValue::Histogram(values)) => {
            assert!(values.iter().all(|value| value.into_inner() >= 0.0));
            values.len()
        }
        None => 0,
        other => panic!("{name}: {other:?}"),
    }
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn counts_are_those_of_stats() {
    let directory = directory();
    for cache in [
        Cache::builder().name("prices").build().unwrap(),
        Cache::builder()
            .name("prices")
            .path(directory.path())
            .build()
            .unwrap(),
    ] {
        let heard = recorded(|| {
            cache.set("a", &1).unwrap();
            cache.set("b", &2).unwrap();
            cache.get::<u8>("a").unwrap();
            cache.get::<u8>("absent").unwrap();
            cache.delete("b").unwrap();
            cache.record_metrics().unwrap();
        });
        assert_eq!(count(&heard, "polycache_hits_total{cache=prices}"), 1);
        assert_eq!(count(&heard, "polycache_misses_total{cache=prices}"), 1);
        assert_eq!(count(&heard, "polycache_writes_total{cache=prices}"), 2);
        assert_eq!(count(&heard, "polycache_deletes_total{cache=prices}"), 1);
        assert_eq!(
            count(&heard, "polycache_evictions_total{cache=prices,cause=age}"),
            0
        );
        let stats = cache.stats().unwrap();
        let limit = gauge(&heard, "polycache_limit_bytes{cache=prices}");
        assert_eq!(limit as u64, stats.limit);
        let entries = gauge(&heard, "polycache_entries{cache=prices}");
        assert_eq!(entries as u64, stats.entries);
        assert_eq!(entries as u64, 1);
    }
}

#[test]
fn counts_go_on_from_record_to_record() {
    let cache = Cache::builder().build().unwrap();
    let heard = recorded(|| {
        for _ in 0..3 {
            cache.get::<u8>("absent").unwrap();
            cache.record_metrics().unwrap();
        }
    });
    assert_eq!(count(&heard, "polycache_misses_total{cache=default}"), 3);
}

#[test]
fn the_name_is_the_namespace_and_covers_what_is_nested() {
    let cache = Cache::builder()
        .namespace("shop")
        .namespace("eu")
        .build()
        .unwrap();
    assert_eq!(cache.name(), "shop::eu");
    let user = cache.namespace("user 17").unwrap();
    assert_eq!(user.name(), "shop::eu");
}

#[test]
fn loads_are_told_by_their_outcome() {
    let directory = directory();
    for cache in [
        Cache::builder().build().unwrap(),
        Cache::builder().path(directory.path()).build().unwrap(),
    ] {
        let heard = recorded(|| {
            let fails = || Err::<u8, _>(std::io::Error::other("no such price"));
            cache.get_or_set("a", || "1".parse::<u8>()).unwrap();
            cache.get_or_set("a", || "1".parse::<u8>()).unwrap();
            cache.get_or_set("b", fails).unwrap_err();
            let panicking = std::panic::AssertUnwindSafe(|| {
                let panics = || -> Result<u8, std::io::Error> { panic!("planned") };
                cache.get_or_set("c", panics)
            });
            std::panic::catch_unwind(panicking).unwrap_err();
            let typed = cache.typed::<u8>().unwrap();
            typed.get_or_set("d", || "4".parse::<u8>()).unwrap();
            let read_through = typed.with_loader(|key: &str| key.parse::<u8>());
            read_through.get("5").unwrap();
            read_through.refresh("5").unwrap();
        });
        let loads = |outcome: &str| {
            let labels = format!("{{cache=default,outcome={outcome}}}");
            times(&heard, &format!("polycache_load_duration_seconds{labels}"))
        };
        assert_eq!(
            (loads("loaded"), loads("failed"), loads("abandoned")),
            (4, 1, 1)
        );
    }
}

#[tokio::test(flavor = "current_thread")]
async fn loads_of_asynchronous_programs_too() {
    let directory = directory();
    for cache in [
        Cache::builder().build().unwrap(),
        Cache::builder().path(directory.path()).build().unwrap(),
    ] {
        let cache = polycache::AsyncCache::from(cache);
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let guard = metrics::set_default_local_recorder(&recorder);
        cache
            .get_or_set("a", async || "1".parse::<u8>())
            .await
            .unwrap();
        {
            // Polled once, then dropped.
            let forever = std::future::pending::<Result<u8, std::io::Error>>;
            let cancelled = cache.get_or_set("b", forever);
            tokio::select! {
                biased;
                _ = cancelled => unreachable!(),
                () = tokio::task::yield_now() => {}
            }
        }
        // One loads, the other waits for it.
        let slow = || async {
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
            "2".parse::<u8>()
        };
        let (one, other) = tokio::join!(cache.get_or_set("c", slow), cache.get_or_set("c", slow));
        assert_eq!((one.unwrap(), other.unwrap()), (2, 2));
        drop(guard);
        let heard = numbers(&snapshotter);
        let loads = |outcome: &str| {
            let labels = format!("{{cache=default,outcome={outcome}}}");
            times(&heard, &format!("polycache_load_duration_seconds{labels}"))
        };
        assert_eq!(
            (loads("loaded"), loads("failed"), loads("abandoned")),
            (2, 0, 1)
        );
        let waits = "polycache_load_wait_duration_seconds{cache=default}";
        assert_eq!(times(&heard, waits), 1);
    }
}

#[test]
fn memory_tiers_have_numbers_of_their_own() {
    let directory = directory();
    let cache = Cache::builder().path(directory.path()).build().unwrap();
    let typed = cache.typed::<String>().unwrap();
    let heard = recorded(|| {
        typed.set("a", &"one".to_owned()).unwrap();
        typed.get("a").unwrap();
        typed.get("a").unwrap();
        typed.record_metrics().unwrap();
        cache.record_metrics().unwrap();
        let alone = polycache::MemoryCache::<u8, u8>::new(10).unwrap();
        alone.set(1, 1).unwrap();
        alone.get(&1);
        polycache::metrics::record_memory("alone", &alone.stats());
    });
    assert_eq!(
        count(&heard, "polycache_memory_hits_total{cache=default}"),
        1
    );
    let below = "the first was answered by the directory";
    assert_eq!(
        count(&heard, "polycache_hits_total{cache=default}"),
        1,
        "{below}"
    );
    assert_eq!(
        gauge(&heard, "polycache_memory_entries{cache=default}"),
        1.0
    );
    assert_eq!(count(&heard, "polycache_memory_hits_total{cache=alone}"), 1);
}

#[test]
fn names_tell_typed_caches_apart() {
    let directory = directory();
    let cache = Cache::builder().path(directory.path()).build().unwrap();
    let named = |name: &str| cache.namespace(name).unwrap().named(name).unwrap();
    let users = named("users").typed::<u8>().unwrap();
    let items = named("items").typed::<u8>().unwrap();
    let heard = recorded(|| {
        users.set("1", &1).unwrap();
        for _ in 0..3 {
            assert_eq!(users.get("1").unwrap(), Some(1));
            assert_eq!(items.get("1").unwrap(), None);
        }
        users.record_metrics().unwrap();
        items.record_metrics().unwrap();
    });
    assert_eq!(count(&heard, "polycache_memory_hits_total{cache=users}"), 2);
    assert_eq!(count(&heard, "polycache_memory_hits_total{cache=items}"), 0);
    assert_eq!(
        count(&heard, "polycache_memory_misses_total{cache=items}"),
        3
    );
}

#[test]
fn every_number_is_described() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        polycache::metrics::describe();
        let typed = Cache::builder().build().unwrap().typed::<u8>().unwrap();
        typed.get_or_set("a", || "1".parse::<u8>()).unwrap();
        typed.record_metrics().unwrap();
        typed.cache().record_metrics().unwrap();
    });
    for (key, unit, description, _) in snapshotter.snapshot().into_vec() {
        let name = key.key().name();
        assert!(description.is_some(), "{name} has no description");
        let expected = match (key.kind(), name) {
            (MetricKind::Histogram, _) => Unit::Seconds,
            (MetricKind::Gauge, name) if name.contains("bytes") => Unit::Bytes,
            _ => Unit::Count,
        };
        assert_eq!(unit, Some(expected), "{name}");
    }
}
