//! [`SharedMemory`] over the mapped files of a directory.

use crate::layout::{header, WINDOW};
use crate::platform;
use crate::shared_bytes;
use crate::shared_memory::SharedMemory;
use memmap2::MmapRaw;
use std::sync::atomic::{fence, AtomicBool, AtomicU64, AtomicU8, Ordering};

const WINDOW_SHIFT: u32 = WINDOW.trailing_zeros();

/// Bytes of the smallest page. What is longer has several, which the system is asked for at once where it reads single ones.
const PAGE: usize = 4096;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Cache lines of a small record: header, key and an entry of about 100 bytes. For longer records the
/// processor prefetches by itself.
const RECORD_LINES: usize = 3;
/// Of the room of a record from this length on only the beginning is prefetched: the rest may be written past the cache.
const LONG_ROOM: usize = 4 << 10;
const LONG_BEGINS: usize = 2 * LINE;

#[inline(always)]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: a prefetch never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for the line so that this core may write it. A plain prefetch of a line that another core wrote last gets a
/// copy to read, and the write would have to ask that core again.
#[inline(always)]
fn prefetch_line_to_write(address: *const u8) {
    // The intrinsic with the hint for a write is compiled to a plain prefetch unless the processor is known. Every
    // 64-bit one knows the instruction, or takes it for none.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch never faults, whatever the address.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// The index and the windows of blocks, mapped shared.
pub struct MappedMemory {
    index: MmapRaw,
    windows: Vec<MmapRaw>,
    /// The windows' addresses and lengths, side by side: they save the hot path loads and comparisons.
    areas: Vec<(*mut u8, usize)>,
    /// True when nothing may be written.
    read_only: bool,
    /// True while what is read of the blocks is spread over them, and the system reads single pages.
    at_random: AtomicBool,
}

// SAFETY: the raw pointers point into mappings that this struct owns. All index accesses are atomic, and
// all block accesses go through `shared_bytes`, whose accesses may race with each other.
unsafe impl Send for MappedMemory {}
// SAFETY: as above; the struct has no other interior state.
unsafe impl Sync for MappedMemory {}

impl MappedMemory {
    /// Takes the mappings of a directory. The caller has checked their sizes against its geometry.
    #[must_use]
    pub fn new(index: MmapRaw, windows: Vec<MmapRaw>) -> MappedMemory {
        let area = |window: &MmapRaw| (window.as_mut_ptr(), window.len());
        let areas = windows.iter().map(area).collect();
        MappedMemory {
            index,
            windows,
            areas,
            read_only: false,
            at_random: AtomicBool::new(false),
        }
    }

    /// Takes read-only mappings. Of the methods that write, only `set_visited` may be called; it does
    /// nothing.
    #[must_use]
    pub fn read_only(index: MmapRaw, windows: Vec<MmapRaw>) -> MappedMemory {
        MappedMemory {
            read_only: true,
            ..MappedMemory::new(index, windows)
        }
    }

    /// From here on this memory is as [`MappedMemory::read_only`], whatever its pages allow.
    pub(crate) fn only_read(&mut self) {
        self.read_only = true;
    }

    /// The index mapping, for a reader in another language's engine.
    #[must_use]
    pub fn index(&self) -> &MmapRaw {
        &self.index
    }

    /// The block mappings, each of at most 1 GiB.
    #[must_use]
    pub fn windows(&self) -> &[MmapRaw] {
        &self.windows
    }

    /// Says whether what is read of the blocks is spread over more than memory holds.
    pub(crate) fn read_at_random(&self, at_random: bool) {
        if self.at_random.swap(at_random, Ordering::Relaxed) != at_random {
            let each = |window| platform::read_at_random(window, at_random);
            self.windows.iter().for_each(each);
        }
    }

    #[cold]
    fn fetch(&self, at: u64, len: usize) {
        if self.at_random.load(Ordering::Relaxed) {
            let offset = (at & (WINDOW - 1)) as usize;
            platform::will_read(&self.windows[(at >> WINDOW_SHIFT) as usize], offset, len);
        }
    }

    #[inline(always)]
    fn word(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at % 8 == 0 && at + 8 <= self.index.len());
        // SAFETY: every offset comes from the geometry, lies in the index mapping and is a multiple of
        // eight. The mapping is page-aligned and lives as long as `self`. All accesses are atomic.
        unsafe { &*self.index.as_mut_ptr().add(at).cast::<AtomicU64>() }
    }

    /// The first words of a board.
    pub(crate) fn board<const N: usize>(&self, number: usize) -> &[AtomicU64; N] {
        assert!(number < header::BOARD_COUNT && N * 8 <= header::LINE);
        let at = header::BOARDS + number * header::LINE;
        // SAFETY: the header lies in the index mapping, a board's words lie in its line, and the mapping is
        // page-aligned and lives as long as `self`. All accesses are atomic.
        unsafe { &*self.index.as_mut_ptr().add(at).cast() }
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> &AtomicU8 {
        debug_assert!(at < self.index.len());
        // SAFETY: as for `word`; bytes need no alignment.
        unsafe { &*self.index.as_mut_ptr().add(at).cast::<AtomicU8>() }
    }

    #[inline(always)]
    fn block_bytes(&self, at: u64, len: usize) -> *mut u8 {
        let window = (at >> WINDOW_SHIFT) as usize;
        let offset = (at & (WINDOW - 1)) as usize;
        let (base, there) = self.areas[window];
        assert!(offset + len <= there, "a record's bounds were not checked");
        // SAFETY: the assertion keeps the range within one mapping.
        unsafe { base.add(offset) }
    }
}

impl SharedMemory for MappedMemory {
    #[inline(always)]
    fn load(&self, at: usize) -> u64 {
        // Not acquire: an inserter's look at the other slots must not pass its own compare-and-swap,
        // because two inserters rely on it to see each other. It is the same instruction on x86-64; on
        // ARM64 it is LDAR, where acquire may become LDAPR.
        self.word(at).load(Ordering::SeqCst)
    }

    #[cfg(all(not(miri), target_arch = "x86_64"))]
    #[inline(always)]
    fn words_beginning_with(&self, at: usize, beginning: u32) -> u32 {
        debug_assert!(at % LINE == 0 && at + LINE <= self.index.len());
        // SAFETY: as for `word`, of a line of words.
        unsafe { crate::bucket_scan::words_beginning_with(self.index.as_ptr().add(at), beginning) }
    }

    #[inline(always)]
    fn store(&self, at: usize, value: u64) {
        self.word(at).store(value, Ordering::Release);
    }

    #[inline(always)]
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool {
        self.word(at)
            .compare_exchange(old, new, Ordering::SeqCst, Ordering::Acquire)
            .is_ok()
    }

    #[inline(always)]
    fn fetch_add(&self, at: usize, by: u64) -> u64 {
        self.word(at).fetch_add(by, Ordering::SeqCst)
    }

    #[inline(always)]
    fn fetch_max(&self, at: usize, value: u64) {
        self.word(at).fetch_max(value, Ordering::SeqCst);
    }

    #[inline(always)]
    fn visited(&self, at: usize) -> u8 {
        self.byte(at).load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set_visited(&self, at: usize, reads: u8) {
        // The mark is only a hint: a reader that cannot write leaves it out.
        if !self.read_only {
            self.byte(at).store(reads, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        let from = self.block_bytes(at, len);
        if len > PAGE {
            self.fetch(at, len);
        }
        out.reserve(len);
        // SAFETY: `from` is valid for `len` bytes, and every process writes them only through
        // `shared_bytes`. `out` has room for `len` bytes and belongs to this thread alone.
        unsafe {
            shared_bytes::read(from, out.as_mut_ptr().add(out.len()), len);
            out.set_len(out.len() + len);
        }
    }

    #[inline(always)]
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        // SAFETY: `block_bytes` checked that N bytes are valid; they are written only through
        // `shared_bytes`.
        unsafe { shared_bytes::read_array(self.block_bytes(at, N)) }
    }

    #[inline(always)]
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        // SAFETY: as for `read_array`, for the length of `bytes`.
        unsafe { shared_bytes::equal(self.block_bytes(at, bytes.len()), bytes) }
    }

    #[inline(always)]
    fn write(&self, at: u64, bytes: &[u8]) {
        // SAFETY: as for `read_array`, for the length of `bytes`; `bytes` is not part of a mapping.
        unsafe { shared_bytes::write(bytes, self.block_bytes(at, bytes.len())) }
    }

    #[inline(always)]
    fn write_words<const N: usize>(&self, at: u64, words: [u64; N]) {
        let to = self.block_bytes(at, N * 8);
        for (place, word) in words.into_iter().enumerate() {
            // SAFETY: as for `read_array`, for all the words.
            unsafe { shared_bytes::write_word(word.to_le(), to.add(place * 8)) }
        }
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch_line(self.index.as_ptr().wrapping_add(at));
    }

    #[inline(always)]
    fn prefetch_to_write(&self, at: usize) {
        prefetch_line_to_write(self.index.as_ptr().wrapping_add(at));
    }

    #[inline(always)]
    fn prefetch_room(&self, at: u64, len: usize) {
        let (window, offset) = ((at >> WINDOW_SHIFT) as usize, (at & (WINDOW - 1)) as usize);
        let Some((base, _)) = self.areas.get(window) else {
            return;
        };
        let len = if len < LONG_ROOM { len } else { LONG_BEGINS };
        for line in (0..len).step_by(LINE) {
            prefetch_line_to_write(base.wrapping_add(offset + line));
        }
    }

    #[inline(always)]
    fn prefetch_record(&self, at: u64) {
        let (window, offset) = ((at >> WINDOW_SHIFT) as usize, (at & (WINDOW - 1)) as usize);
        // A word that is about to change may hold any value.
        let Some((base, _)) = self.areas.get(window) else {
            return;
        };
        for line in 0..RECORD_LINES {
            prefetch_line(base.wrapping_add(offset + line * LINE));
        }
    }

    #[inline(always)]
    fn is_writable(&self) -> bool {
        !self.read_only
    }

    fn will_read(&self, at: u64, len: u64) {
        self.fetch(at, len as usize);
    }

    #[inline(always)]
    fn fence(&self) {
        fence(Ordering::AcqRel);
    }
}

/// Offsets into the index are checked only in builds with assertions, because a hit makes several
/// accesses. The section `rust` of `make test` runs every test that way.
#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use memmap2::MmapOptions;

    fn memory() -> MappedMemory {
        let index = MmapOptions::new().len(4096).map_anon().unwrap();
        MappedMemory::new(MmapRaw::from(index), Vec::new())
    }

    #[test]
    fn the_last_word_is_within_the_index() {
        let memory = memory();
        memory.store(4088, 7);
        assert_eq!(memory.load(4088), 7);
    }

    #[test]
    #[should_panic(expected = "at + 8 <=")]
    fn a_word_beyond_the_index_is_refused() {
        memory().load(4096);
    }

    #[test]
    #[should_panic(expected = "at % 8 == 0")]
    fn a_word_at_an_odd_place_is_refused() {
        memory().load(4);
    }

    #[test]
    #[should_panic(expected = "at < self.index.len()")]
    fn a_visited_byte_beyond_the_index_is_refused() {
        memory().visited(4096);
    }
}
