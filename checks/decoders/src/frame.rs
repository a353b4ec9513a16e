//! Compressed payloads: any frame, with any length that an entry may declare for it.

use crate::LIMITS;
use polycache_entry::{Compressor, CompressorId};

/// Input to the compressor is cut off here, so that a round costs no more than a decoding.
const MOST: usize = 2048;

/// The first 3 bytes are the declared length, the others the frame; then the bytes are compressed, and
/// come back.
pub fn check(data: &[u8]) {
    if let Some((length, frame)) = data.split_first_chunk::<3>() {
        let length = u32::from_le_bytes([length[0], length[1], length[2], 0]);
        read(CompressorId::Zstd, frame, length.into());
        read(CompressorId::None, frame, length.into());
        // The correct length, if there is a frame.
        read(CompressorId::None, frame, frame.len() as u64);
    }
    let payload = &data[..data.len().min(MOST)];
    for compressor in [Compressor::Smart, Compressor::Zstd { level: 1 }] {
        let (mut out, mut back) = (Vec::new(), Vec::new());
        let id = compressor
            .compress(payload, &mut out)
            .expect("any bytes can be compressed");
        id.decompress(&out, payload.len() as u64, &LIMITS, &mut back)
            .expect("what was compressed can be read");
        assert_eq!(back, payload);
    }
}

fn read(id: CompressorId, stored: &[u8], length: u64) {
    let mut out = Vec::new();
    match id.decompress(stored, length, &LIMITS, &mut out) {
        Ok(()) => assert_eq!(out.len() as u64, length),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    // A block holds 128 KiB at most, and its header takes 3 bytes.
    let most = (stored.len() as u64 / 3 + 1) * 128 * 1024;
    assert!(out.capacity() as u64 <= most.min(length.max(64)));
}
