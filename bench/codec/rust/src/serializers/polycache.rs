//! Ours, as a cache uses it: an entry of any tier, through serde. A struct is a map with its fields'
//! names, which other languages read.

use super::{Format, Serializer};
use crate::{ours, Outcome};
use polycache_entry::{
    decode_value, encode, from_value, to_value, trusted_payload, Compressor, EntryOptions, Limits,
};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// Milliseconds since 1970: any time will do.
const NOW: u64 = 1_767_225_600_000;

pub struct Polycache {
    options: EntryOptions<'static>,
    limits: Limits,
    payload: Vec<u8>,
}

impl Polycache {
    pub fn compressing(format: Format, compressor: Compressor) -> Polycache {
        let mut made = Polycache::new(format);
        made.options.compressor = compressor;
        made
    }
}

impl Serializer for Polycache {
    const NAME: &'static str = "polycache-entry";
    const FORMATS: &'static [Format] = &[Format::Json, Format::MessagePack];

    fn notes() -> Vec<String> {
        vec!["a whole entry: 24 B of it are the header, with a checksum; a struct is a map".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new(format: Format) -> Polycache {
        let serializer = match format {
            Format::Json => polycache_entry::Serializer::Json,
            Format::MessagePack => polycache_entry::Serializer::MessagePack,
            Format::Bincode => unreachable!("not among the formats"),
        };
        Polycache {
            options: EntryOptions {
                serializer,
                created: NOW,
                ..EntryOptions::default()
            },
            limits: Limits::default(),
            payload: Vec::new(),
        }
    }

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        Ok(encode(&to_value(value)?, &self.options, out)?)
    }

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        // As a hit in the host tier, whose own checks say that the bytes are whole.
        let (serializer, payload) = trusted_payload(bytes, &self.limits, &mut self.payload)?;
        Ok(from_value(decode_value(
            serializer,
            payload,
            &self.limits,
        )?)?)
    }
}
