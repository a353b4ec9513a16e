//! x86-64: ordinary instructions that the compiler cannot see into. A load or store of several bytes is
//! not one atomic access here, and need not be: each of its bytes is one.

use std::arch::asm;
use std::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_setzero_si128,
    _mm_xor_si128,
};

/// Entries from this length on are written past the cache. For shorter ones it costs a reader that
/// follows at once more than it saves the writer (measured: 8 KiB break even or win, 4 KiB lose).
///
/// A recycled block has long left the processor's cache. An ordinary store first reads the line that it
/// is about to replace entirely. For a long entry this read takes as long as the write, and evicts lines
/// that are still needed.
pub(super) const LONG: usize = 8 << 10;

const LINE: usize = 64;

/// How far ahead of a long copy its bytes are fetched.
///
/// A record that was not read lately lies in memory, and the processor's own prefetcher stops at the end of each
/// page of 4 KiB: it begins anew there only when the copy has arrived, and so does the look-up of the page's address.
/// A prefetch a page ahead does both in time (measured: 10 KiB from memory take three quarters of `memcpy`'s time,
/// from a cache the same).
const AHEAD: usize = 4 << 10;

/// Copies from this length on are made with prefetches. At the length of one page they gain nothing.
const LONG_READ: usize = AHEAD + (1 << 10);

/// # Safety
/// As for [`super::read()`].
#[inline(always)]
pub(super) unsafe fn read(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise; the processor has what the function needs.
    unsafe {
        if len >= LONG_READ && is_x86_feature_detected!("avx2") {
            read_ahead(from, to, len);
        } else {
            copy(from, to, len);
        }
    }
}

/// # Safety
/// As for [`super::write()`].
#[inline(always)]
pub(super) unsafe fn write(from: &[u8], to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        if from.len() >= LONG {
            past_the_cache(from, to);
        } else {
            copy(from.as_ptr(), to, from.len());
        }
    }
}

/// Both ranges are valid for `len` bytes and do not overlap; either may be shared, as [`super::read()`]
/// and [`super::write()`] allow.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the call follows the C ABI of this system. `nostack` is not given, so the stack is aligned
    // for it, and every register that a function may change is listed. The call touches only the two
    // ranges, which the caller vouches for.
    unsafe {
        asm!(
            "call {memcpy}",
            memcpy = in(reg) libc::memcpy as *const (),
            in("rdi") to,
            in("rsi") from,
            in("rdx") len,
            clobber_abi("sysv64"),
        );
    }
}

/// # Safety
/// As for [`super::read()`], of [`LONG_READ`] bytes or more.
// With registers of 32 bytes: of two loops that wait for memory, the one with fewer instructions sees further ahead.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn read_ahead(from: *const u8, to: *mut u8, len: usize) {
    /// Bytes of a turn of the loop.
    const TURN: usize = 2 * LINE;
    debug_assert!(len >= LONG_READ);
    let (fetching, rest) = ((len - AHEAD) / TURN * TURN, len % TURN);
    let whole = len - rest;
    // SAFETY: 0 < fetching < whole <= len, all of them whole turns, so the two loops that copy end, and move `whole` bytes
    // within both ranges; `copy` moves what is left. The prefetches are within the first range: the last one of the
    // beginning ends at AHEAD, the last one of a turn at `fetching + AHEAD`, and neither is above `len`. `vzeroupper`
    // makes the upper halves of the registers zero, which the ABI's list clobbers.
    unsafe {
        asm!(
            // The first page.
            "2:",
            "prefetcht0 [{from} + rax]",
            "add rax, 64",
            "cmp rax, {ahead}",
            "jne 2b",
            "xor eax, eax",
            // Copies, and fetches what lies a page ahead.
            "3:",
            "prefetcht0 [{from} + rax + {ahead}]",
            "prefetcht0 [{from} + rax + {ahead} + 64]",
            "vmovdqu ymm0, [{from} + rax]",
            "vmovdqu ymm1, [{from} + rax + 32]",
            "vmovdqu ymm2, [{from} + rax + 64]",
            "vmovdqu ymm3, [{from} + rax + 96]",
            "vmovdqu [{to} + rax], ymm0",
            "vmovdqu [{to} + rax + 32], ymm1",
            "vmovdqu [{to} + rax + 64], ymm2",
            "vmovdqu [{to} + rax + 96], ymm3",
            "add rax, 128",
            "cmp rax, {fetching}",
            "jne 3b",
            // Copies the last page, which was fetched.
            "4:",
            "vmovdqu ymm0, [{from} + rax]",
            "vmovdqu ymm1, [{from} + rax + 32]",
            "vmovdqu ymm2, [{from} + rax + 64]",
            "vmovdqu ymm3, [{from} + rax + 96]",
            "vmovdqu [{to} + rax], ymm0",
            "vmovdqu [{to} + rax + 32], ymm1",
            "vmovdqu [{to} + rax + 64], ymm2",
            "vmovdqu [{to} + rax + 96], ymm3",
            "add rax, 128",
            "cmp rax, {whole}",
            "jne 4b",
            "vzeroupper",
            from = in(reg) from,
            to = in(reg) to,
            fetching = in(reg) fetching,
            whole = in(reg) whole,
            inout("rax") 0usize => _,
            ahead = const AHEAD,
            clobber_abi("sysv64"),
            options(nostack),
        );
        copy(from.add(whole), to.add(whole), rest);
    }
}

