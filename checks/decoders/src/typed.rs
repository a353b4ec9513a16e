//! Payloads as types of Rust, through serde: JSON, MessagePack, Bincode, text and bytes.

use crate::LIMITS;
use polycache_entry::{deserialize, serialize, Limits, Serializer, Structs};
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Nests as deep as the bytes say.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tree(Vec<Tree>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Number(Option<i128>),
    Line(i8, u16, char),
    Box {
        width: u64,
        name: String,
        inner: Box<Shape>,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    id: u64,
    name: String,
    active: bool,
    balance: i64,
    rate: Option<f32>,
    tags: BTreeSet<String>,
    units: Vec<()>,
    pairs: BTreeMap<String, (u8, [u16; 2])>,
}

/// The first byte names the serializer and the type, the others are the payload.
pub fn check(data: &[u8]) {
    let Some((choice, payload)) = data.split_first() else {
        return;
    };
    let serializer = Serializer::from_id(choice % 5).expect("there are five");
    match choice / 5 % 6 {
        0 => read::<Tree>(serializer, payload),
        1 => read::<Vec<Shape>>(serializer, payload),
        2 => read::<Record>(serializer, payload),
        3 => read::<BTreeMap<String, (Vec<u8>, Option<String>)>>(serializer, payload),
        4 => read::<Vec<(u128, i32, char)>>(serializer, payload),
        _ => read::<Vec<Vec<Vec<()>>>>(serializer, payload),
    }
}

/// A type that is read can be written, and reads as it was.
fn read<T: DeserializeOwned + Serialize + PartialEq>(serializer: Serializer, payload: &[u8]) {
    let value = match deserialize::<T>(serializer, payload, &LIMITS) {
        Ok(value) => value,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for structs in [Structs::Maps, Structs::Lists] {
        let mut out = Vec::new();
        // Bytes and text read as more types than they are written from.
        if serialize(&value, serializer, structs, &mut out).is_err() {
            assert!([Serializer::Bytes, Serializer::Text].contains(&serializer));
            return;
        }
        let again = deserialize::<T>(serializer, &out, &Limits::default());
        let again = again.expect("what was written can be read");
        // A float that is no number equals nothing, so what is written of it is compared.
        let mut twice = Vec::new();
        serialize(&again, serializer, structs, &mut twice).expect("it was written before");
        assert!(again == value || out == twice);
    }
}
