//! Several keys in one call, and one loader for many.

mod common;

use common::Time;
use polycache_memory::{Error, MemoryCache, Stats};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

type Pairs = Vec<(u64, u64)>;

fn cache() -> MemoryCache<u64, u64> {
    MemoryCache::new(100).unwrap()
}

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}

#[test]
fn many_are_set_found_and_deleted() {
    let cache = cache();
    cache.set_many([(1, 10), (2, 20), (3, 30)]).unwrap();
    let found = cache.get_many(&[1, 2, 4]);
    assert_eq!(found, HashMap::from([(&1, 10), (&2, 20)]));
    assert_eq!(cache.delete_many(&[1, 4, 3]), 2);
    assert_eq!(cache.len(), 1);
    let stats = cache.stats();
    assert_eq!((stats.hits, stats.misses, stats.deletes), (2, 1, 2));
}

#[test]
fn what_cannot_be_stored_ends_set_many() {
    let cache = MemoryCache::builder()
        .max_bytes(10)
        .weigher(|_: &u64, value: &u64| *value)
        .build()
        .unwrap();
    let error = cache.set_many([(1, 1), (2, 11), (3, 1)]).unwrap_err();
    assert_eq!(error.code(), "entry_too_large");
    assert_eq!((cache.get(&1), cache.get(&3)), (Some(1), None));
    let error = cache.set_many_with_ttl([], Duration::ZERO).unwrap_err();
    assert_eq!(error.code(), "invalid_argument");
}

#[test]
fn the_loader_is_asked_for_what_is_missing_once() {
    let cache = cache();
    cache.set(1, 10).unwrap();
    let mut asked_for = Vec::new();
    let found = cache.get_or_set_many(&[1, 2, 3, 2, 4], |asked| {
        asked_for.push(asked);
        Ok::<Pairs, Infallible>(vec![(3, 30), (2, 20)])
    });
    assert_eq!(
        found.unwrap(),
        HashMap::from([(&1, 10), (&2, 20), (&3, 30)])
    );
    assert_eq!(asked_for, [[&2, &3, &4]]);
    assert_eq!((cache.get(&2), cache.has(&4)), (Some(20), false));
    let Stats { hits, misses, .. } = cache.stats();
    assert_eq!((hits, misses), (2, 3), "with the get above");
    // No caller waits for the one that was left out.
    assert_eq!(cache.get_or_insert_with(&4, || 40).unwrap(), 40);
}

#[test]
fn a_key_that_was_not_asked_for_is_refused_and_nothing_stored() {
    let cache = cache();
    let load = |_| Ok::<Pairs, Infallible>(vec![(1, 10), (3, 30)]);
    let error = cache.get_or_set_many(&[1, 2], load).unwrap_err();
    assert_eq!(error.code(), "invalid_argument");
    assert!(cache.is_empty());
    assert_eq!(cache.get_or_insert_with(&1, || 11).unwrap(), 11);
}

#[test]
fn what_is_too_heavy_is_an_error_and_the_rest_is_stored() {
    let cache = MemoryCache::builder()
        .max_bytes(10)
        .weigher(|_: &u64, value: &u64| *value)
        .build()
        .unwrap();
    let load = |_| Ok::<Pairs, Infallible>(vec![(1, 11), (2, 2)]);
    let error = cache.get_or_set_many(&[1, 2], load).unwrap_err();
    assert_eq!(error.code(), "entry_too_large");
    assert_eq!(cache.get(&2), Some(2));
}

#[test]
fn of_many_callers_with_keys_in_common_one_loads_each() {
    let (cache, threads, rounds) = (MemoryCache::new(10_000).unwrap(), 6, 50);
    let (loaded, barrier) = (Mutex::new(Vec::new()), Barrier::new(threads));
    std::thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let (cache, loaded, barrier) = (&cache, &loaded, &barrier);
            scope.spawn(move || {
                for round in 0..rounds {
                    barrier.wait();
                    let keys = (0..10).map(|key| round * 100 + (key + thread * 3) % 10);
                    let keys: Vec<u64> = keys.collect();
                    let found = cache.get_or_set_many(&keys, |asked| {
                        std::thread::yield_now();
                        loaded.lock().unwrap().extend(asked.iter().map(|key| **key));
                        Ok::<Pairs, Infallible>(asked.iter().map(|key| (**key, **key)).collect())
                    });
                    let found = found.unwrap();
                    assert!(found.len() == 10 && found.iter().all(|(key, value)| *key == value));
                }
            });
        }
    });
    let loaded: Vec<u64> = loaded.into_inner().unwrap();
    let keys: HashSet<&u64> = loaded.iter().collect();
    assert_eq!(
        (loaded.len(), keys.len()),
        (10 * rounds as usize, 10 * rounds as usize)
    );
}

/// It loads its own keys before it waits for others.
#[test]
fn what_others_load_is_waited_for_in_the_end() {
    let cache = cache();
    let (loading, own_is_loaded) = (Barrier::new(2), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let load = || {
                loading.wait();
                until(|| own_is_loaded.load(Ordering::SeqCst) == 1);
                10
            };
            assert_eq!(cache.get_or_insert_with(&1, load).unwrap(), 10);
        });
        loading.wait();
        let found = cache.get_or_set_many(&[1, 2], |asked| {
            assert_eq!(asked, [&2]);
            own_is_loaded.fetch_add(1, Ordering::SeqCst);
            Ok::<Pairs, Infallible>(vec![(2, 20)])
        });
        assert_eq!(found.unwrap(), HashMap::from([(&1, 10), (&2, 20)]));
    });
}

