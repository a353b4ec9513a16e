//! Ours: the serializers alone, as the page measures its own, and whole entries, as a cache uses them.

use super::{Format, Serializer};
use crate::{ours, Outcome};
use polycache_entry::{
    deserialize, encode_typed, serialize, trusted_payload, Compressor, EntryOptions, Limits,
    Structs,
};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// Milliseconds since 1970: any time will do.
const NOW: u64 = 1_767_225_600_000;

fn serializer(format: Format) -> polycache_entry::Serializer {
    match format {
        Format::Json => polycache_entry::Serializer::Json,
        Format::MessagePack => polycache_entry::Serializer::MessagePack,
        Format::Bincode => polycache_entry::Serializer::Bincode,
    }
}

/// The serializer alone. `LISTS` says that structs become lists, as rmp-serde has them.
pub struct PolycachePayload<const LISTS: bool>(polycache_entry::Serializer);

impl<const LISTS: bool> PolycachePayload<LISTS> {
    const STRUCTS: Structs = if LISTS { Structs::Lists } else { Structs::Maps };
}

impl<const LISTS: bool> Serializer for PolycachePayload<LISTS> {
    const NAME: &'static str = if LISTS {
        "polycache-lists"
    } else {
        "polycache-payload"
    };
    const FORMATS: &'static [Format] = if LISTS {
        &[Format::MessagePack]
    } else {
        &[Format::Json, Format::MessagePack]
    };

    fn notes() -> Vec<String> {
        let form = if LISTS { "list" } else { "map" };
        vec![format!(
            "the serializer alone, into a buffer that is kept; a struct is a {form}"
        )]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new(format: Format) -> Self {
        PolycachePayload(serializer(format))
    }

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        Ok(serialize(value, self.0, Self::STRUCTS, out)?)
    }

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        Ok(deserialize(self.0, bytes, &Limits::default())?)
    }
}

/// The serializer Bincode alone.
pub struct PolycacheBincode;

impl Serializer for PolycacheBincode {
    const NAME: &'static str = "polycache-bincode";
    const FORMATS: &'static [Format] = &[Format::Bincode];

    fn notes() -> Vec<String> {
        vec!["the serializer alone, into a buffer that is kept; bincode 2's bytes".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new(_format: Format) -> PolycacheBincode {
        PolycacheBincode
    }

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        let bincode = polycache_entry::Serializer::Bincode;
        Ok(serialize(value, bincode, Structs::Maps, out)?)
    }

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        let bincode = polycache_entry::Serializer::Bincode;
        Ok(deserialize(bincode, bytes, &Limits::default())?)
    }
}

/// An entry of any tier. A struct is a map with its fields' names, which other languages read.
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
    const FORMATS: &'static [Format] = &Format::ALL;

    fn notes() -> Vec<String> {
        vec!["a whole entry: 24 B of it are the header, with a checksum; a struct is a map".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new(format: Format) -> Polycache {
        Polycache {
            options: EntryOptions {
                serializer: serializer(format),
                created: NOW,
                ..EntryOptions::default()
            },
            limits: Limits::default(),
            payload: Vec::new(),
        }
    }

    fn encode<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        Ok(encode_typed(value, &self.options, out)?)
    }

    fn decode<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        // As a hit in the host tier, whose own checks say that the bytes are whole.
        let (serializer, payload) = trusted_payload(bytes, &self.limits, &mut self.payload)?;
        Ok(deserialize(serializer, payload, &self.limits)?)
    }
}
