//! The meaning of all functions here, and their implementation on processors without assembly.

#[cfg(any(
    miri,
    not(unix),
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
pub(super) use super::difference::Difference;

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// # Safety
/// `at` is valid, and all other accesses to it are atomic accesses of single bytes.
#[inline(always)]
unsafe fn byte<'a>(at: *const u8) -> &'a AtomicU8 {
    // SAFETY: the caller promises that `at` is valid and otherwise accessed only atomically; an AtomicU8
    // has a byte's size and alignment. Callers that may not write there only load from it.
    unsafe { AtomicU8::from_ptr(at.cast_mut()) }
}

/// # Safety
/// As for [`super::read()`].
pub(super) unsafe fn read(from: *const u8, to: *mut u8, len: usize) {
    for at in 0..len {
        // SAFETY: the caller's promise.
        unsafe { to.add(at).write(byte(from.add(at)).load(Relaxed)) };
    }
}

/// # Safety
/// As for [`super::write()`].
pub(super) unsafe fn write(from: &[u8], to: *mut u8) {
    for (at, value) in from.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { byte(to.add(at)).store(*value, Relaxed) };
    }
}

/// # Safety
/// As for [`super::write()`], of 8 bytes.
pub(super) unsafe fn store_word(word: u64, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { write(&word.to_ne_bytes(), to) }
}

/// # Safety
/// As for [`super::read()`], of 16 bytes.
pub(super) unsafe fn load_pair(from: *const u8) -> (u64, u64) {
    // SAFETY: the caller's promise.
    unsafe { (load_word(from), load_word(from.add(8))) }
}

/// # Safety
/// As for [`super::read()`], of 8 bytes.
pub(super) unsafe fn load_word(from: *const u8) -> u64 {
    // SAFETY: the caller's promise.
    u64::from_ne_bytes(std::array::from_fn(|at| unsafe { load_byte(from.add(at)) }))
}

/// # Safety
/// As for [`super::read()`], of 4 bytes.
pub(super) unsafe fn load_half(from: *const u8) -> u32 {
    // SAFETY: the caller's promise.
    u32::from_ne_bytes(std::array::from_fn(|at| unsafe { load_byte(from.add(at)) }))
}

/// # Safety
/// As for [`super::read()`], of one byte.
pub(super) unsafe fn load_byte(from: *const u8) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { byte(from) }.load(Relaxed)
}
