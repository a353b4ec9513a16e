//! ARM64: ordinary instructions that the compiler cannot see into. A load or store of several bytes is
//! not one atomic access here, and need not be: each of its bytes is one.

pub(super) use super::difference::Difference;

use std::arch::asm;

/// # Safety
/// As for [`super::read()`].
#[inline(always)]
pub(super) unsafe fn read(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { copy(from, to, len) }
}

/// # Safety
/// As for [`super::write()`].
#[inline(always)]
pub(super) unsafe fn write(from: &[u8], to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { copy(from.as_ptr(), to, from.len()) }
}

/// Both ranges are valid for `len` bytes and do not overlap; either may be shared, as [`super::read()`]
/// and [`super::write()`] allow.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the call follows the C ABI. `nostack` is not given, so the stack is aligned for it, and
    // every register that a function may change is listed, the link register among them. The call
    // touches only the two ranges, which the caller vouches for.
    unsafe {
        asm!(
            "blr {memcpy}",
            memcpy = in(reg) libc::memcpy as *const (),
            in("x0") to,
            in("x1") from,
            in("x2") len,
            clobber_abi("C"),
        );
    }
}

/// # Safety
/// As for [`super::read()`], of 16 bytes.
#[inline(always)]
pub(super) unsafe fn load_pair(from: *const u8) -> (u64, u64) {
    let (low, high);
    // SAFETY: one load of 16 bytes, which the caller promises are valid. In ordinary memory any
    // alignment works.
    unsafe {
        asm!(
            "ldp {low}, {high}, [{from}]",
            from = in(reg) from,
            low = lateout(reg) low,
            high = lateout(reg) high,
            options(nostack, preserves_flags, readonly),
        );
    }
    (low, high)
}

/// # Safety
/// As for [`super::read()`], of 8 bytes.
#[inline(always)]
pub(super) unsafe fn load_word(from: *const u8) -> u64 {
    let word;
    // SAFETY: one load of bytes that the caller promises are valid.
    unsafe {
        asm!(
            "ldr {word}, [{from}]",
            from = in(reg) from,
            word = lateout(reg) word,
            options(nostack, preserves_flags, readonly),
        );
    }
    word
}

/// # Safety
/// As for [`super::write()`], of 8 bytes.
#[inline(always)]
pub(super) unsafe fn store_word(word: u64, to: *mut u8) {
    // SAFETY: one store to bytes that the caller promises are valid.
    unsafe {
        asm!(
            "str {word}, [{to}]",
            to = in(reg) to,
            word = in(reg) word,
            options(nostack, preserves_flags),
        );
    }
}

/// # Safety
/// As for [`super::read()`], of 4 bytes.
#[inline(always)]
pub(super) unsafe fn load_half(from: *const u8) -> u32 {
    let half;
    // SAFETY: one load of bytes that the caller promises are valid.
    unsafe {
        asm!(
            "ldr {half:w}, [{from}]",
            from = in(reg) from,
            half = lateout(reg) half,
            options(nostack, preserves_flags, readonly),
        );
    }
    half
}

/// # Safety
/// As for [`super::read()`], of one byte.
#[inline(always)]
pub(super) unsafe fn load_byte(from: *const u8) -> u8 {
    let byte: u32;
    // SAFETY: one load of a byte that the caller promises is valid.
    unsafe {
        asm!(
            "ldrb {byte:w}, [{from}]",
            from = in(reg) from,
            byte = lateout(reg) byte,
            options(nostack, preserves_flags, readonly),
        );
    }
    byte as u8
}
