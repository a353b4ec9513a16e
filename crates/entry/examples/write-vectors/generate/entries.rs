//! `entries.rust.json`: what this crate writes, and what other writers may write.

use super::{bytes::CREATED, folder, foreign, lines};
use polycache_entry::tagged::{self, hex_encode};
use polycache_entry::{encode, Compressor, EntryOptions, Idle, Serializer, Tag};
use serde_json::{json, Value as Json};

pub fn text() -> String {
    let rows = std::fs::read_to_string(folder().join("values.json")).expect("values.json");
    let rows = tagged::read_rows(&rows).expect("values.json is rows");
    let mut lines_of_file = Vec::new();
    for row in &rows {
        for serializer in row["serializers"].as_array().expect("serializers") {
            let serializer = serializer.as_str().expect("a name");
            for (name, compressor) in COMPRESSORS {
                let options = EntryOptions {
                    serializer: Serializer::from_name(serializer).expect("a serializer"),
                    compressor,
                    created: CREATED,
                    ..EntryOptions::default()
                };
                let title = format!(
                    "{}, {serializer}, {name}",
                    row["name"].as_str().expect("name")
                );
                lines_of_file.push(written(&title, &row["value"], &options));
            }
        }
    }
    for (title, options) in options() {
        lines_of_file.push(written(title, &json!("a value"), &options));
    }
    lines_of_file.extend(foreign::rows().into_iter().map(
        |(name, serializer, compressor, entry, value)| {
            let options = EntryOptions {
                created: CREATED,
                ..EntryOptions::default()
            };
            line(&name, &entry, serializer, compressor, &options, &value)
        },
    ));
    lines(lines_of_file.into_iter())
}

const COMPRESSORS: [(&str, Compressor); 3] = [
    ("none", Compressor::None),
    ("zstd 1", Compressor::Zstd { level: 1 }),
    ("zstd 19", Compressor::Zstd { level: 19 }),
];

fn options() -> Vec<(&'static str, EntryOptions<'static>)> {
    const USERS: Tag<'_> = Tag {
        name: "users",
        generation: 7,
    };
    const MANY: &[Tag<'_>] = &[
        USERS,
        Tag {
            name: "",
            generation: 0,
        },
        Tag {
            name: "shop:é",
            generation: u64::MAX,
        },
    ];
    let plain = EntryOptions {
        created: CREATED,
        ..EntryOptions::default()
    };
    let all = EntryOptions {
        expires: CREATED + 60_000,
        fresh_until: Some(CREATED + 30_000),
        tags: MANY,
        ..plain
    };
    let zstd = Compressor::Zstd { level: 3 };
    vec![
        (
            "expires",
            EntryOptions {
                expires: CREATED + 60_000,
                ..plain
            },
        ),
        (
            "created and expires at the end of time",
            EntryOptions {
                created: (1 << 48) - 1,
                expires: (1 << 48) - 1,
                ..plain
            },
        ),
        (
            "created at the beginning of time",
            EntryOptions {
                created: 0,
                ..plain
            },
        ),
        (
            "fresh until",
            EntryOptions {
                fresh_until: Some(CREATED + 30_000),
                ..plain
            },
        ),
        (
            "fresh until 0",
            EntryOptions {
                fresh_until: Some(0),
                ..plain
            },
        ),
        (
            "one tag",
            EntryOptions {
                tags: &MANY[..1],
                ..plain
            },
        ),
        (
            "three tags",
            EntryOptions {
                tags: MANY,
                ..plain
            },
        ),
        (
            "time to idle",
            EntryOptions {
                time_to_idle: 8_000,
                ..plain
            },
        ),
        (
            "time to idle, and a time to live that ends first",
            EntryOptions {
                time_to_idle: 8_000,
                expires: CREATED + 8_999,
                ..plain
            },
        ),
        (
            "the longest time to idle",
            EntryOptions {
                time_to_idle: (1 << 48) - 1,
                ..plain
            },
        ),
        (
            "everything and a time to idle",
            EntryOptions {
                time_to_idle: 7,
                ..all
            },
        ),
        (
            "everything and a time to idle, zstd 3",
            EntryOptions {
                time_to_idle: 7,
                compressor: zstd,
                ..all
            },
        ),
        ("everything", all),
        (
            "everything, zstd 3",
            EntryOptions {
                compressor: zstd,
                ..all
            },
        ),
    ]
}

fn written(name: &str, value: &Json, options: &EntryOptions<'_>) -> String {
    let mut entry = Vec::new();
    let decoded = tagged::from_json(value).expect("a tagged value");
    encode(&decoded, options, &mut entry).expect("values.json has only what the serializer takes");
    let compressor = match options.compressor {
        Compressor::None => "none",
        Compressor::Zstd { .. } | Compressor::Smart => "zstd",
    };
    line(
        name,
        &entry,
        options.serializer.name(),
        compressor,
        options,
        value,
    )
}

fn line(
    name: &str,
    entry: &[u8],
    serializer: &str,
    compressor: &str,
    options: &EntryOptions<'_>,
    value: &Json,
) -> String {
    let tags = options.tags.iter();
    let tags = tags.map(|tag| json!([tag.name, tag.generation.to_string()]));
    let (time, ends) = (options.time_to_idle, options.expires);
    let (expires, idle) = match time {
        0 => (ends, String::new()),
        _ => (
            Idle { time, ends }.expires(options.created),
            format!(r#""time_to_idle":{time},"ends":{ends},"#),
        ),
    };
    format!(
        r#"{{"name":{},"entry":"{}","serializer":"{serializer}","compressor":"{compressor}","created":{},"expires":{expires},{idle}"fresh_until":{},"tags":{},"value":{value}}}"#,
        json!(name),
        hex_encode(entry),
        options.created,
        json!(options.fresh_until),
        json!(tags.collect::<Vec<_>>()),
    )
}
