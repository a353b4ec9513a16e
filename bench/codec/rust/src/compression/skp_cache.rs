//! skp-cache's own compressors. Nothing in its cache calls them.

use super::{Compressor, Level};
use crate::{locked, Outcome};
use skp_cache::Compressor as _;
use skp_cache::{NoopCompressor, ZstdCompressor};

pub enum SkpCache {
    Noop(NoopCompressor),
    Zstd(ZstdCompressor),
}

impl Compressor for SkpCache {
    const NAME: &'static str = "skp-cache";

    fn notes() -> Vec<String> {
        vec!["a new stream and a new buffer every time".into()]
    }

    fn version() -> (String, String) {
        locked("skp-cache-core")
    }

    fn new(level: Level) -> Outcome<SkpCache> {
        Ok(level.map_or(SkpCache::Noop(NoopCompressor), |level| {
            SkpCache::Zstd(ZstdCompressor::new(level))
        }))
    }

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        *out = match self {
            SkpCache::Noop(noop) => noop.compress(data)?,
            SkpCache::Zstd(zstd) => zstd.compress(data)?,
        };
        Ok(())
    }

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        *out = match self {
            SkpCache::Noop(noop) => noop.decompress(compressed)?,
            SkpCache::Zstd(zstd) => zstd.decompress(compressed)?,
        };
        Ok(())
    }
}
