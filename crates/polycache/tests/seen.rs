//! What the cases of spec/conformance cannot say about peek, take, touch and delete_prefix: memory, callers at the same
//! time, code of users.

use polycache::bindings::Bindings;
use polycache::{Builder, Cache, Ttl, TtlLeft, Value};
use std::convert::Infallible;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

/// Each test runs with both sets of tiers.
fn with_each(test: impl Fn(&dyn Fn() -> Builder)) {
    test(&Cache::builder);
    let directory = tempfile::tempdir().unwrap();
    test(&|| Cache::builder().path(directory.path()).limit(2 << 20));
}

#[test]
fn a_peek_takes_nothing_into_memory() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::builder().path(directory.path()).build().unwrap();
    let typed = cache.typed::<Arc<str>>().unwrap();
    cache.set("k", "v").unwrap();
    assert_eq!(typed.peek("k").unwrap().as_deref(), Some("v"));
    assert_eq!(typed.memory_stats().entries, 0);
    // What is there is handed out, and is not a hit.
    let kept = typed.get("k").unwrap().unwrap();
    let peeked = typed.peek("k").unwrap().unwrap();
    assert!(Arc::ptr_eq(&kept, &peeked));
    assert_eq!(typed.memory_stats().hits, 0);
    cache.set("k", "w").unwrap();
    assert_eq!(typed.peek("k").unwrap().as_deref(), Some("w"));
    assert_eq!(typed.peek("absent").unwrap(), None);
    let stats = cache.stats().unwrap();
    assert_eq!((stats.hits, stats.misses), (1, 0));
}

#[test]
fn without_a_directory_a_peek_hands_out_the_object_that_is_there() {
    let cache = Cache::builder().build().unwrap();
    let typed = cache.typed::<Arc<str>>().unwrap();
    cache.set("k", "v").unwrap();
    let first = typed.peek("k").unwrap().unwrap();
    let second = typed.peek("k").unwrap().unwrap();
    assert!(!Arc::ptr_eq(&first, &second), "decoded each time");
    let kept = typed.get("k").unwrap().unwrap();
    assert!(Arc::ptr_eq(&kept, &typed.peek("k").unwrap().unwrap()));
}

#[test]
fn of_many_callers_on_many_handles_one_takes() {
    let (threads, keys) = (6, 200u64);
    let directory = tempfile::tempdir().unwrap();
    let alone = Cache::builder().build().unwrap();
    let in_directory = || Cache::builder().path(directory.path()).build().unwrap();
    let opens: [&(dyn Fn() -> Cache + Sync); 2] = [&in_directory, &|| alone.clone()];
    for open in opens {
        let cache = open();
        for key in 0..keys {
            cache.set(key.to_string(), &key).unwrap();
        }
        let (taken, barrier) = (Mutex::new(Vec::new()), Barrier::new(threads));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let cache = open();
                    barrier.wait();
                    for key in 0..keys {
                        let value = cache.take::<u64>(key.to_string()).unwrap();
                        taken.lock().unwrap().extend(value);
                    }
                });
            }
        });
        let mut taken = taken.into_inner().unwrap();
        taken.sort_unstable();
        assert_eq!(taken, (0..keys).collect::<Vec<_>>(), "{cache:?}");
    }
}

/// What was set is taken by one, replaced by the next set, or there in the end.
#[test]
fn takers_lose_nothing_that_a_setter_sets() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let (over, last) = (AtomicU64::new(0), 2000u64);
        let taken = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| loop {
                    let is_over = over.load(Ordering::SeqCst) == 1;
                    match cache.take::<u64>("k").unwrap() {
                        Some(value) => taken.lock().unwrap().push(value),
                        None if is_over => break,
                        None => std::thread::yield_now(),
                    }
                });
            }
            for number in 0..=last {
                cache.set("k", &number).unwrap();
            }
            over.store(1, Ordering::SeqCst);
        });
        let mut taken = taken.into_inner().unwrap();
        taken.sort_unstable();
        let number = taken.len();
        taken.dedup();
        assert_eq!(taken.len(), number, "nothing is taken twice");
        assert_eq!(taken.last(), Some(&last), "{cache:?}");
    });
}

#[test]
fn a_value_that_is_replaced_while_it_is_looked_at_is_not_the_one_that_is_taken() {
    with_each(|build| {
        let cache = build().build().unwrap();
        cache.set("k", "old").unwrap();
        let mut seen = Vec::new();
        let taken = cache.take_with(b"k", |value| {
            let value = value.into_owned();
            if seen.is_empty() {
                cache.set("k", "new").unwrap();
            }
            seen.push(value.clone());
            value
        });
        assert_eq!(taken.unwrap(), Some(Value::from("new")));
        assert_eq!(seen, [Value::from("old"), Value::from("new")]);
        assert_eq!(cache.get_value("k").unwrap(), None);
        // The same of a value that goes.
        cache.set("k", "old").unwrap();
        let taken = cache.take_with(b"k", |_| cache.delete("k").unwrap());
        assert_eq!(taken.unwrap(), None);
        let stats = cache.stats().unwrap();
        assert_eq!((stats.hits, stats.deletes), (1, 2), "{cache:?}");
    });
}

