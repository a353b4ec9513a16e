//! [`Memory`] over the mapped files of a directory.

use crate::layout::WINDOW;
use crate::memory::Memory;
use crate::shared_bytes;
use memmap2::MmapRaw;
use std::sync::atomic::{fence, AtomicU64, AtomicU8, Ordering};

const WINDOW_SHIFT: u32 = WINDOW.trailing_zeros();

/// Bytes of a cache line.
const LINE: usize = 64;
/// Cache lines of a small record: header, key and an entry of about 100 bytes. The processor itself
/// fetches ahead in longer ones.
const RECORD_LINES: usize = 3;

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

/// The index and the windows of blocks, mapped shared.
pub struct MappedMemory {
    index: MmapRaw,
    windows: Vec<MmapRaw>,
    /// The windows' addresses, for one load less on the hot path.
    bases: Vec<*mut u8>,
    /// The pages may not be written to.
    read_only: bool,
}

// SAFETY: the raw pointers point into mappings owned by this struct; index accesses are atomic, and
// block accesses are those of `shared_bytes`, which may race with each other.
unsafe impl Send for MappedMemory {}
// SAFETY: as above; there is no interior state besides the mappings.
unsafe impl Sync for MappedMemory {}

impl MappedMemory {
    /// Takes the mappings of a directory whose sizes were checked against its geometry.
    #[must_use]
    pub fn new(index: MmapRaw, windows: Vec<MmapRaw>) -> MappedMemory {
        let bases = windows.iter().map(MmapRaw::as_mut_ptr).collect();
        MappedMemory {
            index,
            windows,
            bases,
            read_only: false,
        }
    }

    /// Takes mappings that may only be read. Of what writes, only `set_visited` may be called: it does
    /// nothing.
    #[must_use]
    pub fn read_only(index: MmapRaw, windows: Vec<MmapRaw>) -> MappedMemory {
        MappedMemory {
            read_only: true,
            ..MappedMemory::new(index, windows)
        }
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

    #[inline(always)]
    fn word(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at % 8 == 0 && at + 8 <= self.index.len());
        // SAFETY: every offset comes from the geometry, lies in the index mapping and is a multiple of
        // eight; the mapping is page-aligned and lives as long as self; all accesses are atomic.
        unsafe { &*self.index.as_mut_ptr().add(at).cast::<AtomicU64>() }
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> &AtomicU8 {
        debug_assert!(at < self.index.len());
        // SAFETY: as for `word`; bytes have no alignment.
        unsafe { &*self.index.as_mut_ptr().add(at).cast::<AtomicU8>() }
    }

    #[inline(always)]
    fn block_bytes(&self, at: u64, len: usize) -> *mut u8 {
        let window = (at >> WINDOW_SHIFT) as usize;
        let offset = (at & (WINDOW - 1)) as usize;
        assert!(
            window < self.windows.len() && offset + len <= self.windows[window].len(),
            "a record's bounds were not checked"
        );
        // SAFETY: the assertion keeps the range within one mapping.
        unsafe { self.bases[window].add(offset) }
    }
}

impl Memory for MappedMemory {
    #[inline(always)]
    fn load(&self, at: usize) -> u64 {
        // Not acquire: an inserter's look at the other slots must not pass its own compare-and-swap, on
        // which two inserters rely to see each other. The same instruction on x86-64; LDAR on ARM64,
        // where acquire may become LDAPR.
        self.word(at).load(Ordering::SeqCst)
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
    fn visited(&self, at: usize) -> bool {
        self.byte(at).load(Ordering::Relaxed) != 0
    }

    #[inline(always)]
    fn set_visited(&self, at: usize, visited: bool) {
        // A hint: where it cannot be given, a read is one that nobody knows of.
        if !self.read_only {
            self.byte(at).store(u8::from(visited), Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        let from = self.block_bytes(at, len);
        out.reserve(len);
        // SAFETY: `from` is valid for `len` bytes and written by `shared_bytes` only, here and in other
        // processes; `out` has room for them and is this thread's own.
        unsafe {
            shared_bytes::read(from, out.as_mut_ptr().add(out.len()), len);
            out.set_len(out.len() + len);
        }
    }

    #[inline(always)]
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        // SAFETY: valid for N bytes, as above.
        unsafe { shared_bytes::read_array(self.block_bytes(at, N)) }
    }

    #[inline(always)]
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        // SAFETY: valid for the length, as above.
        unsafe { shared_bytes::equal(self.block_bytes(at, bytes.len()), bytes) }
    }

    #[inline(always)]
    fn write(&self, at: u64, bytes: &[u8]) {
        // SAFETY: valid for the length, as above; `bytes` are no part of a mapping.
        unsafe { shared_bytes::write(bytes, self.block_bytes(at, bytes.len())) }
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch_line(self.index.as_ptr().wrapping_add(at));
    }

    #[inline(always)]
    fn prefetch_record(&self, at: u64) {
        let (window, offset) = ((at >> WINDOW_SHIFT) as usize, (at & (WINDOW - 1)) as usize);
        // A word that is about to change may say anything.
        let Some(base) = self.bases.get(window) else {
            return;
        };
        for line in 0..RECORD_LINES {
            prefetch_line(base.wrapping_add(offset + line * LINE));
        }
    }

    #[inline(always)]
    fn fence(&self) {
        fence(Ordering::AcqRel);
    }
}

/// Offsets into the index are checked only where assertions are on, because a hit makes several: the
/// section `assertions` of `make test` runs every test so.
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
