//! Which values a memory tier without room keeps: `spec/vectors/admission.json`.

use polycache::{Cache, TypedCache};
use serde_json::Value;

const VECTORS: &str = include_str!("../../../spec/vectors/admission.json");

#[test]
fn the_golden_decisions() {
    let cases: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    for case in cases {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::builder()
            .path(directory.path())
            .limit(4 << 20)
            .max_entries(case["max_entries"].as_u64().unwrap());
        let cache = cache.build().unwrap().typed::<String>().unwrap();
        for key in 0..200 {
            cache.set(key.to_string(), &format!("value {key}")).unwrap();
        }
        for step in case["steps"].as_array().unwrap() {
            run(&cache, step, &format!("{}: {step}", case["about"]));
        }
    }
}

fn run(cache: &TypedCache<String>, step: &Value, at: &str) {
    let number = |place: usize| step[place].as_u64().unwrap();
    let key = number(1);
    match step[0].as_str().unwrap() {
        "write" => cache.set(key.to_string(), &format!("value {key}")).unwrap(),
        "delete" => assert!(cache.delete(key.to_string()).unwrap(), "{at}"),
        "read" => {
            let before = cache.memory_stats().hits;
            for key in key..=number(2) {
                let value = cache.get(key.to_string()).unwrap();
                assert_eq!(value, Some(format!("value {key}")), "{at}");
            }
            assert_eq!(cache.memory_stats().hits - before, number(3), "{at}");
        }
        other => panic!("not in the format: {other}"),
    }
}
