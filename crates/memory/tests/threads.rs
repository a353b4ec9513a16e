//! Many real threads at the same time.

mod common;

use polycache_memory::{MemoryCache, RemovalCause};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;

/// More threads than places for readers, and some that come late.
const THREADS: u64 = 24;

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn what_is_read_was_written_and_the_bounds_hold() {
    let balance = Arc::new(AtomicI64::new(0));
    let left = balance.clone();
    let cache: MemoryCache<u64, (u64, Arc<u64>)> = MemoryCache::builder()
        .max_bytes(300)
        .weigher(|key, _| 1 + key % 3)
        .shards(4)
        .removal_listener(move |key, value: (u64, Arc<u64>), _: RemovalCause| {
            assert_eq!((key, key), (value.0, *value.1));
            left.fetch_sub(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    for _ in 0..3 {
        thread::scope(|scope| {
            for number in 0..THREADS {
                let (cache, balance) = (&cache, &balance);
                scope.spawn(move || {
                    let mut state = 0x9e37_79b9 + number;
                    for _ in 0..3000 {
                        let key = random(&mut state) % 500;
                        let value = || {
                            balance.fetch_add(1, Ordering::Relaxed);
                            (key, Arc::new(key))
                        };
                        match random(&mut state) % 16 {
                            0 | 1 => cache.set(key, value()).unwrap(),
                            2 => {
                                cache.delete(&key);
                            }
                            3 | 4 => {
                                let loaded = cache.get_or_insert_with(&key, value).unwrap();
                                assert_eq!((loaded.0, *loaded.1), (key, key));
                            }
                            5 if key == 0 => cache.clear(),
                            6 if key < 50 => {
                                let whole = |(key, value): (u64, (u64, Arc<u64>))| {
                                    (key, key) == (value.0, *value.1)
                                };
                                assert!(cache.iter().all(whole));
                            }
                            _ => {
                                if let Some(value) = cache.get(&key) {
                                    assert_eq!((value.0, *value.1), (key, key));
                                }
                            }
                        }
                        assert!(cache.bytes() <= 300);
                    }
                });
            }
        });
        // Threads have ended, and their numbers were reused.
        let held: u64 = cache.keys().map(|key| 1 + key % 3).sum();
        assert_eq!(cache.bytes(), held);
        assert_eq!(cache.len(), cache.iter().count());
    }
    let stats = cache.stats();
    assert_eq!(
        balance.load(Ordering::Relaxed) + invalidated(&stats),
        cache.len() as i64
    );
}

/// Loaded values that were not stored left nothing behind.
fn invalidated(stats: &polycache_memory::Stats) -> i64 {
    -(stats.invalidated_loads as i64)
}

#[test]
fn no_count_is_lost() {
    let cache = common::small::<u64>(10_000);
    cache.set(1, 1).unwrap();
    let reads = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for number in 0..2000 {
                    reads.fetch_add(1, Ordering::Relaxed);
                    cache.get(&(number % 2));
                    if number % 100 == 0 {
                        cache.set(1, 1).unwrap();
                    }
                }
            });
        }
    });
    let stats = cache.stats();
    assert_eq!(stats.hits, THREADS * 1000);
    assert_eq!(stats.misses, THREADS * 1000);
    assert_eq!(stats.writes, 1 + THREADS * 20);
}

#[test]
fn no_change_is_lost() {
    let cache = common::small::<u64>(1000);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for number in 0..500 {
                    let entry = cache.entry(number % 5).and_modify(|count| *count += 1);
                    entry.or_insert(1).unwrap();
                }
            });
        }
    });
    let counts: Vec<u64> = (0..5).map(|key| cache.get(&key).unwrap()).collect();
    assert_eq!(counts, [THREADS * 100; 5]);
}

#[test]
fn a_walk_finds_what_stays() {
    let cache: MemoryCache<u64, u64> = MemoryCache::builder()
        .max_entries(10_000)
        .shards(4)
        .build()
        .unwrap();
    for key in 0..500 {
        cache.set(key, key).unwrap();
    }
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for key in 1000..4000 {
                cache.set(key, key).unwrap();
                cache.set(key % 500, key % 500).unwrap();
                cache.delete(&(key - 50));
            }
        });
        while !writer.is_finished() {
            let mut keys: Vec<u64> = cache.keys().filter(|key| *key < 500).collect();
            keys.sort_unstable();
            assert!(keys.into_iter().eq(0..500), "each of them, once");
        }
    });
}

#[test]
fn a_thread_that_ends_may_use_the_cache() {
    struct Last(Arc<MemoryCache<u64, u64>>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.set(2, self.0.get(&1).unwrap()).unwrap();
        }
    }
    thread_local! {
        static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) };
    }
    let cache = Arc::new(common::small::<u64>(10));
    let inner = cache.clone();
    let thread = thread::spawn(move || {
        LAST.with(|last| *last.borrow_mut() = Some(Last(inner.clone())));
        inner.set(1, 5).unwrap();
    });
    thread.join().unwrap();
    assert_eq!(cache.get(&2), Some(5));
}
