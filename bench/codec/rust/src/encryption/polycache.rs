//! Ours: whole entries that hold bytes, encrypted and plain.

use super::{Cipher, KEY};
use crate::{ours, Outcome};
use polycache_entry::{
    decode_payload, decrypt_payload, encode_payload, Encryption, EntryOptions, Limits, Serializer,
    Verify,
};

/// As a key of a cache and its namespace are given.
const PREFIX: &[u8] = b"shop::";
const NAME: &[u8] = b"user:1000";

pub struct Encrypted {
    keys: Encryption,
    limits: Limits,
    /// Nothing here is compressed.
    unused: Vec<u8>,
}

impl Cipher for Encrypted {
    const NAME: &'static str = "polycache-entry, encrypted";

    fn notes() -> Vec<String> {
        vec![
            "a whole entry: 40 B of it are the header, 16 B the tag; the header and the key of the cache \
             are bound, and there is a checksum"
                .into(),
        ]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new() -> Outcome<Encrypted> {
        Ok(Encrypted {
            keys: Encryption::new([(1, KEY)])?,
            limits: Limits::default(),
            unused: Vec::new(),
        })
    }

    fn write(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        let options = EntryOptions {
            encryption: Some(self.keys.of(PREFIX, NAME)),
            ..EntryOptions::default()
        };
        Ok(encode_payload(data, Serializer::Bytes, &options, out)?)
    }

    fn read<'a>(&'a mut self, written: &'a mut [u8]) -> Outcome<&'a [u8]> {
        let (keys, limits) = (self.keys.of(PREFIX, NAME), &self.limits);
        let (_, payload) =
            decrypt_payload(written, Verify::Trusted, limits, keys, &mut self.unused)?;
        Ok(payload)
    }
}

/// What encryption adds to.
pub struct Plain {
    limits: Limits,
    unused: Vec<u8>,
}

impl Cipher for Plain {
    const NAME: &'static str = "polycache-entry";

    fn notes() -> Vec<String> {
        vec!["not encrypted, for comparison: 24 B of it are the header, with a checksum".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn new() -> Outcome<Plain> {
        Ok(Plain {
            limits: Limits::default(),
            unused: Vec::new(),
        })
    }

    fn write(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        out.clear();
        let options = EntryOptions::default();
        Ok(encode_payload(data, Serializer::Bytes, &options, out)?)
    }

    fn read<'a>(&'a mut self, written: &'a mut [u8]) -> Outcome<&'a [u8]> {
        let limits = &self.limits;
        let (_, payload) = decode_payload(written, Verify::Trusted, limits, &mut self.unused)?;
        Ok(payload)
    }
}
