//! The crate zstd as skp-cache uses it, without what skp-cache adds.

use super::{Compressor, Level};
use crate::{locked, Outcome};

pub struct ZstdStreamed(Level);

impl Compressor for ZstdStreamed {
    const NAME: &'static str = "zstd, streamed";

    fn notes() -> Vec<String> {
        vec!["a new stream and a new buffer every time".into()]
    }

    fn version() -> (String, String) {
        locked("zstd")
    }

    fn new(level: Level) -> Outcome<ZstdStreamed> {
        Ok(ZstdStreamed(level))
    }

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        *out = match self.0 {
            None => data.to_vec(),
            Some(level) => zstd::encode_all(data, level)?,
        };
        Ok(())
    }

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        *out = match self.0 {
            None => compressed.to_vec(),
            Some(_) => zstd::decode_all(compressed)?,
        };
        Ok(())
    }
}
