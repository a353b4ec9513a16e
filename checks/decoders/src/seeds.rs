//! The seeds of the checks: the vectors of `spec/vectors/`, typed values, frames and full keys.

use crate::{encrypted, typed, with_dictionary};
use polycache_entry::tagged::{hex_decode, read_rows};
use polycache_entry::{
    encode_payload, Compressor, Dictionaries, EntryOptions, Header, Serializer, Verify,
};

const ENTRIES: &str = include_str!("../../../spec/vectors/entries.rust.json");
const MALFORMED: &str = include_str!("../../../spec/vectors/malformed.json");
const ENCRYPTED_MALFORMED: &str = include_str!("../../../spec/vectors/encrypted_malformed.json");
const BY_DICTIONARY: &str = include_str!("../../../spec/vectors/dictionary_entries.json");
const KEYS: &str = include_str!("../../../spec/vectors/keys.json");

/// The seeds of the check with this name.
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
        "encrypted" => encrypted_entries(),
        "with_dictionary" => [hex(BY_DICTIONARY, "entry"), frames_by_dictionary()].concat(),
        "dictionary" => dictionaries(),
        "trainer" => samples(),
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

/// Plain ones, which the check encrypts, and the same ones already encrypted.
fn encrypted_entries() -> Vec<Vec<u8>> {
    let plain: Vec<Vec<u8>> = entries()
        .into_iter()
        .filter(|entry| entry.len() < 4096)
        .collect();
    let both = plain
        .iter()
        .filter_map(|entry| encrypted::encrypted(entry))
        .collect();
    [hex(ENCRYPTED_MALFORMED, "entry"), both, plain].concat()
}

fn record(id: usize) -> String {
    format!(
        r#"{{"id":{id},"name":"user {}","roles":["reader"],"active":{}}}"#,
        id * 7,
        id % 3 == 0
    )
}

/// What is small and what is large decompressed, under 3 bytes of its length.
fn frames_by_dictionary() -> Vec<Vec<u8>> {
    let compressor = Compressor::Zstd { level: 3 };
    let all = ["first", "second"].map(with_dictionary::vector);
    let dictionaries = Dictionaries::new(&all, compressor).expect("vectors are dictionaries");
    let options = EntryOptions {
        compressor,
        dictionaries: Some(&dictionaries),
        ..EntryOptions::default()
    };
    let text = record(1).repeat(40);
    let zeros = vec![0; 300_000];
    let too_many = vec![0; 3_000_000];
    let payloads = [
        b"".as_slice(),
        record(7).as_bytes(),
        text.as_bytes(),
        &zeros,
        &too_many,
    ]
    .map(<[u8]>::to_vec);
    let seeds = payloads.map(|payload| {
        let mut entry = Vec::new();
        encode_payload(&payload, Serializer::Bytes, &options, &mut entry).expect("any bytes");
        let header = Header::parse(&entry, Verify::Checksum).expect("an entry");
        [
            &(payload.len() as u32).to_le_bytes()[..3],
            header.stored(&entry),
        ]
        .concat()
    });
    seeds.into()
}

fn dictionaries() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for name in ["first", "second"] {
        let dictionary = with_dictionary::vector(name);
        let length = (dictionary.len() as u16).to_le_bytes();
        for choice in 0..4 {
            let payload = record(7).repeat(1 + usize::from(choice));
            seeds.push([&[choice], &length[..], &dictionary, payload.as_bytes()].concat());
        }
    }
    seeds
}

fn samples() -> Vec<Vec<u8>> {
    let list = |texts: &[String]| -> Vec<u8> {
        let sample = |text: &String| [&[text.len() as u8], text.as_bytes()].concat();
        texts.iter().flat_map(sample).collect()
    };
    let records: Vec<String> = (0..20).map(record).collect();
    let same = vec!["a".repeat(60); 20];
    let tiny: Vec<String> = (0..40).map(|id| id.to_string()).collect();
    let mut seeds = Vec::new();
    for (texts, times) in [(records, 10u8), (same, 10), (tiny, 30)] {
        for max_size in [256u16, 1024, 60_000] {
            seeds.push([&max_size.to_le_bytes()[..], &[times], &list(&texts)].concat());
        }
    }
    seeds
}
