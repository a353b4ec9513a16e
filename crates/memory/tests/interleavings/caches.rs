//! The cache: what is read, and what it holds at the end.

use crate::{at_once, explore, MemoryCache};
use shuttle::sync::atomic::{AtomicU64, Ordering};
use shuttle::sync::Mutex;
use std::sync::Arc;

type Cache = MemoryCache<u64, u64>;

fn cache(max_entries: u64, shards: usize) -> Cache {
    MemoryCache::builder()
        .max_entries(max_entries)
        .shards(shards)
        .build()
        .unwrap()
}

fn with(cache: &Cache, work: impl FnOnce(Cache) + Send + 'static) -> Box<dyn FnOnce() + Send> {
    let cache = cache.clone();
    Box::new(move || work(cache))
}

#[test]
fn a_read_after_a_write_is_never_older() {
    explore(|| {
        let cache = cache(10, 1);
        let acknowledged = Arc::new(AtomicU64::new(0));
        let latest = acknowledged.clone();
        let writes = with(&cache, move |cache| {
            for value in 1..4 {
                cache.set(1, value).unwrap();
                acknowledged.store(value, Ordering::SeqCst);
            }
        });
        let reads = |latest: Arc<AtomicU64>| {
            with(&cache, move |cache| {
                for _ in 0..3 {
                    let before = latest.load(Ordering::SeqCst);
                    let read = cache.get(&1).unwrap_or(0);
                    assert!(read >= before, "{read} after {before}");
                }
            })
        };
        at_once(vec![writes, reads(latest.clone()), reads(latest)]);
    });
}

#[test]
fn a_mutex_of_the_caller_s_may_stand_for_the_locks() {
    explore(|| {
        let cache = cache(2, 1);
        let mutex = Arc::new(Mutex::new(()));
        let work = |number: u64| {
            let mutex = mutex.clone();
            with(&cache, move |cache| {
                for key in [number, 1, number + 1] {
                    let alone = mutex.lock().unwrap();
                    let mut value = key;
                    // SAFETY: every use of this cache is under the mutex.
                    if !unsafe { cache.swap_exclusively(&key, &mut value, || true) } {
                        cache.set(key, value).unwrap();
                    }
                    drop(alone);
                    let alone = mutex.lock().unwrap();
                    // SAFETY: as before.
                    let read = unsafe { cache.get_exclusively(&1) };
                    assert!(read.is_none_or(|read| read == 1), "{read:?} of 1");
                    drop(alone);
                }
            })
        };
        at_once(vec![work(1), work(2), work(3)]);
        let stats = cache.stats();
        assert_eq!((stats.hits + stats.misses, stats.writes), (9, 9));
    });
}

#[test]
fn the_bounds_hold_while_shards_give_each_other_room() {
    explore(|| {
        let builder = MemoryCache::builder()
            .max_bytes(6)
            .weigher(|_, bytes| *bytes);
        let cache = builder.shards(2).build().unwrap();
        let sets = |first: u64| {
            with(&cache, move |cache| {
                for (key, bytes) in [(first, 3), (first + 1, 5), (first, 6), (first + 1, 2)] {
                    cache.set(key, bytes).unwrap();
                    assert!(cache.bytes() <= 6);
                }
            })
        };
        at_once(vec![sets(0), sets(10), sets(20)]);
        let sum: u64 = cache.iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(cache.bytes(), sum);
        assert_eq!(cache.len(), cache.iter().count());
        assert!(sum <= 6 && sum > 0);
    });
}

#[test]
fn no_change_of_an_entry_is_lost() {
    explore(|| {
        let cache = cache(10, 1);
        let adds = || {
            with(&cache, |cache| {
                for _ in 0..2 {
                    cache
                        .entry(1)
                        .and_modify(|count| *count += 1)
                        .or_insert(1)
                        .unwrap();
                }
            })
        };
        at_once(vec![adds(), adds(), adds()]);
        assert_eq!(cache.get(&1), Some(6));
    });
}

#[test]
fn an_entry_is_taken_once() {
    explore(|| {
        let cache = cache(10, 1);
        cache.set(1, 5).unwrap();
        let taken = Arc::new(AtomicU64::new(0));
        let takes = || {
            let taken = taken.clone();
            with(&cache, move |cache| {
                taken.fetch_add(cache.take(&1).unwrap_or(0), Ordering::SeqCst);
            })
        };
        at_once(vec![takes(), takes(), takes()]);
        assert_eq!(taken.load(Ordering::SeqCst), 5);
        assert!(cache.is_empty());
    });
}

#[test]
fn an_entry_that_stays_is_walked_by_once() {
    explore(|| {
        let cache = cache(10, 2);
        for key in 0..3 {
            cache.set(key, key).unwrap();
        }
        let changes = with(&cache, |cache| {
            cache.set(1, 11).unwrap();
            cache.set(7, 7).unwrap();
            cache.delete(&7);
        });
        let walks = with(&cache, |cache| {
            let mut keys: Vec<u64> = cache.keys().filter(|key| *key < 3).collect();
            keys.sort_unstable();
            assert_eq!(keys, [0, 1, 2]);
        });
        at_once(vec![changes, walks]);
    });
}
