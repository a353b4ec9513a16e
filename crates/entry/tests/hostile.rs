//! Arbitrary values come back; arbitrary bytes give a value or a typed error, never a panic.

use polycache_entry::tagged::to_json;
use polycache_entry::{
    decode_payload, decode_value, encode, encode_payload, trusted_payload, Compressor,
    EntryOptions, Error, Idle, Limits, Named, Serializer, Structs, Tag, Value, Verify,
    MAX_TIMESTAMP_SECONDS, MAX_TIME_MS, MIN_TIMESTAMP_SECONDS,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::borrow::Cow;
use std::collections::HashSet;

const SAFE: i128 = (1 << 53) - 1;

fn scalars_of_json() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-SAFE..=SAFE).prop_map(Value::Int),
        any::<f64>()
            .prop_filter("finite", |float| float.is_finite())
            .prop_map(Value::Float),
        text().prop_map(Value::from),
    ]
}

fn scalars() -> impl Strategy<Value = Value<'static>> {
    prop_oneof![
        scalars_of_json(),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i128>().prop_map(Value::integer),
        any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
        vec(any::<u8>(), 0..40).prop_map(Value::from),
        (
            MIN_TIMESTAMP_SECONDS..=MAX_TIMESTAMP_SECONDS,
            0..1_000_000_000u32
        )
            .prop_map(|(seconds, nanos)| Value::Timestamp { seconds, nanos }),
        (0..1i64 << 35).prop_map(|seconds| Value::Timestamp { seconds, nanos: 0 }),
        (any::<i128>(), any::<i16>())
            .prop_map(|(digits, exponent)| Value::Decimal(format!("{digits}E{exponent}").into())),
        any::<[u8; 16]>().prop_map(Value::Uuid),
    ]
}

fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..20).prop_map(String::from_iter)
}

fn map(pairs: Vec<(String, Value<'static>)>) -> Value<'static> {
    let mut seen = HashSet::new();
    let pairs = pairs
        .into_iter()
        .filter(|(key, _)| seen.insert(key.clone()));
    Value::Map(pairs.map(|(key, value)| (Cow::Owned(key), value)).collect())
}

fn values() -> impl Strategy<Value = Value<'static>> {
    let leaves = prop_oneof![3 => scalars(), 1 => vec(scalars(), 0..6).prop_map(Value::Set)];
    leaves.prop_recursive(6, 64, 20, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..20).prop_map(Value::List),
            vec((text(), inner.clone()), 0..20).prop_map(map),
            ("[a-zß]{1,40}", inner).prop_map(|(name, value)| Named::new(name, value).into()),
        ]
    })
}

fn values_of_json() -> impl Strategy<Value = Value<'static>> {
    scalars_of_json().prop_recursive(6, 64, 20, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..20).prop_map(Value::List),
            vec((text(), inner), 0..20).prop_map(map),
        ]
    })
}

fn any_pair() -> impl Strategy<Value = (Serializer, Value<'static>)> {
    prop_oneof![
        values().prop_map(|value| (Serializer::MessagePack, value)),
        values_of_json().prop_map(|value| (Serializer::Json, value)),
        text().prop_map(|text| (Serializer::Text, text.into())),
        vec(any::<u8>(), 0..300).prop_map(|bytes| (Serializer::Bytes, bytes.into())),
    ]
}

fn compressors() -> impl Strategy<Value = Compressor> {
    prop_oneof![
        Just(Compressor::None),
        Just(Compressor::Smart),
        (1..=5i32).prop_map(|level| Compressor::Zstd { level }),
    ]
}

fn read(entry: &[u8], verify: Verify) -> Result<serde_json::Value, Error> {
    let limits = Limits::of(1 << 20);
    let mut scratch = Vec::new();
    let (header, payload) = decode_payload(entry, verify, &limits, &mut scratch)?;
    Ok(to_json(&decode_value(header.serializer, payload, &limits)?))
}

fn read_without_header(entry: &[u8]) -> Result<serde_json::Value, Error> {
    let limits = Limits::of(1 << 20);
    let mut scratch = Vec::new();
    let (serializer, payload) = trusted_payload(entry, &limits, &mut scratch)?;
    Ok(to_json(&decode_value(serializer, payload, &limits)?))
}

