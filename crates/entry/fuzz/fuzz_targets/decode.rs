//! Any bytes give a value or a typed error; a value that was read can be written and read again.
//!
//! Seeds: `cargo run -p polycache-entry --example write-fuzz-seeds`, which writes one file per
//! vector into `crates/entry/fuzz/corpus/decode`. Run: `cargo +nightly fuzz run decode` in
//! `crates/entry`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use polycache_entry::tagged::to_json;
use polycache_entry::{
    created, decode_payload, decode_value, deserialize, encode, encode_payload, expires,
    is_valid_at, serialize, Compressor, EntryOptions, Limits, Serializer, Structs, Value, Verify,
};
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use std::collections::BTreeMap;

const LIMITS: Limits = Limits {
    max_length: 1 << 20,
};

fuzz_target!(|data: &[u8]| {
    let _ = (
        created(data),
        expires(data),
        is_valid_at(data, 1_700_000_000_000),
    );
    // The mutator cannot guess a checksum: what follows the entry as it is, is the entry sealed.
    let mut entry = data.to_vec();
    whole(&entry);
    if entry.len() >= 8 {
        let sum = crc32fast::hash(&[&entry[..4], &entry[8..]].concat());
        entry[4..8].copy_from_slice(&sum.to_le_bytes());
        whole(&entry);
    }
    if let Some((id, payload)) = data.split_first() {
        payload_alone(Serializer::from_id(id % 5).unwrap(), payload);
        smart(payload);
    }
});

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tree(Vec<Tree>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Number(Option<i128>),
    Line(i8, u16, char),
    Box {
        width: u64,
        name: String,
        inner: Box<Shape>,
    },
}

/// A type that is read can be written, and reads as it was.
fn typed<T: DeserializeOwned + Serialize + PartialEq>(serializer: Serializer, payload: &[u8]) {
    let Ok(value) = deserialize::<T>(serializer, payload, &LIMITS) else {
        return;
    };
    for structs in [Structs::Maps, Structs::Lists] {
        let mut out = Vec::new();
        // Bytes and text read as more types than they are written from.
        if serialize(&value, serializer, structs, &mut out).is_err() {
            assert!([Serializer::Bytes, Serializer::Text].contains(&serializer));
            return;
        }
        let again = deserialize::<T>(serializer, &out, &Limits::default());
        assert!(again.expect("what was written can be read") == value);
    }
}

fn smart(payload: &[u8]) {
    let options = EntryOptions {
        compressor: Compressor::Smart,
        ..EntryOptions::default()
    };
    let (mut entry, mut scratch) = (Vec::new(), Vec::new());
    encode_payload(payload, Serializer::Bytes, &options, &mut entry).unwrap();
    let limits = Limits::default();
    let (_, back) = decode_payload(&entry, Verify::Checksum, &limits, &mut scratch).unwrap();
    assert_eq!(back, payload);
}

fn whole(entry: &[u8]) {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let trusted = decode_payload(entry, Verify::Trusted, &LIMITS, &mut one);
    let checked = decode_payload(entry, Verify::Checksum, &LIMITS, &mut other);
    match (checked, trusted) {
        (Ok((header, payload)), trusted) => {
            assert_eq!(trusted.unwrap(), (header, payload));
            assert_eq!(header.tags.into_iter().count(), header.tags.len());
            assert_eq!(
                (header.created, header.expires),
                (created(entry), expires(entry))
            );
            payload_alone(header.serializer, payload);
        }
        (Err(error), Err(same)) if error.code() != "checksum_mismatch" => assert_eq!(error, same),
        (Err(error), _) => assert!(!error.to_string().is_empty()),
    }
}

fn payload_alone(serializer: Serializer, payload: &[u8]) {
    typed::<Tree>(serializer, payload);
    typed::<Vec<Shape>>(serializer, payload);
    typed::<BTreeMap<String, (Vec<u8>, Option<String>)>>(serializer, payload);
    let direct = deserialize::<Value<'static>>(serializer, payload, &LIMITS);
    let Ok(value) = decode_value(serializer, payload, &LIMITS) else {
        direct.unwrap_err();
        return;
    };
    assert_eq!(to_json(&direct.expect("both read it")), to_json(&value));
    let options = EntryOptions {
        serializer,
        ..EntryOptions::default()
    };
    let (mut entry, mut scratch) = (Vec::new(), Vec::new());
    encode(&value, &options, &mut entry).expect("what was read can be written");
    let (_, again) =
        decode_payload(&entry, Verify::Checksum, &Limits::default(), &mut scratch).unwrap();
    let again = decode_value(serializer, again, &Limits::default()).expect("and read again");
    assert_eq!(to_json(&value), to_json(&again));
}
