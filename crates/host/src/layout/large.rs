//! How a value larger than a block lies in blocks: the record's head in one, and a chunk in each of the others
//! (`spec/host.md`, "Large values").

use super::{Geometry, RECORD_HEADER};
use polycache_entry::HEADER_LEN;
use std::ops::Range;

/// Bytes that the head has for each chunk, at the end of its block: the block's sequence number, its number,
/// and 32 bits that are 0.
pub const LISTED: usize = 16;

/// How a large value is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of chunks, each in a block of its own.
    pub chunks: usize,
    /// Bytes of the entry that lie in the head's block.
    pub in_head: usize,
    /// Bytes of the whole entry.
    entry: usize,
    /// Bytes of the entry in every chunk but the last one.
    in_chunk: usize,
}

impl Shape {
    /// Which bytes of the entry the chunk with this number holds.
    #[must_use]
    pub fn part(&self, chunk: usize) -> Range<usize> {
        let from = self.in_head + chunk * self.in_chunk;
        from..self.entry.min(from + self.in_chunk)
    }

    /// Blocks of the value, the head's included.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.chunks as u64 + 1
    }
}

impl Geometry {
    /// Blocks that one value may take: a quarter of all. Its length is counted in 32 bits.
    #[must_use]
    pub fn most_blocks_of_a_value(&self) -> u64 {
        let countable = u64::from(u32::MAX) / self.block_size;
        (self.blocks / 4).min(countable).max(1)
    }

    /// Bytes of the largest record: its fixed part, key and entry.
    #[must_use]
    pub fn max_record(&self) -> u64 {
        let blocks = self.most_blocks_of_a_value();
        let overhead = (RECORD_HEADER + LISTED) as u64;
        blocks * self.block_size - (blocks - 1) * overhead
    }

    /// How a value larger than a block is divided. `None` for one that fits a block, and for one that is too large:
    /// head, list and the entry's own header must fit the head's block.
    #[must_use]
    pub fn shape(&self, key: usize, entry: usize) -> Option<Shape> {
        let block = self.block_size as usize;
        let in_chunk = block - RECORD_HEADER;
        let room = block.checked_sub(RECORD_HEADER + key)?;
        let beyond = entry.checked_sub(room).filter(|beyond| *beyond > 0)?;
        // Each chunk takes the room of its line in the list from the head.
        let chunks = beyond.div_ceil(in_chunk.checked_sub(LISTED).filter(|gain| *gain > 0)?);
        let in_head = room.checked_sub(chunks * LISTED)?;
        let fits = in_head >= HEADER_LEN && (chunks as u64) < self.most_blocks_of_a_value();
        fits.then_some(Shape {
            chunks,
            in_head,
            entry,
            in_chunk,
        })
    }

    /// Offset of the list of a head that begins at `head`.
    #[must_use]
    pub fn list_at(&self, head: u64, shape: &Shape) -> u64 {
        head + self.block_size - (shape.chunks * LISTED) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{MAX_LIMIT, MIN_LIMIT};

    fn geometries() -> Vec<Geometry> {
        let limits = (0..20).map(|power| MIN_LIMIT << power);
        let odd = [MIN_LIMIT + 4097, MIN_LIMIT * 2 - 1, 300 << 20];
        let all: Vec<_> = limits
            .chain(odd)
            .map(|limit| Geometry::new(limit).unwrap())
            .collect();
        assert_eq!(all[19].limit, MAX_LIMIT);
        all
    }

    #[test]
    fn the_largest_record_takes_a_quarter_of_the_blocks_and_one_byte_more_does_not_fit() {
        for geometry in geometries() {
            let most = geometry.max_record() as usize - RECORD_HEADER;
            for key in [2, 40] {
                let shape = geometry.shape(key, most - key).unwrap();
                assert_eq!(shape.blocks(), geometry.most_blocks_of_a_value());
                assert_eq!(shape.part(shape.chunks - 1).end, most - key);
                assert_eq!(geometry.shape(key, most - key + 1), None);
            }
            assert!(geometry.max_record() <= u64::from(u32::MAX));
            let quarter = geometry.blocks_len() / 4;
            assert!(geometry.max_record() <= quarter);
            let bounded = geometry.max_record() + 2 * geometry.block_size > u64::from(u32::MAX);
            assert!(bounded || geometry.max_record() + 2 * geometry.block_size > quarter);
        }
    }

    #[test]
    fn parts_follow_each_other_and_leave_nothing_out() {
        let geometry = Geometry::new(MIN_LIMIT * 2).unwrap();
        let block = geometry.block_size as usize;
        assert_eq!(
            geometry.shape(3, block - RECORD_HEADER - 3),
            None,
            "it fits a block"
        );
        for more in [
            1,
            2,
            47,
            48,
            49,
            block - 48,
            block - 47,
            block,
            2 * block,
            5 * block + 7,
        ] {
            let entry = block - RECORD_HEADER - 3 + more;
            let shape = geometry.shape(3, entry).unwrap();
            let mut until = shape.in_head;
            for chunk in 0..shape.chunks {
                let part = shape.part(chunk);
                assert_eq!(part.start, until);
                assert!(!part.is_empty() && part.len() <= block - RECORD_HEADER);
                until = part.end;
            }
            assert_eq!(until, entry);
            let head = RECORD_HEADER + 3 + shape.in_head + shape.chunks * LISTED;
            assert_eq!(head, block, "the head's block is full");
        }
    }

    #[test]
    fn a_key_that_leaves_no_room_for_the_entrys_header_does_not_fit() {
        let geometry = Geometry::new(MIN_LIMIT).unwrap();
        let block = geometry.block_size as usize;
        let longest = block - RECORD_HEADER - LISTED - HEADER_LEN;
        assert!(geometry.shape(longest, 1000).is_some());
        assert_eq!(geometry.shape(longest + 1, 1000), None);
        assert_eq!(geometry.shape(block, 1000), None);
    }
}
