//! What the cases of spec/conformance cannot say about get_or_set_many: callers at the same time, panics, futures.

use polycache::bindings::Bindings;
use polycache::{AsyncCache, Builder, Cache, LoadStep, Ttl, Value};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;

type Numbers = Vec<(&'static str, u64)>;

/// Each test runs with both sets of tiers.
fn with_each(test: impl Fn(&dyn Fn() -> Builder)) {
    test(&Cache::builder);
    let directory = tempfile::tempdir().unwrap();
    test(&|| Cache::builder().path(directory.path()).limit(2 << 20));
}

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}

/// No caller holds a lease.
fn is_free(cache: &Cache) -> bool {
    cache.check().unwrap().leases == 0
}

#[test]
fn of_many_callers_with_keys_in_common_one_loads_each() {
    let (threads, rounds) = (6usize, 15);
    let directory = tempfile::tempdir().unwrap();
    let alone = Cache::builder().build().unwrap();
    let in_directory = || {
        Cache::builder()
            .path(directory.path())
            .limit(2 << 20)
            .build()
            .unwrap()
    };
    let opens: [&(dyn Fn() -> Cache + Sync); 2] = [&in_directory, &|| alone.clone()];
    for open in opens {
        let (loaded, barrier) = (Mutex::new(Vec::new()), Barrier::new(threads));
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (loaded, barrier) = (&loaded, &barrier);
                scope.spawn(move || {
                    let cache = open();
                    for round in 0..rounds {
                        barrier.wait();
                        // Each thread begins elsewhere.
                        let keys = (0..10).map(|key| (key + thread * 3) % 10);
                        let keys = keys.map(|key| format!("{round}:{key}"));
                        let found = cache.get_or_set_many(keys, |asked: Vec<String>| {
                            std::thread::yield_now();
                            loaded.lock().unwrap().extend(asked.iter().cloned());
                            Ok::<_, Infallible>(asked.into_iter().map(|key| (key.clone(), key)))
                        });
                        let found: HashMap<String, String> = found.unwrap();
                        assert_eq!(found.len(), 10);
                        assert!(found.iter().all(|(key, value)| key == value));
                    }
                });
            }
        });
        let loaded = loaded.into_inner().unwrap();
        let keys: HashSet<&String> = loaded.iter().collect();
        assert_eq!((loaded.len(), keys.len()), (rounds * 10, rounds * 10));
        assert!(is_free(&open()));
    }
}

/// It loads its own keys before it waits for others.
#[test]
fn what_others_load_is_waited_for_in_the_end() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let (loading, own_is_loaded) = (Barrier::new(2), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                cache.get_or_set("a", || {
                    loading.wait();
                    until(|| own_is_loaded.load(Ordering::SeqCst) == 1);
                    Ok::<_, Infallible>(1)
                })
            });
            loading.wait();
            let found = cache.get_or_set_many(["a", "b"], |asked| {
                assert_eq!(asked, ["b"]);
                assert_eq!(own_is_loaded.fetch_add(1, Ordering::SeqCst), 0, "once");
                Ok::<Numbers, Infallible>(vec![("b", 2)])
            });
            assert_eq!(found.unwrap(), HashMap::from([("a", 1), ("b", 2)]));
            assert_eq!(other.join().unwrap().unwrap(), 1);
        });
    });
}

#[test]
fn what_another_handle_loads_is_waited_for_in_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        Cache::builder()
            .path(directory.path())
            .limit(2 << 20)
            .build()
            .unwrap()
    };
    let (first, second) = (open(), open());
    let mut loading = first.loading();
    let step = first.step(b"a", &mut loading, |_| ()).unwrap();
    assert!(matches!(step, LoadStep::Load));
    let mut asked_for = Vec::new();
    let found = second.get_or_set_many(["a", "b"], |asked| {
        asked_for.push(asked);
        let value = Value::from(1u64);
        first
            .fill(b"a", &mut loading, &value, Ttl::Default)
            .unwrap();
        Ok::<Numbers, Infallible>(vec![("b", 2)])
    });
    assert_eq!(found.unwrap(), HashMap::from([("a", 1), ("b", 2)]));
    assert_eq!(asked_for, [["b"]]);
}

