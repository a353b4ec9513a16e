//! `dictionaries.json` and `dictionary_entries.json`. Another version of zstd may train and compress
//! differently, so they are written only on request, and tests read the committed files.

use super::bytes::{seal, CREATED};
use super::lines;
use polycache_entry::tagged::{hex_encode, to_json};
use polycache_entry::{
    encode, train, Compressor, Dictionaries, EntryOptions, Serializer, Tag, Value,
};
use serde_json::{json, Value as Json};

const MALFORMED: &str = "malformed_entry";
const UNKNOWN: &str = "unknown_dictionary";
/// Offset of the frame after a header with LENGTH, and of its descriptor.
const PAYLOAD_AT: usize = 32;
const DESCRIPTOR_AT: usize = PAYLOAD_AT + 4;
/// Offset of the id in a frame with a single segment: no window size precedes it.
const ID_AT: usize = DESCRIPTOR_AT + 1;

fn user(id: u32) -> Value<'static> {
    let city = ["Aachen", "Bern", "Chur", "Delft"][id as usize % 4];
    Value::Map(vec![
        ("id".into(), Value::from(i64::from(id))),
        (
            "name".into(),
            Value::from(format!("user {}", id * 7 % 1000)),
        ),
        ("city".into(), Value::from(city)),
        (
            "roles".into(),
            Value::List(vec!["reader".into(), "writer".into()]),
        ),
        ("active".into(), Value::from(id % 3 != 0)),
    ])
}

fn trained(serializer: Serializer) -> Vec<u8> {
    let samples: Vec<Vec<u8>> = (0..400)
        .map(|id| {
            let options = EntryOptions {
                serializer,
                ..EntryOptions::default()
            };
            let mut entry = Vec::new();
            encode(&user(id), &options, &mut entry).expect("a user");
            entry.split_off(24)
        })
        .collect();
    train(&samples, 512).expect("a dictionary")
}

