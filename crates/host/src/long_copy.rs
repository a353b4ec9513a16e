//! Copying an entry into a block.
//!
//! A recycled block has long left the processor's cache. An ordinary store first reads the line that it
//! is about to replace whole; for a long entry that reading takes as long as the writing, and drives
//! out of the cache what is still wanted. So long entries are written past it.

/// From here on entries are written past the cache. For shorter ones it costs a reader who follows at
/// once more than it saves the writer (measured: 8 KiB break even or win, 4 KiB lose).
#[cfg(any(test, target_arch = "x86_64"))]
const LONG: usize = 8 << 10;

/// Copies `from` to `to`. Stores that follow are seen after the copied bytes, as with ordinary ones.
///
/// # Safety
/// `to` is valid for writes of `from.len()` bytes and does not overlap `from`.
#[inline(always)]
pub(crate) unsafe fn copy(from: &[u8], to: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    if from.len() >= LONG {
        // SAFETY: the caller's promise.
        unsafe { past_the_cache(from, to) };
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) }
}

/// # Safety
/// As for [`copy`].
#[cfg(target_arch = "x86_64")]
#[cold]
unsafe fn past_the_cache(from: &[u8], to: *mut u8) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const LINE: usize = 64;
    // Only whole lines go past the cache.
    let head = (LINE - to as usize % LINE) % LINE;
    let (head, rest) = from.split_at(head.min(from.len()));
    let (lines, tail) = rest.split_at(rest.len() / LINE * LINE);
    // SAFETY: the three pieces lie one after the other in `from` and, as the caller promises, in `to`;
    // the lines begin at a multiple of 64, which the streaming stores need.
    unsafe {
        std::ptr::copy_nonoverlapping(head.as_ptr(), to, head.len());
        let mut at = to.add(head.len());
        for line in lines.chunks_exact(LINE) {
            for part in 0..LINE / size_of::<__m128i>() {
                let bytes = _mm_loadu_si128(line.as_ptr().cast::<__m128i>().add(part));
                _mm_stream_si128(at.cast::<__m128i>().add(part), bytes);
            }
            at = at.add(LINE);
        }
        std::ptr::copy_nonoverlapping(tail.as_ptr(), at, tail.len());
        // Streaming stores are not ordered with others: without this the record could be published
        // before its bytes.
        _mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_place_is_copied_and_nothing_beside_it() {
        let from: Vec<u8> = (0..3 * LONG).map(|n| (n % 251) as u8 + 1).collect();
        let lengths = [0, 1, 63, LONG - 1, LONG, LONG + 1, LONG + 63, 2 * LONG + 17];
        for len in lengths {
            for offset in 0..130 {
                let mut to = vec![0u8; offset + len + 130];
                // SAFETY: the buffer is long enough.
                unsafe { copy(&from[7..7 + len], to.as_mut_ptr().add(offset)) };
                assert!(to[..offset].iter().all(|byte| *byte == 0));
                assert_eq!(to[offset..offset + len], from[7..7 + len]);
                assert!(to[offset + len..].iter().all(|byte| *byte == 0));
            }
        }
    }
}
