//! Which entry leaves when there is no room: 2Q-CLOCK, as `spec/eviction.md` has it.
//!
//! New entries enter a small FIFO queue, whose share adapts. Those that were read there, and keys
//! that come back soon after they left it, challenge the entry under the hand of the main queue, a
//! CLOCK that counts: it leaves only if it was idle for longer than the challenger was away.
//!
//! The policy knows entries by their index in the shard's slab. A hit does not call it: it marks the
//! entry, and the policy asks for the mark when it comes by. Queues are counted in entries, even
//! where entries are weighed.

use crate::ghosts::Ghosts;
use crate::queue::{Links, Queue};

const SMALL: usize = 0;
const MAIN: usize = 1;

/// The small queue's goal is counted in these parts of an entry.
const PARTS: usize = 25;
/// The goal's bounds and its start, as divisors of the entries: 1 %, 10 %, 2 %.
const LEAST: usize = 100;
const MOST: usize = 10;
const START: usize = 50;
/// Keys that left the small queue are remembered for so many further ones, times the entries.
const GHOSTS: usize = 2;
/// Entries the hand passes in one challenge.
const STEPS: usize = 6;
const MOST_COUNTED: u8 = 7;
/// What a challenger beats: an entry that is unmarked and counts less.
const OF_MARKED: u8 = 1;
const OF_GHOST: u8 = 2;

/// The order of a shard's entries.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    links: Links<Item>,
    queues: [Queue; 2],
    ghosts: Ghosts,
    /// Insertions so far. It may wrap: ages are differences.
    clock: u32,
    /// Of the small queue, in parts; 0 before the first eviction.
    goal: usize,
    /// Its bounds, for as many entries as there were.
    share: Share,
    bytes: u64,
}

/// The goal's bounds in parts, kept as long as the number of entries stays.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    entries: usize,
    least: usize,
    most: usize,
}

/// What the policy asks of the entries, by their index.
pub(crate) trait Entries {
    /// True when the entry was read since this was asked last.
    fn take_mark(&self, index: u32) -> bool;

    /// The hash of its key.
    fn hash(&self, index: u32) -> u32;
}

#[derive(Clone, Copy, Debug, Default)]
struct Item {
    bytes: u64,
    /// The clock when it was inserted, or when the hand passed it last.
    seen: u32,
    count: u8,
    queue: u8,
}

/// A key that is about to have an entry.
#[derive(Debug)]
pub(crate) struct Coming {
    /// For how long it was away, if it is remembered and was not tried yet.
    away: Option<u32>,
    /// It has beaten an entry of the main queue, whose place it takes.
    won: bool,
}

impl Coming {
    /// Of a key that has an entry, or whose entry comes into another shard.
    pub const BACK: Coming = Coming {
        away: None,
        won: false,
    };
}

impl Policy {
    /// A key without an entry is to get one, room or not.
    #[inline]
    pub fn arrive(&mut self, hash: u32) -> Coming {
        self.clock = self.clock.wrapping_add(1);
        let born = self.ghosts.take(hash, GHOSTS * self.len());
        Coming {
            away: born.map(|born| self.clock.wrapping_sub(born)),
            won: false,
        }
    }

    /// Takes out an entry that leaves so that another may come; `None` when there is none.
    #[inline]
    pub fn victim(&mut self, coming: &mut Coming, entries: &impl Entries) -> Option<u32> {
        if let Some(away) = coming.away.take() {
            if let Some(beaten) = self.challenge(away, OF_GHOST, entries) {
                coming.won = true;
                return Some(beaten);
            }
        }
        loop {
            self.bound_goal();
            // Queues are held against the whole entries of the goal, hence as parts of one more.
            if PARTS * (self.queues[SMALL].len() + 1) <= self.goal {
                if let Some(beaten) = self.challenge(0, OF_MARKED, entries) {
                    return Some(beaten);
                }
            }
            let Some(index) = self.queues[SMALL].oldest() else {
                // All that the hand came by are to stay, but one has to go.
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

    /// The entry that comes; there is room for it.
    #[inline]
    pub fn on_insert(&mut self, coming: &Coming, index: u32, bytes: u64) {
        let queue = if coming.won { MAIN } else { SMALL };
        self.enter(queue, index, bytes);
        self.ghosts.keep(GHOSTS * self.len());
    }

    /// The entry weighs something else now.
    pub fn on_bytes(&mut self, index: u32, bytes: u64) {
        let item = self.links.get_mut(index);
        self.bytes = self.bytes - item.bytes + bytes;
        item.bytes = bytes;
    }

    /// The entry is gone.
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

    /// What the entry at this index weighs, or the last one there did.
    #[inline]
    pub fn bytes(&self, index: u32) -> u64 {
        self.links.get(index).bytes
    }

    /// What all entries weigh.
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
            seen: self.clock,
            count: 0,
            queue: queue as u8,
        };
        self.queues[queue].push(&mut self.links, index, item);
        self.bytes += bytes;
    }

    /// The entry of the main queue that leaves for a challenger who was away so long, if one does.
    fn challenge(&mut self, away: u32, strength: u8, entries: &impl Entries) -> Option<u32> {
        for _ in 0..STEPS {
            let index = self.queues[MAIN].oldest()?;
            let item = self.links.get_mut(index);
            if self.clock.wrapping_sub(item.seen) < away {
                return None;
            }
            item.seen = self.clock;
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

/// Of so many entries, in parts; one entry at least.
fn share(entries: usize, divisor: usize) -> usize {
    (entries * PARTS / divisor).max(PARTS)
}
