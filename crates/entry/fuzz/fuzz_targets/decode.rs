//! Any bytes give a value or a typed error; a value that was read can be written and read again.
//!
//! Seeds: `cargo run -p polycache-entry --example write-fuzz-seeds`, which writes one file per
//! vector into `crates/entry/fuzz/corpus/decode`. Run: `cargo +nightly fuzz run decode` in
//! `crates/entry`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use polycache_entry::tagged::to_json;
use polycache_entry::{
    created, decode_payload, decode_value, encode, expires, is_valid_at, EntryOptions, Limits,
    Serializer, Verify,
};

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
        payload_alone(Serializer::ALL[usize::from(id % 4)], payload);
    }
});

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
    let Ok(value) = decode_value(serializer, payload, &LIMITS) else {
        return;
    };
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
