//! Which entries leave: `spec/vectors/eviction.json`, which every language's tier runs.

mod common;

use common::Told;
use polycache_memory::{MemoryCache, RemovalCause};
use serde_json::Value;

const VECTORS: &str = include_str!("../../../spec/vectors/eviction.json");

#[test]
fn the_golden_decisions() {
    let cases: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    let mut evicted = 0;
    for (case, vector) in cases.iter().enumerate() {
        let builder = MemoryCache::builder()
            .max_entries(number(&vector["capacity"]))
            .shards(1);
        let (builder, told) = Told::by(builder);
        let cache = builder.build().unwrap();
        for (place, step) in vector["steps"].as_array().unwrap().iter().enumerate() {
            let at = format!("case {case}, step {place}: {step}");
            if step[0] == "resident" {
                let mut keys: Vec<u64> = cache.keys().collect();
                keys.sort_unstable();
                assert_eq!(Value::from(keys), step[1], "{at}");
                continue;
            }
            let key = number(&step[1]);
            match step[0].as_str().unwrap() {
                "get" => assert_eq!(Value::from(cache.get(&key).is_some()), step[2], "{at}"),
                "delete" => assert_eq!(Value::from(cache.delete(&key)), step[2], "{at}"),
                "set" => {
                    told.take();
                    cache.set(key, ()).unwrap();
                    let mut left = told.take();
                    left.retain(|told| told.2 == RemovalCause::Evicted);
                    let left: Vec<u64> = left.into_iter().map(|told| told.0).collect();
                    assert_eq!(Value::from(left.clone()), step[2], "{at}");
                    evicted += left.len();
                }
                other => panic!("no such step: {other}"),
            }
        }
    }
    assert!(evicted > 1000, "the vectors say something");
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}
