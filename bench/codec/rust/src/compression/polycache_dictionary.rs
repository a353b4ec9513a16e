//! Ours with a dictionary: whole entries, at zstd's levels and compressed where it is worth it.

use super::dictionary::dictionary;
use super::{polycache_compressor, Compressor, Level};
use crate::{ours, Outcome};
use polycache_entry::{
    decode_payload, encode_payload, CompressorId, Dictionaries, EntryOptions, Limits, Serializer,
    Verify,
};

pub struct PolycacheDictionary {
    compressor: polycache_entry::Compressor,
    dictionaries: Dictionaries,
    limits: Limits,
}

impl PolycacheDictionary {
    fn by(compressor: polycache_entry::Compressor) -> Outcome<PolycacheDictionary> {
        let dictionaries = Dictionaries::new([dictionary()?], compressor)?;
        let limits = Limits {
            dictionaries: Some(dictionaries.clone()),
            ..Limits::default()
        };
        Ok(PolycacheDictionary {
            compressor,
            dictionaries,
            limits,
        })
    }
}

impl Compressor for PolycacheDictionary {
    const NAME: &'static str = "polycache-entry, dictionary";
    const LEVELS: &'static [Level] = &[Some(1), Some(3), Some(9)];

    fn notes() -> Vec<String> {
        vec![
            "a whole entry: 32 B of it are the header, with a checksum; the frame has one of the \
             content, which tells another dictionary of the same id"
                .into(),
        ]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new(level: Level) -> Outcome<PolycacheDictionary> {
        PolycacheDictionary::by(polycache_compressor(level))
    }

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        let options = EntryOptions {
            compressor: self.compressor,
            dictionaries: Some(&self.dictionaries),
            ..EntryOptions::default()
        };
        Ok(encode_payload(data, Serializer::Bytes, &options, out)?)
    }

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        let (header, payload) = decode_payload(compressed, Verify::Trusted, &self.limits, out)?;
        if header.compressor == CompressorId::None {
            let payload = payload.to_vec();
            *out = payload;
        }
        Ok(())
    }
}

/// Likewise, compressed where it is worth it.
pub struct PolycacheSmartDictionary(PolycacheDictionary);

impl Compressor for PolycacheSmartDictionary {
    const NAME: &'static str = "polycache-smart, dictionary";
    const LEVELS: &'static [Level] = &[Some(1)];

    fn notes() -> Vec<String> {
        vec!["a whole entry; chooses for itself, and is held against L1".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new(_level: Level) -> Outcome<PolycacheSmartDictionary> {
        let smart = PolycacheDictionary::by(polycache_entry::Compressor::Smart)?;
        Ok(PolycacheSmartDictionary(smart))
    }

    fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        self.0.compress(data, out)
    }

    fn decompress(&mut self, compressed: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        self.0.decompress(compressed, out)
    }
}
