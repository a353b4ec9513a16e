//! Compares shared bytes with a thread's own, 16 at a time, in two registers.

use super::machine::load_pair;

/// The bits that differed so far.
pub(super) struct Difference(u64, u64);

impl Difference {
    #[inline(always)]
    pub(super) fn none() -> Difference {
        Difference(0, 0)
    }

    /// Compares the 16 bytes at `OFFSET` in both ranges.
    ///
    /// # Safety
    /// At `OFFSET`, `shared` is as for [`super::read()`], of 16 bytes, and `own` is valid for reads of
    /// 16 bytes.
    #[inline(always)]
    pub(super) unsafe fn add<const OFFSET: isize>(&mut self, shared: *const u8, own: *const u8) {
        // SAFETY: the caller promises 16 bytes at `OFFSET` of `shared`.
        let (low, high) = unsafe { load_pair(shared.offset(OFFSET)) };
        // SAFETY: the caller promises 16 bytes at `OFFSET` of `own`; the read needs no alignment.
        let [own_low, own_high] = unsafe { own.offset(OFFSET).cast::<[u64; 2]>().read_unaligned() };
        self.0 |= low ^ own_low;
        self.1 |= high ^ own_high;
    }

    #[inline(always)]
    pub(super) fn is_none(&self) -> bool {
        self.0 | self.1 == 0
    }
}
