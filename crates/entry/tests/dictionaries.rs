//! Dictionaries: what is rejected, what comes back, what hostile frames do; the entries of
//! `spec/vectors`.

use polycache_entry::tagged::{from_json, hex_decode, read_rows, to_json};
use polycache_entry::{
    decode_payload, decode_value, decrypt_payload, encode_payload, train, Compressor, Dictionaries,
    Encryption, EntryOptions, Error, Limits, Serializer, Verify,
};
use proptest::prelude::*;
use serde_json::Value as Json;
use std::path::Path;

const ZSTD: Compressor = Compressor::Zstd { level: 3 };

fn record(id: u32) -> String {
    format!(
        r#"{{"id":{id},"name":"user {}","email":"user{id}@example.org","active":{},"roles":["reader"]}}"#,
        id * 7 % 1000,
        id % 3 == 0
    )
}

fn trained(from: u32) -> Vec<u8> {
    let samples: Vec<String> = (from..from + 500).map(record).collect();
    train(&samples, 1024).unwrap()
}

fn written(payload: &[u8], compressor: Compressor, by: Option<&Dictionaries>) -> Vec<u8> {
    let options = EntryOptions {
        compressor,
        dictionaries: by,
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    encode_payload(payload, Serializer::Bytes, &options, &mut entry).unwrap();
    entry
}

fn read(entry: &[u8], by: Option<&Dictionaries>) -> Result<Vec<u8>, Error> {
    let limits = Limits {
        dictionaries: by.cloned(),
        ..Limits::default()
    };
    let mut scratch = Vec::new();
    decode_payload(entry, Verify::Trusted, &limits, &mut scratch).map(|(_, read)| read.to_vec())
}

#[test]
fn what_is_no_dictionary_is_refused() {
    let good = trained(0);
    let refused = |dictionaries: &[&[u8]], compressor| {
        let error = Dictionaries::new(dictionaries, compressor).unwrap_err();
        assert_eq!(error.code(), "invalid_argument");
    };
    refused(&[], ZSTD);
    refused(&[b""], ZSTD);
    refused(&[b"to be or not to be"], ZSTD);
    refused(&[&good[..7]], ZSTD);
    refused(&[&good[..40]], ZSTD);
    refused(&[&good, &good], ZSTD);
    refused(&[&good, b"no"], Compressor::Smart);
    refused(&[&good], Compressor::None);
    refused(&[&good], Compressor::Zstd { level: 0 });
    refused(&[&good], Compressor::Zstd { level: 23 });
    let mut other = good.clone();
    other[4..8].fill(0);
    refused(&[&other], ZSTD);
    other = good.clone();
    other[0] ^= 1;
    refused(&[&other], ZSTD);
    other = good.clone();
    other[8..60].fill(0xFF); // its tables
    refused(&[&other], ZSTD);
    other = good.clone();
    other.resize(Dictionaries::MAX_LEN, b'x');
    assert!(Dictionaries::new([&other], ZSTD).is_ok());
    other.push(b'x');
    refused(&[&other], ZSTD);
}

#[test]
fn too_few_samples_are_an_error() {
    let few: Vec<String> = (0..3).map(record).collect();
    let none: [&str; 0] = [];
    for error in [
        train(&few, 1024),
        train(&none, 1024),
        train(&[""; 100], 1024),
        train(&["a"; 100], 1024),
        train(&few, 255),
        train(&few, Dictionaries::MAX_LEN + 1),
    ] {
        assert_eq!(error.unwrap_err().code(), "invalid_argument");
    }
}

#[test]
fn small_values_become_smaller_than_without() {
    let one = Dictionaries::new([trained(0)], ZSTD).unwrap();
    let payload = record(100_001);
    let without = written(payload.as_bytes(), ZSTD, None);
    let with = written(payload.as_bytes(), ZSTD, Some(&one));
    assert!(
        with.len() * 10 < without.len() * 8,
        "{} {}",
        with.len(),
        without.len()
    );
    assert_eq!(read(&with, Some(&one)).unwrap(), payload.as_bytes());
    assert_eq!(read(&without, Some(&one)).unwrap(), payload.as_bytes());

    let smart = Dictionaries::new([trained(0)], Compressor::Smart).unwrap();
    let with = written(payload.as_bytes(), Compressor::Smart, Some(&smart));
    assert!(with.len() < payload.len());
    assert_eq!(read(&with, Some(&smart)).unwrap(), payload.as_bytes());
    // Without a dictionary it does not try so few bytes.
    let plain = written(payload.as_bytes(), Compressor::Smart, None);
    assert_eq!(plain.len(), 24 + payload.len());
}

#[test]
fn rotation_reads_both_and_writes_the_first() {
    let (old, new) = (trained(0), trained(50_000));
    let before = Dictionaries::new([&old], ZSTD).unwrap();
    let during = Dictionaries::new([&new, &old], ZSTD).unwrap();
    let after = Dictionaries::new([&new], ZSTD).unwrap();
    let payload = record(7);
    let by_old = written(payload.as_bytes(), ZSTD, Some(&before));
    let by_new = written(payload.as_bytes(), ZSTD, Some(&during));
    for (entry, all) in [
        (&by_old, &before),
        (&by_old, &during),
        (&by_new, &during),
        (&by_new, &after),
    ] {
        assert_eq!(read(entry, Some(all)).unwrap(), payload.as_bytes());
    }
    let id = |dictionary: &[u8]| u32::from_le_bytes(dictionary[4..8].try_into().unwrap());
    let unknown = |of: &[u8]| Err(Error::UnknownDictionary { id: id(of) });
    assert_eq!(read(&by_old, Some(&after)), unknown(&old));
    assert_eq!(read(&by_new, Some(&before)), unknown(&new));
    assert_eq!(read(&by_new, None), unknown(&new));
}

/// One context of a thread serves all its dictionaries and outlives them.
#[test]
fn contexts_forget_the_dictionaries_they_used() {
    let payload = record(3);
    for round in 0..20 {
        let one = Dictionaries::new([trained(round * 500)], ZSTD).unwrap();
        let entry = written(payload.as_bytes(), ZSTD, Some(&one));
        let plain = written(payload.as_bytes(), ZSTD, None);
        assert_eq!(read(&entry, Some(&one)).unwrap(), payload.as_bytes());
        drop(one);
        assert_eq!(read(&plain, None).unwrap(), payload.as_bytes());
    }
}

#[test]
fn threads_share_them() {
    let all = Dictionaries::new([trained(0)], ZSTD).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let all = &all;
            scope.spawn(move || {
                for id in 0..2000 {
                    let payload = record(id * 4 + thread);
                    let entry = written(payload.as_bytes(), ZSTD, Some(all));
                    assert_eq!(read(&entry, Some(all)).unwrap(), payload.as_bytes());
                }
            });
        }
    });
}

