//! Time to live, time to idle, and the removal of expired entries.

mod common;

use common::{Time, Told};
use polycache_memory::{MemoryCache, RemovalCause, Ttl, TtlLeft};
use std::collections::HashMap;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn an_entry_is_served_until_its_time_to_live_is_over() {
    let time = Time::default();
    let builder = MemoryCache::builder().max_entries(10).ttl(SECOND);
    let cache = builder.clock(time.clock()).build().unwrap();
    cache.set(1, 10).unwrap();
    time.pass(999);
    assert_eq!(cache.get(&1), Some(10));
    assert_eq!(cache.ttl(&1), Some(TtlLeft::For(Duration::from_millis(1))));
    time.pass(1);
    assert!(!cache.has(&1));
    assert_eq!(cache.peek(&1), None);
    assert_eq!(cache.ttl(&1), None);
    assert_eq!(cache.get(&1), None);
    assert_eq!(cache.iter().count(), 0);
    assert_eq!(cache.len(), 0, "the read took it out");
    assert_eq!(cache.stats().expired, 1);
}

#[test]
fn a_write_says_how_long() {
    let time = Time::default();
    let builder = MemoryCache::builder().max_entries(10).ttl(SECOND);
    let cache = builder.clock(time.clock()).build().unwrap();
    cache
        .set_with_ttl("short", 1, Duration::from_micros(1))
        .unwrap();
    cache.set_with_ttl("forever", 2, Ttl::Forever).unwrap();
    cache.set_with_ttl("default", 3, Ttl::Default).unwrap();
    assert_eq!(cache.get("short"), Some(1), "rounded up to a millisecond");
    time.pass(1);
    assert_eq!(cache.get("short"), None);
    time.pass(999);
    assert_eq!(cache.get("default"), None);
    time.pass(1 << 50);
    assert_eq!(cache.get("forever"), Some(2));
    // Another value, another time.
    cache.set("forever", 4).unwrap();
    time.pass(1000);
    assert_eq!(cache.get("forever"), None);
}

#[test]
fn a_value_brings_its_own_time() {
    let time = Time::default();
    let builder = MemoryCache::<u64, u64>::builder()
        .max_entries(10)
        .ttl(SECOND);
    let builder = builder.expire_after(|_, value| match value {
        0 => Ttl::Default,
        ms => Ttl::For(Duration::from_millis(*ms)),
    });
    let cache = builder.clock(time.clock()).build().unwrap();
    cache.set(1, 5).unwrap();
    cache.set(2, 0).unwrap();
    cache.set_with_ttl(3, 5, Ttl::Forever).unwrap();
    assert_eq!(cache.get_or_insert_with(&4, || 7).unwrap(), 7);
    let left = |key| match cache.ttl(&key).unwrap() {
        TtlLeft::Forever => None,
        TtlLeft::For(left) => Some(left.as_millis()),
    };
    assert_eq!(
        [left(1), left(2), left(3), left(4)],
        [Some(5), Some(1000), None, Some(7)]
    );
}

#[test]
fn an_entry_that_nobody_uses_goes() {
    let time = Time::default();
    let builder = MemoryCache::builder().max_entries(10).time_to_idle(SECOND);
    let cache = builder.clock(time.clock()).build().unwrap();
    cache.set(1, 10).unwrap();
    for _ in 0..5 {
        time.pass(999);
        assert_eq!(cache.get(&1), Some(10), "used within a second");
    }
    time.pass(600);
    assert!(cache.has(&1));
    assert_eq!(cache.peek(&1), Some(10));
    time.pass(400);
    assert_eq!(cache.get(&1), None, "looking is not using");
    // A reused place starts anew.
    cache.set(2, 20).unwrap();
    time.pass(999);
    cache.set(2, 21).unwrap();
    time.pass(999);
    assert_eq!(cache.get(&2), Some(21), "writing is using");
}

