//! A serde type directly to bytes and back: the same as by way of a `Value`, or better.

mod support;

use polycache_entry::tagged::{from_json, read_rows, to_json};
use polycache_entry::{
    decode_payload, decode_value, deserialize, encode, encode_typed, from_value, serialize,
    to_value, Compressor, EntryOptions, Error, Serializer, Structs, Value, Verify,
};
use proptest::prelude::*;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use support::{read, refused, written, Tree, FORMATS, LIMITS};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Thing {
    flag: bool,
    small: i8,
    wide: i64,
    unsigned: u64,
    huge: i128,
    float: f64,
    single: f32,
    letter: char,
    text: String,
    maybe: Option<u32>,
    nothing: (),
    unit: Unit,
    pair: (u8, String),
    list: Vec<Shape>,
    map: BTreeMap<String, Wrapped>,
    kinds: BTreeMap<Kind, i32>,
    marks: BTreeSet<u16>,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(i32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Kind {
    One,
    Two,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f32),
    Line(i32, i32),
    Box { width: u32, name: Option<String> },
    Tag(Unit),
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Point),
        (-1e6f32..1e6).prop_map(Shape::Circle),
        any::<(i32, i32)>().prop_map(|(x, y)| Shape::Line(x, y)),
        any::<(u32, Option<String>)>().prop_map(|(width, name)| Shape::Box { width, name }),
        Just(Shape::Tag(Unit)),
    ]
}

fn things() -> impl Strategy<Value = Thing> {
    const SAFE: i64 = (1 << 53) - 1;
    let numbers = (
        any::<(bool, i8)>(),
        -SAFE..=SAFE,
        0..=SAFE as u64,
        -SAFE..=SAFE,
    );
    let texts = (any::<char>(), any::<String>(), any::<(u8, String)>());
    let lists = (
        prop::collection::vec(shapes(), 0..20),
        prop::collection::btree_map(any::<String>(), any::<i32>().prop_map(Wrapped), 0..20),
        prop::collection::btree_map(
            prop_oneof![Just(Kind::One), Just(Kind::Two)],
            any::<i32>(),
            0..3,
        ),
        prop::collection::btree_set(any::<u16>(), 0..5),
        prop::collection::btree_map("[A-Z]{1,3}", any::<u8>(), 0..5),
    );
    let rest = (-1e300..1e300f64, -1e30..1e30f32, any::<Option<u32>>());
    (numbers, texts, lists, rest).prop_map(|(numbers, texts, lists, rest)| Thing {
        flag: numbers.0 .0,
        small: numbers.0 .1,
        wide: numbers.1,
        unsigned: numbers.2,
        huge: numbers.3.into(),
        float: rest.0,
        single: rest.1,
        letter: texts.0,
        text: texts.1,
        maybe: rest.2,
        nothing: (),
        unit: Unit,
        pair: texts.2,
        list: lists.0,
        map: lists.1,
        kinds: lists.2,
        marks: lists.3,
        rest: lists.4,
    })
}

