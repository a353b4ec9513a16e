//! skp-cache's serializers and compressors. Its cache has no place for a compressor, so they are put
//! together here as its page's examples mean them to be.

use super::{Chain, Codec};
use crate::compression::{self, Compressor, Level};
use crate::serializers::{self, Format, Serializer};
use crate::Outcome;
use serde::de::DeserializeOwned;
use serde::Serialize;

pub struct SkpCache(Chain<serializers::SkpCache, compression::SkpCache>);

impl Codec for SkpCache {
    const NAME: &'static str = "skp-cache";
    const FORMATS: &'static [Format] = serializers::SkpCache::FORMATS;

    fn notes() -> Vec<String> {
        vec!["its parts; its cache itself compresses nothing".into()]
    }

    fn versions() -> Vec<(String, String)> {
        vec![compression::SkpCache::version()]
    }

    fn new(format: Format, level: Level) -> Outcome<SkpCache> {
        Ok(SkpCache(Chain::new(format, level)?))
    }

    fn write<T: Serialize>(&mut self, value: &T, out: &mut Vec<u8>) -> Outcome<()> {
        self.0.write(value, out)
    }

    fn read<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Outcome<T> {
        self.0.read(bytes)
    }
}
