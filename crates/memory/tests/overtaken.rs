//! What an overtaken call leaves alone, and what counts as over.

mod common;

use common::{small, Time};
use polycache_memory::{Loaded, MemoryCache, RemovalCause, Ttl};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn weighed() -> MemoryCache<u64, Vec<u8>> {
    MemoryCache::builder()
        .max_bytes(100)
        .weigher(|_, value: &Vec<u8>| value.len() as u64)
        .build()
        .unwrap()
}

#[test]
fn a_load_that_is_too_heavy_invalidates_nothing() {
    let cache = weighed();
    let error = cache.get_or_insert_with(&1, || vec![0; 101]).unwrap_err();
    assert_eq!(error.code(), "entry_too_large");
    let stats = cache.stats();
    assert_eq!(
        (stats.invalidated_loads, stats.deletes, stats.entries),
        (0, 0, 0)
    );
    assert_eq!(cache.get_or_insert_with(&1, || vec![7]).unwrap(), [7]);
}

/// An entry that makes way for a load also makes way for a load that is not stored.
#[test]
fn a_load_that_is_not_stored_takes_out_what_is_over() {
    let (time, past) = (Time::default(), Duration::from_millis(10));
    let cache = MemoryCache::builder()
        .max_bytes(100)
        .weigher(|_, value: &u64| *value)
        .expire_after(|_, value| Ttl::For(Duration::from_millis(*value)))
        .clock(time.clock())
        .build()
        .unwrap();
    for (loaded, stored) in [(101, false), (0, true)] {
        cache.set_with_ttl(1, 5, past).unwrap();
        time.pass(10);
        assert_eq!(cache.len(), 1);
        assert_eq!(cache.get_or_insert_with(&1, || loaded).is_ok(), stored);
        assert!(cache.is_empty());
    }
    assert_eq!(cache.stats().expired, 2);
}

#[test]
fn a_load_that_is_too_heavy_leaves_what_was_set_meanwhile() {
    let cache = weighed();
    let loaded = cache.get_or_insert_with(&1, || {
        cache.set(1, vec![9]).unwrap();
        vec![0; 101]
    });
    assert_eq!(loaded.unwrap_err().code(), "entry_too_large");
    assert_eq!(cache.get(&1), Some(vec![9]));
    let stats = cache.stats();
    assert_eq!((stats.invalidated_loads, stats.deletes), (1, 0));
}

#[test]
fn a_change_that_is_too_heavy_leaves_what_was_set_meanwhile() {
    let cache = weighed();
    cache.set(1, vec![1]).unwrap();
    let mut calls = 0;
    let changed = cache.entry(1).and_modify(|value| {
        calls += 1;
        if calls == 1 {
            cache.set(1, vec![9]).unwrap();
            value.resize(101, 0);
        } else {
            value.push(10);
        }
    });
    assert_eq!(changed.or_insert(vec![0]).unwrap(), [9, 10]);
    assert_eq!(cache.get(&1), Some(vec![9, 10]));
    assert_eq!((cache.stats().deletes, calls), (0, 2));

    let grown = cache.entry(1).and_modify(|value| value.resize(101, 0));
    assert_eq!(grown.or_nothing().unwrap_err().code(), "entry_too_large");
    assert_eq!(cache.get(&1), None, "it is superseded");
}

#[test]
fn a_change_of_nothing() {
    let cache = small::<u64>(100);
    let change = || cache.entry(1).and_modify(|value| *value += 1).or_nothing();
    assert_eq!(change().unwrap(), None);
    assert!(cache.is_empty());
    cache.set(1, 1).unwrap();
    assert_eq!(change().unwrap(), Some(2));
    assert_eq!(cache.entry(1).or_nothing().unwrap(), Some(2));
}

type Told = Arc<Mutex<Vec<(u64, u64, RemovalCause)>>>;

/// Values live for as many seconds as they say.
fn expiring() -> (MemoryCache<u64, u64>, Told) {
    let told = Told::default();
    let list = told.clone();
    let cache = MemoryCache::builder()
        .max_entries(10)
        .expire_after(|_, seconds| Ttl::For(Duration::from_secs(*seconds)))
        .clock(|| 1000)
        .removal_listener(move |key, value, cause| list.lock().unwrap().push((key, value, cause)));
    (cache.build().unwrap(), told)
}