/// While a loader runs, no caller of its process waits for a key that the loading caller waits for, too.
#[test]
fn a_slow_loader_holds_up_no_other_key() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        Cache::builder()
            .path(directory.path())
            .limit(2 << 20)
            .build()
            .unwrap()
    };
    let (first, second) = (open(), open());
    let mut loading = first.loading();
    let step = first.step(b"a", &mut loading, |_| ()).unwrap();
    assert!(matches!(step, LoadStep::Load));
    let (started, answered) = (Barrier::new(2), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let many = scope.spawn(|| {
            second.get_or_set_many(["a", "b"], |asked| {
                assert_eq!(asked, ["b"]);
                started.wait();
                until(|| answered.load(Ordering::SeqCst) == 1);
                Ok::<Numbers, Infallible>(vec![("b", 2)])
            })
        });
        started.wait();
        let one = scope.spawn(|| {
            let load = || -> Result<u64, Infallible> { panic!("another handle loads it") };
            let value = second.get_or_set("a", load);
            answered.store(1, Ordering::SeqCst);
            value
        });
        (0..1000).for_each(|_| std::thread::yield_now());
        let value = Value::from(1u64);
        first
            .fill(b"a", &mut loading, &value, Ttl::Default)
            .unwrap();
        assert_eq!(one.join().unwrap().unwrap(), 1);
        let found = many.join().unwrap().unwrap();
        assert_eq!(found, HashMap::from([("a", 1), ("b", 2)]));
    });
}

/// Where a load that it waited for brought nothing, it loads that key itself, by another call of its loader.
#[test]
fn a_load_that_brings_nothing_falls_to_who_waits() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        Cache::builder()
            .path(directory.path())
            .limit(2 << 20)
            .build()
            .unwrap()
    };
    let (first, second) = (open(), open());
    let mut loading = first.loading();
    let step = first.step(b"a", &mut loading, |_| ()).unwrap();
    assert!(matches!(step, LoadStep::Load));
    let mut asked_for = Vec::new();
    let found = second.get_or_set_many(["a", "b"], |asked| {
        first.abandon(b"a", &mut loading);
        let loaded: Numbers = asked.iter().map(|key| (*key, 7)).collect();
        asked_for.push(asked);
        Ok::<_, Infallible>(loaded)
    });
    assert_eq!(found.unwrap(), HashMap::from([("a", 7), ("b", 7)]));
    assert_eq!(asked_for, [["b"], ["a"]]);
    assert!(is_free(&first));
}

/// The caller joins while the loader runs, and is told what came of it.
fn with_a_caller_that_joins(
    cache: &Cache,
    many: impl Fn() -> Result<Numbers, &'static str> + Sync,
    one: impl FnOnce() -> Result<u64, &'static str>,
) -> [Result<u64, String>; 2] {
    let (loading, comes) = (Barrier::new(2), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let many = scope.spawn(|| {
            let found = cache.get_or_set_many(["a", "b"], |_| {
                loading.wait();
                until(|| comes.load(Ordering::SeqCst) == 1);
                // The caller joins in that time; the test is right as well if it comes later.
                (0..1000).for_each(|_| std::thread::yield_now());
                many()
            });
            found.map(|found| found.len() as u64)
        });
        loading.wait();
        comes.store(1, Ordering::SeqCst);
        let one = cache.get_or_set("a", one);
        let many = many.join().unwrap();
        [many, one].map(|result| result.map_err(|error| error.code().to_owned()))
    })
}

#[test]
fn an_error_is_that_of_those_who_joined() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let failed = || Err("the source is down");
        let failed = with_a_caller_that_joins(&cache, failed, || Err("nor here"));
        let expected = Err("loader_failed".to_owned());
        assert_eq!(failed, [expected.clone(), expected]);
        assert!(is_free(&cache));
    });
}

#[test]
fn a_key_that_was_left_out_is_loaded_by_who_joined() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let left_out = || Ok(vec![("b", 2)]);
        let found = with_a_caller_that_joins(&cache, left_out, || Ok(1));
        assert_eq!(found, [Ok(1), Ok(1)]);
        assert_eq!(cache.get("a").unwrap(), Some(1), "{cache:?}");
        assert!(is_free(&cache));
    });
}

#[test]
fn a_key_that_was_not_asked_for_frees_all_keys() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let refused = cache.get_or_set_many(["a", "b"], |_| {
            Ok::<Numbers, Infallible>(vec![("a", 1), ("b", 2), ("c", 3)])
        });
        let refused = refused.unwrap_err();
        assert_eq!(refused.code(), "invalid_argument");
        assert!(refused.to_string().contains("\"c\""), "{refused}");
        assert!(is_free(&cache));
        assert_eq!(cache.keys("").count(), 0);
    });
}

#[test]
fn a_panic_in_the_loader_frees_all_keys() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let panics = |_| -> Result<Numbers, Infallible> { panic!("in the loader") };
        let caught = catch_unwind(AssertUnwindSafe(|| {
            cache.get_or_set_many(["a", "b"], panics)
        }));
        assert!(caught.is_err());
        assert!(is_free(&cache));
    });
}

