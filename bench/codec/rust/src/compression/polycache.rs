//! Ours: whole entries that hold bytes, as a cache uses them, and the compressors alone.

use super::{Compressor, Level};
use crate::{ours, Outcome};
use polycache_entry::{
    decode_payload, encode_payload, CompressorId, EntryOptions, Limits, Serializer, Verify,
};
use zstd::zstd_safe::get_frame_content_size;

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

/// The compressors alone, as the page measures its own.
pub struct PolycachePayload(polycache_entry::Compressor);

impl Compressor for PolycachePayload {
    const NAME: &'static str = "polycache-payload";

    fn notes() -> Vec<String> {
        vec!["the compressor alone; contexts and buffers are kept".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new(level: Level) -> Outcome<PolycachePayload> {
        Ok(PolycachePayload(polycache_compressor(level)))
    }

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        self.0.compress(data, out)?;
        Ok(())
    }

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        // What an entry's header says.
        let (id, length) = match self.0 {
            polycache_entry::Compressor::None => (CompressorId::None, compressed.len() as u64),
            _ => {
                let length = get_frame_content_size(compressed).ok().flatten();
                let length = length.ok_or("the frame does not say its size")?;
                (CompressorId::Zstd, length)
            }
        };
        Ok(id.decompress(compressed, length, &Limits::default(), out)?)
    }
}

/// Whole entries, compressed where it is worth it.
pub struct PolycacheSmart(Polycache);

impl Compressor for PolycacheSmart {
    const NAME: &'static str = "polycache-smart";
    const LEVELS: &'static [Level] = &[Some(1)];

    fn notes() -> Vec<String> {
        vec!["a whole entry; chooses for itself, and is held against L1".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new(_level: Level) -> Outcome<PolycacheSmart> {
        let mut entries = Polycache::new(None)?;
        entries.options.compressor = polycache_entry::Compressor::Smart;
        Ok(PolycacheSmart(entries))
    }

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        self.0.compress(data, out)
    }

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        let limits = Limits::default();
        let (header, payload) = decode_payload(compressed, Verify::Trusted, &limits, out)?;
        if header.compressor == CompressorId::None {
            let payload = payload.to_vec();
            *out = payload;
        }
        Ok(())
    }
}
