//! The published decisions are those of the policy and of its plain model.

mod common;

use common::models;
use polycache_bench_hit_ratio::policy::two_queue_clock::TwoQueueClock;
use polycache_bench_hit_ratio::policy::{Key, Policy};
use serde::Deserialize;
use serde_json::{json, Value};

const PUBLISHED: &str = include_str!("../../../../spec/vectors/eviction.json");

#[derive(Deserialize)]
struct Case {
    capacity: usize,
    steps: Vec<Vec<Value>>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(PUBLISHED).expect("cases")
}

fn key(step: &[Value]) -> Key {
    step[1].as_u64().expect("a key") as Key
}

#[test]
fn the_policy_decides_as_published() {
    let mut deleted = 0;
    for case in cases() {
        let keys = 5 * case.capacity + 3;
        let mut cache = TwoQueueClock::new(case.capacity, keys);
        for (at, step) in case.steps.iter().enumerate() {
            let found = match step[0].as_str() {
                Some("get") => json!(cache.get(key(step))),
                Some("set") => json!(cache.set(key(step))),
                Some("delete") => json!(cache.delete(key(step))),
                _ => {
                    let all = 0..keys as Key;
                    let resident: Vec<Key> = all.filter(|&key| cache.holds(key)).collect();
                    assert_eq!(resident.len(), cache.len());
                    assert_eq!(json!(resident), step[1], "{}: {at}", case.capacity);
                    continue;
                }
            };
            deleted += usize::from(step[0] == "delete" && step[2] == true);
            assert_eq!(found, step[2], "{}: {at}: {step:?}", case.capacity);
        }
    }
    assert!(deleted > 100, "{deleted} deletions");
}

#[test]
fn the_model_decides_as_published() {
    for case in cases() {
        let mut cache = models::TwoQueueClock::new(case.capacity);
        for (at, step) in case.steps.iter().enumerate() {
            let found = match step[0].as_str() {
                Some("get") => json!(cache.get(key(step))),
                Some("set") => json!(Vec::from_iter(cache.set(key(step)))),
                Some("delete") => json!(cache.delete(key(step))),
                _ => {
                    assert_eq!(json!(cache.resident()), step[1], "{}: {at}", case.capacity);
                    continue;
                }
            };
            assert_eq!(found, step[2], "{}: {at}: {step:?}", case.capacity);
        }
    }
}
