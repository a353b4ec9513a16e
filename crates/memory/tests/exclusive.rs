//! Operations without locks do what those with locks do.

mod common;

use common::{small, Time};
use polycache_memory::{Builder, MemoryCache, Ttl};
use proptest::prelude::*;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Step {
    Set(u64),
    Get(u64),
    Delete(u64),
    Forever(u64),
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..20_u64;
    let step = prop_oneof![
        4 => key().prop_map(Step::Set),
        4 => key().prop_map(Step::Get),
        1 => key().prop_map(Step::Delete),
        1 => key().prop_map(Step::Forever),
        2 => (0..30_u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..200)
}

/// Stores the value; returns the replaced one, if no lock was needed.
fn set_exclusively(cache: &MemoryCache<u64, u64>, key: u64, mut value: u64) -> Option<u64> {
    // SAFETY: only this thread has the cache, and numbers do not use it.
    if unsafe { cache.swap_exclusively(&key, &mut value, || true) } {
        return Some(value);
    }
    cache.set(key, value).unwrap();
    None
}

fn check(ttl: bool, idle: bool, most: u64, steps: &[Step]) {
    let time = Time::default();
    let made = || {
        let mut builder: Builder<u64, u64> = MemoryCache::builder();
        if ttl {
            builder = builder.ttl(Duration::from_millis(50));
        }
        if idle {
            builder = builder.time_to_idle(Duration::from_millis(30));
        }
        builder = builder.max_entries(most).shards(1).clock(time.clock());
        builder.build().unwrap()
    };
    let (ours, other) = (made(), made());
    for (number, step) in steps.iter().enumerate() {
        let value = number as u64;
        match *step {
            Step::Set(key) => {
                let stood = other.peek(&key);
                let replaced = set_exclusively(&ours, key, value);
                assert!(
                    replaced.is_none() || replaced == stood,
                    "{replaced:?} of {stood:?}"
                );
                // Mostly no lock is needed, and not only when an entry has expired.
                assert!(
                    ttl || idle || replaced == stood,
                    "{replaced:?} of {stood:?}"
                );
                other.set(key, value).unwrap();
            }
            Step::Get(key) => {
                // SAFETY: only this thread has the cache, and numbers do not use it.
                assert_eq!(unsafe { ours.get_exclusively(&key) }, other.get(&key));
            }
            Step::Delete(key) => assert_eq!(ours.delete(&key), other.delete(&key)),
            Step::Forever(key) => {
                ours.set_with_ttl(key, value, Ttl::Forever).unwrap();
                other.set_with_ttl(key, value, Ttl::Forever).unwrap();
            }
            Step::Pass(ms) => time.pass(ms),
        }
        assert_eq!(ours.stats(), other.stats());
        for key in 0..20 {
            assert_eq!(ours.peek(&key), other.peek(&key));
            assert_eq!(ours.ttl(&key), other.ttl(&key));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn they_do_the_same(
        steps in steps(),
        ttl: bool,
        idle: bool,
        most in prop_oneof![1..12_u64, Just(1000)],
    ) {
        check(ttl, idle, most, &steps);
    }
}

#[test]
fn what_is_not_admitted_changes_nothing() {
    let cache = small(10);
    cache.set(1, 10).unwrap();
    let before = cache.stats();
    let mut value = 11;
    // SAFETY: only this thread has the cache, and numbers do not use it.
    assert!(!unsafe { cache.swap_exclusively(&1, &mut value, || false) });
    assert_eq!((value, cache.peek(&1)), (11, Some(10)));
    assert_eq!(cache.stats(), before);
}

#[test]
fn what_others_want_to_know_of_is_left_to_an_ordinary_set() {
    let builder = || MemoryCache::<u64, u64>::builder().max_entries(10);
    let caches = [
        builder().removal_listener(|_, _, _| {}).build().unwrap(),
        builder().max_bytes(100).weigher(|_, _| 1).build().unwrap(),
        builder().expire_after(|_, _| Ttl::Forever).build().unwrap(),
    ];
    for cache in caches {
        cache.set(1, 10).unwrap();
        let mut value = 11;
        // SAFETY: only this thread has the cache, and numbers do not use it.
        assert!(!unsafe { cache.swap_exclusively(&1, &mut value, || true) });
        assert_eq!((value, cache.get(&1)), (11, Some(10)));
    }
}

#[test]
fn a_load_under_way_is_left_to_an_ordinary_set() {
    let cache = small(10);
    cache.set(1, 10).unwrap();
    let loaded = cache.get_or_insert_with(&2, || {
        let mut value = 11;
        // SAFETY: only this thread has the cache, and the cache holds no lock while a loader runs.
        assert!(!unsafe { cache.swap_exclusively(&1, &mut value, || true) });
        value
    });
    assert_eq!((loaded.unwrap(), cache.get(&1)), (11, Some(10)));
}