#[test]
fn a_loader_that_asks_for_its_own_key_is_told() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let mut told = Vec::new();
        let found = cache.get_or_set_many(["a", "b"], |asked| {
            let one = cache.get_or_set("b", || Ok::<u64, Infallible>(1));
            told.push(one.unwrap_err().code());
            let many = cache.get_or_set_many(["c", "a"], |_| Ok::<Numbers, Infallible>(vec![]));
            told.push(many.unwrap_err().code());
            Ok::<Numbers, Infallible>(asked.into_iter().map(|key| (key, 1)).collect())
        });
        assert_eq!(found.unwrap().len(), 2);
        assert_eq!(told, ["invalid_argument"; 2]);
        assert!(is_free(&cache));
    });
}

#[test]
fn the_last_value_of_a_key_counts() {
    let cache = Cache::builder().build().unwrap();
    let found = cache.get_or_set_many(["a"], |_| {
        Ok::<Numbers, Infallible>(vec![("a", 1), ("a", 2)])
    });
    assert_eq!(found.unwrap()["a"], 2);
    assert_eq!(cache.get("a").unwrap(), Some(2));
}

#[test]
fn typed_caches_find_objects_and_keep_them() {
    with_each(|build| {
        let typed = build().build().unwrap().typed::<u64>().unwrap();
        typed.set("a", &1).unwrap();
        typed.get("a").unwrap();
        let before = typed.memory_stats().hits;
        let square = |asked: Vec<&'static str>| {
            assert_eq!(asked, ["b", "c"]);
            Ok::<Numbers, Infallible>(vec![("b", 4), ("c", 9)])
        };
        let found = typed.get_or_set_many(["a", "b", "c"], square).unwrap();
        assert_eq!(found, HashMap::from([("a", 1), ("b", 4), ("c", 9)]));
        assert_eq!(typed.memory_stats().hits, before + 1);
        assert_eq!(typed.get_many(["b", "c"]).unwrap().len(), 2);
        let times = Duration::from_secs(60);
        let again = typed
            .get_or_set_many_with_ttl(["d"], times, |_| Ok::<Numbers, Infallible>(vec![("d", 16)]));
        assert_eq!(again.unwrap()["d"], 16);
        assert_ne!(typed.ttl("d").unwrap(), typed.ttl("b").unwrap());
    });
}

#[tokio::test]
async fn futures_wait_for_each_other() {
    let directory = tempfile::tempdir().unwrap();
    for builder in [Cache::builder(), Cache::builder().path(directory.path())] {
        let cache = AsyncCache::from(builder.build().unwrap());
        let (loading, loaded) = (Semaphore::new(0), Semaphore::new(0));
        let other = cache.get_or_set("a", async || {
            loading.add_permits(1);
            let _ = loaded.acquire().await;
            Ok::<_, Infallible>(1)
        });
        let many = async {
            let _ = loading.acquire().await;
            let load = async |asked: Vec<&'static str>| {
                assert_eq!(asked, ["b"]);
                loaded.add_permits(1);
                Ok::<Numbers, Infallible>(vec![("b", 2)])
            };
            cache.get_or_set_many(["a", "b"], load).await
        };
        let (other, found) = tokio::join!(other, many);
        assert_eq!(other.unwrap(), 1);
        assert_eq!(found.unwrap(), HashMap::from([("a", 1), ("b", 2)]));
        assert!(is_free(cache.cache()));
    }
}

#[tokio::test]
async fn a_future_that_is_dropped_frees_all_keys() {
    let cache = AsyncCache::from(Cache::builder().build().unwrap());
    let loading = Semaphore::new(0);
    let load = async |_: Vec<&'static str>| {
        loading.add_permits(1);
        std::future::pending::<Result<Numbers, Infallible>>().await
    };
    let many = cache.get_or_set_many::<_, u64, _, _, _, _>(["a", "b"], load);
    tokio::select! {
        _ = many => unreachable!("its loader never ends"),
        _ = loading.acquire() => {}
    }
    assert!(is_free(cache.cache()));
    let typed = cache.cache().typed::<u64>().unwrap();
    let load = async |_: Vec<&'static str>| Ok::<Numbers, Infallible>(vec![("a", 1), ("b", 2)]);
    let found = typed.get_or_set_many_async(["a", "b"], load).await;
    assert_eq!(found.unwrap(), HashMap::from([("a", 1), ("b", 2)]));
}