#[test]
fn whichever_time_is_over_first_counts() {
    let time = Time::default();
    let builder = MemoryCache::builder()
        .max_entries(10)
        .ttl(3 * SECOND)
        .time_to_idle(SECOND);
    let cache = builder.clock(time.clock()).build().unwrap();
    cache.set(1, 10).unwrap();
    for _ in 0..5 {
        time.pass(599);
        assert_eq!(cache.get(&1), Some(10));
    }
    assert_eq!(cache.ttl(&1), Some(TtlLeft::For(Duration::from_millis(5))));
    time.pass(5);
    assert_eq!(cache.get(&1), None);
}

#[test]
fn what_is_never_read_again_leaves_all_the_same() {
    let time = Time::default();
    let builder = MemoryCache::builder().max_entries(1000).clock(time.clock());
    let (builder, told) = Told::by(builder);
    let cache = builder.build().unwrap();
    for key in 0..100 {
        cache.set_with_ttl(key, key, SECOND).unwrap();
    }
    time.pass(1000);
    // Each write checks four places.
    for _ in 0..30 {
        cache.set_with_ttl(1000, 0, Ttl::Forever).unwrap();
    }
    assert_eq!(cache.keys().collect::<Vec<u64>>(), [1000]);
    assert_eq!(cache.len(), 1);
    let expired = told
        .take()
        .into_iter()
        .filter(|told| told.2 == RemovalCause::Expired);
    assert_eq!(expired.count(), 100);
    assert_eq!(cache.stats().expired, 100);
}

#[test]
fn purge_expired_takes_out_those_whose_time_is_over_and_no_others() {
    let time = Time::default();
    let cache = MemoryCache::builder()
        .max_entries(10_000)
        .shards(4)
        .clock(time.clock())
        .build()
        .unwrap();
    for key in 0..3000_u64 {
        cache
            .set_with_ttl(key, key, SECOND * (1 + key as u32 % 2))
            .unwrap();
    }
    time.pass(1000);
    cache.purge_expired();
    assert_eq!(cache.len(), 1500);
    time.pass(1000);
    cache.purge_expired();
    assert!(cache.is_empty());
}

#[test]
fn what_a_purge_leaves_is_exactly_what_is_not_over() {
    let time = Time::default();
    let builder = MemoryCache::builder().max_entries(100_000).shards(2);
    let cache = builder.clock(time.clock()).build().unwrap();
    let (mut now, mut ends) = (0_u64, HashMap::new());
    for step in 0..2000_u64 {
        // Sometimes many at once, sometimes a few: searches end anywhere.
        for key in 0..1 + step % 7 {
            let (key, ttl) = (step * 10 + key, 1 + (step * 7919 + key * 104_729) % 3000);
            cache
                .set_with_ttl(key, step, Duration::from_millis(ttl))
                .unwrap();
            ends.insert(key, now + ttl);
        }
        if step % 3 == 0 {
            let prolonged = Duration::from_millis(1 + step % 50);
            if cache.touch(&(step * 10), prolonged).unwrap() {
                ends.insert(step * 10, now + 1 + step % 50);
            }
        }
        time.pass(step % 13);
        now += step % 13;
        let mut over: Vec<u64> = ends
            .iter()
            .filter(|(_, end)| **end <= now)
            .map(|(key, _)| *key)
            .collect();
        over.sort_unstable();
        if step % 2 == 0 {
            let expired = cache.stats().expired;
            cache.purge_expired();
            assert!(cache.stats().expired - expired <= over.len() as u64);
        } else {
            let mut taken: Vec<u64> = cache
                .take_expired()
                .into_iter()
                .map(|(key, _)| key)
                .collect();
            taken.sort_unstable();
            // Writes have already removed some.
            assert!(taken.iter().all(|key| over.binary_search(key).is_ok()));
        }
        ends.retain(|_, end| *end > now);
        assert_eq!(cache.len(), ends.len(), "step {step}");
    }
}

