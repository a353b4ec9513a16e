//! The memory that the processes share: plain cells, where every access is a point to switch actors.
//!
//! Sequentially consistent, and torn at every eighth byte. Weak memory is left to the tests with loom.

use crate::switch::{access, linger};
use polycache_host::layout::Geometry;
use polycache_host::shared_memory::SharedMemory;
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering::Relaxed};

/// One directory's memory.
pub struct Shared {
    words: Box<[AtomicU64]>,
    blocks: Box<[AtomicU64]>,
    visited: Box<[AtomicU8]>,
    visited_at: usize,
}

impl Shared {
    /// A memory of zeros.
    pub fn new(geometry: &Geometry) -> Shared {
        let words = geometry.index_len / 8;
        Shared {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            blocks: (0..geometry.blocks_len() / 8)
                .map(|_| AtomicU64::new(0))
                .collect(),
            visited: (0..geometry.slots()).map(|_| AtomicU8::new(0)).collect(),
            visited_at: geometry.visited_at,
        }
    }

    /// A word as it is now, for an observer outside.
    pub fn peek(&self, at: usize) -> u64 {
        self.words[at / 8].load(Relaxed)
    }

    /// Changes a word before the processes begin.
    pub fn preset(&self, at: usize, value: u64) {
        self.words[at / 8].store(value, Relaxed);
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        access();
        &self.words[at / 8]
    }

    /// Copies each byte, and gives way before each word of eight.
    fn each_byte(&self, at: u64, len: usize, mut f: impl FnMut(u8)) {
        let end = at + len as u64;
        let mut here = at;
        while here < end {
            access();
            let bytes = self.blocks[(here / 8) as usize].load(Relaxed).to_le_bytes();
            let last = (here / 8 * 8 + 8).min(end);
            bytes[(here % 8) as usize..][..(last - here) as usize]
                .iter()
                .for_each(|byte| f(*byte));
            here = last;
        }
    }
}

impl SharedMemory for Shared {
    fn load(&self, at: usize) -> u64 {
        self.word(at).load(Relaxed)
    }
    fn store(&self, at: usize, value: u64) {
        self.word(at).store(value, Relaxed);
    }
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool {
        linger();
        let word = self.word(at);
        let same = word.load(Relaxed) == old;
        if same {
            word.store(new, Relaxed);
        }
        linger();
        same
    }
    fn fetch_add(&self, at: usize, by: u64) -> u64 {
        let word = self.word(at);
        let old = word.load(Relaxed);
        word.store(old.wrapping_add(by), Relaxed);
        old
    }
    fn fetch_max(&self, at: usize, value: u64) {
        let word = self.word(at);
        word.store(word.load(Relaxed).max(value), Relaxed);
    }
    fn visited(&self, at: usize) -> u8 {
        access();
        self.visited[at - self.visited_at].load(Relaxed)
    }
    fn set_visited(&self, at: usize, reads: u8) {
        access();
        self.visited[at - self.visited_at].store(reads, Relaxed);
    }
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        self.each_byte(at, len, |byte| out.push(byte));
    }
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        let mut out = [0; N];
        let mut places = out.iter_mut();
        self.each_byte(at, N, |byte| *places.next().expect("as many") = byte);
        out
    }
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        let mut wanted = bytes.iter();
        let mut same = true;
        self.each_byte(at, bytes.len(), |byte| same &= wanted.next() == Some(&byte));
        same
    }
    fn write(&self, at: u64, bytes: &[u8]) {
        let end = at + bytes.len() as u64;
        let mut here = at;
        while here < end {
            access();
            let word = &self.blocks[(here / 8) as usize];
            let last = (here / 8 * 8 + 8).min(end);
            let mut value = word.load(Relaxed).to_le_bytes();
            value[(here % 8) as usize..][..(last - here) as usize]
                .copy_from_slice(&bytes[(here - at) as usize..(last - at) as usize]);
            word.store(u64::from_le_bytes(value), Relaxed);
            here = last;
        }
    }
    fn fence(&self) {}
}
