//! The memory under the algorithm: atomic words of the index and bytes of the blocks.
//!
//! The engine is generic over [`SharedMemory`], so shuttle explores the interleavings of the production code
//! on its own atomics, torn copies included.

use crate::layout::BUCKET;
use crate::word::Word;

/// Shared memory of one directory. Word offsets are multiples of eight.
pub trait SharedMemory: Send + Sync {
    /// Atomic load (sequentially consistent) of the index word at `at`.
    fn load(&self, at: usize) -> u64;
    /// Which words of the bucket at `at` begin with these twelve bits ([`crate::word::Word::begins_with`]): a
    /// bit for each of the eight, the first word's lowest. As if each were loaded, in any order.
    #[inline(always)]
    fn words_beginning_with(&self, at: usize, beginning: u32) -> u32 {
        (0..BUCKET)
            .filter(|word| Word(self.load(at + word * 8)).begins_with(beginning))
            .fold(0, |found, word| found | 1 << word)
    }
    /// Atomic store (release) of the index word at `at`.
    fn store(&self, at: usize, value: u64);
    /// Compare-and-swap (sequentially consistent): true when `old` was there and `new` replaced it.
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool;
    /// Atomic addition (sequentially consistent); returns the previous value.
    fn fetch_add(&self, at: usize, by: u64) -> u64;
    /// Atomic maximum (sequentially consistent).
    fn fetch_max(&self, at: usize, value: u64);
    /// The visited byte at `at`: how often the entry was read of late.
    fn visited(&self, at: usize) -> u8;
    /// Sets the visited byte at `at`.
    fn set_visited(&self, at: usize, reads: u8);
    /// Appends `len` bytes of the blocks at `at` to `out`. A writer may tear the bytes: the caller then
    /// calls [`SharedMemory::fence`] and checks that the word that led it there still stands.
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>);
    /// Fills `out` from the blocks at `at`; may be torn like [`SharedMemory::read`].
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N];
    /// Compares block bytes; may be torn like [`SharedMemory::read`].
    fn equal(&self, at: u64, bytes: &[u8]) -> bool;
    /// Writes block bytes. The caller owns the block.
    fn write(&self, at: u64, bytes: &[u8]);
    /// Writes numbers of eight bytes to a block, in little-endian order. The caller owns the block.
    fn write_words<const N: usize>(&self, at: u64, words: [u64; N]) {
        for (place, word) in words.into_iter().enumerate() {
            self.write(at + place as u64 * 8, &word.to_le_bytes());
        }
    }
    /// Prefetches the index line at `at`; only a hint.
    fn prefetch(&self, at: usize) {
        let _ = at;
    }
    /// Prefetches the index line at `at` for a write to come; only a hint.
    fn prefetch_to_write(&self, at: usize) {
        let _ = at;
    }
    /// Prefetches `len` block bytes from `at` on for a write to come; only a hint.
    fn prefetch_room(&self, at: u64, len: usize) {
        let _ = (at, len);
    }
    /// Prefetches the block bytes from `at` on, as many as a small record has; only a hint.
    fn prefetch_record(&self, at: u64) {
        let _ = at;
    }
    /// `len` block bytes from `at` on are read soon, one after the other; only a hint.
    fn will_read(&self, at: u64, len: u64) {
        let _ = (at, len);
    }
    /// False for memory that may only be read.
    fn is_writable(&self) -> bool {
        true
    }
    /// Orders the block accesses before it with the word accesses after it, and vice versa.
    fn fence(&self);
}

impl<M: SharedMemory, P: std::ops::Deref<Target = M> + Send + Sync> SharedMemory for P {
    #[inline(always)]
    fn load(&self, at: usize) -> u64 {
        (**self).load(at)
    }
    #[inline(always)]
    fn words_beginning_with(&self, at: usize, beginning: u32) -> u32 {
        (**self).words_beginning_with(at, beginning)
    }
    #[inline(always)]
    fn store(&self, at: usize, value: u64) {
        (**self).store(at, value);
    }
    #[inline(always)]
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool {
        (**self).compare_exchange(at, old, new)
    }
    #[inline(always)]
    fn fetch_add(&self, at: usize, by: u64) -> u64 {
        (**self).fetch_add(at, by)
    }
    #[inline(always)]
    fn fetch_max(&self, at: usize, value: u64) {
        (**self).fetch_max(at, value);
    }
    #[inline(always)]
    fn visited(&self, at: usize) -> u8 {
        (**self).visited(at)
    }
    #[inline(always)]
    fn set_visited(&self, at: usize, reads: u8) {
        (**self).set_visited(at, reads);
    }
    #[inline(always)]
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        (**self).read(at, len, out);
    }
    #[inline(always)]
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        (**self).read_array(at)
    }
    #[inline(always)]
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        (**self).equal(at, bytes)
    }
    #[inline(always)]
    fn write(&self, at: u64, bytes: &[u8]) {
        (**self).write(at, bytes);
    }
    #[inline(always)]
    fn write_words<const N: usize>(&self, at: u64, words: [u64; N]) {
        (**self).write_words(at, words);
    }
    #[inline(always)]
    fn prefetch(&self, at: usize) {
        (**self).prefetch(at);
    }
    #[inline(always)]
    fn prefetch_to_write(&self, at: usize) {
        (**self).prefetch_to_write(at);
    }
    #[inline(always)]
    fn prefetch_room(&self, at: u64, len: usize) {
        (**self).prefetch_room(at, len);
    }
    #[inline(always)]
    fn prefetch_record(&self, at: u64) {
        (**self).prefetch_record(at);
    }
    fn will_read(&self, at: u64, len: u64) {
        (**self).will_read(at, len);
    }
    #[inline(always)]
    fn is_writable(&self) -> bool {
        (**self).is_writable()
    }
    #[inline(always)]
    fn fence(&self) {
        (**self).fence();
    }
}
