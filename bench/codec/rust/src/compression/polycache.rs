//! Ours, as a cache uses it: an entry of any tier that holds bytes.

use super::{Compressor, Level};
use crate::{ours, Outcome};
use polycache_entry::{decode_payload, encode_payload, EntryOptions, Limits, Serializer, Verify};

pub struct Polycache {
    options: EntryOptions<'static>,
    unused: Vec<u8>,
}

/// The same in every subject that makes entries.
pub fn polycache_compressor(level: Level) -> polycache_entry::Compressor {
    level.map_or(polycache_entry::Compressor::None, |level| {
        polycache_entry::Compressor::Zstd { level }
    })
}

impl Compressor for Polycache {
    const NAME: &'static str = "polycache-entry";

    fn notes() -> Vec<String> {
        vec![
            "a whole entry: 24 B (compressed: 32 B) of it are the header, with a checksum; \
             contexts and buffers are kept"
                .into(),
        ]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new(level: Level) -> Outcome<Polycache> {
        Ok(Polycache {
            options: EntryOptions {
                compressor: polycache_compressor(level),
                ..EntryOptions::default()
            },
            unused: Vec::new(),
        })
    }

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        Ok(encode_payload(data, Serializer::Bytes, &self.options, out)?)
    }

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        let limits = Limits::default();
        if self.options.compressor != polycache_entry::Compressor::None {
            decode_payload(compressed, Verify::Trusted, &limits, out)?;
            return Ok(());
        }
        // What was not compressed lies in the entry itself.
        let (_, payload) = decode_payload(compressed, Verify::Trusted, &limits, &mut self.unused)?;
        out.clear();
        out.extend_from_slice(payload);
        Ok(())
    }
}
