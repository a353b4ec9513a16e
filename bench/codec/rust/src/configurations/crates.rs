//! The same crates at their best, put together by hand: buffers and contexts are kept.

use super::{Chain, Codec};
use crate::compression::{Compressor, Level, ZstdKept};
use crate::serializers::{Bincode, Format, RmpSerde, SerdeJson, Serializer};
use crate::Outcome;
use serde::de::DeserializeOwned;
use serde::Serialize;

pub enum Crates {
    Json(Chain<SerdeJson, ZstdKept>),
    MessagePack(Chain<RmpSerde, ZstdKept>),
    Bincode(Chain<Bincode, ZstdKept>),
}

impl Codec for Crates {
    const NAME: &'static str = "serde crates + zstd";
    const FORMATS: &'static [Format] = &Format::ALL;

    fn notes() -> Vec<String> {
        vec!["serde_json, rmp-serde or bincode, and zstd; contexts and buffers are kept".into()]
    }

    fn versions() -> Vec<(String, String)> {
        vec![
            SerdeJson::version(),
            RmpSerde::version(),
            Bincode::version(),
            ZstdKept::version(),
        ]
    }

    fn new(format: Format, level: Level) -> Outcome<Crates> {
        Ok(match format {
            Format::Json => Crates::Json(Chain::new(format, level)?),
            Format::MessagePack => Crates::MessagePack(Chain::new(format, level)?),
            Format::Bincode => Crates::Bincode(Chain::new(format, level)?),
        })
    }

    fn write<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        match self {
            Crates::Json(chain) => chain.write(value, out),
            Crates::MessagePack(chain) => chain.write(value, out),
            Crates::Bincode(chain) => chain.write(value, out),
        }
    }

    fn read<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        match self {
            Crates::Json(chain) => chain.read(bytes),
            Crates::MessagePack(chain) => chain.read(bytes),
            Crates::Bincode(chain) => chain.read(bytes),
        }
    }
}
