//! A cache without a path: what the cases of spec/conformance cannot say about it.

use polycache::bindings::Bindings;
use polycache::{Bincode, Cache, Clock, Error, Json, Serializer, TtlLeft, Zstd};
use std::convert::Infallible;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

fn in_memory() -> Cache {
    Cache::builder().build().unwrap()
}

#[test]
fn it_is_this_handles_own() {
    let (one, other) = (in_memory(), in_memory());
    one.set("k", "v").unwrap();
    assert_eq!(one.clone().get("k").unwrap(), Some("v".to_owned()));
    assert_eq!(other.get::<String>("k").unwrap(), None);
    assert_eq!(one.path(), std::path::Path::new(""));
}

#[test]
fn entries_are_encoded_as_configured() {
    let text = "spam ".repeat(1000);
    let cache = Cache::builder()
        .serializer(Json)
        .compressor(Zstd::new(1))
        .build()
        .unwrap();
    cache.set("k", &text).unwrap();
    let facts = cache.facts("k").unwrap().unwrap();
    assert_eq!(facts.serializer, Serializer::Json);
    assert!(facts.size < 100 && facts.payload == 5002, "{facts:?}");
    assert!(cache.stats().unwrap().bytes < 500);
    assert_eq!(cache.get("k").unwrap(), Some(text));

    let bincode = Cache::builder().serializer(Bincode).build().unwrap();
    bincode.set("k", &(1u8, 2u16)).unwrap();
    assert_eq!(bincode.get("k").unwrap(), Some((1u8, 2u16)));
    let error = bincode.get_value("k").unwrap_err();
    assert_eq!(error.code(), "unsupported_serializer");
}

#[test]
fn bounds_hold() {
    let cache = Cache::builder().max_entries(10).build().unwrap();
    for number in 0..100 {
        cache.set(number.to_string(), &number).unwrap();
        assert!(cache.stats().unwrap().entries <= 10);
    }
    assert_eq!(cache.keys("").count(), 10);

    let cache = Cache::builder().max_bytes(10_000).build().unwrap();
    for number in 0..100 {
        cache.set(number.to_string(), &"x".repeat(1000)).unwrap();
        assert!(cache.stats().unwrap().bytes <= 10_000);
    }
    assert!(cache.keys("").count() >= 7);
    cache.set("k", "old").unwrap();
    let error = cache.set("k", &"x".repeat(10_000)).unwrap_err();
    assert!(
        matches!(error, Error::EntryTooLarge { size, limit: 10_000 } if size > 10_000),
        "{error}"
    );
    assert_eq!(cache.get::<String>("k").unwrap(), None);
    let load = || Ok::<_, Infallible>("x".repeat(10_000));
    assert_eq!(cache.get_or_set("k", load).unwrap().len(), 10_000);
    assert_eq!(cache.stats().unwrap().unstored, 1);
    assert_eq!(cache.get_or_set("k", || Ok::<_, Infallible>(7)).unwrap(), 7);
}

#[test]
fn wrong_options_are_refused() {
    let wrong = [
        Cache::builder().max_entries(0),
        Cache::builder().max_entries((1 << 24) + 1),
        Cache::builder().max_bytes(0),
        Cache::builder().memory(false),
        Cache::builder().path(""),
        Cache::builder().path("/nowhere").max_entries(0),
        Cache::builder().path("/nowhere").memory(false).max_bytes(1),
        Cache::builder().limit(4 << 20),
        Cache::builder().empty_at_boot(true),
        Cache::builder().flush_every(None),
        Cache::builder()
            .path("/nowhere")
            .flush_every(Duration::from_millis(99)),
        Cache::builder().encryption([(1, [1; 32])]),
        Cache::builder().lease_timeout(Duration::from_millis(62)),
        Cache::builder().wait_timeout(Duration::ZERO),
        Cache::builder().wait_timeout(Duration::MAX),
        Cache::builder().compressor(Zstd::new(0)),
        Cache::builder().namespace(""),
        Cache::builder().ttl(Duration::ZERO),
        Cache::builder().ttl(Duration::MAX),
    ];
    for builder in wrong {
        let error = builder.clone().build().expect_err(&format!("{builder:?}"));
        assert_eq!(error.code(), "invalid_argument", "{builder:?}");
    }
    let cache = in_memory();
    assert!(cache.namespace("").is_err());
    for wrong in [Duration::ZERO, Duration::MAX] {
        cache.set("k", "v").unwrap();
        let error = cache.set_with_ttl("k", "w", wrong).unwrap_err();
        assert_eq!(error.code(), "invalid_argument");
        assert_eq!(cache.get("k").unwrap(), Some("v".to_owned()));
    }
    // What was read here is read here again.
    let (_, origin) = cache.get_with_origin(b"k", |_| ()).unwrap().unwrap();
    assert!(!cache.stands(&origin));
}

