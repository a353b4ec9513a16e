//! Payloads as types of Rust, through serde: JSON, MessagePack, Bincode, text and bytes.

use crate::LIMITS;
use polycache_entry::{deserialize, serialize, Limits, Serializer, Structs};
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Nests as deeply as the bytes say.
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

/// The first byte selects the serializer and the type, the others are the payload.
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

/// A typed value that was read can be written, and reads the same.
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
        // A NaN equals nothing, so its written form is compared.
        let mut twice = Vec::new();
        serialize(&again, serializer, structs, &mut twice).expect("it was written before");
        assert!(again == value || out == twice);
    }
}

/// Values of every type that is read here, written by every serializer.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let record = Record {
        id: 1 << 40,
        name: "Ada".into(),
        active: true,
        balance: -300,
        rate: Some(0.5),
        tags: ["admin", "beta"].map(String::from).into(),
        units: vec![(); 3],
        pairs: [("a".into(), (1, [2, 300]))].into(),
    };
    let inner = Box::new(Shape::Line(-1, 300, 'é'));
    let shapes = [
        Shape::Point,
        Shape::Number(Some(i128::MIN)),
        Shape::Box {
            width: 7,
            name: "box".into(),
            inner,
        },
    ];
    let tree = Tree(vec![Tree(vec![Tree(vec![])]), Tree(vec![])]);
    let map = BTreeMap::from([("key", (vec![1u8, 255], Some("text")))]);
    let rows = vec![(u128::MAX, -70_000i32, '\u{1F980}'), (0, 0, 'a')];
    let units = vec![vec![vec![(); 2]; 2]; 2];
    let mut seeds = Vec::new();
    for id in 0..5 {
        for structs in [Structs::Maps, Structs::Lists] {
            let mut add = |kind: u8, write: &dyn Fn(Serializer, &mut Vec<u8>) -> bool| {
                let mut seed = vec![id + 5 * kind];
                if write(Serializer::from_id(id).expect("there are five"), &mut seed) {
                    seeds.push(seed);
                }
            };
            add(0, &|to, out| serialize(&tree, to, structs, out).is_ok());
            add(1, &|to, out| {
                serialize(&shapes[..], to, structs, out).is_ok()
            });
            add(2, &|to, out| serialize(&record, to, structs, out).is_ok());
            add(3, &|to, out| serialize(&map, to, structs, out).is_ok());
            add(4, &|to, out| serialize(&rows, to, structs, out).is_ok());
            add(5, &|to, out| serialize(&units, to, structs, out).is_ok());
        }
    }
    seeds
}
