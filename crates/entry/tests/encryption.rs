//! Encrypted entries: `spec/vectors`, and what has no vector.

#[path = "../examples/write-vectors/generate/mod.rs"]
#[allow(dead_code)]
mod generate;

use generate::encrypted::{bytes, keys, recipes, written};
use polycache_entry::tagged::{from_json, read_rows, to_json};
use polycache_entry::{
    decode_payload, decode_value, decrypt_payload, encode, Compressor, CompressorId, Encryption,
    EntryOptions, Error, Header, Limits, Tag, Value, Verify,
};
use serde_json::{json, Value as Json};
use std::collections::HashSet;

const PREFIX: &[u8] = b"shop::";
const KEY: &[u8] = b"user:1";

fn rows(file: &str) -> Vec<Json> {
    read_rows(&std::fs::read_to_string(generate::folder().join(file)).unwrap()).unwrap()
}

/// All of a reader's steps with these keys.
fn read(
    entry: &[u8],
    keys: Option<&Encryption>,
    full_key: &[u8],
    verify: Verify,
) -> Result<Json, Error> {
    let (limits, mut scratch, mut entry) = (Limits::default(), Vec::new(), entry.to_vec());
    let (header, payload) = match keys {
        None => decode_payload(&entry, verify, &limits, &mut scratch)?,
        Some(keys) => decrypt_payload(
            &mut entry,
            verify,
            &limits,
            keys.of(b"", full_key),
            &mut scratch,
        )?,
    };
    let value = to_json(&decode_value(header.serializer, payload, &limits)?);
    let compressor = match header.compressor {
        CompressorId::None => "none",
        CompressorId::Zstd => "zstd",
    };
    let tags = header.tags.iter();
    let tags: Vec<_> = tags
        .map(|tag| json!([tag.name, tag.generation.to_string()]))
        .collect();
    Ok(json!({
        "serializer": header.serializer.name(), "compressor": compressor, "created": header.created,
        "expires": header.expires, "fresh_until": header.fresh_until, "tags": tags, "value": value,
    }))
}

fn expected(row: &Json) -> Json {
    let mut row = row.clone();
    row["value"] = to_json(&from_json(&row["value"]).unwrap());
    for other in ["name", "encryption", "full_key", "entry"] {
        row.as_object_mut().unwrap().remove(other);
    }
    row
}

#[test]
fn every_language_s_encrypted_entries_are_read() {
    let mut files = 0;
    for file in std::fs::read_dir(generate::folder()).unwrap() {
        let file = file.unwrap().file_name().into_string().unwrap();
        if !file.starts_with("encrypted.") {
            continue;
        }
        files += 1;
        let read_here = rows(&file);
        assert_eq!(read_here.len(), recipes().len(), "{file}");
        for (row, recipe) in read_here.iter().zip(recipes()) {
            assert_eq!(expected(row), expected(&recipe), "{file} is stale");
            let (keys, full_key) = (keys(row), bytes(row, "full_key"));
            let found = read(
                &bytes(row, "entry"),
                keys.as_ref(),
                &full_key,
                Verify::Checksum,
            );
            assert_eq!(found.unwrap(), expected(row), "{file}: {}", row["name"]);
        }
    }
    assert!(files > 0);
}

#[test]
fn what_is_written_now_differs_in_nonce_and_ciphertext_only() {
    for row in rows("encrypted.rust.json") {
        let (committed, fresh) = (bytes(&row, "entry"), written(&row));
        let header = Header::parse(&committed, Verify::Checksum).unwrap();
        let nonce = header.header_len - 12;
        assert_eq!(committed.len(), fresh.len(), "{}", row["name"]);
        assert_eq!(committed[..4], fresh[..4]);
        assert_eq!(committed[8..nonce], fresh[8..nonce]);
        assert_ne!(committed[nonce..nonce + 12], fresh[nonce..nonce + 12]);
    }
}

#[test]
fn malformed_entries_give_their_error() {
    for row in rows("encrypted_malformed.json") {
        let (entry, full_key) = (bytes(&row, "entry"), bytes(&row, "full_key"));
        for verify in [Verify::Checksum, Verify::Trusted] {
            if verify == Verify::Trusted && row["error"] == "checksum_mismatch" {
                continue;
            }
            let got = read(&entry, keys(&row).as_ref(), &full_key, verify);
            assert_eq!(
                got.unwrap_err().code(),
                row["error"].as_str().unwrap(),
                "{}",
                row["name"]
            );
        }
    }
}

fn entry_of(value: &str, compressor: Compressor, keys: &Encryption) -> Vec<u8> {
    let options = EntryOptions {
        created: 1_700_000_000_000,
        expires: 1_700_000_060_000,
        compressor,
        tags: &[Tag {
            name: "users",
            generation: 7,
        }],
        encryption: Some(keys.of(PREFIX, KEY)),
        ..EntryOptions::default()
    };
    let mut entry = b"before".to_vec();
    encode(&Value::from(value), &options, &mut entry).unwrap();
    entry.split_off(6)
}