#[test]
fn of_many_callers_one_loads() {
    let cache = in_memory();
    let (threads, rounds) = (8, 50);
    let loads = AtomicU64::new(0);
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for round in 0..rounds {
                    barrier.wait();
                    let key = format!("key {round}");
                    let got = cache.get_or_set(&key, || {
                        std::thread::yield_now();
                        Ok::<_, Infallible>(loads.fetch_add(1, Ordering::SeqCst))
                    });
                    assert_eq!(Some(got.unwrap()), cache.get::<u64>(&key).unwrap());
                }
            });
        }
    });
    assert_eq!(loads.into_inner(), rounds);
    assert_eq!(cache.stats().unwrap().writes, rounds);
}

#[test]
fn a_panic_in_a_loader_or_a_value_frees_its_key() {
    struct Bad;
    impl serde::Serialize for Bad {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("in the value")
        }
    }
    impl<'de> serde::Deserialize<'de> for Bad {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Bad, D::Error> {
            unreachable!("never stored")
        }
    }
    let cache = in_memory();
    let load = || -> Result<u64, Infallible> { panic!("in the loader") };
    assert!(catch_unwind(AssertUnwindSafe(|| cache.get_or_set("k", load))).is_err());
    let load = || Ok::<_, Infallible>(Bad);
    let caught = catch_unwind(AssertUnwindSafe(|| cache.get_or_set("k", load).map(drop)));
    assert!(caught.is_err());
    assert_eq!(cache.check().unwrap().leases, 0);
    assert_eq!(cache.get_or_set("k", || Ok::<_, Infallible>(7)).unwrap(), 7);
}

/// The clock went back: the entry is from the future, and is not served.
#[test]
fn an_entry_that_is_not_served_makes_way_for_a_load() {
    let time = Arc::new(AtomicU64::new(1_700_000_000_000));
    let cache = Cache::builder()
        .ttl(Duration::from_secs(60))
        .clock(Clock::Manual(time.clone()))
        .build()
        .unwrap();
    cache.set("k", &1).unwrap();
    time.fetch_sub(10_000, Ordering::Relaxed);
    assert_eq!(cache.get_or_set("k", || Ok::<_, Infallible>(2)).unwrap(), 2);
    assert_eq!(cache.get("k").unwrap(), Some(2));
    let stats = cache.stats().unwrap();
    assert_eq!((stats.deletes, stats.expired), (0, 1));
}

#[test]
fn a_clear_of_a_nested_namespace_invalidates_its_loads() {
    let cache = in_memory();
    let users = cache.namespace("users").unwrap();
    let old = users.namespace("old").unwrap();
    let others = cache.namespace("usersAbc").unwrap();
    let loaded = old.get_or_set("k", || {
        users.clear().unwrap();
        // Not joined: it is of before the clear.
        let again = old.get_or_set("k", || Ok::<_, Infallible>("after".to_owned()));
        assert_eq!(again.unwrap(), "after");
        Ok::<_, Infallible>("before".to_owned())
    });
    assert_eq!(loaded.unwrap(), "before");
    assert_eq!(old.get("k").unwrap(), Some("after".to_owned()));
    let loaded = others.get_or_set("k", || {
        users.clear().unwrap();
        Ok::<_, Infallible>(7)
    });
    assert_eq!((loaded.unwrap(), others.get("k").unwrap()), (7, Some(7)));
    assert_eq!(cache.stats().unwrap().invalidated_loads, 1);
}

#[test]
fn a_namespace_keeps_its_entries_without_handles() {
    let cache = in_memory();
    for number in 0..1000 {
        let namespace = cache.namespace(format!("n{number}")).unwrap();
        namespace.set("k", &number).unwrap();
    }
    for number in 0..1000 {
        let namespace = cache.namespace(format!("n{number}")).unwrap();
        assert_eq!(namespace.get("k").unwrap(), Some(number));
    }
    let mut full = Vec::new();
    assert_eq!(cache.full_keys_page(0, 1, &mut full).unwrap(), None);
    assert!(full.len() == 1000 && full.contains(&b"n7::k".to_vec()));
    cache.clear().unwrap();
    assert_eq!(cache.stats().unwrap().entries, 0);
}

