//! Each policy does at every request what its plain model does.

mod common;

use common::{count, hits, models, play};
use polycache_bench_hit_ratio::policy::Key;
use proptest::prelude::*;

/// A capacity, and requests to up to three times as many keys, some of them asked for more often.
fn small() -> impl Strategy<Value = (usize, Vec<Key>)> {
    traces(1..40, 400)
}

/// Large enough for a window of more than one key, and for the sketch to age.
fn large() -> impl Strategy<Value = (usize, Vec<Key>)> {
    traces(100..400, 9000)
}

fn traces(
    capacities: std::ops::Range<usize>,
    length: usize,
) -> impl Strategy<Value = (usize, Vec<Key>)> {
    capacities.prop_flat_map(move |capacity| {
        let keys = 3 * capacity as Key;
        let request = prop_oneof![0..keys, 0..keys / 2 + 1, 0..keys / 8 + 1];
        (Just(capacity), prop::collection::vec(request, 0..length))
    })
}

proptest! {
    #[test]
    fn fifo((capacity, requests) in small()) {
        prop_assert_eq!(play("FIFO", capacity, &requests), models::fifo(capacity, &requests));
    }

    #[test]
    fn lru((capacity, requests) in small()) {
        prop_assert_eq!(play("LRU", capacity, &requests), models::lru(capacity, &requests));
    }

    #[test]
    fn clock((capacity, requests) in small()) {
        prop_assert_eq!(play("CLOCK", capacity, &requests), models::clock(capacity, &requests));
    }

    #[test]
    fn sieve((capacity, requests) in small()) {
        prop_assert_eq!(play("SIEVE", capacity, &requests), models::sieve(capacity, &requests));
    }

    #[test]
    fn s3_fifo((capacity, requests) in small()) {
        prop_assert_eq!(play("S3-FIFO", capacity, &requests), models::s3_fifo(capacity, &requests));
    }

    #[test]
    fn w_tinylfu((capacity, requests) in small()) {
        let model = models::w_tinylfu(capacity, &requests);
        prop_assert_eq!(play("W-TinyLFU", capacity, &requests), model);
    }

    #[test]
    fn two_queue_clock((capacity, requests) in small()) {
        let model = models::two_queue_clock(capacity, &requests);
        prop_assert_eq!(play("2Q-CLOCK", capacity, &requests), model);
    }

    #[test]
    fn opt_finds_as_much_as_can_be_found(
        capacity in 1..5_usize,
        requests in prop::collection::vec(0..7_u32, 0..16),
    ) {
        prop_assert_eq!(hits("OPT", capacity, &requests), models::most_hits(capacity, &requests));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn w_tinylfu_of_some_size((capacity, requests) in large()) {
        let model = models::w_tinylfu(capacity, &requests);
        prop_assert_eq!(play("W-TinyLFU", capacity, &requests), model);
    }

    #[test]
    fn two_queue_clock_of_some_size((capacity, requests) in large()) {
        let model = models::two_queue_clock(capacity, &requests);
        prop_assert_eq!(play("2Q-CLOCK", capacity, &requests), model);
    }

    #[test]
    fn s3_fifo_of_some_size((capacity, requests) in large()) {
        prop_assert_eq!(play("S3-FIFO", capacity, &requests), models::s3_fifo(capacity, &requests));
    }
}

#[test]
fn the_exhaustive_search_is_right_where_a_glance_tells() {
    assert_eq!(models::most_hits(1, &[0, 1, 0, 1, 0]), 2);
    assert_eq!(models::most_hits(2, &[0, 1, 0, 1, 0]), 3);
    assert_eq!(count(&[true, false]), 1);
}
