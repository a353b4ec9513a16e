//! [`Memory`] over the mapped files of a directory.

use crate::layout::WINDOW;
use crate::long_copy;
use crate::memory::Memory;
use memmap2::MmapRaw;
use std::sync::atomic::{fence, AtomicU64, AtomicU8, Ordering};

const WINDOW_SHIFT: u32 = WINDOW.trailing_zeros();

/// Eight bytes at any address. Volatile reads of them are not repeated by the compiler, and not split
/// into bytes, as those of an array are.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Unaligned(u64);

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
// block accesses race only as `Memory` describes, with copies validated before they are used.
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
        // SAFETY: `from` is valid for `len` bytes, `out` has room for them and they do not overlap.
        // Another process may write meanwhile; that is outside this program's memory model, and the
        // copy is thrown away unless the word that led here still stands.
        unsafe {
            std::ptr::copy_nonoverlapping(from, out.as_mut_ptr().add(out.len()), len);
            out.set_len(out.len() + len);
        }
    }

    #[inline(always)]
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        let from = self.block_bytes(at, N);
        let mut bytes = [0; N];
        let (words, rest) = bytes.split_at_mut(N / 8 * 8);
        for (place, word) in words.chunks_exact_mut(8).enumerate() {
            // SAFETY: valid for N bytes, as above, at any alignment.
            let read = unsafe { from.add(place * 8).cast::<Unaligned>().read_volatile() };
            word.copy_from_slice(&{ read.0 }.to_ne_bytes());
        }
        for (place, byte) in rest.iter_mut().enumerate() {
            // SAFETY: valid for N bytes, as above.
            *byte = unsafe { from.add(N / 8 * 8 + place).read_volatile() };
        }
        bytes
    }

    #[inline(always)]
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        let from = self.block_bytes(at, bytes.len());
        // SAFETY: valid for the length, as above. The result counts only while the word stands.
        unsafe { std::slice::from_raw_parts(from, bytes.len()) == bytes }
    }

    #[inline(always)]
    fn write(&self, at: u64, bytes: &[u8]) {
        let to = self.block_bytes(at, bytes.len());
        // SAFETY: valid for the length, as above; the caller owns the block, so nobody else writes.
        unsafe { long_copy::copy(bytes, to) }
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
