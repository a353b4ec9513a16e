//! Entries under other times, over every vector: what a touch writes.

#[path = "../examples/write-vectors/generate/mod.rs"]
#[allow(dead_code)]
mod generate;

use generate::encrypted::{bytes, keys};
use polycache_entry::tagged::{hex_decode, read_rows, to_json};
use polycache_entry::{
    decode_payload, decode_value, decrypt_payload, encode, renewed, Encryption, EntryOptions,
    Error, Header, Idle, Limits, Value, Verify, MAX_TIME_MS,
};
use serde_json::Value as Json;

const CREATED: u64 = 1_800_000_000_123;
const EXPIRES: u64 = 1_800_000_060_456;

fn rows(start: &str) -> Vec<Json> {
    let files = std::fs::read_dir(generate::folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let rows: Vec<Json> = names
        .filter(|name| name.starts_with(start))
        .flat_map(|name| {
            read_rows(&std::fs::read_to_string(generate::folder().join(name)).unwrap()).unwrap()
        })
        .collect();
    assert!(rows.len() > 10);
    rows
}

/// What follows the fields that a renewal changes, and what stands between them.
fn without_times(entry: &[u8]) -> [&[u8]; 3] {
    [&entry[..4], &entry[14..16], &entry[22..]]
}

#[test]
fn every_entry_stays_but_for_its_times() {
    for row in rows("entries.") {
        let entry = hex_decode(row["entry"].as_str().unwrap()).unwrap();
        let mut out = b"before".to_vec();
        renewed(&entry, CREATED, EXPIRES, None, &mut out).unwrap();
        let later = out.strip_prefix(b"before").unwrap();
        let header = Header::parse(later, Verify::Checksum).unwrap();
        assert_eq!(header.created, CREATED);
        let mut before = entry.clone();
        let idle = Header::parse(&entry, Verify::Checksum).unwrap().idle;
        match idle {
            None => assert_eq!(header.expires, EXPIRES),
            Some(Idle { time, .. }) => {
                let idle = Idle {
                    time,
                    ends: EXPIRES,
                };
                assert_eq!(header.idle, Some(idle));
                assert_eq!(header.expires, idle.expires(CREATED));
                before[header.header_len - 8..header.header_len]
                    .copy_from_slice(&EXPIRES.to_le_bytes());
            }
        }
        assert_eq!(
            without_times(later),
            without_times(&before),
            "{}",
            row["name"]
        );
    }
}

#[test]
fn it_may_never_expire() {
    let row = &rows("entries.")[0];
    let entry = hex_decode(row["entry"].as_str().unwrap()).unwrap();
    let mut later = Vec::new();
    renewed(&entry, MAX_TIME_MS, 0, None, &mut later).unwrap();
    let header = Header::parse(&later, Verify::Checksum).unwrap();
    assert_eq!((header.created, header.expires), (MAX_TIME_MS, 0));
}

/// The value of an entry that this reader may read.
fn read(entry: &[u8], keys: &Encryption, full_key: &[u8]) -> Result<(u64, u64, Json), Error> {
    let (limits, mut scratch, mut entry) = (Limits::default(), Vec::new(), entry.to_vec());
    let keys = keys.of(b"", full_key);
    let (header, payload) =
        decrypt_payload(&mut entry, Verify::Checksum, &limits, keys, &mut scratch)?;
    let value = to_json(&decode_value(header.serializer, payload, &limits)?);
    Ok((header.created, header.expires, value))
}

#[test]
fn every_encrypted_entry_is_encrypted_anew() {
    let mut encrypted = 0;
    for row in rows("encrypted.") {
        let (entry, full_key) = (bytes(&row, "entry"), bytes(&row, "full_key"));
        let Some(keys) = keys(&row) else { continue };
        encrypted += 1;
        let mut later = Vec::new();
        let of = Some(keys.of(b"", &full_key));
        renewed(&entry, CREATED, EXPIRES, of, &mut later).unwrap();
        let (_, _, value) = read(&entry, &keys, &full_key).unwrap();
        let found = read(&later, &keys, &full_key).unwrap();
        assert_eq!(found, (CREATED, EXPIRES, value), "{}", row["name"]);
        assert_eq!(later.len(), entry.len());
        let nonce = |entry: &[u8]| {
            let end = Header::parse(entry, Verify::Trusted).unwrap().header_len;
            entry[end - 12..end].to_vec()
        };
        assert_ne!(nonce(&later), nonce(&entry), "{}", row["name"]);
    }
    assert!(encrypted > 10, "{encrypted}");
}

#[test]
fn the_first_key_encrypts() {
    let old = Encryption::new([(1, [1; 32])]).unwrap();
    let both = Encryption::new([(2, [2; 32]), (1, [1; 32])]).unwrap();
    let options = EntryOptions {
        encryption: Some(old.of(b"::", b"k")),
        ..EntryOptions::default()
    };
    let (mut entry, mut later) = (Vec::new(), Vec::new());
    encode(&Value::from("secret"), &options, &mut entry).unwrap();
    renewed(
        &entry,
        CREATED,
        EXPIRES,
        Some(both.of(b"::", b"k")),
        &mut later,
    )
    .unwrap();
    let header = Header::parse(&later, Verify::Checksum).unwrap();
    assert_eq!(header.encryption_key, Some(2));
    assert_eq!(read(&later, &both, b"::k").unwrap().2, Json::from("secret"));
}

/// What the reader may not read it may not renew either, and `out` stays as it was.
#[test]
fn what_cannot_be_read_is_refused() {
    let keys = Encryption::new([(1, [1; 32])]).unwrap();
    let others = Encryption::new([(7, [1; 32])]).unwrap();
    let options = EntryOptions {
        encryption: Some(keys.of(b"::", b"k")),
        ..EntryOptions::default()
    };
    let (mut plain, mut sealed) = (Vec::new(), Vec::new());
    encode(&Value::from("v"), &EntryOptions::default(), &mut plain).unwrap();
    encode(&Value::from("v"), &options, &mut sealed).unwrap();
    let refused = |entry: &[u8], times: (u64, u64), encryption| {
        let mut out = b"before".to_vec();
        let error = renewed(entry, times.0, times.1, encryption, &mut out).unwrap_err();
        assert_eq!(out, b"before");
        error.code()
    };
    let (times, late) = ((CREATED, EXPIRES), MAX_TIME_MS + 1);
    let mine = || Some(keys.of(b"::", b"k"));
    assert_eq!(refused(&sealed, times, None), "unknown_encryption_key");
    assert_eq!(refused(&plain, times, mine()), "not_encrypted");
    let other_keys = Some(others.of(b"::", b"k"));
    assert_eq!(
        refused(&sealed, times, other_keys),
        "unknown_encryption_key"
    );
    let other_place = Some(keys.of(b"::", b"other"));
    assert_eq!(refused(&sealed, times, other_place), "decryption_failed");
    for (created, expires) in [(late, 0), (0, late)] {
        assert_eq!(
            refused(&plain, (created, expires), None),
            "invalid_argument"
        );
        assert_eq!(
            refused(&sealed, (created, expires), mine()),
            "invalid_argument"
        );
    }
}

/// Whatever the bytes are, a renewal is an error or an entry that reads as they did.
#[test]
fn malformed_entries_are_refused_or_stay_as_wrong_as_they_are() {
    let read = |entry: &[u8]| {
        let (limits, mut scratch) = (Limits::default(), Vec::new());
        let (header, payload) = decode_payload(entry, Verify::Trusted, &limits, &mut scratch)
            .map_err(|error| error.code())?;
        decode_value(header.serializer, payload, &limits)
            .map(|value| to_json(&value))
            .map_err(|error| error.code())
    };
    for row in rows("malformed.") {
        let entry = hex_decode(row["entry"].as_str().unwrap()).unwrap();
        let mut later = Vec::new();
        match renewed(&entry, CREATED, EXPIRES, None, &mut later) {
            Ok(()) => assert_eq!(read(&later), read(&entry), "{}", row["name"]),
            Err(error) => assert_eq!(Err(error.code()), read(&entry), "{}", row["name"]),
        }
    }
}
