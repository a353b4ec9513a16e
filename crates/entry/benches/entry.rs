//! Nanoseconds per call of what a cache does on every hit and every write:
//! `cargo bench -p polycache-entry`. Each figure is the best of several rounds, which is what the
//! code costs when the machine leaves it alone.

use polycache_entry::{
    decode_payload, decode_value, encode, encode_payload, is_valid_at, Compressor, EntryOptions,
    Header, Limits, Serializer, Value, Verify,
};
use std::hint::black_box;
use std::time::Instant;

fn report(name: &str, mut call: impl FnMut()) {
    let mut best = f64::INFINITY;
    let mut calls = 1u32;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        let elapsed = start.elapsed().as_nanos() as f64;
        best = best.min(elapsed / f64::from(calls));
        // Rounds of about 10 ms.
        calls = ((1e7 / (elapsed / f64::from(calls))) as u32).max(1);
    }
    println!("{best:>10.1} ns  {name}");
}

fn user() -> Value<'static> {
    Value::Map(vec![
        ("id".into(), 123_456i64.into()),
        ("name".into(), "Ada Lovelace".into()),
        ("email".into(), "ada@example.org".into()),
        ("score".into(), 0.75.into()),
        (
            "tags".into(),
            Value::List(vec!["admin".into(), "beta".into()]),
        ),
        ("manager".into(), Value::Null),
    ])
}

fn main() {
    let limits = Limits::default();
    let options = EntryOptions {
        created: 1_700_000_000_000,
        expires: 1_700_000_060_000,
        ..EntryOptions::default()
    };
    let mut out = Vec::new();
    for len in [100, 1000, 10_000] {
        let payload = vec![b'x'; len];
        report(&format!("encode_payload {len} B"), || {
            out.clear();
            encode_payload(black_box(&payload), Serializer::Bytes, &options, &mut out).unwrap();
        });
        for verify in [Verify::Checksum, Verify::Trusted] {
            report(&format!("Header::parse {len} B {verify:?}"), || {
                black_box(Header::parse(black_box(&out), verify).unwrap());
            });
        }
    }
    report("is_valid_at", || {
        black_box(is_valid_at(black_box(&out), 1_700_000_000_001));
    });
    for serializer in [Serializer::MessagePack, Serializer::Json] {
        let user = user();
        let name = serializer.name();
        for compressor in [Compressor::None, Compressor::Zstd { level: 3 }] {
            let options = EntryOptions {
                serializer,
                compressor,
                ..options
            };
            report(&format!("encode a user, {name} {compressor:?}"), || {
                out.clear();
                encode(black_box(&user), &options, &mut out).unwrap();
            });
            let mut scratch = Vec::new();
            report(&format!("decode a user, {name} {compressor:?}"), || {
                let (header, payload) =
                    decode_payload(black_box(&out), Verify::Checksum, &limits, &mut scratch)
                        .unwrap();
                black_box(decode_value(header.serializer, payload, &limits).unwrap());
            });
        }
    }
}
