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

const WAITS: &str = "polycache_load_wait_duration_seconds{polycache_cache_name=default}";

fn loads_that(outcome: &str) -> String {
    let labels = format!("polycache_cache_name=default,polycache_load_outcome={outcome}");
    format!("polycache_load_duration_seconds{{{labels}}}")
}

fn reads(cache: &str, tier: &str, outcome: &str) -> String {
    let labels = format!("polycache_cache_name={cache},polycache_tier={tier}");
    format!("polycache_reads_total{{{labels},polycache_read_outcome={outcome}}}")
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
        let is_host = !cache.path().as_os_str().is_empty();
        let (tier, causes) = if is_host {
            ("host", vec!["age", "conflict", "failed_put"])
        } else {
            ("memory", vec!["room"])
        };
        let of = |name: &str, more: &str| {
            let name = format!("polycache_{name}");
            format!("{name}{{polycache_cache_name=prices,polycache_tier={tier}{more}}}")
        };
        for outcome in ["hit", "miss"] {
            let more = format!(",polycache_read_outcome={outcome}");
            assert_eq!(count(&heard, &of("reads_total", &more)), 1);
        }
        assert_eq!(count(&heard, &of("writes_total", "")), 2);
        assert_eq!(count(&heard, &of("deletes_total", "")), 1);
        assert_eq!(count(&heard, &of("expirations_total", "")), 0);
        for cause in causes {
            let more = format!(",polycache_eviction_cause={cause}");
            assert_eq!(count(&heard, &of("evictions_total", &more)), 0);
        }
        let stats = cache.stats().unwrap();
        assert_eq!(gauge(&heard, &of("limit_bytes", "")) as u64, stats.limit);
        assert_eq!(gauge(&heard, &of("usage_bytes", "")) as u64, stats.bytes);
        assert_eq!(gauge(&heard, &of("entries", "")) as u64, 1);
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
    assert_eq!(count(&heard, &reads("default", "memory", "miss")), 3);
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
        let loads = |outcome: &str| times(&heard, &loads_that(outcome));
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
        let loads = |outcome: &str| times(&heard, &loads_that(outcome));
        assert_eq!(
            (loads("loaded"), loads("failed"), loads("abandoned")),
            (2, 0, 1)
        );
        assert_eq!(times(&heard, WAITS), 1);
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
    assert_eq!(count(&heard, &reads("default", "memory", "hit")), 1);
    let below = "the first was answered by the directory";
    assert_eq!(
        count(&heard, &reads("default", "host", "hit")),
        1,
        "{below}"
    );
    let held = "polycache_entries{polycache_cache_name=default,polycache_tier=memory}";
    assert_eq!(gauge(&heard, held), 1.0);
    assert_eq!(count(&heard, &reads("alone", "memory", "hit")), 1);
}

/// Without a directory there is one tier, which is not counted twice.
#[test]
fn a_typed_cache_without_a_directory_has_the_numbers_of_the_cache() {
    let cache = Cache::builder().build().unwrap();
    let typed = cache.typed::<String>().unwrap();
    typed.set("a", &"one".to_owned()).unwrap();
    typed.get("a").unwrap();
    typed.get("absent").unwrap();
    let of_typed = recorded(|| typed.record_metrics().unwrap());
    let of_cache = recorded(|| cache.record_metrics().unwrap());
    assert_eq!(format!("{of_typed:?}"), format!("{of_cache:?}"));
    assert_eq!(count(&of_typed, &reads("default", "memory", "miss")), 1);
}

