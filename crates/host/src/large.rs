//! Values larger than a block: the record's head lies in a block of its own, and each chunk of the rest in
//! another (`spec/host.md`, "Large values").
//!
//! Only the head has a word in the index. It lists the blocks of the chunks with their sequence numbers, so the value
//! is published, replaced and removed by one compare-and-swap, as any other.

use crate::engine::{Engine, Environment, Record};
use crate::hash::KeyHash;
use crate::layout::{header, Shape, LISTED, RECORD_HEADER};
use crate::record::{bytes_of, checksum, RecordHeader, CHUNK, WORDS};
use crate::shared_memory::SharedMemory;
use crate::word::Word;
use smallvec::SmallVec;

/// A chunk has no entry of its own, whose checksum its own could cover.
const NO_ENTRY: u32 = 0;

/// A block of a value: its number, and its sequence number when the value was written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub block: u64,
    pub sequence: u64,
}

/// Blocks of a value; of the head's first, where that is among them.
pub(crate) type Parts = SmallVec<[Part; 16]>;

impl Part {
    /// The line of a head's list.
    pub fn encode(self) -> [u8; LISTED] {
        let mut line = [0; LISTED];
        line[..8].copy_from_slice(&self.sequence.to_le_bytes());
        line[8..12].copy_from_slice(&(self.block as u32).to_le_bytes());
        line
    }

    fn parse(line: &[u8; LISTED]) -> Part {
        let word =
            |at: usize| u32::from_le_bytes([line[at], line[at + 1], line[at + 2], line[at + 3]]);
        Part {
            sequence: u64::from(word(0)) | u64::from(word(4)) << 32,
            block: u64::from(word(8)),
        }
    }
}

/// The fixed part of a chunk: what it belongs to.
///
/// ```text
/// 0 checksum, as of a record of an entry whose checksum is 0 | 4 number:24, flags:8 = 2
/// 8 bytes of the entry | 12 hash_hi
/// 16 block_seq u64 | 24 hash_lo | 28 0
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkHeader {
    /// The chunk's place in the list.
    pub number: u32,
    /// Bytes of the entry that it holds.
    pub len: u32,
    /// Hash of the value's key.
    pub hash: KeyHash,
    /// Sequence number of the block when the chunk was written.
    pub block_seq: u64,
}

impl ChunkHeader {
    /// The words that the block of a chunk begins with.
    pub fn encode(&self) -> [u64; WORDS] {
        RecordHeader {
            checksum: 0,
            key_len: self.number,
            flags: CHUNK,
            entry_len: self.len,
            hash_hi: self.hash.hi,
            // No word publishes it, so it has no bond.
            origin: self.block_seq,
            born: u64::from(self.hash.lo),
        }
        .encode(self.hash, NO_ENTRY)
    }

    /// The chunk that these bytes begin, if their checksum says that they are one's.
    pub fn parse(bytes: &[u8; RECORD_HEADER]) -> Option<ChunkHeader> {
        let record = RecordHeader::parse(bytes);
        let hash = KeyHash {
            lo: record.born as u32,
            hi: record.hash_hi,
        };
        let is_chunk = record.flags == CHUNK
            && record.bond() == 0
            && checksum(bytes, hash, NO_ENTRY) == record.checksum;
        is_chunk.then_some(ChunkHeader {
            number: record.key_len,
            len: record.entry_len,
            hash,
            block_seq: record.block_seq(),
        })
    }
}

/// A head with its list.
pub(crate) struct Large {
    pub record: Record,
    pub shape: Shape,
    /// The blocks of the chunks, in their order.
    pub chunks: Parts,
}

impl Large {
    /// All blocks of the value, that of the head first.
    pub fn parts(&self, block_size: u64) -> impl Iterator<Item = Part> + '_ {
        let head = Part {
            block: self.record.at / block_size,
            sequence: self.record.header.block_seq(),
        };
        std::iter::once(head).chain(self.chunks.iter().copied())
    }
}

impl<M: SharedMemory, E: Environment> Engine<M, E> {
    /// The head that a record is, with its list; `None` for one that lists what no block is. What it says counts
    /// only once the record's word was seen to stand.
    #[cold]
    pub(crate) fn large(&self, record: &Record) -> Option<Large> {
        let shape = record.header.large_within(&self.geometry, record.at)?;
        let list = self.geometry.list_at(record.at, &shape);
        let chunks: Parts = (0..shape.chunks)
            .map(|chunk| Part::parse(&self.memory.read_array(list + (chunk * LISTED) as u64)))
            .collect();
        let within = chunks.iter().all(|part| part.block < self.geometry.blocks);
        within.then_some(Large {
            record: *record,
            shape,
            chunks,
        })
    }

