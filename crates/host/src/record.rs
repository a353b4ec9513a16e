//! A record: one key with its entry, immutable once published (`spec/host.md`).
//!
//! ```text
//! 0 checksum of bytes [4, 32) and the key's hash | 4 key_len:24, flags:8 | 8 entry_len | 12 hash_hi
//! 16 block_seq u64 | 24 born u64 | 32 key, entry, padding to the unit
//! ```
//! The entry has its own checksum, so every byte is summed once.
//!
//! A value larger than a block has the flag [`LARGE`]: `large.rs`.

use crate::hash::KeyHash;
use crate::layout::{Geometry, Shape, RECORD_HEADER};

/// Flag of the head of a value larger than a block.
pub(crate) const LARGE: u8 = 1;
/// Flag of a chunk of such a value, which is no record.
pub(crate) const CHUNK: u8 = 2;

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// Checksum of the rest of the header and of the key's hash.
    pub checksum: u32,
    /// Bytes of the full key.
    pub key_len: u32,
    /// 0, or 1 for the head of a value larger than a block.
    pub flags: u8,
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
            flags: bytes[7],
            entry_len: word(8),
            hash_hi: word(12),
            block_seq: long(16),
            born: long(24),
        }
    }

    /// Writes the fixed part, with its checksum; `hash` is the key's.
    #[inline]
    #[must_use]
    pub fn encode(&self, hash: KeyHash) -> [u8; RECORD_HEADER] {
        let mut bytes = [0; RECORD_HEADER];
        bytes[4..8].copy_from_slice(&self.key_len.to_le_bytes());
        bytes[7] = self.flags;
        bytes[8..12].copy_from_slice(&self.entry_len.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.hash_hi.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.block_seq.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.born.to_le_bytes());
        let checksum = checksum(&bytes, hash);
        bytes[0..4].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// True for the head of a value larger than a block.
    #[inline(always)]
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.flags & LARGE != 0
    }

    /// How a value larger than a block is divided, if this is the head of one that may begin at `at`.
    #[cold]
    #[must_use]
    pub fn large_within(&self, geometry: &Geometry, at: u64) -> Option<Shape> {
        let begins = at & (geometry.block_size - 1) == 0 && at < geometry.blocks_len();
        if self.flags != LARGE || !begins {
            return None;
        }
        geometry.shape(self.key_len as usize, self.entry_len as usize)
    }

    /// Bytes that the record takes, or `None` when none like it can begin at `at`: those of
    /// [`RecordHeader::size_within`], or for a value larger than a block those of all its blocks.
    #[inline(always)]
    #[must_use]
    pub fn bytes_within(&self, geometry: &Geometry, at: u64) -> Option<u64> {
        self.size_within(geometry, at).or_else(|| {
            self.large_within(geometry, at)
                .map(|shape| shape.blocks() * geometry.block_size)
        })
    }

    /// Bytes of the whole record, or `None` when it does not fit between `at` and the block's end, or
    /// its entry is shorter than an entry's header. A value larger than a block never fits.
    #[inline(always)]
    #[must_use]
    pub fn size_within(&self, geometry: &Geometry, at: u64) -> Option<u64> {
        let size = geometry.record_size(self.key_len as usize, self.entry_len as usize);
        let room = geometry.block_size - (at & (geometry.block_size - 1));
        let whole = self.entry_len as usize >= polycache_entry::HEADER_LEN;
        (size <= room && whole && at < geometry.blocks_len()).then_some(size)
    }
}

/// The checksum that a record with this header must have; `hash` is its key's.
///
/// Each word is mixed in by steps that lose nothing, so any change of one word changes the 64 bits of which the
/// checksum is the upper half. The hash stands for the key: it takes far fewer steps than a CRC of the bytes.
/// The multiplier is that of D. Lea's and G. Steele's SplitMix (OOPSLA 2014).
#[inline]
#[must_use]
pub fn checksum(header: &[u8; RECORD_HEADER], hash: KeyHash) -> u32 {
    let mut mixed = hash.as_u64();
    for (place, word) in header.chunks_exact(8).enumerate() {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        let word = u64::from_le_bytes(bytes);
        // The lower half of the first word is the checksum itself.
        mixed ^= if place == 0 { word >> 32 } else { word };
        mixed = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^= mixed >> 32;
    }
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: RecordHeader = RecordHeader {
        checksum: 0,
        key_len: 21,
        flags: 0,
        entry_len: 130,
        hash_hi: 0x89ab_cdef,
        block_seq: 7,
        born: 3,
    };
    const HASH: KeyHash = KeyHash {
        lo: 0x0123_4567,
        hi: 0x89ab_cdef,
    };

    #[test]
    fn a_record_comes_back() {
        let bytes = HEADER.encode(HASH);
        let parsed = RecordHeader::parse(&bytes);
        assert_eq!(parsed.checksum, checksum(&bytes, HASH));
        assert_eq!(
            RecordHeader {
                checksum: 0,
                ..parsed
            },
            HEADER
        );
    }

    #[test]
    fn every_flipped_bit_changes_the_checksum() {
        let bytes = HEADER.encode(HASH);
        let whole = checksum(&bytes, HASH);
        for bit in 32..RECORD_HEADER * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&damaged, HASH), whole, "bit {bit}");
        }
        for bit in 0..32 {
            let other = KeyHash {
                lo: HASH.lo ^ 1 << bit,
                ..HASH
            };
            assert_ne!(checksum(&bytes, other), whole, "bit {bit} of the hash");
        }
    }
}
