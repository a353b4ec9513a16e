//! What policies are made of.

use polycache_bench_hit_ratio::structures::{Popularity, Queues};

#[test]
fn few_keys_are_counted_exactly_up_to_the_counters_end() {
    let mut popularity = Popularity::new(1000);
    for key in 0..20 {
        for _ in 0..key {
            popularity.count(key);
        }
    }
    for key in 0..20 {
        // One at the doorkeeper's, fifteen in the sketch.
        assert_eq!(u32::from(popularity.of(key)), key.min(16));
    }
}

#[test]
fn a_count_is_halved_after_ten_times_the_capacity() {
    let mut popularity = Popularity::new(100);
    for _ in 0..9 {
        popularity.count(1);
    }
    for key in 10..1000 {
        popularity.count(key);
    }
    assert!(popularity.of(1) >= 9);
    popularity.count(2);
    // The doorkeeper's one is forgotten, half of the sketch's eight is left.
    assert_eq!(popularity.of(1), 4);
}

#[test]
fn a_full_sketch_is_wrong_about_few() {
    let capacity = 1000;
    let mut popularity = Popularity::new(capacity);
    for key in 0..9 * capacity as u32 {
        popularity.count(key);
    }
    let wrong = (20_000..30_000)
        .filter(|&key| popularity.of(key) > 0)
        .count();
    assert!(wrong < 400, "{wrong} of 10000 that were never asked for");
}

#[test]
fn queues_keep_their_order_and_know_their_keys() {
    let mut queues = Queues::<2>::new(10);
    for key in [3, 1, 4] {
        queues.push(0, key);
    }
    queues.push(1, 5);
    assert_eq!(queues.newer(3), Some(1));
    assert_eq!(queues.newer(4), None);
    queues.remove(1);
    assert_eq!(queues.newer(3), Some(4));
    assert_eq!((queues.len(0), queues.len(1)), (2, 1));
    assert_eq!((queues.place(5), queues.place(1)), (Some(1), None));
    assert_eq!(
        [queues.pop(0), queues.pop(0), queues.pop(0)],
        [Some(3), Some(4), None]
    );
    assert!(queues.holds(1, 5));
    assert_eq!(queues.oldest(1), Some(5));
}