#[test]
fn an_entry_whose_time_is_over_is_neither_deleted_nor_replaced() {
    let time = Time::default();
    let builder = MemoryCache::builder()
        .max_entries(10)
        .ttl(SECOND)
        .clock(time.clock());
    let (builder, told) = Told::by(builder);
    let cache = builder.build().unwrap();
    cache.set(1, 10).unwrap();
    time.pass(1000);
    assert!(!cache.delete(&1));
    cache.set(2, 20).unwrap();
    time.pass(1000);
    assert_eq!(cache.take(&2), None);
    cache.set(3, 30).unwrap();
    time.pass(1000);
    cache.set(3, 31).unwrap();
    use RemovalCause::Expired;
    assert_eq!(
        told.take(),
        [(1, 10, Expired), (2, 20, Expired), (3, 30, Expired)]
    );
}

#[test]
fn the_longest_time_is_never_over() {
    let time = Time::default();
    time.pass(u64::MAX - 5);
    let longest = Duration::from_millis((1 << 48) - 1);
    let builder = MemoryCache::builder()
        .max_entries(10)
        .ttl(longest)
        .time_to_idle(longest);
    let cache = builder.clock(time.clock()).build().unwrap();
    cache.set(1, 10).unwrap();
    time.pass(3);
    assert_eq!(cache.get(&1), Some(10));
}

#[test]
fn the_systems_clock_goes_forward() {
    let cache = MemoryCache::new(10).unwrap();
    cache
        .set_with_ttl(1, 10, Duration::from_secs(3600))
        .unwrap();
    let Some(TtlLeft::For(left)) = cache.ttl(&1) else {
        panic!("it has a time to live");
    };
    assert!(left > Duration::from_secs(3000) && left <= Duration::from_secs(3600));
    assert_eq!(cache.get(&1), Some(10));
}

#[test]
fn writes_find_all_that_are_over() {
    let time = Time::default();
    let cache = MemoryCache::builder()
        .max_entries(1000)
        .shards(1)
        .clock(time.clock())
        .build()
        .unwrap();
    // Times to live of all lengths, many given while the search runs, and at places that it has passed.
    let mut ends = HashMap::new();
    for step in 0..5000_u64 {
        time.pass(1);
        let key = step * 7919 % 101;
        let ttl = 1 + step * 104_729 % 300;
        cache
            .set_with_ttl(key, step, Duration::from_millis(ttl))
            .unwrap();
        ends.insert(key, time.now() + ttl);
        if step % 500 == 499 {
            // Rounds of the search: one in progress, and one from its beginning.
            for _ in 0..60 {
                cache.set_with_ttl(1000, 0, Ttl::Forever).unwrap();
            }
            let now = time.now();
            let alive = ends.values().filter(|end| **end > now).count();
            assert_eq!(cache.len(), alive + 1, "step {step}");
        }
    }
}

#[test]
fn a_shorter_time_behind_the_search_is_found() {
    let time = Time::default();
    let builder = MemoryCache::builder().max_entries(1000).shards(1);
    let cache = builder.clock(time.clock()).build().unwrap();
    let ms = Duration::from_millis;
    cache.set_with_ttl(0, 0, ms(10)).unwrap();
    for key in 1..100_u64 {
        cache.set_with_ttl(key, 0, ms(1000)).unwrap();
    }
    let writes = |count: usize| {
        for _ in 0..count {
            cache.set_with_ttl(1000, 0, Ttl::Forever).unwrap();
        }
    };
    time.pass(10);
    // The search passes a few entries, one of which then gets a shorter time, and continues to its end.
    writes(5);
    cache.set_with_ttl(3, 1, ms(5)).unwrap();
    writes(30);
    assert_eq!(
        cache.len(),
        100,
        "all but the first, and the one that writes"
    );
    time.pass(5);
    writes(30);
    assert_eq!(cache.len(), 99);
}
