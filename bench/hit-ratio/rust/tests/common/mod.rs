//! What the tests share.
#![allow(dead_code)] // Not every test needs all of it.

pub mod models;

use polycache_bench_hit_ratio::policy::{find, Key, Policy, Setting};

/// Simulated policies, which can be compared with models.
pub const SIMULATED: [&str; 8] = [
    "OPT",
    "FIFO",
    "LRU",
    "CLOCK",
    "W-TinyLFU",
    "S3-FIFO",
    "SIEVE",
    "2Q-CLOCK",
];

/// A cache of that policy, for these requests.
pub fn built(name: &str, capacity: usize, requests: &[Key]) -> Box<dyn Policy> {
    let setting = Setting {
        capacity,
        keys: requests.iter().max().map_or(0, |&key| key as usize + 1),
        requests,
    };
    (find(name).expect(name).build)(&setting).expect(name)
}

/// Which of the requests are hits.
pub fn play(name: &str, capacity: usize, requests: &[Key]) -> Vec<bool> {
    let mut policy = built(name, capacity, requests);
    requests.iter().map(|&key| policy.access(key)).collect()
}

/// How many of them are.
pub fn hits(name: &str, capacity: usize, requests: &[Key]) -> usize {
    count(&play(name, capacity, requests))
}

pub fn count(hits: &[bool]) -> usize {
    hits.iter().filter(|&&hit| hit).count()
}
