//! `encrypted.rust.json` and `encrypted_malformed.json`. Nonces are random, so the text differs each
//! time: they are written only on request, and tests decrypt the committed files.

use super::bytes::{plain, seal, Raw, CREATED};
use super::{folder, lines};
use polycache_entry::tagged::{from_json, hex_decode, hex_encode, read_rows};
use polycache_entry::{encode, Compressor, Encryption, EntryOptions, Serializer, Tag, Value};
use serde_json::{json, Value as Json};

/// Name and text of each file.
#[allow(dead_code)] // The tests read what is committed.
pub fn files() -> [(&'static str, String); 2] {
    [
        ("encrypted.rust.json", text()),
        ("encrypted_malformed.json", malformed()),
    ]
}

/// The rows of `encryption.json`.
pub fn recipes() -> Vec<Json> {
    let rows = std::fs::read_to_string(folder().join("encryption.json")).expect("encryption.json");
    read_rows(&rows).expect("encryption.json is rows")
}

/// The keys of a row, which may have none.
pub fn keys(row: &Json) -> Option<Encryption> {
    let keys = row["encryption"].as_array()?.iter().map(|one| {
        let id = one["id"].as_u64().expect("an id");
        (u32::try_from(id).expect("an id"), bytes(one, "key"))
    });
    Some(Encryption::new(keys).expect("keys"))
}

/// Bytes of a field in hex.
pub fn bytes(row: &Json, field: &str) -> Vec<u8> {
    hex_decode(row[field].as_str().expect("hex")).expect("hex")
}

/// The entry that a recipe asks for.
pub fn written(row: &Json) -> Vec<u8> {
    let text = |field: &str| row[field].as_str().expect("text");
    let number = |field: &str| row[field].as_u64().expect("a number");
    let (keys, full_key) = (keys(row).expect("keys"), bytes(row, "full_key"));
    let tags = row["tags"].as_array().expect("tags").iter();
    let tags: Vec<_> = tags
        .map(|tag| Tag {
            name: tag[0].as_str().expect("a tag"),
            generation: tag[1]
                .as_str()
                .and_then(|text| text.parse().ok())
                .expect("a generation"),
        })
        .collect();
    let options = EntryOptions {
        serializer: Serializer::from_name(text("serializer")).expect("a serializer"),
        compressor: match text("compressor") {
            "none" => Compressor::None,
            _ => Compressor::Zstd { level: 3 },
        },
        created: number("created"),
        expires: number("expires"),
        fresh_until: row["fresh_until"].as_u64(),
        tags: &tags,
        encryption: Some(keys.of(&full_key, b"")),
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    let value = from_json(&row["value"]).expect("a tagged value");
    encode(&value, &options, &mut entry).expect("the serializer takes the value");
    entry
}

fn text() -> String {
    lines(recipes().into_iter().map(|mut row| {
        row["entry"] = json!(hex_encode(&written(&row)));
        row.to_string()
    }))
}

const MALFORMED: &str = "malformed_entry";
const NOT_ENCRYPTED: &str = "not_encrypted";
const UNKNOWN_KEY: &str = "unknown_encryption_key";
const FAILED: &str = "decryption_failed";

const KEY: [u8; 32] = [1; 32];
const OTHER: [u8; 32] = [2; 32];
const FULL_KEY: &[u8] = b"shop::user:1";
/// Offsets of the fields of the entries below: FRESH_UNTIL, LENGTH, one TAGS, ENCRYPTION.
const LENGTH_AT: usize = 32;
const TAG_AT: usize = 44;
const ID_AT: usize = 53;
const NONCE_AT: usize = 57;
const PAYLOAD_AT: usize = 69;

struct Rows(Vec<String>);

impl Rows {
    fn add(
        &mut self,
        name: &str,
        keys: &[(u32, [u8; 32])],
        full_key: &[u8],
        entry: &[u8],
        error: &str,
    ) {
        let keys = keys
            .iter()
            .map(|(id, key)| json!({"id": id, "key": hex_encode(key)}));
        let keys: Vec<_> = keys.collect();
        let keys = if keys.is_empty() {
            Json::Null
        } else {
            json!(keys)
        };
        self.0.push(format!(
            r#"{{"name":{},"encryption":{keys},"full_key":"{}","entry":"{}","error":"{error}"}}"#,
            json!(name),
            hex_encode(full_key),
            hex_encode(entry),
        ));
    }

    /// An entry under the key 1 that was changed afterwards, with a correct checksum.
    fn changed(&mut self, name: &str, error: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut entry = whole();
        change(&mut entry);
        seal(&mut entry);
        self.add(name, &[(1, KEY), (2, OTHER)], FULL_KEY, &entry, error);
    }
}

/// An entry with every field.
fn whole() -> Vec<u8> {
    let keys = Encryption::new([(1, KEY)]).expect("a key");
    let options = EntryOptions {
        compressor: Compressor::Zstd { level: 3 },
        created: CREATED,
        expires: CREATED + 60_000,
        fresh_until: Some(CREATED + 30_000),
        tags: &[Tag {
            name: "a",
            generation: 7,
        }],
        encryption: Some(keys.of(FULL_KEY, b"")),
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    let value = Value::from("to be or not to be; ".repeat(10));
    encode(&value, &options, &mut entry).expect("an entry");
    assert_eq!(entry[22], PAYLOAD_AT as u8);
    entry
}

fn malformed() -> String {
    let mut rows = Rows(Vec::new());
    let flip = |at: usize| move |entry: &mut Vec<u8>| entry[at] ^= 1;
    rows.changed("the tag: first byte", FAILED, |entry| {
        let at = entry.len() - 16;
        entry[at] ^= 1;
    });
    rows.changed("the tag: last byte", FAILED, |entry| {
        let at = entry.len() - 1;
        entry[at] ^= 0x80;
    });
    rows.changed("the tag: all zeros", FAILED, |entry| {
        let at = entry.len() - 16;
        entry[at..].fill(0);
    });
    rows.changed("the payload: first byte", FAILED, flip(PAYLOAD_AT));
    rows.changed("the payload: one byte less", FAILED, |entry| {
        entry.pop();
    });
    rows.changed("the payload: one byte more", FAILED, |entry| entry.push(0));
    rows.changed("the payload: a tag and nothing else", FAILED, |entry| {
        entry.truncate(PAYLOAD_AT + 16);
    });
    rows.changed("the payload: less than a tag", MALFORMED, |entry| {
        entry.truncate(PAYLOAD_AT + 15);
    });
    rows.changed("the payload: none", MALFORMED, |entry| {
        entry.truncate(PAYLOAD_AT)
    });
    rows.changed("the serializer", FAILED, |entry| entry[2] = 1);
    rows.changed("created", FAILED, flip(8));
    rows.changed("expires: later", FAILED, |entry| entry[20] += 1);
    rows.changed("expires: never", FAILED, |entry| entry[16..22].fill(0));
    rows.changed("fresh until", FAILED, flip(24));
    rows.changed("LENGTH", FAILED, flip(LENGTH_AT));
    rows.changed("LENGTH: beyond the limit", "value_too_large", |entry| {
        entry[LENGTH_AT + 7] = 1;
    });
    rows.changed("a tag's name", FAILED, flip(TAG_AT));
    rows.changed("a tag's generation", FAILED, flip(TAG_AT + 1));
    rows.changed("the key's id: another one that is there", FAILED, |entry| {
        entry[ID_AT] = 2
    });
    rows.changed("the key's id: none that is there", UNKNOWN_KEY, |entry| {
        entry[ID_AT] = 3
    });
    rows.changed("the key's id: its highest byte", UNKNOWN_KEY, |entry| {
        entry[ID_AT + 3] = 1
    });
    rows.changed("the nonce", FAILED, flip(NONCE_AT));
    rows.changed("the compressor", MALFORMED, |entry| entry[3] = 0);
    rows.changed("compressor and LENGTH taken away", FAILED, |entry| {
        entry[3] = 0;
        entry[14] &= !2;
        entry.drain(LENGTH_AT..LENGTH_AT + 8);
        entry[22] -= 8;
    });
    rows.changed("fresh until taken away", FAILED, |entry| {
        entry[14] &= !1;
        entry.drain(24..32);
        entry[22] -= 8;
    });
    rows.changed("an unknown flag", "unsupported_flags", |entry| {
        entry[14] |= 32
    });
    rows.changed("ENCRYPTION: the flag taken away", MALFORMED, |entry| {
        entry[14] &= !8
    });
    rows.changed(
        "ENCRYPTION: flag and field taken away",
        NOT_ENCRYPTED,
        |entry| {
            entry[14] &= !8;
            entry.drain(ID_AT..PAYLOAD_AT);
            entry[22] -= 16;
        },
    );
    rows.changed(
        "ENCRYPTION: header_len ends within the nonce",
        MALFORMED,
        |entry| {
            entry[22] -= 1;
        },
    );

    let both = [(1, KEY), (2, OTHER)];
    let mut damaged = whole();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    rows.add(
        "the checksum comes first",
        &both,
        FULL_KEY,
        &damaged,
        "checksum_mismatch",
    );
    rows.add(
        "moved to another key",
        &both,
        b"shop::user:2",
        &whole(),
        FAILED,
    );
    rows.add(
        "moved to a longer key",
        &both,
        b"shop::user:10",
        &whole(),
        FAILED,
    );
    rows.add(
        "moved to another namespace",
        &both,
        b"shops::user:1",
        &whole(),
        FAILED,
    );
    rows.add(
        "moved out of the namespace",
        &both,
        b"::user:1",
        &whole(),
        FAILED,
    );
    rows.add(
        "another key under the same id",
        &[(1, OTHER)],
        FULL_KEY,
        &whole(),
        FAILED,
    );
    rows.add(
        "only another key is there",
        &[(2, OTHER)],
        FULL_KEY,
        &whole(),
        UNKNOWN_KEY,
    );
    rows.add(
        "encryption is not configured",
        &[],
        FULL_KEY,
        &whole(),
        UNKNOWN_KEY,
    );
    rows.add(
        "a plain entry",
        &both,
        FULL_KEY,
        &plain(3, &[0xC0]),
        NOT_ENCRYPTED,
    );
    rows.add(
        "a plain entry of no bytes",
        &both,
        FULL_KEY,
        &plain(0, &[]),
        NOT_ENCRYPTED,
    );
    let flagged = Raw {
        flags: 8,
        ..Raw::default()
    };
    rows.add(
        "a plain entry with the flag",
        &both,
        FULL_KEY,
        &flagged.bytes(),
        MALFORMED,
    );
    let zeros = Raw {
        flags: 8,
        fields: [&1u32.to_le_bytes()[..], &[0; 12]].concat(),
        payload: vec![0; 17],
        ..Raw::default()
    };
    rows.add("made of zeros", &both, FULL_KEY, &zeros.bytes(), FAILED);
    lines(rows.0.into_iter())
}
