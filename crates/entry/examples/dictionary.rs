//! Measures what a dictionary gains for small JSON: trains one on a part of real records and measures
//! the size of whole entries and the time on the others. `cargo run --release -p polycache-entry
//! --example dictionary`.
//!
//! The records: changes to text blocks (`examples/http/stream.json`), and the packages in
//! `typescript/package-lock.json`, a third of whose bytes are hashes that do not compress.

use polycache_entry::{
    decode_payload, encode_payload, train, Compressor, Dictionaries, EntryOptions, Limits,
    Serializer, Verify,
};
use serde_json::Value as Json;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 40;
const SIZE: usize = 8 * 1024;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| -> Json {
        let text = std::fs::read_to_string(root.join(path)).expect("the file is in the checkout");
        serde_json::from_str(&text).expect("JSON")
    };
    let stream = read("examples/http/stream.json");
    let changes = stream.as_array().expect("a list").iter().map(change);
    show("changes", changes.collect());
    let lock = read("typescript/package-lock.json");
    let packages = lock["packages"].as_object().expect("packages").values();
    show("packages", packages.map(Json::to_string).collect());
}

/// An entry of the stream as an object: `{"id": .., "color": .., ..}`.
fn change(entry: &Json) -> String {
    let mut object = serde_json::Map::new();
    object.insert("id".into(), entry[0].clone());
    for pair in entry[1].as_array().expect("fields").chunks(2) {
        object.insert(pair[0].as_str().expect("a name").into(), pair[1].clone());
    }
    Json::Object(object).to_string()
}

/// Every other record trains, the rest are measured.
fn show(name: &str, records: Vec<String>) {
    let (even, odd): (Vec<_>, Vec<_>) = records.iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let samples: Vec<&String> = even.into_iter().map(|(_, record)| record).collect();
    let rest: Vec<&String> = odd.into_iter().map(|(_, record)| record).collect();
    let dictionary = train(&samples, SIZE).expect("enough samples");
    let bytes: usize = rest.iter().map(|record| record.len()).sum();
    println!(
        "{name}: {} records of {} bytes of JSON, dictionary of {} bytes from {} others",
        rest.len(),
        bytes / rest.len(),
        dictionary.len(),
        samples.len()
    );
    let level = |level| Compressor::Zstd { level };
    let rows = [
        ("none", Compressor::None, false),
        ("zstd", level(3), false),
        ("zstd, dictionary", level(3), true),
        ("smart", Compressor::Smart, false),
        ("smart, dictionary", Compressor::Smart, true),
    ];
    for (name, compressor, has_dictionary) in rows {
        let dictionaries = has_dictionary
            .then(|| Dictionaries::new([&dictionary], compressor).expect("a dictionary"));
        row(name, &rest, compressor, dictionaries.as_ref());
    }
}

fn row(
    name: &str,
    records: &[&String],
    compressor: Compressor,
    dictionaries: Option<&Dictionaries>,
) {
    let options = EntryOptions {
        compressor,
        dictionaries,
        ..EntryOptions::default()
    };
    let limits = Limits {
        dictionaries: dictionaries.cloned(),
        ..Limits::default()
    };
    let write = |record: &str, entry: &mut Vec<u8>| {
        encode_payload(record.as_bytes(), Serializer::Json, &options, entry).expect("an entry");
    };
    let mut entries = vec![Vec::new(); records.len()];
    for (record, entry) in records.iter().zip(&mut entries) {
        write(record, entry);
    }
    let bytes: usize = entries.iter().map(Vec::len).sum();
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    let writing = least(records.len(), || {
        for record in records {
            out.clear();
            write(black_box(record), &mut out);
        }
    });
    let reading = least(records.len(), || {
        for entry in &entries {
            let read = decode_payload(black_box(entry), Verify::Trusted, &limits, &mut scratch);
            black_box(read.expect("an entry"));
        }
    });
    println!(
        "  {name:18} {:4} bytes an entry, written in {writing:5.2} µs, read in {reading:5.2} µs",
        bytes / entries.len()
    );
}

/// Microseconds per record, in the best round: other load on the machine only adds time.
fn least(records: usize, mut round: impl FnMut()) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64()
    });
    rounds.fold(f64::INFINITY, f64::min) * 1e6 / records as f64
}
