//! Looks at the eight words of a bucket at once (x86-64). Elsewhere
//! [`SharedMemory::words_beginning_with`](crate::shared_memory::SharedMemory::words_beginning_with) loads
//! them one by one.
//!
//! For Rust's memory model the assembly does what that method's own code does: eight atomic loads. The
//! processor loads each aligned half of 16 bytes whole, and its loads are not reordered with each other or
//! with an earlier compare-and-swap, so they are what sequentially consistent loads are here: ordinary ones.

use crate::word::TAG_SHIFT;
use std::arch::asm;

/// Which of eight words begin with these twelve bits: a bit for each, the first one's lowest.
///
/// # Safety
/// `bucket` is valid for reads of 64 bytes and a multiple of 16. All accesses to its words are atomic.
#[inline(always)]
pub(crate) unsafe fn words_beginning_with(bucket: *const u8, beginning: u32) -> u32 {
    let found: u32;
    // SAFETY: the assembly reads the 64 bytes, as the caller allows, and changes registers only. SSE2 is part
    // of x86-64.
    unsafe {
        asm!(
            "movd {wanted}, {beginning:e}",
            "pshufd {wanted}, {wanted}, 0",
            "movdqa {a}, [{bucket}]",
            "movdqa {b}, [{bucket} + 32]",
            // The lower halves of the words: state and tag are the upper twelve bits of these.
            "shufps {a}, [{bucket} + 16], 0x88",
            "shufps {b}, [{bucket} + 48], 0x88",
            "psrld {a}, {shift}",
            "psrld {b}, {shift}",
            "pcmpeqd {a}, {wanted}",
            "pcmpeqd {b}, {wanted}",
            "packssdw {a}, {b}",
            "packsswb {a}, {a}",
            "pmovmskb {found:e}, {a}",
            "movzx {found:e}, {found:l}",
            bucket = in(reg) bucket,
            beginning = in(reg) beginning,
            shift = const TAG_SHIFT,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            wanted = out(xmm_reg) _,
            found = out(reg_abcd) found,
            options(readonly, nostack, preserves_flags),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::{lease_of, value_of, Word, EMPTY};

    #[repr(align(64))]
    struct Bucket([u64; 8]);

    fn one_by_one(bucket: &Bucket, beginning: u32) -> u32 {
        (0..8)
            .filter(|word| Word(bucket.0[*word]).begins_with(beginning))
            .fold(0, |found, word| found | 1 << word)
    }

    #[test]
    fn finds_what_one_by_one_finds() {
        let mut chance = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            chance
        };
        for _ in 0..10_000 {
            // Few tags, so that several words of a bucket have the same one; anything in their other bits.
            let wanted = (next() % 3) as u32 * 511;
            let bucket = Bucket(std::array::from_fn(|_| {
                let tag = (next() % 3) as u32 * 511;
                let beginning =
                    [EMPTY, lease_of(tag), value_of(tag), 3 << 10][(next() % 4) as usize];
                next() & !(0xfff << TAG_SHIFT) | u64::from(beginning) << TAG_SHIFT
            }));
            for beginning in [EMPTY, lease_of(wanted), value_of(wanted)] {
                // SAFETY: the bucket is a line of this thread's own.
                let found = unsafe { words_beginning_with(bucket.0.as_ptr().cast(), beginning) };
                assert_eq!(found, one_by_one(&bucket, beginning));
            }
        }
    }
}
