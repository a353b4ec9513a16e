//! The crate zstd with a dictionary, prepared once; contexts and buffers are kept.

use super::dictionary::dictionary;
use super::{Compressor, Level};
use crate::{locked, Outcome};
use zstd::bulk;
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::{compress_bound, get_frame_content_size};

pub struct ZstdDictionary {
    compressor: bulk::Compressor<'static>,
    decompressor: bulk::Decompressor<'static>,
}

impl Compressor for ZstdDictionary {
    const NAME: &'static str = "zstd, dictionary";
    const LEVELS: &'static [Level] = &[Some(1), Some(3), Some(9)];

    fn notes() -> Vec<String> {
        vec![
            "contexts, buffers and the prepared dictionary are kept; no checksum of the content"
                .into(),
        ]
    }

    fn version() -> (String, String) {
        locked("zstd")
    }

    fn new(level: Level) -> Outcome<ZstdDictionary> {
        let level = level.ok_or("a dictionary needs a level")?;
        // Kept as long as the process lives, as a cache keeps them.
        let encoder = Box::leak(Box::new(EncoderDictionary::copy(dictionary()?, level)));
        let decoder = Box::leak(Box::new(DecoderDictionary::copy(dictionary()?)));
        Ok(ZstdDictionary {
            compressor: bulk::Compressor::with_prepared_dictionary(encoder)?,
            decompressor: bulk::Decompressor::with_prepared_dictionary(decoder)?,
        })
    }

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        out.reserve(compress_bound(data.len()));
        self.compressor.compress_to_buffer(data, out)?;
        Ok(())
    }

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        let size = get_frame_content_size(compressed).ok().flatten();
        out.reserve(size.ok_or("the frame does not say its size")?.try_into()?);
        self.decompressor.decompress_to_buffer(compressed, out)?;
        Ok(())
    }
}
