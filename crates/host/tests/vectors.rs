//! The vectors of keys, `spec/vectors/hash.json` and `keys.json`, which every language reads.

use polycache_host::hash::key_hash;
use polycache_host::keys;
use serde_json::Value;

fn rows(file: &str) -> Vec<Value> {
    let path = format!("{}/../../spec/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let rows: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(rows.len() > 20);
    rows
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name]
        .as_str()
        .unwrap_or_else(|| panic!("{row}: no {name}"))
}

fn from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn hashes() {
    for row in rows("hash.json") {
        let seed = u64::from_str_radix(text(&row, "seed"), 16).unwrap();
        let hash = key_hash(seed, &from_hex(text(&row, "key"))).as_u64();
        assert_eq!(format!("{hash:016x}"), text(&row, "hash"), "{row}");
    }
}

#[test]
fn full_keys() {
    for row in rows("keys.json") {
        let parts: Vec<String> = serde_json::from_value(row["namespace"].clone()).unwrap();
        let prefix = keys::prefix(&parts);
        if let Some(code) = row["error"].as_str() {
            assert_eq!(prefix.unwrap_err().code(), code, "{row}");
            continue;
        }
        let key = match row["key"].as_str() {
            Some(key) => key.as_bytes().to_vec(),
            None => from_hex(text(&row["key"], "bytes")),
        };
        let full = [prefix.unwrap(), key].concat();
        assert_eq!(full, from_hex(text(&row, "full")), "{row}");
    }
}