/// The result with a `Value` in between.
fn by_value<T: Serialize>(value: &T, serializer: Serializer) -> Vec<u8> {
    let (mut entry, mut scratch) = (Vec::new(), Vec::new());
    let options = EntryOptions {
        serializer,
        ..EntryOptions::default()
    };
    encode(&to_value(value).unwrap(), &options, &mut entry).unwrap();
    let (_, payload) = decode_payload(&entry, Verify::Checksum, &LIMITS, &mut scratch).unwrap();
    payload.to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_bytes_are_those_of_a_value(thing in things()) {
        for serializer in FORMATS {
            let bytes = written(&thing, serializer);
            prop_assert_eq!(&bytes, &by_value(&thing, serializer));
            prop_assert_eq!(&read::<Thing>(&bytes, serializer).unwrap(), &thing);
            let value = decode_value(serializer, &bytes, &LIMITS).unwrap();
            prop_assert_eq!(&from_value::<Thing>(value).unwrap(), &thing);
        }
    }

    #[test]
    fn a_whole_entry_comes_back(thing in things(), level in 0..3i32) {
        for serializer in FORMATS {
            let compressor = match level {
                0 => Compressor::None,
                level => Compressor::Zstd { level },
            };
            let options = EntryOptions { serializer, compressor, ..EntryOptions::default() };
            let (mut entry, mut scratch) = (Vec::new(), Vec::new());
            encode_typed(&thing, &options, &mut entry).unwrap();
            let (header, payload) =
                decode_payload(&entry, Verify::Checksum, &LIMITS, &mut scratch).unwrap();
            prop_assert_eq!(&read::<Thing>(payload, header.serializer).unwrap(), &thing);
        }
    }

    /// Damaged bytes: an error, or the same as by way of a `Value`.
    #[test]
    fn hostile_bytes_are_no_more_than_by_a_value(
        thing in things(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        for serializer in FORMATS {
            let mut bytes = written(&thing, serializer);
            let place = place.index(bytes.len());
            bytes[place] = byte;
            for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
                let slow = decode_value(serializer, bytes, &LIMITS).and_then(from_value::<Thing>);
                match (read::<Thing>(bytes, serializer), slow) {
                    // Printed, because a damaged float may be NaN.
                    (Ok(quick), Ok(slow)) => {
                        prop_assert_eq!(format!("{quick:?}"), format!("{slow:?}"))
                    }
                    (Err(quick), Err(slow)) => prop_assert_eq!(quick, slow),
                    // Two keys that damage made equal, and unknown fields of JSON.
                    (Ok(_), Err(_)) => prop_assert_eq!(serializer, Serializer::Json),
                    (Err(error), Ok(_)) => prop_assert!(false, "{error}"),
                }
            }
        }
    }

    #[test]
    fn arbitrary_bytes_give_a_value_or_a_typed_error(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        for serializer in Serializer::ALL {
            let _ = read::<Thing>(&bytes, serializer);
            let _ = read::<Vec<Value<'static>>>(&bytes, serializer);
            let _ = read::<Tree>(&bytes, serializer);
            let _ = read::<HashMap<String, serde::de::IgnoredAny>>(&bytes, serializer);
        }
    }
}

#[test]
fn every_row_is_itself() {
    for row in read_rows(include_str!("../../../spec/vectors/values.json")).unwrap() {
        let value = from_json(&row["value"]).unwrap();
        for serializer in row["serializers"].as_array().unwrap() {
            let serializer = Serializer::from_name(serializer.as_str().unwrap()).unwrap();
            let options = EntryOptions {
                serializer,
                ..EntryOptions::default()
            };
            let (mut plain, mut typed) = (Vec::new(), Vec::new());
            encode(&value, &options, &mut plain).unwrap();
            encode_typed(&value, &options, &mut typed).unwrap();
            assert_eq!(typed, plain, "{}", row["name"]);
            let mut scratch = Vec::new();
            let (_, payload) =
                decode_payload(&typed, Verify::Checksum, &LIMITS, &mut scratch).unwrap();
            let expected = decode_value(serializer, payload, &LIMITS).unwrap();
            let back: Value<'static> = read(payload, serializer).unwrap();
            assert_eq!(to_json(&back), to_json(&expected), "{}", row["name"]);
        }
    }
}

#[test]
fn numbers_have_the_format_s_width() {
    assert_eq!(
        written(&1.5f32, Serializer::MessagePack),
        written(&1.5f64, Serializer::MessagePack)
    );
    assert_eq!(
        written(&0.1f32, Serializer::Json),
        written(&f64::from(0.1f32), Serializer::Json)
    );
    for value in [
        0i128,
        127,
        128,
        255,
        256,
        65_535,
        65_536,
        1 << 32,
        -1,
        -32,
        -33,
        -129,
        1 << 63,
    ] {
        let narrow = written(&Value::integer(value), Serializer::MessagePack);
        assert_eq!(written(&value, Serializer::MessagePack), narrow, "{value}");
        if let Ok(value) = i64::try_from(value) {
            assert_eq!(written(&value, Serializer::MessagePack), narrow, "{value}");
        }
        if let Ok(value) = u64::try_from(value) {
            assert_eq!(written(&value, Serializer::MessagePack), narrow, "{value}");
        }
    }
    let big = written(&u128::MAX, Serializer::MessagePack);
    assert_eq!(
        read::<u128>(&big, Serializer::MessagePack).unwrap(),
        u128::MAX
    );
}

