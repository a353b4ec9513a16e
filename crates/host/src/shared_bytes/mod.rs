//! Reading and writing bytes of blocks, which other threads and processes access at the same time.
//!
//! A reader copies a record first and asks afterwards whether the record still stood there. Until then
//! a writer may be at the same bytes. The reader throws such a copy away, but in Rust's memory model
//! that comes too late: a plain read beside a write is undefined behaviour, and so is a reference to
//! bytes that change. Relaxed atomic accesses of one size are defined. So this is what every function
//! here does, as far as Rust is concerned:
//!
//! > one relaxed access of an `AtomicU8` for each byte, in any order, some of them perhaps twice.
//!
//! `bytewise.rs` is that sentence as Rust code. It is used where there is no assembly, and it is slow,
//! because the compiler turns relaxed accesses into one instruction each. `x86_64.rs` and `aarch64.rs`
//! use inline assembly instead. The compiler does not look into assembly; it may only assume that the
//! assembly does what some Rust code could do, and the sentence above is that code: every load and
//! store of these processors moves each of its bytes whole, whatever its width and alignment. Nothing
//! orders these accesses. The fences of [`Memory::fence`](crate::memory::Memory::fence) do, as they do
//! for relaxed atomics.
//!
//! Long copies call the C library's `memcpy`, from within assembly: a call that the compiler saw would
//! be a plain copy to it. Its addresses and its control flow depend on the two places and the length,
//! never on the bytes, so bytes that change cannot mislead it. `memcmp` is another matter: it loads a
//! byte again after it found a difference, and a version of glibc crashed when the byte had changed
//! meanwhile (bug 29863). [`equal`] therefore loads every byte here and compares registers.

#[cfg(all(unix, not(miri), target_arch = "aarch64"))]
mod aarch64;
#[cfg(any(
    test,
    miri,
    not(unix),
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
mod bytewise;
#[cfg(all(unix, not(miri), target_arch = "x86_64"))]
mod x86_64;

#[cfg(not(all(unix, not(miri), target_arch = "x86_64")))]
mod difference;

#[cfg(all(unix, not(miri), target_arch = "aarch64"))]
use aarch64 as machine;
#[cfg(any(
    miri,
    not(unix),
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
use bytewise as machine;
#[cfg(all(unix, not(miri), target_arch = "x86_64"))]
use x86_64 as machine;

/// Bytes of the longest single load.
const PAIR: usize = 16;
const WORD: usize = 8;
const HALF: usize = 4;

/// Copies shared bytes to a place of this thread's own.
///
/// # Safety
/// `from` is valid for reads of `len` bytes, which may change meanwhile by atomic accesses of single
/// bytes, such as [`write()`]'s. `to` is valid for writes of `len` bytes and nobody else's; they do not overlap.
#[inline(always)]
pub(crate) unsafe fn read(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { machine::read(from, to, len) }
}

/// Copies `from` to shared bytes. Stores that follow are ordered after the copied bytes as after
/// relaxed stores: by a release, or a fence.
///
/// # Safety
/// `to` is valid for writes of `from.len()` bytes, which others may read meanwhile by atomic accesses
/// of single bytes, such as [`read()`]'s. They do not overlap.
#[inline(always)]
pub(crate) unsafe fn write(from: &[u8], to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { machine::write(from, to) }
}

/// Copies `N` shared bytes to the stack; for few, known bytes, without a call.
///
/// # Safety
/// As for [`read()`], of `N` bytes.
#[inline(always)]
pub(crate) unsafe fn read_array<const N: usize>(from: *const u8) -> [u8; N] {
    let mut out = [0; N];
    let mut at = 0;
    while at + PAIR <= N {
        // SAFETY: the range lies within the N bytes.
        let (low, high) = unsafe { machine::load_pair(from.add(at)) };
        out[at..at + WORD].copy_from_slice(&low.to_ne_bytes());
        out[at + WORD..at + PAIR].copy_from_slice(&high.to_ne_bytes());
        at += PAIR;
    }
    if at + WORD <= N {
        // SAFETY: as above.
        let word = unsafe { machine::load_word(from.add(at)) };
        out[at..at + WORD].copy_from_slice(&word.to_ne_bytes());
        at += WORD;
    }
    while at < N {
        // SAFETY: as above.
        out[at] = unsafe { machine::load_byte(from.add(at)) };
        at += 1;
    }
    out
}

/// True when the shared bytes were seen to equal `bytes`, each at some moment during the call.
///
/// # Safety
/// As for [`read()`], of `bytes.len()` bytes.
// Not inlined: a hit has no register to spare for it.
#[inline(never)]
pub(crate) unsafe fn equal(from: *const u8, bytes: &[u8]) -> bool {
    let (len, own) = (bytes.len(), bytes.as_ptr());
    if len < HALF {
        // SAFETY: every place lies within the bytes.
        return (0..len).all(|at| unsafe { machine::load_byte(from.add(at)) } == bytes[at]);
    }
    // SAFETY: every part lies within the bytes. Parts may overlap: at the end lie those that are counted
    // from there.
    unsafe {
        let (end, own_end) = (from.add(len), own.add(len));
        if len < WORD {
            let first = machine::load_half(from) ^ own.cast::<u32>().read_unaligned();
            let own_last = own_end.sub(HALF).cast::<u32>().read_unaligned();
            let last = machine::load_half(end.sub(HALF)) ^ own_last;
            return first | last == 0;
        }
        if len < PAIR {
            let first = machine::load_word(from) ^ own_word(own);
            let last = machine::load_word(end.sub(WORD)) ^ own_word(own_end.sub(WORD));
            return first | last == 0;
        }
        // A reader asks for a key whose hash was equal already: nearly always all bytes are. So there is
        // one answer in the end instead of one for each part.
        let mut difference = machine::Difference::none();
        let mut at = 0;
        while at + 4 * PAIR < len {
            let (from, own) = (from.add(at), own.add(at));
            difference.add::<0>(from, own);
            difference.add::<16>(from, own);
            difference.add::<32>(from, own);
            difference.add::<48>(from, own);
            at += 4 * PAIR;
        }
        if len - at > 2 * PAIR {
            difference.add::<0>(from.add(at), own.add(at));
            difference.add::<16>(from.add(at), own.add(at));
            difference.add::<-32>(end, own_end);
        } else {
            let first = at.min(len - PAIR);
            difference.add::<0>(from.add(first), own.add(first));
        }
        difference.add::<-16>(end, own_end);
        difference.is_none()
    }
}

/// # Safety
/// `at` is valid for reads of eight bytes.
#[inline(always)]
unsafe fn own_word(at: *const u8) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<u64>().read_unaligned() }
}

#[cfg(test)]
mod tests;