#[test]
fn a_take_that_fails_or_panics_leaves_the_entry() {
    with_each(|build| {
        let cache = build().build().unwrap();
        cache.set("k", &7).unwrap();
        let refused = cache.take::<String>("k").unwrap_err();
        assert_eq!(refused.code(), "wrong_type");
        let refused = cache.try_take_with(b"k", |_| Err::<(), _>("not now"));
        assert_eq!(refused.unwrap(), Some(Err("not now")));
        let panics = || cache.take_with(b"k", |_| panic!("in the caller's code"));
        let caught: Result<Result<Option<()>, _>, _> = catch_unwind(AssertUnwindSafe(panics));
        assert!(caught.is_err());
        assert_eq!(cache.stats().unwrap().deletes, 0);
        assert_eq!(cache.take("k").unwrap(), Some(7));
        let absent = cache.try_take_with(b"k", |_| Err::<(), _>("not now"));
        assert_eq!(absent.unwrap(), None);
    });
}

#[test]
fn what_is_taken_leaves_memory() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let typed = cache.typed::<u64>().unwrap();
        typed.set("k", &7).unwrap();
        assert_eq!(typed.get("k").unwrap(), Some(7));
        assert_eq!(typed.get("k").unwrap(), Some(7));
        assert_eq!(typed.take("k").unwrap(), Some(7));
        assert_eq!(typed.memory_stats().entries, 0);
        assert_eq!(typed.get("k").unwrap(), None);
    });
}

#[test]
fn a_touch_without_a_directory_keeps_the_object() {
    let cache = Cache::builder().build().unwrap();
    let typed = cache.typed::<Arc<str>>().unwrap();
    typed.set("k", &"v".into()).unwrap();
    let before = typed.get("k").unwrap().unwrap();
    assert!(cache.touch("k", Duration::from_secs(60)).unwrap());
    assert!(Arc::ptr_eq(&before, &typed.get("k").unwrap().unwrap()));
    assert!(matches!(typed.ttl("k").unwrap(), Some(TtlLeft::For(_))));
    assert!(typed.touch("k", Ttl::Forever).unwrap());
    assert_eq!(typed.ttl("k").unwrap(), Some(TtlLeft::Forever));
    assert_eq!(cache.check().unwrap().damaged, Vec::<String>::new());
}

#[test]
fn jitter_concerns_a_touch_by_the_default_alone() {
    with_each(|build| {
        let minute = Duration::from_secs(60);
        let build = build().ttl(minute).jitter(0.5).jitter_source(|| u64::MAX);
        let cache = build
            .clock(polycache::Clock::Manual(Arc::new(AtomicU64::new(
                1_700_000_000_000,
            ))))
            .build()
            .unwrap();
        let left = |cache: &Cache| match cache.ttl("k").unwrap() {
            Some(TtlLeft::For(left)) => left,
            other => panic!("{other:?}"),
        };
        cache.set("k", "v").unwrap();
        let shortened = left(&cache);
        assert!(shortened < minute);
        assert!(cache.touch("k", minute).unwrap());
        assert_eq!(left(&cache), minute);
        assert!(cache.touch("k", Ttl::Default).unwrap());
        assert_eq!(left(&cache), shortened);
    });
}

/// Touches write copies of entries; none of these may outlive a set or delete.
#[test]
fn touches_bring_nothing_back() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let over = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while over.load(Ordering::SeqCst) == 0 {
                        cache.touch("k", Duration::from_secs(60)).unwrap();
                    }
                });
            }
            for number in 0..3000u64 {
                cache.set("k", &number).unwrap();
                assert_eq!(cache.get("k").unwrap(), Some(number), "{cache:?}");
                if number % 3 == 0 {
                    assert!(cache.delete("k").unwrap());
                    assert_eq!(cache.get::<u64>("k").unwrap(), None, "{cache:?}");
                }
                if number % 7 == 0 {
                    cache.clear().unwrap();
                    assert_eq!(cache.get::<u64>("k").unwrap(), None, "{cache:?}");
                }
            }
            over.store(1, Ordering::SeqCst);
        });
        assert_eq!(cache.stats().unwrap().writes, 3000);
    });
}

#[test]
fn a_prefix_s_objects_leave_memory() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let typed = cache.typed::<u64>().unwrap();
        typed
            .set_many([("user:1", 1), ("user:2", 2), ("item:1", 3)])
            .unwrap();
        for key in ["user:1", "user:2", "item:1"] {
            typed.get(key).unwrap();
        }
        assert_eq!(typed.delete_prefix("user:").unwrap(), 2);
        assert_eq!(typed.memory_stats().entries, 1);
        assert_eq!(typed.get("item:1").unwrap(), Some(3));
    });
}

#[test]
fn a_prefix_leaves_loads_of_keys_without_an_entry_alone() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let loaded = cache.get_or_set("k", || {
            assert_eq!(cache.delete_prefix("k").unwrap(), 0);
            Ok::<_, Infallible>(7)
        });
        assert_eq!(loaded.unwrap(), 7);
        assert_eq!(cache.get("k").unwrap(), Some(7), "{cache:?}");
    });
}