/// Serde allows a caller not to know a length, or to give a wrong one.
#[test]
fn lengths_are_counted() {
    struct Count(Option<usize>, usize);
    impl Serialize for Count {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut list = serializer.serialize_seq(self.0)?;
            for number in 0..self.1 {
                list.serialize_element(&BTreeMap::from([("n", number)]))?;
            }
            list.end()
        }
    }
    struct CountMap(Option<usize>, usize);
    impl Serialize for CountMap {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(self.0)?;
            for number in 0..self.1 {
                map.serialize_entry(&format!("{number}"), &Count(None, 1))?;
            }
            map.end()
        }
    }
    for serializer in FORMATS {
        for count in [0, 1, 15, 16, 17, 65_535, 65_536] {
            let right = written(&Count(Some(count), count), serializer);
            assert_eq!(
                read::<Vec<Value<'static>>>(&right, serializer)
                    .unwrap()
                    .len(),
                count
            );
            for said in [None, Some(0), Some(20), Some(70_000)] {
                assert_eq!(written(&Count(said, count), serializer), right);
            }
        }
        let right = written(&CountMap(Some(20), 20), serializer);
        for said in [None, Some(0), Some(70_000)] {
            assert_eq!(written(&CountMap(said, 20), serializer), right);
        }
    }
}

#[test]
fn structs_can_be_lists() {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Outer {
        id: u8,
        inner: Vec<Shape>,
    }
    let outer = Outer {
        id: 7,
        inner: vec![
            Shape::Box {
                width: 1,
                name: None,
            },
            Shape::Point,
        ],
    };
    for serializer in FORMATS {
        let mut lists = Vec::new();
        serialize(&outer, serializer, Structs::Lists, &mut lists).unwrap();
        assert_eq!(read::<Outer>(&lists, serializer).unwrap(), outer);
        let value = decode_value(serializer, &lists, &LIMITS).unwrap();
        assert!(matches!(value, Value::List(_)), "{value:?}");
        if serializer == Serializer::MessagePack {
            assert_eq!(lists, rmp_serde::to_vec(&outer).unwrap());
        }
    }

    #[derive(Serialize)]
    struct Sparse {
        #[serde(skip_serializing_if = "Option::is_none")]
        first: Option<u8>,
        second: u8,
    }
    let sparse = Sparse {
        first: None,
        second: 2,
    };
    let mut out = Vec::new();
    let error = serialize(&[sparse], Serializer::MessagePack, Structs::Lists, &mut out);
    match error.unwrap_err() {
        Error::UnsupportedValue { path, .. } => assert_eq!(path, "$[0].first"),
        other => panic!("{other}"),
    }
    let sparse = Sparse {
        first: None,
        second: 2,
    };
    assert_eq!(written(&sparse, Serializer::Json), b"{\"second\":2}");
}

#[test]
fn json_is_human_readable_and_messagepack_is_not() {
    let address: IpAddr = "127.0.0.1".parse().unwrap();
    assert_eq!(written(&address, Serializer::Json), b"\"127.0.0.1\"");
    for serializer in FORMATS {
        let bytes = written(&vec![address], serializer);
        assert_eq!(read::<Vec<IpAddr>>(&bytes, serializer).unwrap(), [address]);
        // By way of a value, because of a repeated key.
        let twice: &[u8] = match serializer {
            Serializer::Json => br#"{"a":"10.0.0.1","a":"127.0.0.1"}"#,
            _ => b"\x82\xA1a\x81\xA2V4\x94\x0A\x00\x00\x01\xA1a\x81\xA2V4\x94\x7F\x00\x00\x01",
        };
        #[derive(Deserialize)]
        struct Host {
            a: IpAddr,
        }
        assert_eq!(read::<Host>(twice, serializer).unwrap().a, address);
    }
}

