//! Bincode 2, the version that skp-cache uses, into a buffer that is kept.

use super::{Format, Serializer};
use crate::{locked, Outcome};
use serde::de::DeserializeOwned;
use serde::Serialize;

pub struct Bincode;

impl Serializer for Bincode {
    const NAME: &'static str = "bincode";
    const FORMATS: &'static [Format] = &[Format::Bincode];

    fn notes() -> Vec<String> {
        vec!["into a buffer that is kept".into()]
    }

    fn version() -> (String, String) {
        locked("bincode")
    }

    fn new(_format: Format) -> Bincode {
        Bincode
    }

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        bincode::serde::encode_into_std_write(value, out, bincode::config::standard())?;
        Ok(())
    }

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        let (value, _) = bincode::serde::decode_from_slice(bytes, bincode::config::standard())?;
        Ok(value)
    }
}