fn seal(entry: &mut [u8]) {
    let sum = crc32fast::hash(&[&entry[..4], &entry[8..]].concat());
    entry[4..8].copy_from_slice(&sum.to_le_bytes());
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn values_and_headers_come_back(
        (serializer, value) in any_pair(),
        compressor in compressors(),
        created in 0..=MAX_TIME_MS,
        expires in 0..=MAX_TIME_MS,
        time_to_idle in prop_oneof![Just(0), 1..=MAX_TIME_MS],
        fresh_until in any::<Option<u64>>(),
        tags in vec((text(), any::<u64>()), 0..4),
    ) {
        let tags: Vec<_> = tags.iter().map(|(name, generation)| Tag { name, generation: *generation }).collect();
        let structs = Structs::Maps;
        let options = EntryOptions {
            serializer, structs, compressor, created, expires, time_to_idle, fresh_until, tags: &tags,
            dictionaries: None,
            encryption: None,
            max_length: Limits::default().max_length,
            unsealed: false,
        };
        let mut entry = Vec::new();
        encode(&value, &options, &mut entry).unwrap();
        let (limits, mut scratch) = (Limits::default(), Vec::new());
        let (header, payload) = decode_payload(&entry, Verify::Checksum, &limits, &mut scratch).unwrap();
        let idle = (time_to_idle > 0).then_some(Idle { time: time_to_idle, ends: expires });
        let expected = idle.map_or(expires, |idle| idle.expires(created));
        prop_assert_eq!((header.created, header.expires, header.fresh_until), (created, expected, fresh_until));
        prop_assert_eq!(header.idle, idle);
        prop_assert_eq!(header.tags.into_iter().collect::<Vec<_>>(), tags.clone());
        let decoded = decode_value(serializer, payload, &limits).unwrap();
        prop_assert_eq!(to_json(&decoded), to_json(&value));
        prop_assert_eq!(to_json(&decoded.into_owned()), to_json(&value));

        // The same, but for the checksum; and only a reader that trusts it takes it.
        let mut unsealed = Vec::new();
        encode(&value, &EntryOptions { unsealed: true, ..options }, &mut unsealed).unwrap();
        let refused = decode_payload(&unsealed, Verify::Checksum, &limits, &mut scratch).map(drop);
        prop_assert_eq!(refused, Err(Error::ChecksumMismatch));
        prop_assert!(decode_payload(&unsealed, Verify::Trusted, &limits, &mut scratch).is_ok());
        entry[4..8].fill(0);
        prop_assert_eq!(unsealed, entry);
    }

    #[test]
    fn a_payload_is_kept_byte_by_byte(payload in vec(any::<u8>(), 0..2000), compressor in compressors()) {
        let options = EntryOptions { compressor, ..EntryOptions::default() };
        let mut entry = Vec::new();
        encode_payload(&payload, Serializer::Bytes, &options, &mut entry).unwrap();
        let mut scratch = b"left over".to_vec();
        let (_, read) = decode_payload(&entry, Verify::Checksum, &Limits::default(), &mut scratch).unwrap();
        prop_assert_eq!(read, payload);
    }

    #[test]
    fn arbitrary_payloads_do_not_panic(payload in vec(any::<u8>(), 0..200)) {
        for serializer in Serializer::ALL {
            let _ = decode_value(serializer, &payload, &Limits::default());
        }
    }

    #[test]
    fn arbitrary_fields_and_payloads_do_not_panic(
        mut entry in vec(any::<u8>(), 24..200),
        ids in (0..5u8, 0..2u8),
        flags in 0..8u8,
        header_len in 24..64u8,
    ) {
        entry[..4].copy_from_slice(&[0xC1, 1, ids.0, ids.1]);
        entry[14..16].copy_from_slice(&[flags, 0]);
        entry[22..24].copy_from_slice(&[header_len, 0]);
        seal(&mut entry);
        let _ = read(&entry, Verify::Checksum);
        prop_assert_eq!(read_without_header(&entry), read(&entry, Verify::Trusted));
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// A CRC-32 finds every error of one bit; so does the check of the version before it.
    #[test]
    fn a_flipped_bit_is_an_error((serializer, value) in any_pair(), compressor in compressors()) {
        let options = EntryOptions { serializer, compressor, created: 1_700_000_000_000, ..EntryOptions::default() };
        let mut entry = Vec::new();
        encode(&value, &options, &mut entry).unwrap();
        for bit in 0..entry.len() * 8 {
            entry[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(read(&entry, Verify::Checksum).is_err(), "bit {bit}");
            prop_assert_eq!(read_without_header(&entry), read(&entry, Verify::Trusted));
            entry[bit / 8] ^= 1 << (bit % 8);
        }
        for len in 0..entry.len() {
            prop_assert!(read(&entry[..len], Verify::Checksum).is_err());
            prop_assert_eq!(read_without_header(&entry[..len]), read(&entry[..len], Verify::Trusted));
        }
    }
}

/// The deepest value there is, on the smallest stack that a thread is likely to have.
#[test]
fn the_deepest_values_fit_a_small_stack() {
    // A fiber in Ruby has 512 KiB; without optimization frames are several times as large.
    let kib = if cfg!(debug_assertions) { 512 } else { 96 };
    let small = std::thread::Builder::new().stack_size(kib * 1024);
    let deep = |serializer, payload: Vec<u8>| {
        let value = decode_value(serializer, &payload, &Limits::default()).unwrap();
        let options = EntryOptions {
            serializer,
            ..EntryOptions::default()
        };
        encode(&value, &options, &mut Vec::new()).unwrap();
    };
    let run = move || {
        deep(
            Serializer::MessagePack,
            [vec![0x91; 127], vec![0x90]].concat(),
        );
        deep(
            Serializer::MessagePack,
            [b"\x81\xA0".repeat(127), vec![0x80]].concat(),
        );
        deep(
            Serializer::Json,
            [vec![b'['; 128], vec![b']'; 128]].concat(),
        );
        deep(
            Serializer::Json,
            [b"{\"\":".repeat(128), b"0".to_vec(), vec![b'}'; 128]].concat(),
        );
        for endless in [&b"["[..], b"{\"\":"] {
            decode_value(
                Serializer::Json,
                &endless.repeat(100_000),
                &Limits::default(),
            )
            .unwrap_err();
        }
        decode_value(
            Serializer::MessagePack,
            &[0x91; 100_000],
            &Limits::default(),
        )
        .unwrap_err();
    };
    small.spawn(run).unwrap().join().unwrap();
}
