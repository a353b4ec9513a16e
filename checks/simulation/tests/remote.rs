//! Many seeds of several hosts and a simulated Redis.

use polycache_simulation::{many_remote, remote::run};
use std::collections::BTreeMap;

/// To replay one that fails: `make simulate REMOTE=1 SEED=n`.
#[test]
fn every_seed_keeps_the_promise() {
    let summary = many_remote(0, SEEDS, true);
    assert_eq!(summary.failed, 0, "{}", summary.stories.join("\n"));
    assert_eq!(summary.ran, SEEDS);
}

/// About 20 seconds on two cores.
const SEEDS: u64 = 4000;

#[test]
fn a_seed_replays_exactly() {
    for seed in 0..32 {
        assert_eq!(run(seed, true).log, run(seed, true).log, "seed {seed}");
    }
}

/// A simulation in which something never happens proves nothing about it.
#[test]
fn the_seeds_meet_everything() {
    let mut met: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..900 {
        for (what, times) in run(seed, false).met {
            *met.entry(what).or_default() += times;
        }
    }
    for what in [
        "near hit",
        "read",
        "read fault",
        "set",
        "set failed",
        "deleted",
        "cleared",
        "added",
        "exchanged",
        "loads",
        "stored",
        "refused",
        "unstored",
        "released",
        "timed out",
        "timeout",
        "breaker refuses",
        "killed",
        "stopped",
        "cut",
        "silent",
        "hang",
        "failover",
        "reshard",
        "foreign set",
        "foreign delete",
        "flushes",
        "evicts",
        "leads",
        "led",
        "arms",
        "hears until",
        "kept",
        "not kept",
        "cached hit",
        "cached read",
        "cached read fails",
    ] {
        let times = met.get(what).copied().unwrap_or(0);
        assert!(times >= 10, "{what}: {times} times");
    }
}
