//! `spec/vectors`: the committed files are what the generator writes, and every one holds.

#[path = "../examples/write-vectors/generate/mod.rs"]
mod generate;

use polycache_entry::tagged::{from_json, hex_decode, read_rows, to_json};
use polycache_entry::{
    decode_payload, decode_value, encode, CompressorId, EntryOptions, Error, Limits, Serializer,
    Value, Verify,
};
use serde_json::{json, Value as Json};
use std::fs;

fn rows(file: &str) -> Vec<Json> {
    let text = fs::read_to_string(generate::folder().join(file)).unwrap();
    read_rows(&text).unwrap()
}

fn text<'a>(row: &'a Json, field: &str) -> &'a str {
    row[field].as_str().unwrap()
}

/// Tagged JSON with the elements of every set in one order: a set has none, and Python's changes from
/// run to run.
fn sets_sorted(tagged: Json) -> Json {
    match tagged {
        Json::Array(items) => items.into_iter().map(sets_sorted).collect(),
        Json::Object(fields) => fields
            .into_iter()
            .map(|(tag, inner)| {
                let mut inner = sets_sorted(inner);
                if let ("set", Json::Array(items)) = (tag.as_str(), &mut inner) {
                    items.sort_by_key(Json::to_string);
                }
                (tag, inner)
            })
            .collect(),
        other => other,
    }
}

/// All of a reader's steps.
fn read<T>(entry: &[u8], then: impl FnOnce(&Value<'_>) -> T) -> Result<T, Error> {
    let limits = Limits::default();
    let mut scratch = Vec::new();
    let (header, payload) = decode_payload(entry, Verify::Checksum, &limits, &mut scratch)?;
    Ok(then(&decode_value(header.serializer, payload, &limits)?))
}

#[test]
fn generated_files_are_fresh() {
    for (file, expected) in generate::files() {
        let committed = fs::read_to_string(generate::folder().join(file)).unwrap();
        assert!(
            committed == expected,
            "{file} is stale: cargo run -p polycache-entry --example write-vectors"
        );
    }
}

#[test]
fn every_row_of_values_comes_back() {
    for row in rows("values.json") {
        let value = from_json(&row["value"]).unwrap();
        let takers = row["serializers"].as_array().unwrap();
        for serializer in Serializer::ALL {
            let options = EntryOptions {
                serializer,
                ..EntryOptions::default()
            };
            let mut entry = Vec::new();
            let written = encode(&value, &options, &mut entry);
            let takes = takers.contains(&json!(serializer.name()));
            if takes {
                written.unwrap();
                assert_eq!(
                    read(&entry, to_json).unwrap(),
                    to_json(&value),
                    "{}",
                    row["name"]
                );
            } else if row["name"] != "float -0.0" && row["name"] != "text 65536 bytes" {
                // The first JSON takes without a promise, the second is left out for its size.
                assert_eq!(
                    written.unwrap_err().code(),
                    "unsupported_value",
                    "{}",
                    row["name"]
                );
                assert!(entry.is_empty());
            }
        }
    }
}

#[test]
fn every_language_s_entries_are_read() {
    let mut files = 0;
    for file in fs::read_dir(generate::folder()).unwrap() {
        let file = file.unwrap().file_name().into_string().unwrap();
        if !file.starts_with("entries.") {
            continue;
        }
        files += 1;
        for row in rows(&file) {
            let entry = hex_decode(text(&row, "entry")).unwrap();
            let (limits, mut scratch) = (Limits::default(), Vec::new());
            let (header, payload) = decode_payload(&entry, Verify::Checksum, &limits, &mut scratch)
                .unwrap_or_else(|error| panic!("{file}: {}: {error}", row["name"]));
            let value = decode_value(header.serializer, payload, &limits).unwrap();
            let compressor = match header.compressor {
                CompressorId::None => "none",
                CompressorId::Zstd => "zstd",
            };
            let tags = header.tags.iter();
            let tags: Vec<_> = tags
                .map(|tag| json!([tag.name, tag.generation.to_string()]))
                .collect();
            let expected = to_json(&from_json(&row["value"]).unwrap());
            let (found, expected) = (sets_sorted(to_json(&value)), sets_sorted(expected));
            assert_eq!(found, expected, "{file}: {}", row["name"]);
            assert_eq!(header.serializer.name(), text(&row, "serializer"));
            assert_eq!(compressor, text(&row, "compressor"));
            assert_eq!(json!(header.created), row["created"]);
            assert_eq!(json!(header.expires), row["expires"]);
            let (time, ends) = (&row["time_to_idle"], &row["ends"]);
            assert_eq!(json!(header.idle.map(|idle| idle.time)), *time);
            assert_eq!(json!(header.idle.map(|idle| idle.ends)), *ends);
            assert_eq!(json!(header.fresh_until), row["fresh_until"]);
            assert_eq!(json!(tags), row["tags"]);
            assert_eq!(polycache_entry::created(&entry), header.created);
            assert_eq!(polycache_entry::expires(&entry), header.expires);
        }
    }
    assert!(files > 0);
}

#[test]
fn refused_values_name_their_culprit() {
    for row in rows("refused.json") {
        let value = from_json(&row["value"]).unwrap();
        let options = EntryOptions {
            serializer: Serializer::from_name(text(&row, "serializer")).unwrap(),
            ..EntryOptions::default()
        };
        let mut out = b"before".to_vec();
        match encode(&value, &options, &mut out) {
            Err(Error::UnsupportedValue { path, .. }) => {
                assert_eq!(path, text(&row, "path"), "{}", row["name"])
            }
            other => panic!("{}: {other:?}", row["name"]),
        }
        assert_eq!(out, b"before");
    }
}

#[test]
fn malformed_entries_give_their_error() {
    let mut wrong = Vec::new();
    for row in rows("malformed.json") {
        let entry = hex_decode(text(&row, "entry")).unwrap();
        let got = match read(&entry, |value| format!("{value:?}")) {
            Ok(value) => format!("the value {value}"),
            Err(error) => error.code().to_owned(),
        };
        if got != text(&row, "error") {
            wrong.push(format!("{}: {got}, not {}", row["name"], row["error"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Bytes of the host tier are trusted to be whole, nothing more.
#[test]
fn trusted_bytes_get_every_check_but_the_checksum() {
    let limits = Limits::default();
    for row in rows("malformed.json") {
        let entry = hex_decode(text(&row, "entry")).unwrap();
        let mut scratch = Vec::new();
        let error = decode_payload(&entry, Verify::Trusted, &limits, &mut scratch).and_then(
            |(header, payload)| decode_value(header.serializer, payload, &limits).map(drop),
        );
        if text(&row, "error") != "checksum_mismatch" {
            assert_eq!(
                error.unwrap_err().code(),
                text(&row, "error"),
                "{}",
                row["name"]
            );
        }
    }
}
