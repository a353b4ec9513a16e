//! skp-cache's own serializers: each a call of a crate that returns a new buffer.

use super::{Format, Serializer};
use crate::{locked, Outcome};
use serde::de::DeserializeOwned;
use serde::Serialize;
use skp_cache::Serializer as _;
use skp_cache::{BincodeSerializer, JsonSerializer, MsgPackSerializer};

pub struct SkpCache(Format);

impl Serializer for SkpCache {
    const NAME: &'static str = "skp-cache";
    const FORMATS: &'static [Format] = &Format::ALL;

    fn notes() -> Vec<String> {
        vec!["a new buffer every time".into()]
    }

    fn version() -> (String, String) {
        locked("skp-cache-core")
    }

    fn new(format: Format) -> SkpCache {
        SkpCache(format)
    }

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        *out = match self.0 {
            Format::Json => JsonSerializer.serialize(value)?,
            Format::MessagePack => MsgPackSerializer.serialize(value)?,
            Format::Bincode => BincodeSerializer.serialize(value)?,
        };
        Ok(())
    }

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        Ok(match self.0 {
            Format::Json => JsonSerializer.deserialize(bytes)?,
            Format::MessagePack => MsgPackSerializer.deserialize(bytes)?,
            Format::Bincode => BincodeSerializer.deserialize(bytes)?,
        })
    }
}
