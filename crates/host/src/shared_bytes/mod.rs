//! Reads and writes bytes of blocks, which other threads and processes access at the same time.
//!
//! A reader first copies a record and then checks that the record was still there. Until then a writer
//! may be changing the same bytes. The reader discards such a copy, but in Rust's memory model that is
//! too late: a plain read that races with a write is undefined behaviour, and so is a reference to bytes
//! that change. Relaxed atomic accesses of one size are defined. So, for Rust, every function here does
//! this:
//!
//! > one relaxed access of an `AtomicU8` for each byte, in any order, some of them perhaps twice.
//!
//! `bytewise.rs` is that sentence as Rust code. It serves processors without assembly, and it is slow,
//! because the compiler makes one instruction of each relaxed access. `x86_64.rs` and `aarch64.rs` use
//! inline assembly. The compiler cannot see into assembly; it may only assume that the assembly does
//! what some Rust code could do, and the sentence above is that code: these processors move each byte of
//! a load or store whole, whatever its width and alignment. Nothing orders these accesses except the
//! fences of [`SharedMemory::fence`](crate::shared_memory::SharedMemory::fence), as for relaxed atomics.
//!
//! Long copies call the C library's `memcpy` from within assembly, because the compiler would treat a
//! call that it sees as a plain copy. The addresses and the control flow of `memcpy` depend on the two
//! ranges and the length, never on the bytes, so changing bytes cannot mislead it. `memcmp` differs: it
//! loads a byte again after it found a difference, and a version of glibc crashed when the byte had
//! changed meanwhile (bug 29863). So [`equal`] loads every byte itself and compares registers.

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

/// Copies shared bytes into memory of this thread's own.
///
/// # Safety
/// `from` is valid for reads of `len` bytes. Other threads and processes may change them meanwhile, but
/// only by atomic accesses of single bytes, such as [`write()`]'s. `to` is valid for writes of `len`
/// bytes, and no other thread accesses it. The ranges do not overlap.
#[inline(always)]
pub(crate) unsafe fn read(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { machine::read(from, to, len) }
}

/// Copies `from` to shared bytes. The copied bytes are ordered before later stores as relaxed stores
/// are: by a release, or a fence.
///
/// # Safety
/// `to` is valid for writes of `from.len()` bytes. Others may read them meanwhile, but only by atomic
/// accesses of single bytes, such as [`read()`]'s. The ranges do not overlap.
#[inline(always)]
pub(crate) unsafe fn write(from: &[u8], to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { machine::write(from, to) }
}

/// Stores eight shared bytes, as [`write()`] does, without a call.
///
/// # Safety
/// As for [`write()`], of eight bytes.
#[inline(always)]
pub(crate) unsafe fn write_word(word: u64, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { machine::store_word(word, to) }
}

/// Copies `N` shared bytes to the stack without a call; for a few bytes whose number is known.
///
/// # Safety
/// As for [`read()`], of `N` bytes.
#[inline(always)]
pub(crate) unsafe fn read_array<const N: usize>(from: *const u8) -> [u8; N] {
    let mut out = [0; N];
    let mut at = 0;
    while at + PAIR <= N {
        // SAFETY: the loop condition keeps the load within the N bytes that the caller promises.
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

/// True when the shared bytes equalled `bytes`, each byte at some moment during the call.
///
/// # Safety
/// As for [`read()`], of `bytes.len()` bytes.
// Not inlined: a hit has no register to spare for it.
#[inline(never)]
pub(crate) unsafe fn equal(from: *const u8, bytes: &[u8]) -> bool {
    let (len, own) = (bytes.len(), bytes.as_ptr());
    if len < HALF {
        // SAFETY: `at` is below `len`, so the byte is within the range that the caller promises.
        return (0..len).all(|at| unsafe { machine::load_byte(from.add(at)) } == bytes[at]);
    }
    // SAFETY: every part is within the range. Parts may overlap, because the last ones are counted from
    // the end.
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
        // The key's hash was already equal, so nearly always all bytes are. Hence one answer at the end
        // instead of one per part.
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
