//! Hostile bytes as a dictionary: rejected, or one that works.

use crate::{bit_of, entry_of, frame_of, LIMITS};
use polycache_entry::{Compressor, CompressorId, Dictionaries, Limits};

/// First bytes of a trained dictionary (RFC 8878, section 5), and an id.
const START: [u8; 8] = [0x37, 0xA4, 0x30, 0xEC, 1, 0, 0, 0];

/// The first byte chooses the compressor, the next two are the dictionary's length; what follows it is a
/// payload, and a frame. Then the dictionary begins as one.
pub fn check(data: &[u8]) {
    let Some(([choice, low, high], rest)) = data.split_first_chunk::<3>() else {
        return;
    };
    let compressor = match choice % 4 {
        0 => Compressor::Smart,
        1 => Compressor::Zstd { level: 1 },
        2 => Compressor::Zstd { level: 3 },
        _ => Compressor::Zstd { level: 12 },
    };
    let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
    let (dictionary, rest) = rest.split_at(length);
    with(dictionary, compressor, rest);
    if let Some(tables) = dictionary.get(START.len()..) {
        with(&[&START, tables].concat(), compressor, rest);
    }
}

fn with(dictionary: &[u8], compressor: Compressor, rest: &[u8]) {
    let dictionaries = match Dictionaries::new([dictionary], compressor) {
        Ok(dictionaries) => dictionaries,
        Err(error) => {
            assert_eq!(error.code(), "invalid_argument");
            return;
        }
    };
    assert!(dictionary[..4] == START[..4] && dictionary[4..8] != [0; 4]);
    let limits = Limits {
        dictionaries: Some(dictionaries),
        ..LIMITS
    };
    round(rest, compressor, &limits);
    let mut out = Vec::new();
    let length = rest.len() as u64 * 8;
    if let Err(error) = CompressorId::Zstd.decompress(rest, length, &limits, &mut out) {
        assert!(!error.to_string().is_empty());
    }
}

/// What an accepted dictionary has compressed comes back; changed, it gives no other bytes.
fn round(payload: &[u8], compressor: Compressor, limits: &Limits) {
    let entry = entry_of(payload, compressor, limits);
    let Some(frame) = frame_of(&entry) else {
        return;
    };
    let (mut changed, length) = (frame.to_vec(), payload.len() as u64);
    let bit = bit_of(payload, frame);
    changed[bit / 8] ^= 1 << (bit % 8);
    let mut out = Vec::new();
    let changed = CompressorId::Zstd.decompress(&changed, length, limits, &mut out);
    assert!(changed.is_err() || out == payload);
}
