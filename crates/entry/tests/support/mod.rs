//! Shared by the tests of serde types.
#![allow(dead_code)]

use polycache_entry::{deserialize, serialize, Error, Limits, Serializer, Structs};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub const LIMITS: Limits = Limits::of(64 * 1024 * 1024);
pub const FORMATS: [Serializer; 2] = [Serializer::Json, Serializer::MessagePack];

pub fn written<T: Serialize + ?Sized>(value: &T, serializer: Serializer) -> Vec<u8> {
    let mut out = Vec::new();
    serialize(value, serializer, Structs::Maps, &mut out).unwrap();
    out
}

pub fn read<T: DeserializeOwned>(payload: &[u8], serializer: Serializer) -> Result<T, Error> {
    deserialize(serializer, payload, &LIMITS)
}

pub fn refused<T: Serialize + ?Sized>(value: &T, serializer: Serializer) -> (String, String) {
    match serialize(value, serializer, Structs::Maps, &mut Vec::new()).unwrap_err() {
        Error::UnsupportedValue { path, reason } => (path, reason.into_owned()),
        other => panic!("{other}"),
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree(pub Vec<Tree>);

pub fn tree(levels: usize) -> Tree {
    (1..levels).fold(Tree(vec![]), |inside, _| Tree(vec![inside]))
}
