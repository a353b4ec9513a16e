//! A record: one key with its entry, immutable once published (`spec/host.md`).
//!
//! ```text
//! 0 crc32 of bytes [4, 32 + key_len) | 4 key_len:24, flags:8 | 8 entry_len | 12 hash_hi
//! 16 block_seq u64 | 24 born u64 | 32 key, entry, padding to the unit
//! ```
//! The entry has its own checksum, so every byte is summed once.

use crate::layout::{Geometry, RECORD_HEADER};

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// CRC-32 of the rest of the header and of the key.
    pub checksum: u32,
    /// Bytes of the full key.
    pub key_len: u32,
    /// Bytes of the entry.
    pub entry_len: u32,
    /// Upper half of the key's hash: it rejects most other keys without reading the key.
    pub hash_hi: u32,
    /// Sequence number of the block when the record was written.
    pub block_seq: u64,
    /// Clears before the value was made; compared with floors.
    pub born: u64,
}

impl RecordHeader {
    /// Reads the fixed part.
    #[inline(always)]
    #[must_use]
    pub fn parse(bytes: &[u8; RECORD_HEADER]) -> RecordHeader {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let long = |at: usize| u64::from(word(at)) | (u64::from(word(at + 4)) << 32);
        RecordHeader {
            checksum: word(0),
            key_len: word(4) & 0x00ff_ffff,
            entry_len: word(8),
            hash_hi: word(12),
            block_seq: long(16),
            born: long(24),
        }
    }

    /// Writes the fixed part, with its checksum over `key`.
    #[inline]
    #[must_use]
    pub fn encode(&self, key: &[u8]) -> [u8; RECORD_HEADER] {
        let mut bytes = [0; RECORD_HEADER];
        bytes[4..8].copy_from_slice(&self.key_len.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.entry_len.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.hash_hi.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.block_seq.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.born.to_le_bytes());
        let checksum = checksum(&bytes, key);
        bytes[0..4].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Bytes of the whole record, or `None` when it does not fit between `at` and the block's end, or
    /// its entry is shorter than an entry's header.
    #[inline(always)]
    #[must_use]
    pub fn size_within(&self, geometry: &Geometry, at: u64) -> Option<u64> {
        let size = geometry.record_size(self.key_len as usize, self.entry_len as usize);
        let room = geometry.block_size - (at & (geometry.block_size - 1));
        let whole = self.entry_len as usize >= polycache_entry::HEADER_LEN;
        (size <= room && whole && at < geometry.blocks_len()).then_some(size)
    }
}

/// The checksum that a record with this header and key must have.
#[must_use]
pub fn checksum(header: &[u8; RECORD_HEADER], key: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[4..]);
    hasher.update(key);
    hasher.finalize()
}
