//! Bincode: typed values of Rust, with no other reader.

use polycache_entry::{
    decode_payload, decode_value, deserialize, encode, encode_payload, encode_typed, serialize,
    Compressor, EntryOptions, Error, Limits, Serializer, Structs, Value, Verify, MAX_DEPTH,
};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

const LIMITS: Limits = Limits::of(64 * 1024 * 1024);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Thing {
    flag: bool,
    signed: (i8, i16, i32, i64, i128),
    unsigned: (u8, u16, u32, u64, u128),
    floats: (f32, f64),
    letter: char,
    text: String,
    maybe: Option<Box<Thing>>,
    nothing: (),
    list: Vec<Shape>,
    map: BTreeMap<(u8, String), Vec<u16>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f32),
    Line(i32, i32),
    Box { width: u32, name: Option<String> },
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Point),
        (-1e6f32..1e6).prop_map(Shape::Circle),
        any::<(i32, i32)>().prop_map(|(x, y)| Shape::Line(x, y)),
        any::<(u32, Option<String>)>().prop_map(|(width, name)| Shape::Box { width, name }),
    ]
}

fn things() -> impl Strategy<Value = Thing> {
    let numbers = any::<((i8, i16, i32, i64, i128), (u8, u16, u32, u64, u128))>();
    let rest = (
        any::<(bool, char, String)>(),
        (-1e30..1e30f32, -1e300..1e300f64),
        prop::collection::vec(shapes(), 0..10),
        prop::collection::btree_map(any::<(u8, String)>(), any::<Vec<u16>>(), 0..5),
    );
    let leaf =
        (numbers, rest).prop_map(|((signed, unsigned), (simple, floats, list, map))| Thing {
            flag: simple.0,
            signed,
            unsigned,
            floats,
            letter: simple.1,
            text: simple.2,
            maybe: None,
            nothing: (),
            list,
            map,
        });
    let leaf = leaf.boxed();
    (leaf.clone(), prop::option::of(leaf)).prop_map(|(outer, inner)| Thing {
        maybe: inner.map(Box::new),
        ..outer
    })
}

fn written<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    serialize(value, Serializer::Bincode, Structs::Maps, &mut out).unwrap();
    out
}

fn read<T: DeserializeOwned>(payload: &[u8]) -> Result<T, Error> {
    deserialize(Serializer::Bincode, payload, &LIMITS)
}