/// Any change of an entry is detected, whatever the checksum says.
#[test]
fn every_bit_is_bound() {
    let keys = Encryption::new([(1, [1; 32])]).unwrap();
    let full_key = [PREFIX, KEY].concat();
    for compressor in [Compressor::None, Compressor::Zstd { level: 3 }] {
        let entry = entry_of("a secret, a secret, a secret", compressor, &keys);
        assert!(read(&entry, Some(&keys), &full_key, Verify::Trusted).is_ok());
        for bit in 0..entry.len() * 8 {
            let mut changed = entry.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let got = read(&changed, Some(&keys), &full_key, Verify::Trusted);
            // The checksum is not checked here, and is the only part that is not bound.
            assert_eq!(got.is_ok(), (4..8).contains(&(bit / 8)), "bit {bit}");
        }
        for len in 0..entry.len() {
            assert!(read(&entry[..len], Some(&keys), &full_key, Verify::Trusted).is_err());
        }
        for at in 0..full_key.len() {
            let mut other = full_key.clone();
            other[at] ^= 1;
            let got = read(&entry, Some(&keys), &other, Verify::Checksum);
            assert_eq!(got, Err(Error::DecryptionFailed { id: 1 }));
        }
    }
}

/// An entry under the key `ab` is invalid under `a`, though header and key would be the same bytes if
/// the header did not give its length.
#[test]
fn header_and_key_are_told_apart() {
    let keys = Encryption::new([(1, [1; 32])]).unwrap();
    let entry = entry_of("v", Compressor::None, &keys);
    for full_key in [&b"shop::user:"[..], b"shop::user:11", b"hop::user:1", b""] {
        let got = read(&entry, Some(&keys), full_key, Verify::Checksum);
        assert_eq!(got, Err(Error::DecryptionFailed { id: 1 }));
    }
}

#[test]
fn nothing_of_a_value_stays_readable_and_no_nonce_comes_twice() {
    let keys = Encryption::new([(1, [1; 32])]).unwrap();
    let mut nonces = HashSet::new();
    for compressor in [
        Compressor::None,
        Compressor::Zstd { level: 3 },
        Compressor::Smart,
    ] {
        for _ in 0..1000 {
            let entry = entry_of("a secret that nobody reads", compressor, &keys);
            assert!(!entry.windows(6).any(|some| some == b"secret"));
            let header = Header::parse(&entry, Verify::Checksum).unwrap();
            assert_eq!(header.encryption_key, Some(1));
            assert!(nonces.insert(entry[header.header_len - 12..header.header_len].to_vec()));
        }
    }
}

#[test]
fn an_encrypted_entry_costs_32_bytes() {
    let keys = Encryption::new([(1, [1; 32])]).unwrap();
    let (mut plain, mut encrypted) = (Vec::new(), Vec::new());
    let options = EntryOptions::default();
    encode(&Value::from("v"), &options, &mut plain).unwrap();
    let encryption = Some(keys.of(PREFIX, KEY));
    encode(
        &Value::from("v"),
        &EntryOptions {
            encryption,
            ..options
        },
        &mut encrypted,
    )
    .unwrap();
    assert_eq!(encrypted.len(), plain.len() + 32);
}

#[test]
fn keys_that_are_none_are_refused() {
    let refused = |keys: &[(u32, Vec<u8>)]| {
        let error = Encryption::new(keys.iter().map(|(id, key)| (*id, key))).unwrap_err();
        assert_eq!(error.code(), "invalid_argument");
        error.to_string()
    };
    refused(&[]);
    for len in [0, 16, 31, 33, 64] {
        refused(&[(1, vec![0xAB; len])]);
    }
    let message = refused(&[(1, vec![1; 32]), (2, vec![0x5A; 31])]);
    assert!(message.contains("id 2 has 31"), "{message}");
    refused(&[(1, vec![1; 32]), (2, vec![2; 32]), (1, vec![3; 32])]);
}

#[test]
fn nobody_prints_a_key() {
    let key = *b"0123456789abcdefFEDCBA9876543210";
    let keys = Encryption::new([(20261122, key)]).unwrap();
    let options = EntryOptions {
        encryption: Some(keys.of(b"", b"")),
        ..EntryOptions::default()
    };
    for shown in [
        format!("{keys:?}"),
        format!("{keys:#?}"),
        format!("{options:?}"),
    ] {
        assert!(shown.contains("20261122"), "{shown}");
        assert!(
            !shown.contains("48, 49, 50") && !shown.contains("0123456789ab"),
            "{shown}"
        );
    }
}

proptest::proptest! {
    /// Whatever lies in a directory: an error, and no panic.
    #[test]
    fn made_up_entries_are_errors(
        mut entry in proptest::collection::vec(proptest::num::u8::ANY, 24..200),
        flags in 0u8..32,
        header_len in 0u8..120,
    ) {
        (entry[0], entry[1]) = (0xC1, 1);
        entry[2] %= 5;
        entry[3] %= 2;
        entry[14..16].copy_from_slice(&[flags, 0]);
        entry[22..24].copy_from_slice(&[header_len, 0]);
        let keys = Encryption::new([(1, [1; 32])]).unwrap();
        let behind = if flags & 16 == 0 { 0 } else { 16 };
        if flags & 8 != 0 && usize::from(header_len) >= 40 + behind && entry.len() >= usize::from(header_len) {
            let id = usize::from(header_len) - behind - 16;
            entry[id..id + 4].copy_from_slice(&1u32.to_le_bytes());
        }
        proptest::prop_assert!(read(&entry, Some(&keys), b"::k", Verify::Trusted).is_err());
    }
}
