//! Entries and bytes never exceed their bounds, whatever the shards.

mod common;

use common::Told;
use polycache_memory::{MemoryCache, RemovalCause};

fn weighed(max: u64, shards: usize) -> MemoryCache<u64, u64> {
    let builder = MemoryCache::builder()
        .max_bytes(max)
        .weigher(|_, bytes| *bytes);
    builder.shards(shards).build().unwrap()
}

#[test]
fn no_more_entries_than_allowed() {
    for (max_entries, shards) in [(1, 1), (2, 1), (7, 1), (1, 8), (7, 8), (100, 8), (5000, 16)] {
        let builder = MemoryCache::builder()
            .max_entries(max_entries)
            .shards(shards);
        let cache = builder.build().unwrap();
        for key in 0..3 * max_entries {
            cache.set(key, key).unwrap();
            let held = cache.len() as u64;
            assert_eq!(
                held,
                max_entries.min(key + 1),
                "all that fit, with {shards} shards"
            );
            assert_eq!(cache.get(&key), Some(key), "the latest one is there");
        }
        assert_eq!(cache.iter().count() as u64, max_entries);
        assert_eq!(cache.stats().evicted, 2 * max_entries);
    }
}

#[test]
fn as_many_entries_as_allowed() {
    // However unevenly the keys are spread over the shards.
    let cache = MemoryCache::builder()
        .max_entries(10_000)
        .shards(64)
        .build()
        .unwrap();
    for key in 0..10_000_u64 {
        cache.set(key, key).unwrap();
    }
    assert_eq!(cache.stats().evicted, 0);
    assert!((0..10_000).all(|key| cache.has(&key)));
}

#[test]
fn no_more_bytes_than_allowed() {
    for shards in [1, 8] {
        let cache = weighed(1000, shards);
        for key in 0..2000_u64 {
            let bytes = 1 + key * 7919 % 300;
            cache.set(key, bytes).unwrap();
            assert!(cache.bytes() <= 1000);
            assert_eq!(cache.get(&key), Some(bytes));
            let sum: u64 = cache.iter().map(|(_, bytes)| bytes).sum();
            assert_eq!(cache.bytes(), sum);
        }
    }
}

#[test]
fn an_entry_as_heavy_as_all_may_be_is_stored() {
    for shards in [1, 8] {
        let cache = weighed(1000, shards);
        for key in 0..50 {
            cache.set(key, 20).unwrap();
        }
        assert_eq!(cache.len(), 50);
        cache.set(99, 1000).unwrap();
        assert_eq!(cache.iter().collect::<Vec<_>>(), [(99, 1000)]);
        cache.set(5, 1).unwrap();
        assert_eq!(cache.iter().collect::<Vec<_>>(), [(5, 1)]);
    }
}

#[test]
fn an_entry_that_is_too_heavy_is_an_error_and_supersedes() {
    let cache = weighed(100, 1);
    cache.set(1, 10).unwrap();
    cache.set(2, 10).unwrap();
    let error = cache.set(1, 101).unwrap_err();
    assert_eq!(error.code(), "entry_too_large");
    assert!(!error.retryable());
    let text = "the entry weighs 101 bytes, and all entries together may weigh 100: \
                raise max_bytes, or keep something smaller";
    assert_eq!(error.to_string(), text);
    assert_eq!(
        cache.get(&1),
        None,
        "what it should have replaced is superseded"
    );
    assert_eq!(cache.get(&2), Some(10));
    let loaded = cache.get_or_insert_with(&3, || u64::MAX).unwrap_err();
    assert_eq!(loaded.code(), "entry_too_large");
    assert_eq!(cache.get_or_insert_with(&3, || 7).unwrap(), 7);
}

#[test]
fn another_weight_of_the_same_key() {
    for shards in [1, 4] {
        let builder = MemoryCache::builder()
            .max_bytes(100)
            .weigher(|_, bytes| *bytes);
        let (builder, told) = Told::by(builder.shards(shards));
        let cache = builder.build().unwrap();
        cache.set(1, 10).unwrap();
        cache.set(1, 90).unwrap();
        assert_eq!((cache.bytes(), cache.len()), (90, 1));
        cache.set(1, 5).unwrap();
        assert_eq!(cache.bytes(), 5);
        cache.set(2, 95).unwrap();
        assert_eq!(cache.bytes(), 100);
        told.take();
        // It has to make way for its own successor, or the other one does.
        cache.set(1, 50).unwrap();
        let mut left = told.take();
        left.sort_by_key(|left| left.0);
        assert_eq!(
            left,
            [
                (1, 5, RemovalCause::Replaced),
                (2, 95, RemovalCause::Evicted)
            ]
        );
        assert_eq!(cache.iter().collect::<Vec<_>>(), [(1, 50)]);
    }
}

#[test]
fn entries_of_no_bytes_count() {
    let builder = MemoryCache::builder().max_bytes(10).weigher(|_, _| 0);
    let cache = builder.build().unwrap();
    for key in 0..100 {
        cache.set(key, ()).unwrap();
    }
    assert_eq!((cache.len(), cache.bytes()), (10, 10));
}

#[test]
fn both_bounds_at_once() {
    let builder = MemoryCache::builder()
        .max_entries(10)
        .max_bytes(100)
        .weigher(|_, w| *w);
    let cache = builder.build().unwrap();
    for key in 0..50_u64 {
        cache.set(key, 1).unwrap();
    }
    assert_eq!((cache.len(), cache.bytes()), (10, 10));
    for key in 100..150_u64 {
        cache.set(key, 50).unwrap();
        assert!(cache.len() <= 10 && cache.bytes() <= 100);
        assert_eq!(cache.get(&key), Some(50));
    }
}

#[test]
fn what_was_read_stays_when_others_pass_by() {
    let cache = MemoryCache::new(100).unwrap();
    for key in 0..50_u64 {
        cache.set(key, key).unwrap();
    }
    for key in 1000..20_000 {
        for popular in 0..50 {
            if key % 10 == 0 {
                cache.get_or_insert_with(&popular, || popular).unwrap();
            }
        }
        cache.set(key, key).unwrap();
    }
    let stayed = (0..50).filter(|key| cache.has(key)).count();
    assert!(stayed >= 45, "{stayed} of 50 stayed");
}

#[test]
fn nothing_is_weighed_without_a_weigher() {
    let cache = MemoryCache::new(10).unwrap();
    cache.set(1, 10).unwrap();
    assert_eq!((cache.len(), cache.bytes()), (1, 0));
    assert_eq!(cache.stats().bytes, 0);
}
