//! Pages of blocks that were never used, given their memory ahead of the records.
//!
//! A store into a page that is not in memory is a page fault, and the kernel reads what surrounds the page along with it: megabytes
//! of zeros where the device's readahead says so, in large pieces of memory, which a virtual machine may have to get from its host.
//! To write zeros there by pwrite(2) before takes a third to an eighth of the time.

use crate::layout::{LEAST_PREPARED, MOST_PREPARED};
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const PAGE: u64 = 4096;
/// Blocks that one process fills at the same time, at most: more lanes than writers use.
const BLOCKS: usize = 16;
/// Which blocks this process has allocated, and how far each is filled: the block's number plus one, and pages. A forked child has
/// allocated none yet.
#[derive(Default)]
pub(super) struct Fresh {
    marks: [AtomicU64; BLOCKS],
    next: AtomicUsize,
}

impl Fresh {
    /// Notes a block that has just got its disk space. Its caller holds it.
    pub fn add(&self, block: u64) {
        let at = self.next.fetch_add(1, Ordering::Relaxed) % BLOCKS;
        self.marks[at].store(word(block, 0), Ordering::Relaxed);
    }

    /// Fills a block that its caller holds, whose records end at `tail`, at least up to `to`, by `fill(from, len)`. Does
    /// nothing for one that another process has allocated, nor for one that this process uses once more.
    pub fn fill(
        &self,
        block: u64,
        block_size: u64,
        tail: u64,
        to: u64,
        fill: impl Fn(u64, u64) -> io::Result<()>,
    ) {
        let noted = |mark: &&AtomicU64| mark.load(Ordering::Relaxed) >> 32 == block + 1;
        let Some(mark) = self.marks.iter().find(noted) else {
            return;
        };
        let filled = (mark.load(Ordering::Relaxed) & u64::from(u32::MAX)) * PAGE;
        if tail == 0 && filled > 0 {
            mark.store(0, Ordering::Relaxed);
            return;
        }
        if to <= filled {
            return;
        }
        // Another process may have stored records there meanwhile. Behind the tail there are none.
        let from = filled.max(tail.next_multiple_of(PAGE));
        let least = from + from.clamp(LEAST_PREPARED, MOST_PREPARED);
        let end = to.next_multiple_of(PAGE).max(least).min(block_size);
        let is_filled = from >= end || fill(from, end - from).is_ok();
        // Page faults do it just as well.
        let filled = if is_filled { end } else { block_size };
        mark.store(word(block, filled), Ordering::Relaxed);
    }
}

fn word(block: u64, filled: u64) -> u64 {
    ((block + 1) << 32) | (filled / PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    const SIZE: u64 = 1 << 20;

    /// What is filled for each of these appends to block 7, as (from, end).
    fn filled(fresh: &Fresh, appends: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let calls = RefCell::new(Vec::new());
        for (tail, to) in appends {
            fresh.fill(7, SIZE, *tail, *to, |from, len| {
                calls.borrow_mut().push((from, from + len));
                Ok(())
            });
        }
        calls.into_inner()
    }

    fn of_a_block() -> Fresh {
        let fresh = Fresh::default();
        fresh.add(7);
        fresh
    }

    #[test]
    fn a_block_is_filled_ahead_of_its_records_in_growing_pieces() {
        let appends: Vec<_> = (0..SIZE / 1024)
            .map(|at| (at * 1024, at * 1024 + 1024))
            .collect();
        let kib = |pieces: &[(u64, u64)]| -> Vec<_> {
            pieces
                .iter()
                .map(|(from, end)| (from >> 10, end >> 10))
                .collect()
        };
        assert_eq!(
            kib(&filled(&of_a_block(), &appends)),
            [
                (0, 64),
                (64, 128),
                (128, 256),
                (256, 512),
                (512, 768),
                (768, 1024)
            ]
        );
        // A record larger than a piece.
        assert_eq!(kib(&filled(&of_a_block(), &[(0, 300 << 10)])), [(0, 300)]);
    }

    /// Zeros over them would be lost values.
    #[test]
    fn records_are_never_filled_over() {
        let fresh = of_a_block();
        assert_eq!(filled(&fresh, &[(0, 100)]), [(0, 64 << 10)]);
        // Another process has appended since.
        let tail = (100 << 10) + 1;
        assert_eq!(
            filled(&fresh, &[(tail, tail + 100)]),
            [(104 << 10, 208 << 10)]
        );
        // Or has filled the block's last page.
        assert_eq!(filled(&fresh, &[(SIZE - 100, SIZE)]), []);
        // It is used once more.
        assert_eq!(filled(&fresh, &[(0, 100), (100, SIZE)]), []);
    }

    #[test]
    fn a_block_that_cannot_be_filled_is_left_alone() {
        let fresh = of_a_block();
        fresh.fill(7, SIZE, 0, 100, |_, _| {
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(filled(&fresh, &[(100, SIZE)]), []);
        // Of another process.
        let calls = RefCell::new(0);
        fresh.fill(8, SIZE, 0, 100, |_, _| {
            *calls.borrow_mut() += 1;
            Ok(())
        });
        assert_eq!(calls.into_inner(), 0);
    }
}
