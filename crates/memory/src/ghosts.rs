//! Keys of entries that left the small queue, without the entries.

use hashbrown::HashTable;
use std::collections::VecDeque;

/// Keys are remembered until so many further ones left, times the entries there are.
const TIMES: usize = 2;

/// The latest keys that left. A key is 32 bits of its hash: two keys of the same are taken for one,
/// which costs an entry its proper queue and nothing else.
#[derive(Debug, Default)]
pub(crate) struct Ghosts {
    /// In the order in which they left; those that came back since are still here.
    order: VecDeque<Ghost>,
    /// The number of the first one there. Numbers wrap: places are differences.
    first: u32,
    /// By their hash, the numbers of those that did not come back.
    numbers: HashTable<u32>,
    /// How many are kept.
    most: usize,
}

#[derive(Clone, Copy, Debug)]
struct Ghost {
    hash: u32,
    /// The policy's clock when the entry was inserted.
    born: u32,
}

impl Ghosts {
    /// Remembers a key that leaves. It is not remembered yet: it was taken when it came.
    pub fn bury(&mut self, hash: u32, born: u32) {
        while self.order.len() > self.most {
            self.forget_first();
        }
        let number = self.first.wrapping_add(self.order.len() as u32);
        self.order.push_back(Ghost { hash, born });
        let (order, first) = (&self.order, self.first);
        let hasher = |number: &u32| spread(order[number.wrapping_sub(first) as usize].hash);
        self.numbers.insert_unique(spread(hash), number, hasher);
    }

    /// When the key's entry was inserted, if it is remembered, which it is no longer; so many entries
    /// are there now.
    pub fn take(&mut self, hash: u32, entries: usize) -> Option<u32> {
        let (order, first) = (&self.order, self.first);
        let place = |number: &u32| number.wrapping_sub(first) as usize;
        let same = |number: &u32| order[place(number)].hash == hash;
        let entry = self.numbers.find_entry(spread(hash), same).ok()?;
        let place = place(&entry.remove().0);
        let after = order.len() - place;
        (after <= TIMES * entries).then(|| order[place].born)
    }

    /// Keeps at least as many as are of use with so many entries.
    pub fn keep(&mut self, entries: usize) {
        self.most = self.most.max(TIMES * entries);
    }

    fn forget_first(&mut self) {
        if let Some(ghost) = self.order.front() {
            let first = self.first;
            let entry = self
                .numbers
                .find_entry(spread(ghost.hash), |number| *number == first);
            if let Ok(entry) = entry {
                entry.remove();
            }
        }
        self.order.pop_front();
        self.first = self.first.wrapping_add(1);
    }
}

/// Both ends of a hash are looked at.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}
