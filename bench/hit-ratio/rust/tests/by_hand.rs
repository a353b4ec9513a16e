//! Sequences worked out on paper. A request in capitals is a hit.

mod common;

use common::{hits, play};
use polycache_bench_hit_ratio::policy::Key;

/// `expected` has a letter a request.
fn check(policy: &str, capacity: usize, expected: &str) {
    let letters: Vec<char> = expected
        .chars()
        .filter(|one| !one.is_whitespace())
        .collect();
    let requests: Vec<Key> = letters
        .iter()
        .map(|one| u32::from(one.to_ascii_lowercase()) - u32::from('a'))
        .collect();
    let found: String = play(policy, capacity, &requests)
        .iter()
        .zip(&letters)
        .map(|(&hit, one)| match hit {
            true => one.to_ascii_uppercase(),
            false => one.to_ascii_lowercase(),
        })
        .collect();
    assert_eq!(found, letters.iter().collect::<String>(), "{policy}");
}

#[test]
fn fifo_forgets_the_oldest_although_it_was_just_asked_for() {
    check("FIFO", 3, "abc A d abc A");
}

#[test]
fn lru_forgets_what_was_asked_for_longest_ago() {
    check("LRU", 3, "abc A d A b D c a");
}

#[test]
fn clock_gives_a_second_chance_and_its_hand_goes_on() {
    // d clears a and b and takes c's place; e, from a on, takes a's; a, past b's mark, takes d's.
    check("CLOCK", 3, "abc BA d e B a B E");
}

#[test]
fn sieves_hand_stays_where_it_evicted() {
    // d clears a and b and evicts c; e starts anew and evicts a, f evicts b. g clears d and evicts
    // e. From then on the hand is past d: h evicts f and i evicts g, whether d is marked or not.
    check("SIEVE", 3, "abc AB d e f D g D h i D");
}

#[test]
fn s3_fifo_moves_between_its_queues() {
    // Small has one place at least, main and ghost four. Two hits: a moves to main, b to ghost.
    // b comes back from ghost into main, c goes to ghost. d with one hit is not enough.
    // d, c and e come back from ghost into main, which may be the whole cache then. x finds
    // small empty: in main a and b lose a hit each, and d goes.
    check("S3-FIFO", 5, "abcde AA f b D g A d B c e x AB d");
}

#[test]
fn two_queue_clock_lets_them_challenge_the_hand() {
    // For d, a and b fill main, c goes as the oldest of small, which should have one key. e sends d
    // after it. c comes back and was away longer than a, under the hand, was idle: it takes e's
    // place in small. d has waited as long: the hand clears a, and b goes. b finds c marked: within
    // six steps the hand wears down what d and a have counted, and d, unmarked first, goes for c.
    check("2Q-CLOCK", 3, "abc d A e c A d CDA b CAB d");
}

#[test]
fn w_tinylfu_keeps_what_is_asked_for_often_through_a_scan() {
    let hot = || 0..50;
    let warm: Vec<Key> = (0..5).flat_map(|_| hot()).collect();
    let requests: Vec<Key> = warm.into_iter().chain(50..650).chain(hot()).collect();
    let found = |policy| {
        let hits = play(policy, 100, &requests);
        hits[hits.len() - 50..].iter().filter(|&&hit| hit).count()
    };
    assert!(found("W-TinyLFU") >= 49, "{}", found("W-TinyLFU"));
    assert_eq!(found("LRU"), 0);
}

/// The textbook's string for three frames: 15 faults by FIFO, 12 by LRU, 9 by OPT. Ours may
/// refuse a page, which saves it one.
#[test]
fn the_textbooks_reference_string() {
    let string = [7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1];
    let faults = |policy| string.len() - hits(policy, 3, &string);
    assert_eq!(faults("FIFO"), 15);
    assert_eq!(faults("LRU"), 12);
    assert_eq!(faults("OPT"), 8);
}

/// FIFO may find less in a larger cache (Belady, Nelson, Shedler, 1969).
#[test]
fn beladys_anomaly() {
    let string = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5];
    assert_eq!(string.len() - hits("FIFO", 3, &string), 9);
    assert_eq!(string.len() - hits("FIFO", 4, &string), 10);
}
