//! `spec/vectors/weights.json`, and the weight of typed values: what a value may weigh is read and written, and
//! what weighs 4 bytes more is not.

#[path = "../examples/write-vectors/generate/mod.rs"]
#[allow(dead_code)]
mod generate;

use polycache_entry::tagged::{hex_decode, read_rows};
use polycache_entry::{
    decode_payload, decode_value, decrypt_payload, deserialize, encode, encode_typed, Compressor,
    Dictionaries, EntryOptions, Error, Limits, Serializer, Structs, Value, Verify,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;

const TOO_LARGE: &str = "value_too_large";
/// The least limit on weights.
const LEAST: u64 = 4 << 20;

fn rows(file: &str) -> Vec<Json> {
    let text = fs::read_to_string(generate::folder().join(file)).unwrap();
    read_rows(&text).unwrap()
}

/// A row's payload, and how it is read.
struct Row {
    name: String,
    serializer: Serializer,
    payload: Vec<u8>,
    limits: Limits,
    error: Option<String>,
}

fn weights() -> Vec<Row> {
    let dictionaries = rows("dictionaries.json");
    let known = |name: &Json| {
        let row = dictionaries.iter().find(|row| row["name"] == *name);
        generate::encrypted::bytes(row.unwrap(), "dictionary")
    };
    rows("weights.json")
        .into_iter()
        .map(|row| {
            let mut limits = Limits::of(row["max_value"].as_u64().unwrap());
            if let Some(names) = row["dictionaries"].as_array() {
                let dictionaries = Dictionaries::new(names.iter().map(known), Compressor::Smart);
                limits.dictionaries = Some(dictionaries.unwrap());
            }
            let mut entry = hex_decode(row["entry"].as_str().unwrap()).unwrap();
            let mut scratch = Vec::new();
            let read = match generate::encrypted::keys(&row) {
                None => decode_payload(&entry, Verify::Checksum, &limits, &mut scratch),
                Some(keys) => {
                    let full_key = generate::encrypted::bytes(&row, "full_key");
                    let keys = keys.of(&full_key, b"");
                    decrypt_payload(&mut entry, Verify::Checksum, &limits, keys, &mut scratch)
                }
            };
            let (header, payload) = read.unwrap();
            assert_eq!(header.serializer.name(), row["serializer"]);
            Row {
                name: row["name"].as_str().unwrap().to_owned(),
                serializer: header.serializer,
                payload: payload.to_vec(),
                limits,
                error: row["error"].as_str().map(str::to_owned),
            }
        })
        .collect()
}

fn code<T>(read: Result<T, Error>) -> Option<String> {
    read.err().map(|error| error.code().to_owned())
}

#[test]
fn a_value_is_read_up_to_the_limit() {
    for row in weights() {
        let read = decode_value(row.serializer, &row.payload, &row.limits);
        assert_eq!(code(read), row.error, "{}", row.name);
    }
}

#[test]
fn a_typed_value_is_read_up_to_the_limit() {
    /// Skips nothing.
    #[derive(Deserialize)]
    struct Every(#[allow(dead_code)] Vec<Value<'static>>);

    for row in weights() {
        let Row {
            serializer,
            payload,
            limits,
            error,
            name,
        } = &row;
        let skipped = deserialize::<IgnoredAny>(*serializer, payload, limits);
        assert_eq!(code(skipped), *error, "{name}, skipped");
        if !name.starts_with("hostile") {
            let read = deserialize::<Every>(*serializer, payload, limits);
            assert_eq!(code(read), *error, "{name}, read");
        }
    }
}

#[test]
fn a_writer_refuses_what_readers_refuse() {
    for row in weights().iter().filter(|row| row.error.is_none()) {
        let value = decode_value(row.serializer, &row.payload, &row.limits).unwrap();
        let Value::List(mut values) = value else {
            panic!("{}: not a list", row.name);
        };
        let at = Value::List(values.clone());
        values.push(Value::Null);
        let above = Value::List(values);
        for compressor in [Compressor::None, Compressor::Zstd { level: 1 }] {
            let options = EntryOptions {
                serializer: row.serializer,
                compressor,
                max_length: row.limits.max_length,
                ..EntryOptions::default()
            };
            let mut out = b"before".to_vec();
            assert_eq!(code(encode(&above, &options, &mut out)), too_large());
            assert_eq!(code(encode_typed(&above, &options, &mut out)), too_large());
            assert_eq!(out, b"before");
            encode(&at, &options, &mut out).unwrap();
            encode_typed(&at, &options, &mut out).unwrap();
        }
    }
}

fn too_large() -> Option<String> {
    Some(TOO_LARGE.to_owned())
}

fn bincode<T>(element: T, weight: u64)
where
    T: Clone + Serialize + for<'de> Deserialize<'de>,
{
    held(Serializer::Bincode, Structs::Maps, element, weight);
}

/// A list of as many elements as this weight of each lets it have is read and written; one with one more is neither.
fn held<T>(serializer: Serializer, structs: Structs, element: T, weight: u64)
where
    T: Clone + Serialize + for<'de> Deserialize<'de>,
{
    let unlimited = EntryOptions {
        serializer,
        structs,
        max_length: u64::MAX,
        ..EntryOptions::default()
    };
    let list = if serializer == Serializer::Bincode {
        20
    } else {
        16
    };
    let count = (LEAST - list) / weight;
    for (count, error) in [(count, None), (count + 1, too_large())] {
        let list = vec![element.clone(); count as usize];
        let mut out = Vec::new();
        encode_typed(&list, &unlimited, &mut out).unwrap();
        let payload = &out[polycache_entry::HEADER_LEN..];
        let limits = Limits::of(LEAST);
        assert!(payload.len() as u64 <= LEAST);
        let read = deserialize::<Vec<T>>(serializer, payload, &limits);
        assert_eq!(code(read), error);
        for compressor in [Compressor::None, Compressor::Zstd { level: 1 }] {
            let options = EntryOptions {
                compressor,
                max_length: LEAST,
                ..unlimited
            };
            out.clear();
            assert_eq!(code(encode_typed(&list, &options, &mut out)), error);
        }
    }
}

#[test]
fn a_type_weighs_what_its_payload_does() {
    #[derive(Clone, Serialize, Deserialize)]
    struct Point {
        x: u8,
        y: u8,
    }
    #[derive(Clone, Serialize, Deserialize)]
    // Short names, because JSON has them in each element.
    enum Variant {
        U,
        N(u8),
        T(u8, u8),
        S { part: u8 },
    }

    for serializer in [Serializer::MessagePack, Serializer::Json] {
        held(serializer, Structs::Maps, Point { x: 1, y: 2 }, 32);
        held(serializer, Structs::Lists, Point { x: 1, y: 2 }, 24);
        held(serializer, Structs::Maps, Variant::U, 4);
        held(serializer, Structs::Maps, Variant::N(1), 24);
        held(serializer, Structs::Maps, Variant::T(1, 2), 44);
        held(serializer, Structs::Maps, Variant::S { part: 1 }, 44);
        held(serializer, Structs::Lists, Variant::S { part: 1 }, 40);
        held(serializer, Structs::Maps, (1u8, Some(2u8)), 24);
        held(
            serializer,
            Structs::Maps,
            BTreeMap::from([("a".to_owned(), 1u8)]),
            24,
        );
    }
    let set = Value::Set(vec![1i64.into(), 2i64.into()]);
    held(Serializer::MessagePack, Structs::Maps, set, 24);
    held(
        Serializer::MessagePack,
        Structs::Maps,
        Value::from(vec![1u8]),
        16,
    );
    let timestamp = Value::Timestamp {
        seconds: 1,
        nanos: 0,
    };
    held(Serializer::MessagePack, Structs::Maps, timestamp, 16);
}

#[test]
fn bincode_is_weighed_by_what_allocates() {
    #[derive(Clone, Serialize, Deserialize)]
    struct Pair(String, String);
    #[derive(Clone, Serialize, Deserialize)]
    struct Named {
        part: String,
    }
    #[derive(Clone, Serialize, Deserialize)]
    enum Variant {
        New(Vec<u8>),
        Struct { part: Vec<u8> },
    }

    /// Serde's bytes, which a list of numbers is not.
    #[derive(Clone)]
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(b"a")
        }
    }
    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            <&[u8]>::deserialize(deserializer).map(|_| Bytes)
        }
    }

    bincode(Vec::<u8>::new(), 16);
    bincode(vec![1u8, 2], 16);
    bincode(vec![Vec::<u8>::new()], 32);
    bincode(BTreeMap::from([(1u8, 2u8)]), 16);
    bincode(BTreeMap::from([(String::new(), 2u8)]), 20);
    bincode(String::from("a"), 4);
    bincode(Bytes, 4);
    bincode(Pair(String::new(), String::new()), 8);
    bincode((String::new(), 1u8), 4);
    bincode(
        Named {
            part: String::new(),
        },
        4,
    );
    bincode(Variant::New(vec![]), 16);
    bincode(Variant::Struct { part: vec![] }, 16);
}

/// A `Vec` of small things takes no more memory than its payload, whatever their number.
#[test]
fn elements_of_bincode_are_not_weighed() {
    let bytes = vec![1u8; 2 * LEAST as usize];
    let options = EntryOptions {
        serializer: Serializer::Bincode,
        max_length: 3 * LEAST,
        ..EntryOptions::default()
    };
    let mut out = Vec::new();
    encode_typed(&bytes, &options, &mut out).unwrap();
    let payload = &out[polycache_entry::HEADER_LEN..];
    let limits = Limits::of(3 * LEAST);
    let read: Vec<u8> = deserialize(Serializer::Bincode, payload, &limits).unwrap();
    assert_eq!(read, bytes);
}