/// # Safety
/// As for [`super::write()`]; at least two lines.
#[cold]
unsafe fn past_the_cache(from: &[u8], to: *mut u8) {
    // Only whole lines go past the cache: a streaming store needs a multiple of 16.
    let head = (LINE - to as usize % LINE) % LINE;
    let (head, rest) = from.split_at(head);
    let (lines, tail) = rest.split_at(rest.len() / LINE * LINE);
    debug_assert!(lines.len() >= LINE);
    // SAFETY: the three pieces are consecutive in `from` and, as the caller promises, in `to`. Streaming
    // stores are not ordered with other stores, which Rust's model does not know. The `sfence` orders
    // them before everything that follows, so at the end they are the relaxed stores that they stand
    // for.
    unsafe {
        let to_lines = to.add(head.len());
        let to_tail = to_lines.add(lines.len());
        copy(head.as_ptr(), to, head.len());
        asm!(
            // The line that the tail shares with what follows arrives meanwhile.
            "prefetchw [{to_tail}]",
            "2:",
            "movdqu {a}, [{from}]",
            "movdqu {b}, [{from} + 16]",
            "movdqu {c}, [{from} + 32]",
            "movdqu {d}, [{from} + 48]",
            "movntdq [{to}], {a}",
            "movntdq [{to} + 16], {b}",
            "movntdq [{to} + 32], {c}",
            "movntdq [{to} + 48], {d}",
            "add {from}, 64",
            "add {to}, 64",
            "cmp {from}, {end}",
            "jne 2b",
            "sfence",
            to_tail = in(reg) to_tail,
            from = inout(reg) lines.as_ptr() => _,
            to = inout(reg) to_lines => _,
            end = in(reg) lines.as_ptr_range().end,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
        copy(tail.as_ptr(), to_tail, tail.len());
    }
}

/// # Safety
/// As for [`super::read()`], of 16 bytes.
#[inline(always)]
pub(super) unsafe fn load_pair(from: *const u8) -> (u64, u64) {
    let (low, high);
    // SAFETY: two loads of bytes that the caller promises are valid.
    unsafe {
        asm!(
            "mov {low}, qword ptr [{from}]",
            "mov {high}, qword ptr [{from} + 8]",
            from = in(reg) from,
            low = out(reg) low,
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
            "mov {word}, qword ptr [{from}]",
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
            "mov qword ptr [{to}], {word}",
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
            "mov {half:e}, dword ptr [{from}]",
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
            "movzx {byte:e}, byte ptr [{from}]",
            from = in(reg) from,
            byte = lateout(reg) byte,
            options(nostack, preserves_flags, readonly),
        );
    }
    byte as u8
}

/// The bits that differed so far between shared bytes and a thread's own.
pub(super) struct Difference(__m128i);

impl Difference {
    #[inline(always)]
    pub(super) fn none() -> Difference {
        // SAFETY: every x86-64 has SSE2, here and below.
        Difference(unsafe { _mm_setzero_si128() })
    }

    /// Compares the 16 bytes at `OFFSET` in both ranges.
    ///
    /// # Safety
    /// At `OFFSET`, `shared` is as for [`super::read()`], of 16 bytes, and `own` is valid for reads of
    /// 16 bytes.
    #[inline(always)]
    pub(super) unsafe fn add<const OFFSET: isize>(&mut self, shared: *const u8, own: *const u8) {
        let there: __m128i;
        // SAFETY: loads of bytes that the caller promises are valid, at any alignment.
        unsafe {
            asm!(
                "movdqu {there}, [{shared} + {offset}]",
                shared = in(reg) shared,
                offset = const OFFSET,
                there = lateout(xmm_reg) there,
                options(nostack, preserves_flags, readonly),
            );
            let here = _mm_loadu_si128(own.offset(OFFSET).cast());
            self.0 = _mm_or_si128(self.0, _mm_xor_si128(there, here));
        }
    }

    #[inline(always)]
    pub(super) fn is_none(&self) -> bool {
        // SAFETY: as above.
        let equal = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, _mm_setzero_si128())) };
        equal == 0xffff
    }
}