#[test]
fn encrypted_entries_have_them_too() {
    let all = Dictionaries::new([trained(0)], ZSTD).unwrap();
    let keys = Encryption::new([(1, [1; 32])]).unwrap();
    let options = EntryOptions {
        compressor: ZSTD,
        dictionaries: Some(&all),
        encryption: Some(keys.of(b"n", b"k")),
        ..EntryOptions::default()
    };
    let (payload, mut entry) = (record(9), Vec::new());
    encode_payload(payload.as_bytes(), Serializer::Bytes, &options, &mut entry).unwrap();
    let mut again = entry.clone();
    let mut scratch = Vec::new();
    let mut limits = Limits::default();
    let keys = keys.of(b"n", b"k");
    let error = decrypt_payload(&mut again, Verify::Checksum, &limits, keys, &mut scratch);
    assert_eq!(error.unwrap_err().code(), "unknown_dictionary");
    limits.dictionaries = Some(all);
    let (_, read) =
        decrypt_payload(&mut entry, Verify::Checksum, &limits, keys, &mut scratch).unwrap();
    assert_eq!(read, payload.as_bytes());
}

proptest! {
    #[test]
    fn anything_comes_back(payload in proptest::collection::vec(any::<u8>(), 0..2000), times in 1usize..100) {
        let all = Dictionaries::new([trained(0)], ZSTD).unwrap();
        let payload = payload.repeat(times);
        let entry = written(&payload, ZSTD, Some(&all));
        prop_assert_eq!(read(&entry, Some(&all)).unwrap(), payload);
    }

    /// A changed frame gives an error or, if the change has no effect, the payload: never other bytes.
    #[test]
    fn changed_frames_give_no_other_bytes(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let all = Dictionaries::new([trained(0), trained(50_000)], ZSTD).unwrap();
        let payload = record(77);
        let mut entry = written(payload.as_bytes(), ZSTD, Some(&all));
        let frame = entry.len() - 32;
        for (at, byte) in changes {
            entry[32 + at.index(frame)] ^= byte;
        }
        if let Some(at) = cut {
            entry.truncate(32 + at.index(frame));
        }
        match read(&entry, Some(&all)) {
            Ok(read) => prop_assert_eq!(read, payload.as_bytes()),
            Err(error) => prop_assert!(["malformed_entry", "unknown_dictionary"].contains(&error.code())),
        }
    }
}

fn rows(file: &str) -> Vec<Json> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors");
    read_rows(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

#[test]
fn vectors_give_their_value_or_error() {
    let known = rows("dictionaries.json");
    let bytes = |name: &Json| {
        let row = known.iter().find(|row| row["name"] == *name).unwrap();
        hex_decode(row["dictionary"].as_str().unwrap()).unwrap()
    };
    let entries = rows("dictionary_entries.json");
    assert!(entries.len() > 20);
    for row in entries {
        let names = row["dictionaries"].as_array().unwrap();
        let all: Vec<_> = names.iter().map(bytes).collect();
        let dictionaries = (!all.is_empty()).then(|| Dictionaries::new(&all, ZSTD).unwrap());
        let limits = Limits {
            dictionaries,
            ..Limits::default()
        };
        let entry = hex_decode(row["entry"].as_str().unwrap()).unwrap();
        let mut scratch = Vec::new();
        let read = decode_payload(&entry, Verify::Checksum, &limits, &mut scratch)
            .and_then(|(header, payload)| decode_value(header.serializer, payload, &limits));
        match row["error"].as_str() {
            Some(code) => assert_eq!(read.unwrap_err().code(), code, "{}", row["name"]),
            None => {
                let expected = to_json(&from_json(&row["value"]).unwrap());
                assert_eq!(to_json(&read.unwrap()), expected, "{}", row["name"]);
            }
        }
    }
}