#[test]
fn waits_are_told_however_they_end() {
    let directory = directory();
    let quick = std::time::Duration::from_millis(5);
    for builder in [Cache::builder(), Cache::builder().path(directory.path())] {
        let cache = builder.wait_timeout(quick).build().unwrap();
        let heard = recorded(|| {
            let enough = std::sync::Barrier::new(2);
            let begun = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    cache.get_or_set("a", || {
                        begun.wait();
                        enough.wait();
                        Ok::<_, std::convert::Infallible>(1)
                    })
                });
                begun.wait();
                let one = cache.get_or_set("a", || Ok::<_, std::convert::Infallible>(2));
                assert!(matches!(one, Err(polycache::Error::WaitTimeout)));
                // It loads its own key first, which it does not wait for.
                let many = cache.get_or_set_many(["a", "b"], |keys: Vec<&str>| {
                    let pairs = keys.into_iter().map(|key| (key, 2));
                    Ok::<_, std::convert::Infallible>(pairs.collect::<Vec<_>>())
                });
                assert!(matches!(many, Err(polycache::Error::WaitTimeout)));
                enough.wait();
            });
        });
        assert_eq!(times(&heard, WAITS), 2);
        assert_eq!(times(&heard, &loads_that("loaded")), 1);
    }
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
    assert_eq!(count(&heard, &reads("users", "memory", "hit")), 2);
    assert_eq!(count(&heard, &reads("items", "memory", "hit")), 0);
}

/// The metrics are those of spec/metrics.json, by the names that OpenTelemetry's rules for Prometheus give them.
#[test]
fn metrics_are_those_of_the_contract() {
    let contract = std::fs::read_to_string("../../spec/metrics.json").unwrap();
    let contract: serde_json::Value = serde_json::from_str(&contract).unwrap();
    let directory = directory();
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        polycache::metrics::describe();
        let quick = std::time::Duration::from_millis(5);
        let cache = Cache::builder()
            .path(directory.path())
            .wait_timeout(quick)
            .build()
            .unwrap();
        let typed = cache.typed::<u8>().unwrap();
        typed.get_or_set("a", || "1".parse::<u8>()).unwrap();
        // Another handle loads it.
        let other = Cache::builder().path(directory.path()).build().unwrap();
        let begun = std::sync::Barrier::new(2);
        let enough = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                other.get_or_set("b", || {
                    begun.wait();
                    enough.wait();
                    "2".parse::<u8>()
                })
            });
            begun.wait();
            cache.get_or_set("b", || "3".parse::<u8>()).unwrap_err();
            enough.wait();
        });
        typed.record_metrics().unwrap();
        cache.record_metrics().unwrap();
        let alone = polycache::MemoryCache::<u8, u8>::new(10).unwrap();
        polycache::metrics::record_memory("alone", &alone.stats());
    });
    let in_prometheus = |word: &str| word.replace('.', "_");
    let mut wanted = BTreeMap::new();
    for instrument in contract["instruments"].as_array().unwrap() {
        let text = |word: &str| instrument[word].as_str().unwrap();
        let (unit, ending) = match text("unit") {
            "s" => (Unit::Seconds, "_seconds"),
            "By" => (Unit::Bytes, "_bytes"),
            annotated => {
                assert!(annotated.starts_with('{'), "{annotated}");
                (Unit::Count, "")
            }
        };
        let (kind, total) = match text("kind") {
            "counter" => (MetricKind::Counter, "_total"),
            "updowncounter" => (MetricKind::Gauge, ""),
            _ => (MetricKind::Histogram, ""),
        };
        let name = in_prometheus(text("name")) + ending + total;
        wanted.insert(name, (kind, unit, instrument));
    }
    let mut found = std::collections::BTreeSet::new();
    for (key, unit, description, _) in snapshotter.snapshot().into_vec() {
        let name = key.key().name();
        let (kind, wanted_unit, instrument) = &wanted[name];
        assert_eq!((key.kind(), unit), (*kind, Some(*wanted_unit)), "{name}");
        assert_eq!(
            description.as_deref(),
            instrument["description"].as_str(),
            "{name}"
        );
        let attributes = instrument["attributes"].as_array().unwrap();
        let words: Vec<&str> = key.key().labels().map(Label::key).collect();
        let all: Vec<String> = attributes
            .iter()
            .map(|word| in_prometheus(word.as_str().unwrap()))
            .collect();
        assert_eq!(words, all, "{name}");
        for (attribute, label) in attributes.iter().zip(key.key().labels()) {
            if let Some(allowed) = contract["attributes"][attribute.as_str().unwrap()].as_array() {
                assert!(
                    allowed.iter().any(|text| text == label.value()),
                    "{label:?}"
                );
            }
        }
        found.insert(name.to_owned());
    }
    assert_eq!(Vec::from_iter(found), Vec::from_iter(wanted.into_keys()));
}