#[test]
fn what_was_cleared_leaves_room() {
    let cache = in_memory();
    let users = cache.namespace("users").unwrap();
    users
        .set_many((0..100).map(|n| (n.to_string(), n)))
        .unwrap();
    cache.set("k", "v").unwrap();
    users.clear().unwrap();
    let stats = cache.stats().unwrap();
    assert_eq!((stats.entries, stats.deletes), (1, 0));
}

#[test]
fn a_load_is_invalidated_once() {
    let directory = tempfile::tempdir().unwrap();
    for builder in [
        Cache::builder(),
        Cache::builder().path(directory.path()).limit(2 << 20),
    ] {
        let cache = builder.build().unwrap();
        let users = cache.namespace("users").unwrap();
        for (invalidated, cleared) in [(1, &cache), (2, &users)] {
            let loaded = users.get_or_set("k", || {
                cleared.clear().unwrap();
                Ok::<_, Infallible>(7)
            });
            assert_eq!(loaded.unwrap(), 7);
            assert_eq!(users.get::<u64>("k").unwrap(), None);
            let (stats, of_users) = (cache.stats().unwrap(), users.stats().unwrap());
            assert_eq!((stats.invalidated_loads, stats.writes), (invalidated, 0));
            assert_eq!(of_users.invalidated_loads, invalidated);
        }
        assert_eq!(cache.check().unwrap().leases, 0);
    }
}

#[test]
fn the_memory_tier_counts_as_the_cache_does() {
    let cache = in_memory();
    let typed = cache.typed::<u64>().unwrap();
    for number in 0..10 {
        let key = number.to_string();
        let load = || Ok::<_, Infallible>(number);
        assert_eq!(typed.get_or_set(&key, load).unwrap(), number);
    }
    let stats = typed.memory_stats();
    assert_eq!((stats.hits, stats.misses, stats.writes), (0, 10, 10));

    let cache = in_memory();
    let typed = cache.typed::<u64>().unwrap();
    cache.set("k", &1).unwrap();
    assert_eq!(typed.get("k").unwrap(), Some(1));
    assert_eq!(typed.get("k").unwrap(), Some(1));
    let stats = typed.memory_stats();
    assert_eq!((stats.hits, stats.misses, stats.writes), (2, 0, 1));
    assert_eq!(cache.stats().unwrap().writes, 1);
}

#[test]
fn hits_misses_and_expiry_are_counted() {
    let time = Arc::new(AtomicU64::new(1_700_000_000_000));
    let cache = Cache::builder()
        .ttl(Duration::from_secs(1))
        .clock(Clock::Manual(time.clone()))
        .build()
        .unwrap();
    assert_eq!(cache.get_or_set("k", || Ok::<_, Infallible>(1)).unwrap(), 1);
    assert_eq!(cache.get("k").unwrap(), Some(1));
    assert_eq!(cache.get_or_set("k", || Ok::<_, Infallible>(2)).unwrap(), 1);
    let left = TtlLeft::For(Duration::from_secs(1));
    assert_eq!(cache.ttl("k").unwrap(), Some(left));
    time.fetch_add(1000, Ordering::Relaxed);
    assert_eq!(cache.get::<i32>("k").unwrap(), None);
    let stats = cache.stats().unwrap();
    assert_eq!((stats.hits, stats.misses), (3, 2));
    assert_eq!((stats.writes, stats.expired, stats.entries), (1, 1, 0));
}

/// Writers count up; readers see no number go down, however they read.
#[test]
fn no_read_is_stale() {
    let cache = in_memory();
    let acknowledged = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=20_000u64 {
                cache.set("k", &number).unwrap();
                acknowledged.store(number, Ordering::Release);
            }
        });
        for reader in 0..3 {
            let (cache, acknowledged) = (&cache, &acknowledged);
            scope.spawn(move || {
                while acknowledged.load(Ordering::Acquire) < 20_000 {
                    let at_least = acknowledged.load(Ordering::Acquire);
                    let read = match reader {
                        0 => cache.get("k").unwrap().unwrap_or(0),
                        1 => cache.get_or_set("k", || Ok::<_, Infallible>(0)).unwrap(),
                        _ => cache.typed::<u64>().unwrap().get("k").unwrap().unwrap_or(0),
                    };
                    assert!(read >= at_least, "{read} after {at_least}");
                }
            });
        }
    });
}
