//! A seed determines one run: replaying it gives exactly the same.

use polycache_simulation::run;

#[test]
fn a_seed_replays_exactly() {
    for seed in 0..64 {
        let (first, second) = (run(seed), run(seed));
        assert_eq!(first.history.hash(), second.history.hash(), "seed {seed}");
        assert_eq!(first.story(true), second.story(true), "seed {seed}");
    }
}

#[test]
fn seeds_differ() {
    let hashes: std::collections::BTreeSet<u64> =
        (0..64).map(|seed| run(seed).history.hash()).collect();
    assert_eq!(hashes.len(), 64);
}
