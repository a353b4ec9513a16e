//! Typed caches: objects in memory, over a directory and alone.

use polycache::{Cache, Clock, Error, MemoryStats, TypedCache, Value};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

fn open(directory: &tempfile::TempDir) -> Cache {
    Cache::builder()
        .path(directory.path())
        .limit(2 << 20)
        .build()
        .unwrap()
}

fn hits<T: polycache::TypedValue>(typed: &TypedCache<T>) -> u64 {
    typed.memory_stats().hits
}

#[test]
fn a_hit_decodes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for cache in [open(&directory), Cache::builder().build().unwrap()] {
        let typed = cache.typed::<Arc<str>>().unwrap();
        cache.set("k", "v").unwrap();
        let first = typed.get("k").unwrap().unwrap();
        let second = typed.get("k").unwrap().unwrap();
        assert!(Arc::ptr_eq(&first, &second), "{cache:?}");
        assert!(Arc::ptr_eq(
            &first,
            &typed.clone().get_or_set("k", never).unwrap()
        ));
        // Untyped and other handles write and read the same entries.
        assert_eq!(cache.get("k").unwrap(), Some("v".to_owned()));
        cache.set("k", "w").unwrap();
        assert_eq!(&*typed.get("k").unwrap().unwrap(), "w");
        typed.set("k", &"x".into()).unwrap();
        assert_eq!(cache.get_value("k").unwrap(), Some(Value::from("x")));
        assert_eq!(&*typed.get("k").unwrap().unwrap(), "x");
        assert!(cache.delete("k").unwrap());
        assert_eq!(typed.get("k").unwrap(), None);
        cache.close();
        assert!(matches!(typed.get("k"), Err(Error::Closed)));
        assert!(matches!(cache.typed::<u64>(), Err(Error::Closed)));
    }
}

fn never() -> Result<Arc<str>, Infallible> {
    unreachable!("it is there")
}

#[test]
fn writes_through_other_handles_are_seen() {
    let directory = tempfile::tempdir().unwrap();
    let typed = open(&directory).typed::<u64>().unwrap();
    let other = open(&directory);
    let mut number = 0;
    for change in 0..40 {
        number += 1;
        match change % 4 {
            0 => other.set("k", &number).unwrap(),
            1 => assert!(other.delete("k").unwrap()),
            2 => assert_eq!(
                other
                    .get_or_set("k", || Ok::<_, Infallible>(number))
                    .unwrap(),
                number
            ),
            _ => other.clear().unwrap(),
        }
        let there = (change % 2 == 0).then_some(number);
        assert_eq!(typed.get("k").unwrap(), there);
        assert_eq!(typed.get("k").unwrap(), there);
    }
    assert_eq!(hits(&typed), 20);
}

/// By a write it would be older than one that came between.
#[test]
fn what_a_load_finds_is_kept_as_well() {
    let directory = tempfile::tempdir().unwrap();
    for cache in [open(&directory), Cache::builder().build().unwrap()] {
        let typed = cache.typed::<Arc<str>>().unwrap();
        cache.set("k", "v").unwrap();
        let first = typed.get_or_set("k", never).unwrap();
        assert_eq!(typed.memory_stats().entries, 1, "{cache:?}");
        assert!(Arc::ptr_eq(&first, &typed.get_or_set("k", never).unwrap()));
        // What another handle writes is seen by the next load.
        cache.set("k", "w").unwrap();
        assert_eq!(&*typed.get_or_set("k", never).unwrap(), "w");

        let read_through = typed.clone().with_loader(|_: &str| never());
        cache.set("l", "v").unwrap();
        let first = read_through.get("l").unwrap();
        assert!(Arc::ptr_eq(&first, &read_through.get("l").unwrap()));
    }
}

#[test]
fn values_enter_by_reads_alone() {
    let directory = tempfile::tempdir().unwrap();
    let typed = open(&directory).typed::<u64>().unwrap();
    typed.set("k", &1).unwrap();
    assert_eq!(typed.get_or_set("l", || Ok::<_, Infallible>(2)).unwrap(), 2);
    assert_eq!(typed.memory_stats().entries, 0);
    assert_eq!(typed.get("k").unwrap(), Some(1));
    assert_eq!(typed.memory_stats().entries, 1);
    typed.set("k", &2).unwrap();
    assert_eq!(typed.memory_stats().entries, 0, "own writes leave at once");
    typed.get("k").unwrap();
    typed.delete("k").unwrap();
    assert_eq!(typed.memory_stats().entries, 0);
    typed.get("l").unwrap();
    typed.cache().delete("l").unwrap();
    assert_eq!(typed.get("l").unwrap(), None);
    assert_eq!(
        typed.memory_stats().entries,
        0,
        "a stale object leaves when it is asked for"
    );
}

