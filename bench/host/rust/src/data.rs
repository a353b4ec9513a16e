//! The keys and values, the same files for every subject.

use crate::subject::{Batch, Kind};
use std::fs;
use std::io;
use std::path::Path;

/// Keys in the order of the writes, keys in another order for the reads, and a pool of
/// values.
pub struct Data {
    writes: Vec<Box<[u8]>>,
    reads: Vec<Box<[u8]>>,
    /// What the subject stores for each value.
    stored: Vec<Vec<u8>>,
    next_write: usize,
    next_read: usize,
}

/// One round's keys and values, put together before the timing.
pub struct Round<'a> {
    writes: Vec<(&'a [u8], &'a [u8])>,
    reads: Vec<&'a [u8]>,
}

impl Round<'_> {
    pub fn batch(&self) -> Batch<'_> {
        Batch {
            writes: &self.writes,
            reads: &self.reads,
        }
    }

    /// The round in pieces, so that a race can look at the clock in between.
    pub fn pieces(&self, size: usize) -> Vec<Batch<'_>> {
        let mut writes = self.writes.chunks(size);
        let mut reads = self.reads.chunks(size);
        std::iter::from_fn(|| match (writes.next(), reads.next()) {
            (None, None) => None,
            (writes, reads) => Some(Batch {
                writes: writes.unwrap_or_default(),
                reads: reads.unwrap_or_default(),
            }),
        })
        .collect()
    }
}

/// The lines of a file.
pub fn lines(path: &Path) -> io::Result<Vec<String>> {
    Ok(fs::read_to_string(path)?
        .lines()
        .map(str::to_owned)
        .collect())
}

fn keys(path: &Path) -> io::Result<Vec<Box<[u8]>>> {
    Ok(lines(path)?
        .into_iter()
        .map(|key| key.into_bytes().into_boxed_slice())
        .collect())
}

impl Data {
    pub fn read(folder: &Path, stored: Vec<Vec<u8>>) -> io::Result<Data> {
        Ok(Data {
            writes: keys(&folder.join("writes.txt"))?,
            reads: keys(&folder.join("reads.txt"))?,
            stored,
            next_write: 0,
            next_read: 0,
        })
    }

    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Goes on from somewhere else, so that two processes do not follow the same keys.
    pub fn skip(&mut self, keys: usize) {
        self.next_write += keys;
        self.next_read += keys;
    }

    /// The next `count` operations.
    pub fn round(&mut self, kind: Kind, count: usize) -> Round<'_> {
        let (writes, reads) = match kind {
            Kind::Put => (count, 0),
            Kind::Get => (0, count),
            Kind::Mixed => (count / 2, count / 2),
        };
        let (first_write, first_read) = (self.next_write, self.next_read);
        self.next_write += writes;
        self.next_read += reads;
        let this = &*self;
        Round {
            writes: (first_write..first_write + writes)
                .map(|n| {
                    let key = &this.writes[n % this.writes.len()];
                    let value = &this.stored[n % this.stored.len()];
                    (&**key, &**value)
                })
                .collect(),
            reads: (first_read..first_read + reads)
                .map(|n| &*this.reads[n % this.reads.len()])
                .collect(),
        }
    }
}
