//! Smart compression: value by value, only where it saves.

use polycache_entry::{
    decode_payload, encode, encode_payload, Compressor, CompressorId, EntryOptions, Limits,
    Serializer, Value, Verify,
};

const LIMITS: Limits = Limits::of(1 << 24);

fn options(compressor: Compressor) -> EntryOptions<'static> {
    EntryOptions {
        compressor,
        serializer: Serializer::Bytes,
        ..EntryOptions::default()
    }
}

fn entry(payload: &[u8], compressor: Compressor) -> Vec<u8> {
    let mut entry = b"before".to_vec();
    encode_payload(payload, Serializer::Bytes, &options(compressor), &mut entry).unwrap();
    assert_eq!(&entry[..6], b"before");
    let entry = entry.split_off(6);
    let mut scratch = Vec::new();
    let (header, read) = decode_payload(&entry, Verify::Checksum, &LIMITS, &mut scratch).unwrap();
    assert_eq!(read, payload);
    assert_eq!(
        header.length.is_some(),
        header.compressor == CompressorId::Zstd
    );
    let mut same = Vec::new();
    let value = Value::from(payload);
    encode(&value, &options(compressor), &mut same).unwrap();
    assert_eq!(same, entry);
    entry
}

fn choice(payload: &[u8]) -> CompressorId {
    let entry = entry(payload, Compressor::Smart);
    decode_payload(&entry, Verify::Trusted, &LIMITS, &mut Vec::new())
        .unwrap()
        .0
        .compressor
}

/// Records of an API, each a little different.
fn json(records: usize) -> Vec<u8> {
    let record = |n: usize| {
        let id = n * 7919 % 100_003;
        format!(
            r#"{{"id":{id},"name":"user {n}","email":"user{id}@example.org","active":{},"cents":{}}}"#,
            n % 3 == 0,
            id * 31 % 9973
        )
    };
    let records: Vec<String> = (0..records).map(record).collect();
    format!("[{}]", records.join(",")).into_bytes()
}

/// A linear congruential generator's upper bits: noise that is the same in every run.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(next).collect()
}

#[test]
fn json_shrinks_by_more_than_60_percent() {
    for records in [50, 500, 5000] {
        let json = json(records);
        let smart = entry(&json, Compressor::Smart).len();
        let level_1 = entry(&json, Compressor::Zstd { level: 1 }).len();
        assert!(smart * 10 < json.len() * 4, "{smart} of {}", json.len());
        assert!(smart * 100 < level_1 * 110, "{smart}, level 1: {level_1}");
    }
}

#[test]
fn what_does_not_save_stays_as_it_is() {
    assert_eq!(choice(b""), CompressorId::None);
    assert_eq!(choice(&json(1)), CompressorId::None);
    assert_eq!(choice(&[b'x'; 511]), CompressorId::None);
    assert_eq!(choice(&[b'x'; 512]), CompressorId::Zstd);
    for length in [512, 10_000, 1_000_000] {
        assert_eq!(choice(&noise(length)), CompressorId::None, "{length}");
        let plain = entry(&noise(length), Compressor::None);
        assert_eq!(entry(&noise(length), Compressor::Smart), plain);
    }
    // Worth a try, but not worth keeping: 16 frequent bytes for each 256 of noise.
    let mut barely = noise(4096);
    for piece in barely.chunks_mut(64) {
        piece[..24].fill(0);
    }
    let saved = |bytes: &[u8]| choice(bytes) == CompressorId::Zstd;
    assert!(saved(&barely));
    let mut hardly = noise(65_536);
    for piece in hardly.chunks_mut(4096) {
        piece[..300].fill(0);
    }
    assert!(!saved(&hardly));
}

/// The two share a context, whose parameters must not mix.
#[test]
fn levels_and_smart_take_turns() {
    let json = json(300);
    let levels = [1, 3, 9, 19];
    let first: Vec<_> = levels
        .map(|level| entry(&json, Compressor::Zstd { level }))
        .into();
    let smart = entry(&json, Compressor::Smart);
    for (level, first) in levels.into_iter().zip(first) {
        assert_eq!(entry(&json, Compressor::Smart), smart);
        assert_eq!(entry(&json, Compressor::Zstd { level }), first);
        let fresh = std::thread::scope(|scope| {
            let fresh = scope.spawn(|| entry(&json, Compressor::Zstd { level }));
            fresh.join().unwrap()
        });
        assert_eq!(fresh, first);
    }
}

#[test]
fn the_parts_alone_are_bounded_too() {
    let (mut out, mut back) = (Vec::new(), Vec::new());
    let json = json(100);
    for compressor in [
        Compressor::None,
        Compressor::Smart,
        Compressor::Zstd { level: 1 },
    ] {
        out.clear();
        let id = compressor.compress(&json, &mut out).unwrap();
        let length = json.len() as u64;
        id.decompress(&out, length, &LIMITS, &mut back).unwrap();
        assert_eq!(back, json);
        for wrong in [length - 1, length + 1, u64::from(u32::MAX)] {
            let limits = Limits::of(u64::MAX);
            let error = id.decompress(&out, wrong, &limits, &mut back).unwrap_err();
            assert_eq!(error.code(), "malformed_entry");
        }
        let limits = Limits::of(length - 1);
        let error = id.decompress(&out, length, &limits, &mut back).unwrap_err();
        assert_eq!(error.code(), "value_too_large");
    }
    let mut out = b"before".to_vec();
    let refused = Compressor::Zstd { level: 23 }.compress(b"x", &mut out);
    assert_eq!(refused.unwrap_err().code(), "invalid_argument");
    assert_eq!(out, b"before");
}
