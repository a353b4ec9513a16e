//! serde_json, into a buffer that is kept.

use super::{Format, Serializer};
use crate::{locked, Outcome};
use serde::de::DeserializeOwned;
use serde::Serialize;

pub struct SerdeJson;

impl Serializer for SerdeJson {
    const NAME: &'static str = "serde_json";
    const FORMATS: &'static [Format] = &[Format::Json];

    fn notes() -> Vec<String> {
        vec!["into a buffer that is kept".into()]
    }

    fn version() -> (String, String) {
        locked("serde_json")
    }

    fn new(_format: Format) -> SerdeJson {
        SerdeJson
    }

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        serde_json::to_writer(out, value)?;
        Ok(())
    }

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        Ok(serde_json::from_slice(bytes)?)
    }
}
