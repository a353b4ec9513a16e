//! `Value` in a user's own types, through rmp-serde and serde_json.

use polycache_entry::tagged::{from_json, read_rows};
use polycache_entry::{decode_value, Limits, Serializer, Value};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: u64,
    extra: Value<'static>,
    more: Vec<Value<'static>>,
}

fn rows() -> Vec<(String, Value<'static>, bool)> {
    let rows = read_rows(include_str!("../../../spec/vectors/values.json")).unwrap();
    let rows = rows.iter().map(|row| {
        let json = row["serializers"]
            .as_array()
            .unwrap()
            .contains(&"json".into());
        (
            row["name"].to_string(),
            from_json(&row["value"]).unwrap(),
            json,
        )
    });
    rows.filter(|(name, ..)| name != "\"float nan\"").collect()
}

#[test]
fn every_row_goes_through_rmp_serde() {
    for (name, value, _) in rows() {
        let order = Order {
            id: 7,
            extra: value.clone(),
            more: vec![value.clone(), Value::Null],
        };
        for bytes in [
            rmp_serde::to_vec(&order).unwrap(),
            rmp_serde::to_vec_named(&order).unwrap(),
        ] {
            assert_eq!(
                rmp_serde::from_slice::<Order>(&bytes).unwrap(),
                order,
                "{name}"
            );
        }
        let bytes = rmp_serde::to_vec(&value).unwrap();
        let decoded = decode_value(Serializer::MessagePack, &bytes, &Limits::default()).unwrap();
        assert_eq!(
            decoded, value,
            "{name}: rmp-serde writes what this crate reads"
        );
    }
}

#[test]
fn json_takes_its_rows_and_refuses_the_rest() {
    for (name, value, json) in rows() {
        // serde_json's own limit is lower than the format's 128 levels.
        if name.contains("128 deep") {
            continue;
        }
        let order = Order {
            id: 7,
            extra: value.clone(),
            more: vec![],
        };
        match serde_json::to_string(&order) {
            Ok(text) => assert_eq!(
                serde_json::from_str::<Order>(&text).unwrap(),
                order,
                "{name}"
            ),
            Err(error) => assert!(!json, "{name}: {error}"),
        }
    }
    for refused in [
        Value::from(vec![1u8]),
        Value::Set(vec![]),
        Value::Uuid([0; 16]),
        Value::Float(f64::NAN),
        Value::integer(i128::MAX),
    ] {
        serde_json::to_string(&refused).unwrap_err();
    }
}

#[test]
fn a_value_can_be_read_by_types_that_own_all() {
    fn owned<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> T {
        rmp_serde::from_read(bytes).unwrap()
    }
    let order = Order {
        id: 1,
        extra: Value::Uuid([7; 16]),
        more: vec![Value::Set(vec![Value::from("a")])],
    };
    assert_eq!(owned::<Order>(&rmp_serde::to_vec(&order).unwrap()), order);
}

#[test]
fn bad_extension_types_are_errors() {
    for bytes in [
        &b"\xD4\x05\x00"[..],
        b"\xD4\x04\x00",
        b"\xD4\xFF\x00",
        b"\xD4\x02\x30",
        b"\xD4",
    ] {
        rmp_serde::from_slice::<Value<'_>>(bytes).unwrap_err();
    }
}

#[test]
fn deep_bytes_do_not_overflow_the_stack() {
    rmp_serde::from_slice::<Value<'_>>(&[0x91; 100_000]).unwrap_err();
}
