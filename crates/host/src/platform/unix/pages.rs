//! Pages of a mapping: which are in memory, and making the system write them once more.

use memmap2::MmapRaw;
use std::io;
use std::ops::Range;

/// Since Linux 5.14. The system does what a store into each page does first, and stores nothing. What a store would
/// meet as a signal that ends the process, a page that the disk does not give, is an error here.
const POPULATE_WRITE: libc::c_int = 23;

/// Marks the pages of a range that are in memory as changed.
pub(super) fn make_dirty(mapping: &MmapRaw, offset: u64, len: u64) -> io::Result<()> {
    let page = super::files::page();
    let (offset, len) = (offset as usize, len as usize);
    let end = offset.checked_add(len).filter(|end| *end <= mapping.len());
    let end = end.ok_or(io::ErrorKind::InvalidInput)?;
    let first = offset / page * page;
    // The last page of a mapping is mapped whole.
    let mut is_there = vec![0_u8; (end - first).div_ceil(page)];
    // SAFETY: the pages are mapped, and there is a byte for each of them.
    let looked = unsafe {
        let at = mapping.as_mut_ptr().add(first).cast();
        libc::mincore(at, is_there.len() * page, is_there.as_mut_ptr())
    };
    super::result_of(looked)?;
    for run in runs(&is_there) {
        // SAFETY: the pages are mapped; no byte of them is changed.
        let done = unsafe {
            let at = mapping.as_mut_ptr().add(first + run.start * page).cast();
            libc::madvise(at, run.len() * page, POPULATE_WRITE)
        };
        super::result_of(done)?;
    }
    Ok(())
}

/// The runs of pages that are in memory, by what mincore(2) says of each.
fn runs(is_there: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let left = &is_there[from..];
        let begin = from + left.iter().position(|page| page & 1 == 1)?;
        let rest = &is_there[begin..];
        let len = rest.iter().position(|page| page & 1 == 0);
        from = begin + len.unwrap_or(rest.len());
        Some(begin..from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Io, SystemIo};

    #[test]
    fn runs_are_what_lies_between_gaps() {
        let found = |is_there: &[u8]| runs(is_there).collect::<Vec<_>>();
        assert!(found(&[]).is_empty());
        assert!(found(&[0, 0]).is_empty());
        assert_eq!(found(&[1, 3, 0, 2, 1]), [0..2, 4..5]);
        assert_eq!(found(&[0, 1, 1, 0, 1]), [1..3, 4..5]);
    }

    /// KiB of a mapping's pages that the system will write, as it says itself.
    fn dirty(mapping: &MmapRaw) -> u64 {
        let wanted = format!("{:x}-", mapping.as_ptr() as usize);
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let ours = maps.lines().skip_while(|line| !line.starts_with(&wanted));
        ours.filter(|line| line.contains("_Dirty:"))
            .take(2)
            .map(|line| {
                line.split_whitespace()
                    .nth(1)
                    .unwrap()
                    .parse::<u64>()
                    .unwrap()
            })
            .sum()
    }

    #[test]
    fn clean_pages_become_dirty_and_keep_their_bytes() {
        let file = tempfile::tempfile().unwrap();
        let (page, pages) = (super::super::files::page(), 16);
        file.set_len((pages * page) as u64).unwrap();
        let mapping = SystemIo.map(&file, (pages * page) as u64).unwrap();
        let bytes: Vec<u8> = (0..pages * page).map(|at| at as u8 ^ 0x5a).collect();
        // SAFETY: the mapping is this test's own, and as long as `bytes`.
        let mapped = unsafe { std::slice::from_raw_parts_mut(mapping.as_mut_ptr(), bytes.len()) };
        mapped.copy_from_slice(&bytes);
        if cfg!(target_arch = "aarch64") && dirty(&mapping) == 0 {
            // QEMU makes this file up, and tells of no dirty page. Elsewhere that would be a fault of `dirty`.
            return;
        }
        SystemIo.sync(&mapping).unwrap();
        if dirty(&mapping) > 0 {
            // A file system in memory, whose pages are never clean.
            return;
        }
        // From the third page to the sixth, given by bytes within them.
        let (from, to) = (2 * page + 100, 5 * page + 1);
        make_dirty(&mapping, from as u64, (to - from) as u64).unwrap();
        assert_eq!(dirty(&mapping), (4 * page as u64) >> 10);
        make_dirty(&mapping, 0, bytes.len() as u64).unwrap();
        assert_eq!(dirty(&mapping), (pages * page) as u64 >> 10);
        assert_eq!(mapped, &bytes[..]);
        assert!(make_dirty(&mapping, 1, bytes.len() as u64).is_err());
    }
}
