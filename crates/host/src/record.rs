//! A record: one key with its entry, immutable once published (`spec/host.md`).
//!
//! ```text
//! 0 checksum of bytes [4, 32), the key's hash and the entry's checksum | 4 key_len:24, flags:8
//! 8 entry_len | 12 hash_hi
//! 16 block_seq:44, bond:20 | 24 born u64 | 32 key, entry, padding to the unit
//! ```
//! The entry has its own checksum, so every byte is summed once; all but the bond, which is not summed: it is
//! written last, and compared with the word.
//!
//! A value larger than a block has the flag [`LARGE`]: `large.rs`.

use crate::hash::KeyHash;
use crate::layout::{Geometry, Shape, RECORD_HEADER};

/// Flag of the head of a value larger than a block.
pub(crate) const LARGE: u8 = 1;
/// Flag of a chunk of such a value, which is no record.
pub(crate) const CHUNK: u8 = 2;

/// Bits of a record's block sequence number; the bond has the rest of the word.
const SEQUENCE_BITS: u32 = 44;
const SEQUENCE_MASK: u64 = (1 << SEQUENCE_BITS) - 1;
/// Words of a record before its key.
pub(crate) const WORDS: usize = RECORD_HEADER / 8;
/// Offset of the word with the block's sequence number and the bond.
const BOND_AT: u64 = 16;

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// Checksum of the rest of the header, of the key's hash and of the entry's checksum.
    pub checksum: u32,
    /// Bytes of the full key.
    pub key_len: u32,
    /// 0, or 1 for the head of a value larger than a block.
    pub flags: u8,
    /// Bytes of the entry.
    pub entry_len: u32,
    /// Upper half of the key's hash: it rejects most other keys without reading the key.
    pub hash_hi: u32,
    /// `block_seq` and `bond`: a hit has no use for them, and does not take them apart.
    pub origin: u64,
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
            origin: long(16),
            born: long(24),
        }
    }

    /// Sequence number of the block when the record was written.
    #[inline(always)]
    #[must_use]
    pub fn block_seq(&self) -> u64 {
        self.origin & SEQUENCE_MASK
    }

    /// What ties the record to the one word that published it: [`crate::word::Word::bond`]. After a power loss the
    /// bytes that a word leads to may be those of an earlier or a later record of the same key.
    #[inline(always)]
    #[must_use]
    pub fn bond(&self) -> u32 {
        (self.origin >> SEQUENCE_BITS) as u32
    }

    /// The words of the fixed part, with its checksum; `hash` is the key's, `entry` the entry's checksum.
    #[inline(always)]
    #[must_use]
    pub fn encode(&self, hash: KeyHash, entry: u32) -> [u64; WORDS] {
        let mut words = [
            u64::from(self.flags) << 56 | u64::from(self.key_len) << 32 | u64::from(entry),
            u64::from(self.hash_hi) << 32 | u64::from(self.entry_len),
            self.origin,
            self.born,
        ];
        let checksum = mixed(words, hash);
        words[0] = words[0] >> 32 << 32 | u64::from(checksum);
        words
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

/// The bytes of these words of the fixed part.
pub(crate) fn bytes_of(words: [u64; WORDS]) -> [u8; RECORD_HEADER] {
    let mut bytes = [0; RECORD_HEADER];
    for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Where the bond of a record at `at` is written, and what is written there.
#[inline(always)]
pub(crate) fn bonded(at: u64, sequence: u64, bond: u32) -> (u64, u64) {
    (at + BOND_AT, sequence | u64::from(bond) << SEQUENCE_BITS)
}

/// The checksum in the header of an entry, of which these are the first bytes.
#[inline(always)]
#[must_use]
pub(crate) fn checksum_of_entry(entry: &[u8]) -> u32 {
    let mut sum = [0; 4];
    sum.copy_from_slice(&entry[4..8]);
    u32::from_le_bytes(sum)
}

/// The checksum that a record with this header must have, whatever its bond; `hash` is its key's, and `entry` its
/// entry's checksum, without which another record's entry, torn off at the right place, would do.
///
/// Each word is mixed in by steps that lose nothing, so any change of one word changes the 64 bits of which the
/// checksum is the upper half. The hash stands for the key: it takes far fewer steps than a CRC of the bytes.
/// The multiplier is that of D. Lea's and G. Steele's SplitMix (OOPSLA 2014).
#[inline]
#[must_use]
pub fn checksum(header: &[u8; RECORD_HEADER], hash: KeyHash, entry: u32) -> u32 {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(header.chunks_exact(8)) {
        let mut eight = [0; 8];
        eight.copy_from_slice(bytes);
        *word = u64::from_le_bytes(eight);
    }
    // In the place of the checksum itself.
    words[0] = words[0] >> 32 << 32 | u64::from(entry);
    mixed(words, hash)
}

#[inline(always)]
fn mixed(words: [u64; WORDS], hash: KeyHash) -> u32 {
    let [first, second, origin, born] = words;
    let mut mixed = hash.as_u64();
    for word in [first, second, origin & SEQUENCE_MASK, born] {
        mixed ^= word;
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
        origin: 7,
        born: 3,
    };
    const HASH: KeyHash = KeyHash {
        lo: 0x0123_4567,
        hi: 0x89ab_cdef,
    };

    const SUM: u32 = 0x1357_9bdf;

    fn encoded() -> [u8; RECORD_HEADER] {
        let bytes = HEADER.encode(HASH, SUM).map(u64::to_le_bytes);
        bytes.concat().try_into().unwrap()
    }

    #[test]
    fn a_record_comes_back() {
        let bytes = encoded();
        let parsed = RecordHeader::parse(&bytes);
        assert_eq!(parsed.checksum, checksum(&bytes, HASH, SUM));
        assert_eq!(
            RecordHeader {
                checksum: 0,
                ..parsed
            },
            HEADER
        );
    }

    #[test]
    fn a_bond_is_added_without_a_new_checksum() {
        let mut bytes = encoded();
        let whole = checksum(&bytes, HASH, SUM);
        let (at, word) = bonded(0, HEADER.block_seq(), 0xabcde);
        bytes[at as usize..][..8].copy_from_slice(&word.to_le_bytes());
        let parsed = RecordHeader::parse(&bytes);
        assert_eq!((parsed.block_seq(), parsed.bond()), (7, 0xabcde));
        assert_eq!(checksum(&bytes, HASH, SUM), whole);
    }

    #[test]
    fn every_flipped_bit_changes_the_checksum() {
        let bytes = encoded();
        let whole = checksum(&bytes, HASH, SUM);
        let bond = BOND_AT as usize * 8 + SEQUENCE_BITS as usize..BOND_AT as usize * 8 + 64;
        for bit in (32..RECORD_HEADER * 8).filter(|bit| !bond.contains(bit)) {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&damaged, HASH, SUM), whole, "bit {bit}");
        }
        for bit in 0..32 {
            let other = KeyHash {
                lo: HASH.lo ^ 1 << bit,
                ..HASH
            };
            assert_ne!(checksum(&bytes, other, SUM), whole, "bit {bit} of the hash");
            let entry = SUM ^ 1 << bit;
            assert_ne!(
                checksum(&bytes, HASH, entry),
                whole,
                "bit {bit} of the entry's"
            );
        }
    }
}
