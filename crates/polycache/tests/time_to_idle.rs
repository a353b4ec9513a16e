//! What the cases of spec/conformance cannot say about the time to idle: how often reads write, callers at the same time, a
//! cache that can only be read, objects in memory.

use polycache::{Builder, Cache, Clock, Version};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

const IDLE: Duration = Duration::from_secs(8);
/// An eighth of it, in milliseconds.
const EIGHTH: u64 = 1000;

struct Time(Arc<AtomicU64>);

impl Time {
    fn new() -> Time {
        Time(Arc::new(AtomicU64::new(1_700_000_000_000)))
    }

    fn clock(&self) -> Clock {
        Clock::Manual(self.0.clone())
    }

    fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

/// Each test runs with both sets of tiers.
fn with_each(test: impl Fn(Builder, &Time)) {
    let time = Time::new();
    test(Cache::builder().clock(time.clock()), &time);
    let (time, directory) = (Time::new(), tempfile::tempdir().unwrap());
    let builder = Cache::builder().path(directory.path()).limit(2 << 20);
    test(builder.clock(time.clock()), &time);
}

fn version(cache: &Cache) -> Version {
    cache.facts("k").unwrap().expect("an entry").version
}

#[test]
fn reads_write_once_in_an_eighth() {
    with_each(|builder, time| {
        let cache = builder.time_to_idle(IDLE).build().unwrap();
        let typed = cache.typed::<String>().unwrap();
        cache.set("k", "v").unwrap();
        let (mut writes, mut last) = (0, version(&cache));
        for _ in 0..400 {
            time.advance(EIGHTH / 10);
            for _ in 0..5 {
                assert_eq!(cache.get("k").unwrap(), Some("v".to_owned()));
                assert_eq!(typed.get("k").unwrap(), Some("v".to_owned()));
                writes += u32::from(version(&cache) != last);
                last = version(&cache);
            }
        }
        assert_eq!(writes, 40);
        assert_eq!(cache.stats().unwrap().writes, 1);
    });
}

#[test]
fn a_time_to_live_that_ends_first_makes_no_writes() {
    with_each(|builder, time| {
        let builder = builder.time_to_idle(IDLE).ttl(Duration::from_secs(9));
        let cache = builder.build().unwrap();
        cache.set("k", "v").unwrap();
        let first = version(&cache);
        for _ in 0..8 {
            time.advance(EIGHTH);
            assert_eq!(cache.get("k").unwrap(), Some("v".to_owned()));
        }
        assert_eq!(version(&cache), first);
    });
}

/// Readers at the same time, of which one prolongs: none of them misses, in any round.
#[test]
fn readers_at_the_same_time_lose_nothing() {
    const READERS: usize = 4;
    let (time, directory) = (Time::new(), tempfile::tempdir().unwrap());
    let open = || {
        let builder = Cache::builder().path(directory.path()).limit(2 << 20);
        builder.clock(time.clock()).time_to_idle(IDLE).build()
    };
    let cache = open().unwrap();
    cache.set("k", "v").unwrap();
    let barrier = Barrier::new(READERS + 1);
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let (open, barrier) = (&open, &barrier);
            scope.spawn(move || {
                let cache = open().unwrap();
                let typed = cache.typed::<String>().unwrap();
                for round in 0..300 {
                    barrier.wait();
                    let read = match reader % 2 {
                        0 => cache.get("k").unwrap(),
                        _ => typed.get("k").unwrap(),
                    };
                    assert_eq!(read, Some("v".to_owned()), "round {round}");
                    barrier.wait();
                }
            });
        }
        for _ in 0..300 {
            time.advance(8 * EIGHTH - 1);
            barrier.wait();
            // Others that make the reader's record move, or its block be recycled.
            for number in 0..20 {
                cache
                    .set(format!("other {number}"), &"x".repeat(500))
                    .unwrap();
            }
            barrier.wait();
        }
    });
}

/// A write that comes while a read is under way wins: the read prolongs nothing, or the new entry.
#[test]
fn what_changes_during_a_read_wins() {
    with_each(|builder, time| {
        let cache = builder.time_to_idle(IDLE).build().unwrap();
        let plain = cache.clone();
        cache.set("k", "old").unwrap();
        time.advance(5 * EIGHTH);
        let during = |change: &dyn Fn()| cache.get_with(b"k", |_| change()).unwrap();
        assert!(during(&|| plain.set("k", "new").unwrap()).is_some());
        assert_eq!(cache.peek("k").unwrap(), Some("new".to_owned()));
        time.advance(5 * EIGHTH);
        assert!(during(&|| assert!(plain.delete("k").unwrap())).is_some());
        assert!(!cache.has("k").unwrap());
        cache.set("k", "old").unwrap();
        time.advance(5 * EIGHTH);
        assert!(during(&|| plain.clear().unwrap()).is_some());
        assert!(!cache.has("k").unwrap());
    });
}

#[test]
fn an_object_in_memory_serves_most_reads() {
    let (time, directory) = (Time::new(), tempfile::tempdir().unwrap());
    let builder = Cache::builder().path(directory.path()).time_to_idle(IDLE);
    let cache = builder.clock(time.clock()).build().unwrap();
    let typed = cache.typed::<String>().unwrap();
    typed.set("k", &"v".to_owned()).unwrap();
    let read = || assert_eq!(typed.get("k").unwrap(), Some("v".to_owned()));
    read();
    time.advance(EIGHTH - 1);
    read();
    read();
    assert_eq!(typed.memory_stats().hits, 2);
    time.advance(1);
    // It prolongs the entry, which is then another; that one is kept.
    read();
    read();
    assert_eq!(typed.memory_stats().hits, 2);
    read();
    assert_eq!(typed.memory_stats().hits, 3);
}

#[test]
fn a_closed_cache_prolongs_nothing() {
    with_each(|builder, time| {
        let cache = builder.time_to_idle(IDLE).build().unwrap();
        cache.set("k", "v").unwrap();
        time.advance(5 * EIGHTH);
        let read = cache.get_with(b"k", |value| {
            cache.close();
            value.into_owned()
        });
        assert_eq!(read.unwrap(), Some("v".into()));
    });
}