/// What JavaScript writes for 2^60 is not that integer, but the shortest text of the float.
#[test]
fn json_integers_beyond_the_safe_range_are_floats() {
    let json = b"[1152921504606847000]";
    assert_eq!(
        read::<[f64; 1]>(json, Serializer::Json).unwrap(),
        [(1u64 << 60) as f64]
    );
    match read::<[u64; 1]>(json, Serializer::Json).unwrap_err() {
        Error::WrongType { path, .. } => assert_eq!(path, "$[0]"),
        other => panic!("{other}"),
    }
    let value: Vec<Value<'static>> = read(json, Serializer::Json).unwrap();
    assert_eq!(value, [Value::Float((1u64 << 60) as f64)]);
}

#[test]
fn rows_of_other_languages_read_as_the_nearest_type() {
    let read = |value: Value<'_>| written(&value, Serializer::MessagePack);
    let messagepack = Serializer::MessagePack;
    let set = read(Value::Set(vec!["a".into(), "b".into()]));
    let texts: BTreeSet<String> = deserialize(messagepack, &set, &LIMITS).unwrap();
    assert_eq!(Vec::from_iter(texts), ["a", "b"]);
    let decimal = read(Value::Decimal("1.50".into()));
    assert_eq!(
        deserialize::<String>(messagepack, &decimal, &LIMITS).unwrap(),
        "1.50"
    );
    let big = read(Value::BigInt(u128::MAX.to_string().into()));
    assert_eq!(
        deserialize::<u128>(messagepack, &big, &LIMITS).unwrap(),
        u128::MAX
    );
    let bytes = read(Value::from(vec![0u8, 255]));
    assert_eq!(
        deserialize::<Vec<u8>>(messagepack, &bytes, &LIMITS).unwrap(),
        [0, 255]
    );
    let maybe: Option<Vec<String>> = deserialize(messagepack, &set, &LIMITS).unwrap();
    assert_eq!(maybe.unwrap().len(), 2);
}

#[test]
fn text_and_bytes_take_their_type() {
    assert_eq!(written("text", Serializer::Text), b"text");
    assert_eq!(read::<String>(b"text", Serializer::Text).unwrap(), "text");
    assert_eq!(
        read::<Vec<u8>>(b"\x00\xFF", Serializer::Bytes).unwrap(),
        [0, 255]
    );
    assert_eq!(refused(&1, Serializer::Text).0, "$");
    assert_eq!(refused("text", Serializer::Bytes).0, "$");
}

#[test]
fn text_is_json_as_serde_json_writes_it_wherever_its_escapes_are() {
    // Around what is escaped, and of more than a byte; lengths around what is looked at in one go.
    let letters = [
        "\u{1f}", " ", "!", "\"", "#", "[", "\\", "]", "\u{7f}", "\u{80}", "é", "\0",
    ];
    for length in (0..6).chain(29..36).chain(61..68) {
        for (letter, place) in letters
            .iter()
            .flat_map(|letter| (0..=length).map(move |place| (letter, place)))
        {
            let text = format!(
                "{}{letter}{}",
                "x".repeat(place),
                "y".repeat(length - place)
            );
            let mut out = Vec::new();
            serialize(&text, Serializer::Json, Structs::Maps, &mut out).unwrap();
            assert_eq!(out, serde_json::to_vec(&text).unwrap(), "{text:?}");
            let mut out = Vec::new();
            let options = EntryOptions {
                serializer: Serializer::Json,
                ..EntryOptions::default()
            };
            encode(&Value::from(text.as_str()), &options, &mut out).unwrap();
            assert!(
                out.ends_with(&serde_json::to_vec(&text).unwrap()),
                "{text:?}"
            );
        }
    }
}
