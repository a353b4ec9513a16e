//! What holds for every policy on any trace.

mod common;

use common::{built, count, hits, play, SIMULATED};
use polycache_bench_hit_ratio::policy::Key;
use proptest::prelude::*;
use std::collections::HashSet;

fn distinct(requests: &[Key]) -> usize {
    requests.iter().collect::<HashSet<_>>().len()
}

proptest! {
    #[test]
    fn never_more_entries_than_fit(
        capacity in 1..30_usize,
        requests in prop::collection::vec(0..60_u32, 0..400),
    ) {
        for name in SIMULATED {
            let mut policy = built(name, capacity, &requests);
            for &key in &requests {
                policy.access(key);
                prop_assert!(policy.len() <= capacity, "{name}: {} entries", policy.len());
            }
        }
    }

    #[test]
    fn opt_is_the_bound(
        capacity in 1..30_usize,
        requests in prop::collection::vec(0..60_u32, 0..400),
    ) {
        let bound = hits("OPT", capacity, &requests);
        for name in SIMULATED {
            let found = hits(name, capacity, &requests);
            prop_assert!(found <= bound, "{name}: {found} of at most {bound}");
        }
    }

    #[test]
    fn a_first_request_misses_and_a_second_in_a_row_hits(
        capacity in 1..30_usize,
        requests in prop::collection::vec(0..60_u32, 0..200),
    ) {
        let twice: Vec<Key> = requests.iter().flat_map(|&key| [key, key]).collect();
        for name in SIMULATED {
            let found = play(name, capacity, &twice);
            let mut seen = HashSet::new();
            for (at, pair) in found.chunks(2).enumerate() {
                let new = seen.insert(requests[at]);
                prop_assert!(!(new && pair[0]), "{name}: a hit of a key never asked for");
                // OPT may let a key go at once that is never asked for again; it is here.
                prop_assert!(pair[1], "{name}: a miss of a key just asked for");
            }
        }
    }

    #[test]
    fn when_all_fit_only_first_requests_miss(
        requests in prop::collection::vec(0..60_u32, 0..400),
    ) {
        // A window of 1 % and a small queue of 10 % have their places too.
        for name in SIMULATED {
            let found = hits(name, 60, &requests);
            prop_assert_eq!(found, requests.len() - distinct(&requests), "{}", name);
        }
    }

    #[test]
    fn lru_and_opt_find_no_less_in_a_larger_cache(
        capacity in 1..30_usize,
        requests in prop::collection::vec(0..60_u32, 0..400),
    ) {
        for name in ["LRU", "OPT"] {
            prop_assert!(hits(name, capacity, &requests) <= hits(name, capacity + 1, &requests));
        }
    }
}

#[test]
fn a_loop_that_is_one_key_longer_than_the_cache() {
    let (capacity, times) = (100, 20);
    let requests: Vec<Key> = (0..times).flat_map(|_| 0..=capacity as Key).collect();
    for name in ["LRU", "FIFO", "CLOCK", "SIEVE"] {
        assert_eq!(hits(name, capacity, &requests), 0, "{name}");
    }
    // All but one key of every round but the first.
    assert_eq!(hits("OPT", capacity, &requests), (times - 1) * capacity);
    for name in ["W-TinyLFU", "2Q-CLOCK"] {
        let found = hits(name, capacity, &requests);
        assert!(found > (times - 1) * capacity * 9 / 10, "{name}: {found}");
    }
}

#[test]
fn a_cache_of_one_entry_finds_repetitions() {
    for name in SIMULATED {
        assert_eq!(count(&play(name, 1, &[3, 3, 1, 1, 1, 3])), 3, "{name}");
    }
}