#[test]
fn time_counts_for_objects_too() {
    let directory = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(1_700_000_000_000));
    let builder = || Cache::builder().clock(Clock::Manual(time.clone()));
    for cache in [
        builder()
            .path(directory.path())
            .limit(2 << 20)
            .build()
            .unwrap(),
        builder().build().unwrap(),
    ] {
        let typed = cache.typed::<u64>().unwrap();
        typed
            .set_with_ttl("k", &7, Duration::from_millis(100))
            .unwrap();
        for _ in 0..2 {
            assert_eq!(typed.get("k").unwrap(), Some(7));
        }
        time.fetch_add(99, Ordering::Relaxed);
        assert_eq!(typed.get("k").unwrap(), Some(7));
        time.fetch_add(1, Ordering::Relaxed);
        assert_eq!(typed.get("k").unwrap(), None);
        assert!(typed.set_with_ttl("k", &7, Duration::ZERO).is_err());
    }
}

#[test]
fn the_tier_is_bounded_and_can_be_off() {
    let directory = tempfile::tempdir().unwrap();
    let builder = || Cache::builder().path(directory.path());
    let cache = builder().max_entries(10).max_bytes(5000).build().unwrap();
    let typed = cache.typed::<String>().unwrap();
    for number in 0..100 {
        typed.set(number.to_string(), &"x".repeat(1000)).unwrap();
        typed.get(number.to_string()).unwrap();
        let MemoryStats { entries, bytes, .. } = typed.memory_stats();
        assert!(entries <= 10 && bytes <= 5000);
    }
    assert!(typed.memory_stats().entries >= 3);
    // Too heavy for memory, it is read from the directory.
    typed.set("large", &"x".repeat(10_000)).unwrap();
    for _ in 0..2 {
        assert_eq!(typed.get("large").unwrap().unwrap().len(), 10_000);
    }
    let off = builder()
        .memory(false)
        .build()
        .unwrap()
        .typed::<String>()
        .unwrap();
    for _ in 0..2 {
        assert_eq!(off.get("99").unwrap().unwrap().len(), 1000);
    }
    assert_eq!(off.memory_stats(), MemoryStats::default());
}

#[test]
fn another_type_is_the_wrong_type() {
    let cache = Cache::builder().build().unwrap();
    let (texts, numbers) = (
        cache.typed::<String>().unwrap(),
        cache.typed::<u64>().unwrap(),
    );
    texts.set("k", &"v".into()).unwrap();
    assert_eq!(numbers.get("k").unwrap_err().code(), "wrong_type");
    numbers.set("k", &7).unwrap();
    assert_eq!(texts.get("k").unwrap_err().code(), "wrong_type");
    let bytes = cache.typed::<u8>().unwrap();
    for _ in 0..2 {
        assert_eq!(
            (bytes.get("k").unwrap(), numbers.get("k").unwrap()),
            (Some(7), Some(7))
        );
    }
    assert_eq!(cache.stats().unwrap().writes, 2);
}

/// Entries that only memory reads would look unused to the directory, and be recycled.
#[test]
fn hits_keep_entries_in_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(&directory);
    let (read, unread) = (cache.typed::<u64>().unwrap(), 16);
    for number in 0..unread {
        cache.set(format!("read {number}"), &number).unwrap();
        cache.set(format!("unread {number}"), &number).unwrap();
    }
    for round in 0..30_000 {
        cache.set(format!("filler {round}"), "").unwrap();
        for number in 0..unread {
            read.get(format!("read {number}")).unwrap();
        }
    }
    let there = |name: &str| {
        let there = |number: &u64| cache.has(format!("{name} {number}")).unwrap();
        (0..unread).filter(there).count()
    };
    let (kept, unkept) = (there("read"), there("unread"));
    assert!(
        hits(&read) > 25_000 * unread,
        "memory served {} reads",
        hits(&read)
    );
    // Whole blocks go, and some that nobody read share one with those that were.
    assert!(
        kept >= 12 && unkept < 8,
        "{kept} that were read, {unkept} that were not"
    );
}