    /// As [`Engine::large`], of what lies at this place. The cold functions take the place alone, because a hit that
    /// handed them its header would have to keep that in memory.
    #[inline(never)]
    fn large_at(&self, at: u64) -> Option<Large> {
        if !self.geometry.may_hold_record(at) {
            return None;
        }
        let header = RecordHeader::parse(&self.memory.read_array(at));
        self.large(&Record { at, header })
    }

    /// True when the head of a large value may begin here.
    #[cold]
    #[inline(never)]
    pub(crate) fn large_begins(&self, at: u64) -> bool {
        let header = RecordHeader::parse(&self.memory.read_array(at));
        header.large_within(&self.geometry, at).is_some()
    }

    /// Appends the entry of a large value to `out`; false, with `out` as it was, when a chunk is not in its place.
    /// That is so while the word changes, and for a damaged value.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_large(&self, at: u64, hash: KeyHash, out: &mut Vec<u8>) -> bool {
        let Some(large) = self.large_at(at) else {
            return false;
        };
        let record = large.record;
        let start = out.len();
        out.reserve_exact(record.header.entry_len as usize);
        self.memory
            .read(record.entry_at(), large.shape.in_head, out);
        for (number, part) in large.chunks.iter().enumerate() {
            let len = large.shape.part(number).len();
            if !self.is_chunk(*part, number, len, hash) {
                out.truncate(start);
                return false;
            }
            self.memory.read(self.chunk_at(*part), len, out);
        }
        true
    }

    /// True while the block begins with this chunk.
    pub(crate) fn is_chunk(&self, part: Part, number: usize, len: usize, hash: KeyHash) -> bool {
        let header = ChunkHeader {
            number: number as u32,
            len: len as u32,
            hash,
            block_seq: part.sequence,
        };
        let at = part.block * self.geometry.block_size;
        let found: [u8; RECORD_HEADER] = self.memory.read_array(at);
        found == bytes_of(header.encode())
    }

    /// Offset of a chunk's bytes of the entry.
    pub(crate) fn chunk_at(&self, part: Part) -> u64 {
        part.block * self.geometry.block_size + RECORD_HEADER as u64
    }

    /// A value could not be read. Removes it if it is damaged, that is if its word stands all the same: then all its
    /// blocks are free. True when the reader looks again; a handle that only reads may not remove it.
    #[cold]
    #[inline(never)]
    pub(crate) fn remove_unless_changed(&self, slot: u64, word: Word, at: u64, epoch: u64) -> bool {
        self.memory.fence();
        if self.word(slot) != word || self.epoch() != epoch {
            return true;
        }
        if self.memory.is_writable() {
            // Counted first: a reader that misses the entry finds the counter increased.
            self.memory.fetch_add(header::EVICTED_BY_AGE, 1);
            self.swap_out_large(slot, word, word.to_empty(), at);
        }
        self.memory.is_writable()
    }

    /// As [`Engine::swap_out`], for the head of a large value.
    #[cold]
    #[inline(never)]
    pub(crate) fn swap_out_large(&self, slot: u64, old: Word, new: Word, at: u64) -> bool {
        // Before the swap: afterwards a cleaner may free the head's block at any moment. The list was the
        // value's if the swap succeeds, because then the word stood until now.
        let large = self.large_at(at);
        self.memory.fence();
        let swapped = self.swap(slot, old, new);
        if let Some(large) = large.filter(|_| swapped) {
            for part in large.parts(self.geometry.block_size) {
                self.count_block_dead(part);
            }
        }
        swapped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_chunks_come_back() {
        let part = Part {
            block: 0x0102_0304,
            sequence: 0x1112_1314_1516_1718,
        };
        assert_eq!(Part::parse(&part.encode()), part);
        let header = ChunkHeader {
            number: 127,
            len: 65_504,
            hash: KeyHash { lo: 7, hi: 9 },
            block_seq: 1 << 40,
        };
        assert_eq!(ChunkHeader::parse(&bytes_of(header.encode())), Some(header));
    }

    #[test]
    fn no_flipped_bit_leaves_a_chunk() {
        let header = ChunkHeader {
            number: 1,
            len: 100,
            hash: KeyHash {
                lo: 0x0123_4567,
                hi: 0x89ab_cdef,
            },
            block_seq: 3,
        };
        for bit in 0..RECORD_HEADER * 8 {
            let mut damaged = bytes_of(header.encode());
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(ChunkHeader::parse(&damaged), None, "bit {bit}");
        }
    }
}
