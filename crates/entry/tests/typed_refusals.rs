//! What a serde type cannot be written as, and which bytes it cannot be read from.

mod support;

use polycache_entry::tagged::{from_json, read_rows};
use polycache_entry::{deserialize, serialize, Error, Limits, Serializer, Structs, MAX_DEPTH};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use support::{read, refused, tree, written, Tree, FORMATS};

#[test]
fn refused_rows_are_refused_at_the_same_place() {
    for row in read_rows(include_str!("../../../spec/vectors/refused.json")).unwrap() {
        let value = from_json(&row["value"]).unwrap();
        let serializer = Serializer::from_name(row["serializer"].as_str().unwrap()).unwrap();
        let mut out = b"before".to_vec();
        match serialize(&value, serializer, Structs::Maps, &mut out).unwrap_err() {
            Error::UnsupportedValue { path, .. } => {
                // Serde's interface has no place for the path inside a set.
                let expected = row["path"].as_str().unwrap();
                assert!(expected.starts_with(&path), "{}: {path}", row["name"]);
            }
            other => panic!("{}: {other}", row["name"]),
        }
        assert_eq!(out, b"before");
    }
}

#[test]
fn what_has_no_row_is_refused_with_its_path() {
    let by_number = BTreeMap::from([(1, "one")]);
    let value = BTreeMap::from([("a", vec![by_number])]);
    for serializer in FORMATS {
        let (path, reason) = refused(&value, serializer);
        assert_eq!(path, "$.a[0]");
        assert!(reason.contains("key that is not text"), "{reason}");
    }

    struct Stubborn;
    impl Serialize for Stubborn {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("I will not"))
        }
    }
    #[derive(Serialize)]
    enum Holder {
        Fields { inner: Stubborn },
        Pair(u8, Stubborn),
        Single(Stubborn),
    }
    for serializer in FORMATS {
        for (holder, path) in [
            (
                Holder::Fields { inner: Stubborn },
                "$[1][\"the \\\"key\"].Fields.inner",
            ),
            (Holder::Pair(1, Stubborn), "$[1][\"the \\\"key\"].Pair[1]"),
            (Holder::Single(Stubborn), "$[1][\"the \\\"key\"].Single"),
        ] {
            let value = (1, BTreeMap::from([("the \"key", holder)]));
            assert_eq!(
                refused(&value, serializer),
                (path.into(), "I will not".into())
            );
        }
    }
    // The first in writing order, whatever its kind.
    let value = (u64::MAX, BTreeMap::from([(1, 2)]));
    assert_eq!(refused(&value, Serializer::Json).0, "$[0]");
}

#[test]
fn json_refuses_what_it_does_not_have() {
    for path in ["$.a", "$.b"] {
        let at = |wanted: &str, value: f64| if wanted == path { value } else { 0.5 };
        let value = BTreeMap::from([("a", at("$.a", f64::NAN)), ("b", at("$.b", f64::INFINITY))]);
        assert_eq!(refused(&value, Serializer::Json).0, path);
    }
    for number in [1 << 53, -(1 << 53), i64::MAX, i64::MIN] {
        assert_eq!(refused(&[0, number], Serializer::Json).0, "$[1]");
        assert_eq!(
            refused(&[0, i128::from(number)], Serializer::Json).0,
            "$[1]"
        );
    }
    assert_eq!(refused(&u64::MAX, Serializer::Json).0, "$");
    assert_eq!(refused(&u128::MAX, Serializer::Json).0, "$");
    assert_eq!(
        written(&((1i64 << 53) - 1), Serializer::Json),
        b"9007199254740991"
    );
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(b"\x00")
        }
    }
    assert_eq!(refused(&[Bytes], Serializer::Json).0, "$[0]");
    assert_eq!(
        written(&[Bytes], Serializer::MessagePack),
        b"\x91\xC4\x01\x00"
    );
}

#[test]
fn nesting_has_the_formats_limit() {
    for serializer in FORMATS {
        let deepest = written(&tree(MAX_DEPTH), serializer);
        assert_eq!(read::<Tree>(&deepest, serializer).unwrap(), tree(MAX_DEPTH));
        let (path, reason) = refused(&tree(MAX_DEPTH + 1), serializer);
        assert_eq!(path, format!("${}", "[0]".repeat(MAX_DEPTH)));
        assert!(reason.contains("128"), "{reason}");
    }
    for (serializer, open, close) in [
        (Serializer::Json, "[", "]"),
        (Serializer::MessagePack, "\u{1}", ""),
    ] {
        for levels in [MAX_DEPTH + 1, 100_000] {
            let text = format!("{}{}", open.repeat(levels), close.repeat(levels));
            let bytes = match serializer {
                Serializer::Json => text.into_bytes(),
                _ => [vec![0x91; levels], vec![0x90]].concat(),
            };
            let error = read::<Tree>(&bytes, serializer).unwrap_err();
            assert_eq!(error.code(), "malformed_entry", "{serializer:?} {levels}");
        }
    }
}

#[test]
fn what_does_not_fit_is_named_with_its_path() {
    type Users = Vec<BTreeMap<String, Vec<String>>>;
    for (serializer, bytes) in [
        (Serializer::Json, br#"[{"tags":["a",1]}]"#.as_slice()),
        (Serializer::MessagePack, b"\x91\x81\xA4tags\x92\xA1a\x01"),
    ] {
        match read::<Users>(bytes, serializer).unwrap_err() {
            Error::WrongType { path, .. } => assert_eq!(path, "$[0].tags[1]"),
            other => panic!("{other}"),
        }
        // Malformed bytes are reported before a wrong type.
        let cut = read::<Users>(&bytes[..bytes.len() - 1], serializer).unwrap_err();
        assert_eq!(cut.code(), "malformed_entry");
        let more = read::<Users>(&[bytes, b" 1"].concat(), serializer).unwrap_err();
        assert_eq!(more.code(), "malformed_entry");
    }
    let error = deserialize::<u8>(Serializer::Json, b"1  ", &Limits::of(2));
    assert_eq!(error.unwrap_err().code(), "value_too_large");
}

#[test]
fn unknown_fields_of_messagepack_are_checked_as_well() {
    #[derive(Debug, Deserialize)]
    struct Known {
        a: u8,
    }
    let messagepack = Serializer::MessagePack;
    let known: Known = read(
        b"\x82\xA1b\x92\xC0\x81\xA1c\xD6\xFF\x00\x00\x00\x01\xA1a\x07",
        messagepack,
    )
    .unwrap();
    assert_eq!(known.a, 7);
    for bad in [
        &b"\x82\xA1b\x81\x01\x02\xA1a\x07"[..],
        b"\x82\xA1b\xD4\x05\x00\xA1a\x07",
        b"\x82\xA1b\xA1\xFF\xA1a\x07",
        b"\x82\xA1b\xC1\xA1a\x07",
        b"\x82\xA1b\xDD\xFF\xFF\xFF\xFF\xA1a\x07",
    ] {
        assert_eq!(
            read::<Known>(bad, messagepack).unwrap_err().code(),
            "malformed_entry"
        );
    }
}
