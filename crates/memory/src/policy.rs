//! Which entry leaves when there is no room: 2Q-CLOCK, as described in `spec/eviction.md`.
//!
//! New entries enter a small FIFO queue, whose share adapts. Entries that were read there, and keys that
//! come back soon after leaving it, challenge the entry under the hand of the main queue, a CLOCK with
//! counters: that entry leaves only if it was idle for longer than the challenger was away.
//!
//! The policy knows entries by their index in the shard's table. A hit does not call the policy: it
//! marks the entry, and the policy reads the mark when it passes. Queues are measured in entries, even
//! if entries are weighed.

use crate::ghosts::Ghosts;
use crate::queue::{Links, Queue};

const SMALL: usize = 0;
const MAIN: usize = 1;

/// The small queue's goal is counted in this many parts of an entry.
const PARTS: usize = 25;
/// The goal's bounds and its start, as divisors of the number of entries: 1 %, 10 %, 2 %.
const LEAST: usize = 100;
const MOST: usize = 10;
const START: usize = 50;
/// A key that left the small queue is remembered until this many times the entries have followed it.
const GHOSTS: usize = 2;
/// Entries that the hand passes in one challenge.
const STEPS: usize = 6;
const MOST_COUNTED: u8 = 7;
/// What a challenger beats: an unmarked entry with a lower count.
const OF_MARKED: u8 = 1;
const OF_GHOST: u8 = 2;

/// The order of a shard's entries.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    links: Links<Item>,
    queues: [Queue; 2],
    ghosts: Ghosts,
    /// Insertions so far. It may wrap: ages are differences.
    insertions: u32,
    /// Goal of the small queue, in parts; 0 before the first eviction.
    goal: usize,
    /// Its bounds, for the number of entries when they were computed.
    share: Share,
    bytes: u64,
}

/// The goal's bounds in parts, kept while the number of entries stays the same.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    entries: usize,
    least: usize,
    most: usize,
}

/// What the policy needs to know about entries, by their index.
pub(crate) trait EntriesByIndex {
    /// True when the entry was read since the last call.
    fn take_mark(&self, index: u32) -> bool;

    /// The hash of its key.
    fn hash(&self, index: u32) -> u32;
}

#[derive(Clone, Copy, Debug, Default)]
struct Item {
    bytes: u64,
    /// The insertions so far when the entry was inserted, or when the hand passed it last.
    seen: u32,
    count: u8,
    queue: u8,
}

/// A key that is about to get an entry.
#[derive(Debug)]
pub(crate) struct Coming {
    /// For how long it was away, if it is remembered and has not yet challenged for that.
    away: Option<u32>,
    /// It has beaten an entry of the main queue, and takes its place.
    won: bool,
}

impl Coming {
    /// For a key that has an entry, or whose entry goes to another shard.
    pub const BACK: Coming = Coming {
        away: None,
        won: false,
    };
}

impl Policy {
    /// A key without an entry is to get one, whether there is room or not.
    #[inline]
    pub fn arrive(&mut self, hash: u32) -> Coming {
        self.insertions = self.insertions.wrapping_add(1);
        let born = self.ghosts.take(hash, GHOSTS * self.len());
        Coming {
            away: born.map(|born| self.insertions.wrapping_sub(born)),
            won: false,
        }
    }