/// Writers count up on handles of their own; typed readers see no number go down, nor one that is older than
/// what was acknowledged before they began.
#[test]
fn no_read_is_stale() {
    const KEYS: usize = 4;
    const WRITES: u64 = 30_000;
    let directory = tempfile::tempdir().unwrap();
    let acknowledged: [AtomicU64; KEYS] = std::array::from_fn(|_| AtomicU64::new(0));
    let from_memory = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for (key, acknowledged) in acknowledged.iter().enumerate() {
            let cache = open(&directory);
            scope.spawn(move || {
                let name = format!("key {key}");
                for number in 1..=WRITES {
                    if number % 100 == 0 {
                        cache.delete(&name).unwrap();
                    }
                    cache.set(&name, &number).unwrap();
                    acknowledged.store(number, Ordering::SeqCst);
                    if number % 64 == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let typed = open(&directory).typed::<u64>().unwrap();
        for reader in 0..3 {
            let (typed, acknowledged, from_memory) = (typed.clone(), &acknowledged, &from_memory);
            scope.spawn(move || {
                let mut seen = [0; KEYS];
                let mut key = reader;
                while acknowledged
                    .iter()
                    .any(|last| last.load(Ordering::SeqCst) < WRITES)
                {
                    key = (key + 1) % KEYS;
                    for _ in 0..8 {
                        let at_least = acknowledged[key].load(Ordering::SeqCst).max(seen[key]);
                        // A miss is a delete's, before its set.
                        if let Some(read) = typed.get(format!("key {key}")).unwrap() {
                            assert!(read >= at_least, "{read} after {at_least}");
                            seen[key] = read;
                        }
                    }
                }
                from_memory.fetch_max(hits(&typed), Ordering::SeqCst);
            });
        }
    });
    assert!(
        from_memory.into_inner() > 1000,
        "memory served hardly anything"
    );
}

#[test]
fn a_write_during_a_refresh_wins() {
    let directory = tempfile::tempdir().unwrap();
    for cache in [open(&directory), Cache::builder().build().unwrap()] {
        type Meanwhile = fn(&Cache);
        let writes: [(&str, Meanwhile); 4] = [
            ("nothing", |_| ()),
            ("a set", |cache| cache.set("k", &2).unwrap()),
            ("a delete", |cache| assert!(cache.delete("k").is_ok())),
            ("a clear", |cache| cache.clear().unwrap()),
        ];
        for (what, meanwhile) in writes {
            let writing = cache.clone();
            let read_through = cache.typed::<u64>().unwrap().with_loader(move |_: &str| {
                meanwhile(&writing);
                Ok::<_, Infallible>(3)
            });
            for there in [true, false] {
                cache.delete("k").unwrap();
                if there {
                    cache.set("k", &1).unwrap();
                }
                assert_eq!(read_through.refresh("k").unwrap(), 3);
                let left = cache.get::<u64>("k").unwrap();
                let stale = left == Some(3) && what != "nothing" || left == Some(1);
                assert!(!stale, "{what} was overruled, {there}: {left:?}, {cache:?}");
                assert_eq!(left == Some(3), what == "nothing", "{there}, {cache:?}");
            }
        }
    }
}

#[test]
fn a_refresh_joins_no_load_that_began_before() {
    let directory = tempfile::tempdir().unwrap();
    for cache in [open(&directory), Cache::builder().build().unwrap()] {
        let source = Arc::new(AtomicU64::new(1));
        let (reading, refreshing) = (source.clone(), cache.clone());
        let typed = cache.typed::<u64>().unwrap();
        let loaded = typed.get_or_set("k", || {
            let old = reading.load(Ordering::SeqCst);
            reading.store(2, Ordering::SeqCst);
            let again = reading.clone();
            let read_through = refreshing
                .typed::<u64>()
                .unwrap()
                .with_loader(move |_: &str| Ok::<_, Infallible>(again.load(Ordering::SeqCst)));
            let refreshed = std::thread::scope(|scope| {
                scope.spawn(|| read_through.refresh("k").unwrap()).join()
            });
            assert_eq!(refreshed.unwrap(), 2);
            Ok::<_, Infallible>(old)
        });
        assert_eq!(loaded.unwrap(), 1, "its caller's alone");
        assert_ne!(cache.get::<u64>("k").unwrap(), Some(1), "{cache:?}");
    }
}

#[test]
fn a_refresh_whose_value_does_not_fit_supersedes() {
    let directory = tempfile::tempdir().unwrap();
    let alone = Cache::builder().max_bytes(10_000).build().unwrap();
    for cache in [open(&directory), alone] {
        cache.set("k", "old").unwrap();
        let typed = cache.typed::<String>().unwrap();
        let large = typed.with_loader(|_: &str| Ok::<_, Infallible>("x".repeat(2_000_000)));
        let refused = large.refresh("k").unwrap_err();
        assert_eq!(refused.code(), "entry_too_large", "{cache:?}");
        assert_eq!(cache.get::<String>("k").unwrap(), None, "{cache:?}");
    }
}
