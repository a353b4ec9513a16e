//! Invalid options and arguments, each rejected with an error that says so.

use polycache_memory::{Error, MemoryCache};
use std::time::Duration;

type Builder = polycache_memory::Builder<u64, u64>;

fn builder() -> Builder {
    MemoryCache::builder()
}

#[test]
fn options_out_of_range() {
    let too_long = Duration::from_millis(1 << 48);
    let weigh = |builder: Builder| builder.weigher(|_, _| 1);
    let wrong = [
        (
            builder(),
            "give the cache a bound: max_entries, or max_bytes with a weigher",
        ),
        (
            builder().max_entries(0),
            "max_entries is 0; it must be at least 1",
        ),
        (
            weigh(builder().max_bytes(0)),
            "max_bytes is 0; it must be at least 1",
        ),
        (
            builder().max_bytes(5),
            "max_bytes needs a weigher, which says what an entry weighs",
        ),
        (
            weigh(builder().max_entries(5)),
            "a weigher needs max_bytes, which bounds what it says",
        ),
        (
            builder().max_entries(5).ttl(Duration::ZERO),
            "ttl is 0; it must be longer than 0 and at most 2^48 - 1 ms, or is left out for entries that do not expire",
        ),
        (
            builder().max_entries(5).time_to_idle(Duration::ZERO),
            "time_to_idle is 0; it must be longer than 0 and at most 2^48 - 1 ms, or is left out for entries that do not expire",
        ),
        (
            builder().max_entries(5).ttl(too_long),
            "ttl is 281474976710.656s; it must be longer than 0 and at most 2^48 - 1 ms, or is left out for entries that do not expire",
        ),
        (
            builder().max_entries(5).shards(0),
            "shards is 0; it must be a power of two, at most 65,536",
        ),
        (
            builder().max_entries(5).shards(3),
            "shards is 3; it must be a power of two, at most 65,536",
        ),
        (
            builder().max_entries(5).shards(1 << 17),
            "shards is 131072; it must be a power of two, at most 65,536",
        ),
    ];
    for (builder, text) in wrong {
        match builder.build() {
            Err(error @ Error::InvalidArgument(_)) => {
                assert_eq!(error.code(), "invalid_argument");
                assert_eq!(error.to_string(), text);
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(MemoryCache::<u64, u64>::new(0).is_err());
}

#[test]
fn the_largest_bounds_are_bounds() {
    let builder = builder()
        .max_entries(u64::MAX)
        .max_bytes(u64::MAX)
        .weigher(|_, _| u64::MAX);
    let cache = builder.build().unwrap();
    cache.set(1, 10).unwrap();
    cache.set(2, 20).unwrap();
    assert_eq!(cache.len(), 1);
    assert_eq!(cache.bytes(), u64::MAX);
}

#[test]
fn times_to_live_out_of_range() {
    let cache = MemoryCache::<u64, u64>::new(5).unwrap();
    cache.set(1, 10).unwrap();
    for ttl in [
        Duration::ZERO,
        Duration::MAX,
        Duration::from_millis(1 << 48),
    ] {
        let code = |result: Result<(), Error>| result.unwrap_err().code();
        assert_eq!(code(cache.set_with_ttl(1, 11, ttl)), "invalid_argument");
        let loaded = cache.get_or_set_with_ttl(&2, ttl, || -> Result<u64, Error> {
            panic!("the argument comes first")
        });
        assert_eq!(code(loaded.map(drop)), "invalid_argument");
        let load = async { panic!("the argument comes first") };
        let loaded = cache.get_or_set_async_with_ttl::<u64, Error>(&2, ttl, load);
        let loaded = futures::executor::block_on(loaded);
        assert_eq!(code(loaded.map(drop)), "invalid_argument");
    }
    assert_eq!(cache.get(&1), Some(10), "a refused set changes nothing");
}