#[test]
fn an_error_or_a_panic_frees_all_keys() {
    let cache = cache();
    let fails = |_| Err::<Pairs, _>("the source is down");
    let error = cache.get_or_set_many(&[1, 2], fails).unwrap_err();
    assert!(matches!(error, Error::LoaderFailed(_)));
    let panics = |_| -> Result<Pairs, Infallible> { panic!("in the loader") };
    let caught = catch_unwind(AssertUnwindSafe(|| cache.get_or_set_many(&[1, 2], panics)));
    assert!(caught.is_err());
    for key in [1, 2] {
        assert_eq!(cache.get_or_insert_with(&key, || key).unwrap(), key);
    }
}

#[test]
fn a_loader_that_asks_for_its_own_key_is_told() {
    let cache = cache();
    let found = cache.get_or_set_many(&[1, 2], |_| {
        let again = |_| Ok::<Pairs, Infallible>(vec![(3, 30)]);
        let error = cache.get_or_set_many(&[3, 1], again).unwrap_err();
        assert_eq!(error.code(), "invalid_argument");
        Ok::<Pairs, Infallible>(vec![(1, 10), (2, 20)])
    });
    assert_eq!(found.unwrap().len(), 2);
    assert_eq!(cache.get_or_insert_with(&3, || 3).unwrap(), 3);
}

#[test]
fn a_write_during_the_load_wins_key_by_key() {
    let cache = cache();
    let found = cache.get_or_set_many(&[1, 2, 3], |_| {
        cache.set(1, 11).unwrap();
        cache.delete(&2);
        Ok::<Pairs, Infallible>(vec![(1, 10), (2, 20), (3, 30)])
    });
    assert_eq!(
        found.unwrap(),
        HashMap::from([(&1, 10), (&2, 20), (&3, 30)])
    );
    assert_eq!(
        cache.get_many(&[1, 2, 3]),
        HashMap::from([(&1, 11), (&3, 30)])
    );
}

#[test]
fn futures_wait_for_each_other() {
    let cache = cache();
    let one = cache.get_or_set_async(&1, async { Ok::<u64, Infallible>(10) });
    let many = cache.get_or_set_many_async(&[1, 2], |asked| {
        let loaded = asked.into_iter().map(|key| (*key, key * 10)).collect();
        std::future::ready(Ok::<Pairs, Infallible>(loaded))
    });
    let (one, many) = futures::executor::block_on(futures::future::join(one, many));
    assert_eq!(one.unwrap(), 10);
    assert_eq!(many.unwrap(), HashMap::from([(&1, 10), (&2, 20)]));
    // Dropped before its end, it frees its keys.
    let pending = cache.get_or_set_many_async(&[3, 4], |_| {
        std::future::pending::<Result<Pairs, Infallible>>()
    });
    let mut pending = Box::pin(pending);
    let mut context = Context::from_waker(Waker::noop());
    assert!(pending.as_mut().poll(&mut context).is_pending());
    drop(pending);
    assert_eq!(cache.get_or_insert_with(&4, || 40).unwrap(), 40);
}

/// Of callers of many keys that wait for the same one, none loads what the first one's loader left out.
#[test]
fn a_key_that_was_left_out_is_absent_for_all_callers_of_many() {
    let (cache, calls) = (cache(), Mutex::new(Vec::new()));
    let (joined, all_joined) = futures::channel::oneshot::channel::<()>();
    let all_joined = futures::future::FutureExt::shared(all_joined);
    let many = || {
        cache.get_or_set_many_async(&[1], |asked| {
            calls.lock().unwrap().push(asked.len());
            let all_joined = all_joined.clone();
            async move {
                all_joined.await.unwrap();
                Ok::<Pairs, Infallible>(vec![])
            }
        })
    };
    let one = || {
        let load = async {
            calls.lock().unwrap().push(0);
            Ok::<u64, Infallible>(10)
        };
        cache.get_or_set_async(&1, load)
    };
    // The last one is polled when all others have joined.
    let goes_on = async { joined.send(()).unwrap() };
    let first = futures::future::join3(many(), many(), one());
    let then = futures::future::join3(many(), one(), goes_on);
    let all = futures::future::join(first, then);
    let ((a, b, c), (d, e, ())) = futures::executor::block_on(all);
    assert!([a, b, d].into_iter().all(|found| found.unwrap().is_empty()));
    assert_eq!([c.unwrap(), e.unwrap()], [10, 10]);
    assert_eq!(*calls.lock().unwrap(), [1, 0]);
}

#[test]
fn delete_if_is_asked_for_what_stands_there() {
    let time = Time::default();
    let builder = MemoryCache::<u64, u64>::builder().max_entries(10);
    let builder = builder.ttl(Duration::from_secs(1)).clock(time.clock());
    let cache = builder.build().unwrap();
    assert!(!cache.delete_if(&1, |value| value.is_some()));
    cache.set(1, 10).unwrap();
    assert!(!cache.delete_if(&1, |value| value == Some(&11)));
    assert_eq!(cache.get(&1), Some(10));
    // What is over is not there, and is told of as such.
    time.pass(1000);
    assert!(cache.delete_if(&1, |value| value.is_none()));
    let stats = cache.stats();
    assert_eq!((stats.deletes, stats.expired, cache.len()), (0, 1, 0));
    // It invalidates a load, as a delete does, when it says so.
    for (condemned, stored) in [(true, None), (false, Some(20))] {
        cache.delete(&2);
        let load = || {
            cache.delete_if(&2, |_| condemned);
            20
        };
        assert_eq!(cache.get_or_insert_with(&2, load).unwrap(), 20);
        assert_eq!(cache.get(&2), stored);
    }
}