#[test]
fn what_is_over_at_once_is_not_stored_and_supersedes() {
    type Write = fn(&MemoryCache<u64, u64>);
    let writes: [Write; 5] = [
        |cache| cache.set(1, 0).unwrap(),
        |cache| cache.set_with_ttl(1, 0, Ttl::Default).unwrap(),
        |cache| cache.set_by_ref(&1, 0).unwrap(),
        |cache| {
            let stored = cache.set_if(1, 0, Ttl::Default, |_, there| there == Some(&60));
            assert_eq!(stored.unwrap(), None);
        },
        |cache| {
            cache.delete(&1);
            let loaded = cache.get_or_insert_with(&1, || 0);
            assert_eq!(loaded.unwrap(), 0, "its caller gets it");
        },
    ];
    for write in writes {
        let (cache, told) = expiring();
        cache.set(1, 60).unwrap();
        write(&cache);
        assert_eq!(cache.get(&1), None);
        assert_eq!(*told.lock().unwrap(), [(1, 60, RemovalCause::Deleted)]);
        assert_eq!((cache.stats().writes, cache.len()), (1, 0));
    }
}

#[test]
fn what_is_over_at_once_and_not_admitted_changes_nothing() {
    let (cache, told) = expiring();
    cache.set(1, 60).unwrap();
    let given_back = cache.set_if(1, 0, Ttl::Default, |_, there| there.is_none());
    assert_eq!(given_back.unwrap(), Some((1, 0)));
    assert_eq!(cache.get(&1), Some(60));
    assert!(told.lock().unwrap().is_empty());
}

#[test]
fn a_set_of_what_is_over_at_once_invalidates_a_load() {
    let (cache, _) = expiring();
    let loaded = cache.get_or_insert_with(&1, || {
        cache.set(1, 0).unwrap();
        60
    });
    assert_eq!((loaded.unwrap(), cache.get(&1)), (60, None));
    assert_eq!(cache.stats().invalidated_loads, 1);
}

#[test]
fn a_time_that_is_too_long_is_as_long_as_can_be() {
    let cache = MemoryCache::<u64, u64>::builder()
        .max_entries(10)
        .expire_after(|_, _| Ttl::For(Duration::MAX));
    let cache = cache.build().unwrap();
    assert_eq!(cache.get_or_insert_with(&1, || 5).unwrap(), 5);
    assert_eq!(cache.get(&1), Some(5));
    // An argument is refused as before.
    let error = cache.set_with_ttl(1, 6, Duration::MAX).unwrap_err();
    assert_eq!(error.code(), "invalid_argument");
}

#[test]
fn loads_say_where_their_value_came_from() {
    futures::executor::block_on(async {
        let (cache, _) = expiring();
        let load =
            |value| cache.load_async(&1, Ttl::Default, async move { Ok::<_, String>(value) });
        assert_eq!(load(0).await.unwrap(), Loaded::NotStored(0));
        assert_eq!(load(60).await.unwrap(), Loaded::Stored(60));
        assert_eq!(load(61).await.unwrap(), Loaded::Found(60));
        let overtaken = async {
            cache.delete(&2);
            Ok::<_, String>(60)
        };
        let loaded = cache.load_async(&2, Ttl::Default, overtaken).await;
        assert_eq!(loaded.unwrap(), Loaded::NotStored(60));
        assert_eq!(cache.get(&2), None);
    });
}

#[test]
fn some_keys_are_cleared_with_their_loads() {
    let (cache, told) = expiring();
    for key in 1..=6 {
        cache.set(key, 60 + key).unwrap();
    }
    let even = |key: &u64| key % 2 == 0;
    let invalidated = cache.get_or_insert_with(&8, || {
        let stays = cache.get_or_insert_with(&9, || {
            cache.clear_if(even);
            69
        });
        stays.unwrap()
    });
    assert_eq!(invalidated.unwrap(), 69);
    let mut keys: Vec<u64> = cache.keys().collect();
    keys.sort_unstable();
    assert_eq!(keys, [1, 3, 5, 9]);
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|entry| entry.2 == RemovalCause::Cleared));
    let stats = cache.stats();
    assert_eq!((stats.deletes, stats.invalidated_loads), (0, 1));
}

/// More entries than one lock covers.
#[test]
fn many_keys_are_cleared() {
    let cache = MemoryCache::<u64, u64>::new(10_000).unwrap();
    for key in 0..5000 {
        cache.set(key, key).unwrap();
    }
    cache.clear_if(|key| key % 5 != 0);
    assert_eq!(cache.len(), 1000);
    assert!(cache.keys().all(|key| key % 5 == 0));
    cache.clear_if(|_| true);
    assert!(cache.is_empty());
}
