//! The crate zstd at its best: contexts and buffers are kept from one call to the next.

use super::{Compressor, Level};
use crate::{locked, Outcome};
use zstd::bulk;
use zstd::zstd_safe::{compress_bound, get_frame_content_size};

pub struct ZstdKept(Option<(bulk::Compressor<'static>, bulk::Decompressor<'static>)>);

impl Compressor for ZstdKept {
    const NAME: &'static str = "zstd";

    fn notes() -> Vec<String> {
        vec!["contexts and buffers are kept".into()]
    }

    fn version() -> (String, String) {
        locked("zstd")
    }

    fn new(level: Level) -> Outcome<ZstdKept> {
        let Some(level) = level else {
            return Ok(ZstdKept(None));
        };
        let both = (bulk::Compressor::new(level)?, bulk::Decompressor::new()?);
        Ok(ZstdKept(Some(both)))
    }

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        let Some((compressor, _)) = &mut self.0 else {
            out.extend_from_slice(data);
            return Ok(());
        };
        out.reserve(compress_bound(data.len()));
        compressor.compress_to_buffer(data, out)?;
        Ok(())
    }

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        let Some((_, decompressor)) = &mut self.0 else {
            out.extend_from_slice(compressed);
            return Ok(());
        };
        let size = get_frame_content_size(compressed).ok().flatten();
        out.reserve(size.ok_or("the frame does not say its size")?.try_into()?);
        decompressor.decompress_to_buffer(compressed, out)?;
        Ok(())
    }
}