/// Name and bytes: two that were trained, and one that pretends to be the first.
fn dictionaries() -> [(&'static str, Vec<u8>); 3] {
    let (first, second) = (trained(Serializer::MessagePack), trained(Serializer::Json));
    let mut impostor = second.clone();
    impostor[4..8].copy_from_slice(&first[4..8]);
    [("first", first), ("second", second), ("impostor", impostor)]
}

/// Name and text of each file.
#[allow(dead_code)] // The tests read what is committed.
pub fn files() -> [(&'static str, String); 2] {
    let all = dictionaries();
    let texts = all
        .iter()
        .map(|(name, bytes)| json!({"name": name, "dictionary": hex_encode(bytes)}).to_string());
    [
        ("dictionaries.json", lines(texts)),
        ("dictionary_entries.json", entries(&all)),
    ]
}

fn entry(value: &Value<'_>, dictionary: Option<&[u8]>, options: EntryOptions<'_>) -> Vec<u8> {
    let dictionaries =
        dictionary.map(|one| Dictionaries::new([one], options.compressor).expect("a dictionary"));
    let options = EntryOptions {
        created: CREATED,
        dictionaries: dictionaries.as_ref(),
        ..options
    };
    let mut entry = Vec::new();
    encode(value, &options, &mut entry).expect("an entry");
    entry
}

fn entries(all: &[(&'static str, Vec<u8>)]) -> String {
    let (first, second) = (all[0].1.as_slice(), all[1].1.as_slice());
    let zstd = EntryOptions {
        compressor: Compressor::Zstd { level: 3 },
        ..EntryOptions::default()
    };
    let mut rows = Vec::new();
    let mut add = |name: &str, configured: &[&str], entry: &[u8], outcome: Json| {
        let mut row = json!({"name": name, "dictionaries": configured, "entry": hex_encode(entry)});
        let fields = row.as_object_mut().expect("an object");
        fields.extend(outcome.as_object().expect("an object").clone());
        rows.push(row.to_string());
    };
    let value = |value: &Value<'_>| json!({"value": to_json(value)});
    let error = |code: &str| json!({"error": code});
    let one = user(1001);
    let whole = entry(&one, Some(first), zstd);

    add("by the first", &["first"], &whole, value(&one));
    add(
        "by one that only reads",
        &["second", "first"],
        &whole,
        value(&one),
    );
    let json_of = EntryOptions {
        serializer: Serializer::Json,
        ..zstd
    };
    let by_second = entry(&one, Some(second), json_of);
    add(
        "JSON by the second",
        &["first", "second"],
        &by_second,
        value(&one),
    );
    let smart = EntryOptions {
        compressor: Compressor::Smart,
        ..zstd
    };
    add(
        "smart",
        &["first"],
        &entry(&one, Some(first), smart),
        value(&one),
    );
    let best = EntryOptions {
        compressor: Compressor::Zstd { level: 19 },
        expires: CREATED + 60_000,
        fresh_until: Some(CREATED + 30_000),
        tags: &[Tag {
            name: "users",
            generation: 7,
        }],
        ..zstd
    };
    add(
        "level 19, every field",
        &["first"],
        &entry(&one, Some(first), best),
        value(&one),
    );
    let empty = Value::from("");
    add(
        "an empty text",
        &["first"],
        &entry(&empty, Some(first), zstd),
        value(&empty),
    );
    let long = entry(
        &"to be or not to be; ".repeat(10_000).into(),
        Some(first),
        zstd,
    );
    let shown = json!({"value": {"repeat": ["to be or not to be; ", 10_000]}});
    add("more than one block", &["first"], &long, shown);
    add(
        "a frame without a dictionary",
        &["first"],
        &entry(&one, None, zstd),
        value(&one),
    );
    let plain = entry(&one, None, EntryOptions::default());
    add("not compressed", &["first"], &plain, value(&one));

    add(
        "another dictionary is configured",
        &["second"],
        &whole,
        error(UNKNOWN),
    );
    add("none is configured", &[], &whole, error(UNKNOWN));
    add(
        "another one under the same id",
        &["impostor"],
        &whole,
        error(MALFORMED),
    );
    let mut changed = |name: &str, code: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut entry = whole.clone();
        change(&mut entry);
        seal(&mut entry);
        add(name, &["first", "second"], &entry, error(code));
    };
    changed("the id: another one", UNKNOWN, &|entry| entry[ID_AT] ^= 1);
    changed("the id: 0", MALFORMED, &|entry| {
        entry[ID_AT..ID_AT + 4].fill(0)
    });
    changed("the id: taken away", MALFORMED, &|entry| {
        entry[DESCRIPTOR_AT] &= !3;
        entry.drain(ID_AT..ID_AT + 4);
    });
    changed("the id: the other dictionary's", MALFORMED, &|entry| {
        entry[ID_AT..ID_AT + 4].copy_from_slice(&second[4..8]);
    });
    changed("no checksum of the content", MALFORMED, &|entry| {
        entry[DESCRIPTOR_AT] &= !4;
        entry.truncate(entry.len() - 4);
    });
    changed("a wrong checksum of the content", MALFORMED, &|entry| {
        *entry.last_mut().expect("bytes") ^= 1;
    });
    changed("cut within the block", MALFORMED, &|entry| {
        entry.truncate(entry.len() - 6)
    });
    changed("cut within the id", MALFORMED, &|entry| {
        entry.truncate(ID_AT + 2)
    });
    changed("a byte behind it", MALFORMED, &|entry| entry.push(0));
    changed("LENGTH: one less", MALFORMED, &|entry| entry[24] -= 1);
    changed("LENGTH: one more", MALFORMED, &|entry| entry[24] += 1);
    changed("LENGTH: beyond the limit", "value_too_large", &|entry| {
        entry[31] = 1
    });
    lines(rows.into_iter())
}
