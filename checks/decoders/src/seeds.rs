//! Where the checks begin: the vectors of `spec/vectors/`, typed values, frames and full keys.

use crate::typed;
use polycache_entry::tagged::{hex_decode, read_rows};
use polycache_entry::Compressor;

const ENTRIES: &str = include_str!("../../../spec/vectors/entries.rust.json");
const MALFORMED: &str = include_str!("../../../spec/vectors/malformed.json");
const KEYS: &str = include_str!("../../../spec/vectors/keys.json");

/// The seeds of the check of that name.
///
/// # Panics
/// When there is no such check, or a vector cannot be read.
pub fn of(check: &str) -> Vec<Vec<u8>> {
    match check {
        "entry" => [entries(), payloads()].concat(),
        "typed" => typed::seeds(),
        "header" => entries(),
        "frame" => frames(),
        "keys" => keys(),
        other => panic!("there is no check {other}"),
    }
}

fn hex(rows: &str, field: &str) -> Vec<Vec<u8>> {
    let rows = read_rows(rows).expect("vectors are JSON");
    let hex = rows.iter().filter_map(|row| row[field].as_str());
    hex.map(|hex| hex_decode(hex).expect("vectors are hexadecimal"))
        .collect()
}

fn entries() -> Vec<Vec<u8>> {
    [hex(ENTRIES, "entry"), hex(MALFORMED, "entry")].concat()
}

/// Payloads of the entries that are not compressed, behind the serializer's id.
fn payloads() -> Vec<Vec<u8>> {
    let plain = entries().into_iter().filter(|entry| entry.len() > 24);
    plain
        .map(|entry| [&entry[2..3], &entry[24..]].concat())
        .collect()
}

fn frames() -> Vec<Vec<u8>> {
    let text = "{\"name\":\"Ada\",\"visits\":12},".repeat(40);
    let zeros = vec![0; 300_000];
    let mut seeds = Vec::new();
    for payload in [b"".as_slice(), b"a", text.as_bytes(), &zeros] {
        for level in [1, 9] {
            let mut frame = (payload.len() as u32).to_le_bytes()[..3].to_vec();
            Compressor::Zstd { level }
                .compress(payload, &mut frame)
                .expect("any bytes can be compressed");
            seeds.push(frame);
        }
    }
    seeds
}

fn keys() -> Vec<Vec<u8>> {
    let mut seeds = hex(KEYS, "full");
    seeds.push(b"shop,users:1,%3A%25,key".to_vec());
    seeds
}
