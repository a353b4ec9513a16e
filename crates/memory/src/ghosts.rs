//! Keys of entries that left, without the entries.

use hashbrown::HashTable;
use std::collections::VecDeque;

/// The latest keys that left. A key is its 32-bit tag: two keys of one tag are taken for one, which
/// costs an entry its proper queue and nothing else.
#[derive(Debug, Default)]
pub(crate) struct Ghosts {
    /// In the order in which they left, with those that were taken since.
    order: VecDeque<Ghost>,
    known: HashTable<Ghost>,
    next: u64,
}

#[derive(Clone, Copy, Debug)]
struct Ghost {
    tag: u32,
    /// Which time of this tag it is.
    number: u64,
}

impl Ghosts {
    /// Remembers a tag, and no more than `most` of them in all.
    pub fn add(&mut self, tag: u32, most: usize) {
        self.take(tag);
        while self.known.len() >= most.max(1) || self.order.len() >= 2 * most.max(1) {
            match self.order.pop_front() {
                Some(oldest) => self.forget(oldest),
                None => break,
            }
        }
        if most == 0 {
            return;
        }
        let ghost = Ghost {
            tag,
            number: self.next,
        };
        self.next += 1;
        self.order.push_back(ghost);
        self.known.insert_unique(spread(tag), ghost, |ghost| spread(ghost.tag));
    }

    /// True if the tag is remembered, which it is no longer.
    pub fn take(&mut self, tag: u32) -> bool {
        match self.known.find_entry(spread(tag), |ghost| ghost.tag == tag) {
            Ok(entry) => {
                entry.remove();
                true
            }
            Err(_) => false,
        }
    }

    fn forget(&mut self, oldest: Ghost) {
        let same = |ghost: &Ghost| ghost.number == oldest.number;
        if let Ok(entry) = self.known.find_entry(spread(oldest.tag), same) {
            entry.remove();
        }
    }
}

/// A tag in both halves: tables look at both ends of a hash.
pub(crate) fn spread(tag: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(tag)
}