/// Keys enough for some of them to look alike as leases, in the smallest directory.
fn many_keys() -> Vec<String> {
    (0..8_000).map(|number| format!("key {number}")).collect()
}

fn lengths(asked: Vec<String>) -> Result<Vec<(String, u64)>, Infallible> {
    let lengths = asked.into_iter().map(|key| {
        let length = key.len() as u64;
        (key, length)
    });
    Ok(lengths.collect())
}

/// Leases match by a part of the key's hash. No caller waits for a lease of its own process that is another key's: the first
/// wait would be an error here.
#[test]
fn a_caller_alone_loads_all_its_keys_in_one_call() {
    let directory = tempfile::tempdir().unwrap();
    let builder = Cache::builder().path(directory.path()).limit(2 << 20);
    let cache = builder.wait_timeout(Duration::from_millis(1)).build();
    let (cache, mut calls) = (cache.unwrap(), 0);
    let found = cache.get_or_set_many(many_keys(), |asked| {
        calls += 1;
        lengths(asked)
    });
    assert_eq!((found.unwrap().len(), calls), (many_keys().len(), 1));
    assert!(is_free(&cache));
    assert_eq!(cache.stats().unwrap().wait_timeouts, 0);
}

/// By another handle too: each has leases of its own.
#[test]
fn a_loader_that_loads_other_keys_waits_for_no_lease_of_its_own_process() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        let builder = Cache::builder().path(directory.path()).limit(2 << 20);
        let cache = builder.wait_timeout(Duration::from_millis(1)).build();
        cache.unwrap()
    };
    let (cache, other) = (open(), open());
    for (round, inner) in [&cache, &other].into_iter().enumerate() {
        let keys = many_keys().into_iter().map(|key| format!("{round} {key}"));
        let found = cache.get_or_set_many(keys, |asked| {
            for key in &asked {
                let value = inner.get_or_set(format!("inner {key}"), || Ok::<_, Infallible>(7));
                assert_eq!(value.unwrap(), 7);
            }
            lengths(asked)
        });
        assert_eq!(found.unwrap().len(), many_keys().len());
    }
    assert!(is_free(&cache));
    assert_eq!(other.stats().unwrap().wait_timeouts, 0);
}

#[tokio::test]
async fn a_future_waits_for_no_lease_of_its_own_process() {
    let directory = tempfile::tempdir().unwrap();
    let builder = Cache::builder().path(directory.path()).limit(2 << 20);
    let cache = builder.wait_timeout(Duration::from_millis(1)).build();
    let cache = AsyncCache::from(cache.unwrap());
    let found = cache.get_or_set_many(many_keys(), async |asked: Vec<String>| {
        for key in &asked {
            let value = cache.get_or_set(format!("inner {key}"), async || Ok::<_, Infallible>(7));
            assert_eq!(value.await.unwrap(), 7);
        }
        lengths(asked)
    });
    assert_eq!(found.await.unwrap().len(), many_keys().len());
}

/// Of callers of many keys that wait for the same one, none loads what the first one's loader left out.
#[tokio::test]
async fn a_key_that_was_left_out_is_absent_for_all_callers_of_many() {
    let directory = tempfile::tempdir().unwrap();
    for builder in [Cache::builder(), Cache::builder().path(directory.path())] {
        let cache = AsyncCache::from(builder.build().unwrap());
        let (joined, calls) = (Semaphore::new(0), Mutex::new(Vec::new()));
        let load = async |asked: Vec<&'static str>| {
            calls.lock().unwrap().push(asked);
            let _ = joined.acquire().await.map(|permit| permit.forget());
            Ok::<Numbers, Infallible>(vec![])
        };
        let many = || cache.get_or_set_many(["a"], load);
        let one = || {
            cache.get_or_set("a", async || {
                calls.lock().unwrap().push(vec!["alone"]);
                Ok::<u64, Infallible>(1)
            })
        };
        // The last one is polled when all others have joined.
        let goes_on = async { joined.add_permits(1) };
        let (a, b, c, d, e, ()) = tokio::join!(many(), many(), one(), many(), one(), goes_on);
        for found in [a, b, d] {
            assert_eq!(found.unwrap(), HashMap::new());
        }
        assert_eq!([c.unwrap(), e.unwrap()], [1, 1]);
        assert_eq!(*calls.lock().unwrap(), [["a"], ["alone"]]);
        assert!(is_free(cache.cache()));
        let stats = cache.cache().stats().unwrap();
        assert_eq!((stats.hits, stats.misses), (1, 4), "{stats:?}");
    }
}