    /// Removes the entry that leaves so that another may come; `None` when there is none.
    #[inline]
    pub fn victim(&mut self, coming: &mut Coming, entries: &impl EntriesByIndex) -> Option<u32> {
        if let Some(away) = coming.away.take() {
            if let Some(beaten) = self.challenge(away, OF_GHOST, entries) {
                coming.won = true;
                return Some(beaten);
            }
        }
        loop {
            self.bound_goal();
            // Only whole entries of the goal count, so the queue is compared as if it held one more.
            if PARTS * (self.queues[SMALL].len() + 1) <= self.goal {
                if let Some(beaten) = self.challenge(0, OF_MARKED, entries) {
                    return Some(beaten);
                }
            }
            let Some(index) = self.queues[SMALL].oldest() else {
                // The hand passed only entries that should stay, but one has to leave.
                let oldest = self.queues[MAIN].oldest()?;
                self.on_remove(oldest);
                return Some(oldest);
            };
            let marked = entries.take_mark(index);
            if marked {
                self.goal = (self.goal + PARTS).min(self.share.most);
            }
            let mut beaten = None;
            let mut stays = PARTS * self.queues[SMALL].len() > self.goal;
            if !stays && marked {
                beaten = self.challenge(0, OF_MARKED, entries);
                stays = beaten.is_some();
            }
            let item = *self.links.get(index);
            if !stays {
                self.ghosts.bury(entries.hash(index), item.seen);
                self.goal = (self.goal - 1).max(self.share.least);
                self.on_remove(index);
                return Some(index);
            }
            self.on_remove(index);
            self.enter(MAIN, index, item.bytes);
            if beaten.is_some() {
                return beaten;
            }
        }
    }

    /// The new entry; there is room for it.
    #[inline]
    pub fn on_insert(&mut self, coming: &Coming, index: u32, bytes: u64) {
        let queue = if coming.won { MAIN } else { SMALL };
        self.enter(queue, index, bytes);
        self.ghosts.keep(GHOSTS * self.len());
    }

    /// The entry's weight changes.
    pub fn on_bytes(&mut self, index: u32, bytes: u64) {
        let item = self.links.get_mut(index);
        self.bytes = self.bytes - item.bytes + bytes;
        item.bytes = bytes;
    }

    /// The entry was removed.
    #[inline]
    pub fn on_remove(&mut self, index: u32) {
        let Item { queue, bytes, .. } = *self.links.get(index);
        self.queues[usize::from(queue)].remove(&mut self.links, index);
        self.bytes -= bytes;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Policy::default();
    }

    /// The weight of the entry at this index, or of the last one there.
    #[inline]
    pub fn bytes(&self, index: u32) -> u64 {
        self.links.get(index).bytes
    }

    /// The weight of all entries.
    pub fn total(&self) -> u64 {
        self.bytes
    }

    #[inline]
    fn len(&self) -> usize {
        self.queues[SMALL].len() + self.queues[MAIN].len()
    }

    #[inline]
    fn enter(&mut self, queue: usize, index: u32, bytes: u64) {
        let item = Item {
            bytes,
            seen: self.insertions,
            count: 0,
            queue: queue as u8,
        };
        self.queues[queue].push(&mut self.links, index, item);
        self.bytes += bytes;
    }

    /// The entry of the main queue that leaves for a challenger that was away this long, if any.
    fn challenge(&mut self, away: u32, strength: u8, entries: &impl EntriesByIndex) -> Option<u32> {
        for _ in 0..STEPS {
            let index = self.queues[MAIN].oldest()?;
            let item = self.links.get_mut(index);
            if self.insertions.wrapping_sub(item.seen) < away {
                return None;
            }
            item.seen = self.insertions;
            if entries.take_mark(index) {
                item.count = (item.count + 1).min(MOST_COUNTED);
            } else if item.count >= strength {
                item.count -= 1;
            } else {
                self.on_remove(index);
                return Some(index);
            }
            self.queues[MAIN].renew_oldest(&mut self.links);
        }
        None
    }

    /// Keeps the goal within its bounds, which move with the number of entries.
    #[inline]
    fn bound_goal(&mut self) {
        let entries = self.len();
        if self.share.entries != entries || self.goal == 0 {
            self.share = Share::of(entries);
            if self.goal == 0 {
                self.goal = share(entries, START);
            }
        }
        self.goal = self.goal.max(self.share.least).min(self.share.most);
    }
}

impl Share {
    #[inline(never)]
    fn of(entries: usize) -> Share {
        Share {
            entries,
            least: share(entries, LEAST),
            most: share(entries, MOST),
        }
    }
}

/// A share of the entries, in parts; at least one entry.
fn share(entries: usize, divisor: usize) -> usize {
    (entries * PARTS / divisor).max(PARTS)
}
