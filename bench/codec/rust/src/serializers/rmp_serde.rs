//! rmp-serde, into a buffer that is kept. A struct is a list, without its fields' names; or a map.

use super::{Format, Serializer};
use crate::{locked, Outcome};
use serde::de::DeserializeOwned;
use serde::Serialize;

pub struct RmpSerde;

impl Serializer for RmpSerde {
    const NAME: &'static str = "rmp-serde";
    const FORMATS: &'static [Format] = &[Format::MessagePack];

    fn notes() -> Vec<String> {
        vec!["into a buffer that is kept; a struct is a list".into()]
    }

    fn version() -> (String, String) {
        locked("rmp-serde")
    }

    fn new(_format: Format) -> RmpSerde {
        RmpSerde
    }

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        rmp_serde::encode::write(out, value)?;
        Ok(())
    }

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        Ok(rmp_serde::from_slice(bytes)?)
    }
}

/// A struct is a map of its fields' names to their values, as in our entries.
pub struct RmpSerdeNamed;

impl Serializer for RmpSerdeNamed {
    const NAME: &'static str = "rmp-serde, named";
    const FORMATS: &'static [Format] = &[Format::MessagePack];

    fn notes() -> Vec<String> {
        vec!["into a buffer that is kept; a struct is a map".into()]
    }

    fn version() -> (String, String) {
        locked("rmp-serde")
    }

    fn new(_format: Format) -> RmpSerdeNamed {
        RmpSerdeNamed
    }

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        rmp_serde::encode::write_named(out, value)?;
        Ok(())
    }

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        Ok(rmp_serde::from_slice(bytes)?)
    }
}