fn code<T: DeserializeOwned>(payload: &[u8]) -> &'static str {
    match read::<T>(payload) {
        Ok(_) => "none",
        Err(error) => error.code(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_type_comes_back(thing in things(), compress: bool) {
        let compressor = if compress { Compressor::Zstd { level: 1 } } else { Compressor::None };
        let options = EntryOptions {
            serializer: Serializer::Bincode,
            compressor,
            ..EntryOptions::default()
        };
        let (mut entry, mut scratch) = (Vec::new(), Vec::new());
        encode_typed(&thing, &options, &mut entry).unwrap();
        let (header, payload) =
            decode_payload(&entry, Verify::Checksum, &LIMITS, &mut scratch).unwrap();
        prop_assert_eq!(deserialize::<Thing>(header.serializer, payload, &LIMITS).unwrap(), thing);
    }

    #[test]
    fn hostile_bytes_give_a_value_or_a_typed_error(
        thing in things(),
        place in any::<prop::sample::Index>(),
        byte: u8,
        noise in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = written(&thing);
        for cut in 0..bytes.len() {
            prop_assert_ne!(code::<Thing>(&bytes[..cut]), "none");
        }
        let place = place.index(bytes.len());
        bytes[place] = byte;
        for bytes in [bytes, noise] {
            let errors = [
                read::<Thing>(&bytes).err(),
                read::<Tree>(&bytes).err(),
                read::<HashMap<String, Vec<String>>>(&bytes).err(),
            ];
            for error in errors.into_iter().flatten() {
                prop_assert!(["malformed_entry", "wrong_type"].contains(&error.code()));
            }
        }
    }
}

/// The bytes that bincode 2.0.1 writes in its standard configuration; `bench/codec` compares more.
#[test]
fn the_bytes_are_bincode_2_s() {
    assert_eq!(written(&250u64), [250]);
    assert_eq!(written(&251u64), [251, 251, 0]);
    assert_eq!(written(&65_536u64), [252, 0, 0, 1, 0]);
    assert_eq!(written(&(1u64 << 32)), [253, 0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(written(&(1u128 << 64))[0], 254);
    assert_eq!(
        written(&(-1i32, 1i32, -126i64, 255u8, -1i8)),
        [1, 2, 251, 251, 0, 255, 255]
    );
    assert_eq!(written("é"), [2, 0xC3, 0xA9]);
    assert_eq!(written(&'é'), [0xC3, 0xA9]);
    assert_eq!(written(&(Some(1u8), None::<u8>, true)), [1, 1, 0, 1]);
    assert_eq!(written(&1.0f32), [0, 0, 0x80, 0x3F]);
    assert_eq!(
        written(&[Shape::Point, Shape::Line(1, 2)][..]),
        [2, 0, 2, 2, 4]
    );
    assert_eq!(written(&BTreeMap::from([(1u8, "a")])), [1, 1, 1, b'a']);
}

#[test]
fn integers_fit_their_type_or_are_malformed() {
    assert_eq!(
        read::<u64>(&[251, 1, 0]).unwrap(),
        1,
        "a longer form is read"
    );
    assert_eq!(code::<u16>(&[252, 0, 0, 1, 0]), "malformed_entry");
    assert_eq!(
        code::<i32>(&[253, 0, 0, 0, 0, 1, 0, 0, 0]),
        "malformed_entry"
    );
    assert_eq!(code::<u64>(&[254; 17]), "malformed_entry");
    assert_eq!(code::<u64>(&[255]), "malformed_entry");
    assert_eq!(code::<bool>(&[2]), "malformed_entry");
    assert_eq!(code::<Option<u8>>(&[2, 0]), "malformed_entry");
    assert_eq!(code::<char>(&[0xC3, 0x28]), "malformed_entry");
    assert_eq!(code::<String>(&[1, 0xFF]), "malformed_entry");
    assert_eq!(code::<u8>(&[1, 1]), "malformed_entry");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tree(Vec<Tree>);

#[test]
fn nesting_has_the_formats_limit() {
    let tree = |levels: usize| (1..levels).fold(Tree(vec![]), |inside, _| Tree(vec![inside]));
    let deepest = written(&tree(MAX_DEPTH));
    assert_eq!(read::<Tree>(&deepest).unwrap(), tree(MAX_DEPTH));
    let refused = serialize(
        &tree(MAX_DEPTH + 1),
        Serializer::Bincode,
        Structs::Maps,
        &mut Vec::new(),
    );
    assert_eq!(refused.unwrap_err().code(), "unsupported_value");
    assert_eq!(
        code::<Tree>(&[vec![1; MAX_DEPTH], vec![0]].concat()),
        "malformed_entry"
    );
    assert_eq!(code::<Tree>(&[1; 1_000_000]), "malformed_entry");

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Chain {
        More(Box<Chain>),
        End,
    }
    let chain = |levels| (0..levels).fold(Chain::End, |inside, _| Chain::More(inside.into()));
    assert_eq!(
        read::<Chain>(&written(&chain(MAX_DEPTH))).unwrap(),
        chain(MAX_DEPTH)
    );
    assert_eq!(code::<Chain>(&[0; 1_000_000]), "malformed_entry");
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Link(Option<Box<Link>>, ());
    assert_eq!(code::<Link>(&[1; 1_000_000]), "malformed_entry");
}

#[test]
fn elements_without_content_are_bounded() {
    let many = vec![(); 65_536];
    assert_eq!(read::<Vec<()>>(&written(&many)).unwrap(), many);
    let more = vec![vec![(); 40_000]; 2];
    let refused = serialize(&more, Serializer::Bincode, Structs::Maps, &mut Vec::new());
    assert_eq!(refused.unwrap_err().code(), "unsupported_value");
    assert_eq!(
        code::<Vec<()>>(&[253, 0, 0, 0, 0, 0, 0, 0, 0x80]),
        "malformed_entry"
    );
    assert_eq!(
        code::<HashMap<(), ()>>(&[253, 0, 0, 0, 0, 0, 0, 0, 0x80]),
        "malformed_entry"
    );
}

#[test]
fn what_does_not_fit_is_named_with_its_path() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Outer {
        shapes: Vec<Shape>,
        number: std::num::NonZeroU8,
    }
    match read::<Outer>(&[2, 0, 9]).unwrap_err() {
        Error::WrongType { path, .. } => assert_eq!(path, "$.shapes[1]"),
        other => panic!("{other}"),
    }
    match read::<Outer>(&[0, 0]).unwrap_err() {
        Error::WrongType { path, .. } => assert_eq!(path, "$.number"),
        other => panic!("{other}"),
    }
}

#[test]
fn what_needs_a_description_is_refused() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Sparse {
        #[serde(skip_serializing_if = "Option::is_none")]
        first: Option<u8>,
    }
    let sparse = (1, Sparse { first: None });
    let refused = serialize(&sparse, Serializer::Bincode, Structs::Maps, &mut Vec::new());
    match refused.unwrap_err() {
        Error::UnsupportedValue { path, .. } => assert_eq!(path, "$[1].first"),
        other => panic!("{other}"),
    }
    #[derive(Debug, Deserialize)]
    struct Flat {
        #[serde(flatten)]
        _rest: HashMap<String, u8>,
    }
    assert_eq!(code::<Flat>(&[1, 1, b'a', 1]), "wrong_type");
    assert_eq!(code::<Value<'static>>(&[0]), "wrong_type");
}

#[test]
fn values_are_refused_and_entries_are_never_a_miss() {
    let options = EntryOptions {
        serializer: Serializer::Bincode,
        ..EntryOptions::default()
    };
    let mut entry = b"before".to_vec();
    let refused = encode(&Value::Null, &options, &mut entry).unwrap_err();
    assert_eq!(refused.code(), "unsupported_value");
    assert_eq!(entry, b"before");

    let mut entry = Vec::new();
    encode_payload(&[1], Serializer::Bincode, &options, &mut entry).unwrap();
    let mut scratch = Vec::new();
    let (header, payload) =
        decode_payload(&entry, Verify::Checksum, &LIMITS, &mut scratch).unwrap();
    assert_eq!(header.serializer, Serializer::Bincode);
    let error = decode_value(header.serializer, payload, &LIMITS).unwrap_err();
    assert_eq!(error, Error::UnsupportedSerializer { id: 4 });
    // Other languages do not accept the name.
    assert_eq!(Serializer::from_name("bincode"), None);
}
