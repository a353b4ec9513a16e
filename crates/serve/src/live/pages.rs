//! How much of a stream is read at once.

use super::facts::{Entry, Facts};

/// Most entries of a page.
const MOST: usize = 100;
/// Bytes that a page has, about: it waits in memory until its client has read it, and each client has one. A larger entry is
/// a page of its own.
const BYTES: usize = 256 << 10;
/// Where nothing is known of the entries.
const FIRST: usize = 10;
/// What an entry, and each of its fields and values, takes beside its bytes.
const OVERHEAD: usize = 32;

/// How many entries to ask for next. Redis bounds a reply only by their number, so it follows from what those took that were
/// seen.
pub(super) struct Pages {
    count: usize,
}

impl Default for Pages {
    fn default() -> Pages {
        Pages { count: FIRST }
    }
}

impl Pages {
    /// Of a stream whose entries are like its first and its last one.
    pub fn of(facts: &Facts) -> Pages {
        let ends = facts.first.iter().chain(&facts.last);
        ends.map(size)
            .max()
            .map_or_else(Pages::default, |size| Pages {
                count: fitting(size),
            })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Learns from entries that were read, which may be unlike those before.
    pub fn learn(&mut self, entries: &[Entry]) {
        if let Some(largest) = entries.iter().map(size).max() {
            // Small ones may be few between large ones.
            self.count = fitting(largest).min(2 * self.count);
        }
    }

    /// Leaves of a page what it may have, the first entry at least; whether there may be more after that.
    pub fn cut(&mut self, entries: &mut Vec<Entry>) -> bool {
        let (asked, read) = (self.count, entries.len());
        self.learn(entries);
        let mut bytes = 0;
        let fit = |entry: &&Entry| {
            bytes += size(entry);
            bytes <= BYTES
        };
        let kept = entries.iter().take_while(fit).count().max(1);
        entries.truncate(kept);
        read >= asked || kept < read
    }
}

fn fitting(size: usize) -> usize {
    (BYTES / size.max(1)).clamp(1, MOST)
}

pub(super) fn size((_, fields): &Entry) -> usize {
    let fields = fields.iter().map(|field| field.len() + OVERHEAD);
    OVERHEAD + fields.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Id;

    fn entries(count: usize, bytes: usize) -> Vec<Entry> {
        let entry = ("1-0".to_owned(), vec![b"f".to_vec(), vec![0; bytes]]);
        vec![entry; count]
    }

    fn facts(first: usize, last: usize) -> Facts {
        Facts {
            end: Id::FIRST,
            length: 2,
            added: None,
            first: entries(1, first).pop(),
            last: entries(1, last).pop(),
        }
    }

    #[test]
    fn the_ends_of_a_stream_say_how_large_its_entries_are() {
        assert_eq!(Pages::of(&facts(10, 10)).count(), MOST);
        assert_eq!(Pages::of(&facts(10, BYTES / 8)).count(), 7);
        assert_eq!(Pages::of(&facts(BYTES * 8, 10)).count(), 1);
        assert_eq!(Pages::default().count(), FIRST);
    }

    #[test]
    fn a_page_of_large_entries_is_cut_and_the_next_is_smaller() {
        let mut pages = Pages::of(&facts(10, 10));
        // As expected.
        let mut page = entries(MOST, 10);
        assert!(pages.cut(&mut page));
        assert_eq!((page.len(), pages.count()), (MOST, MOST));
        let mut page = entries(MOST, BYTES / 4 - 1000);
        assert!(pages.cut(&mut page));
        assert_eq!((page.len(), pages.count()), (4, 4));
        let mut page = entries(4, BYTES * 2);
        assert!(pages.cut(&mut page));
        assert_eq!((page.len(), pages.count()), (1, 1));
        // The last one is a whole page, so there may be another.
        assert!(pages.cut(&mut entries(1, BYTES * 2)));
        assert!(!pages.cut(&mut Vec::new()));
    }

    #[test]
    fn pages_of_small_entries_become_larger_step_by_step() {
        let mut pages = Pages::of(&facts(BYTES, BYTES));
        let mut counts = Vec::new();
        for _ in 0..8 {
            pages.cut(&mut entries(pages.count(), 10));
            counts.push(pages.count());
        }
        assert_eq!(counts, [2, 4, 8, 16, 32, 64, 100, 100]);
        assert!(!pages.cut(&mut entries(99, 10)));
    }
}
