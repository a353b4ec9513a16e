//! Ours, as a cache uses it: an entry of any tier, through serde, compressed.

use super::Codec;
use crate::compression::{self, Level};
use crate::serializers::{self, Format, Serializer};
use crate::Outcome;
use serde::de::DeserializeOwned;
use serde::Serialize;

pub struct Polycache(serializers::Polycache);

impl Codec for Polycache {
    const NAME: &'static str = "polycache-entry";
    const FORMATS: &'static [Format] = serializers::Polycache::FORMATS;

    fn notes() -> Vec<String> {
        vec!["a whole entry, with its header and a checksum; a struct is a map".into()]
    }

    fn versions() -> Vec<(String, String)> {
        vec![serializers::Polycache::version()]
    }

    fn new(format: Format, level: Level) -> Outcome<Polycache> {
        let compressor = compression::polycache_compressor(level);
        Ok(Polycache(serializers::Polycache::compressing(
            format, compressor,
        )))
    }

    fn write<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        self.0.encode(value, out)
    }

    fn read<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        self.0.decode(bytes)
    }
}
