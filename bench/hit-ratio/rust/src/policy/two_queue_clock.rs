//! 2Q-CLOCK, which Polycache's memory tiers run: `spec/eviction.md` says precisely what it does
//! and why. A hit writes one bit.
//!
//! New keys enter a small FIFO queue, whose share adapts. Those asked for there, and those that
//! come back soon after they left it, challenge the key under the hand of the main queue, a CLOCK
//! that counts: it goes only if it has been idle for longer than the challenger was away.

use super::{Key, Policy, Subject};
use crate::structures::Queues;

/// As the simulation starts it.
pub const SUBJECT: Subject = Subject {
    name: "2Q-CLOCK",
    note: "",
    build: |setting| Ok(Box::new(TwoQueueClock::new(setting.capacity, setting.keys))),
};

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

#[derive(Clone, Copy, Default)]
struct Entry {
    marked: bool,
    count: u8,
    /// The insertions so far when it was inserted, or when the hand passed it last.
    seen: usize,
}

#[derive(Clone, Copy)]
struct Ghost {
    /// How many had become ghosts before it.
    number: usize,
    /// The insertions so far when the entry was inserted.
    born: usize,
}

/// A cache of keys by this policy.
pub struct TwoQueueClock {
    capacity: usize,
    queues: Queues<2>,
    entries: Vec<Entry>,
    ghosts: Vec<Option<Ghost>>,
    /// How many ghosts there have been.
    buried: usize,
    /// Insertions so far.
    insertions: usize,
    /// In parts; none before the first eviction.
    goal: Option<usize>,
    evicted: Vec<Key>,
}

impl TwoQueueClock {
    /// An empty cache of so many entries, for keys below `keys`.
    #[must_use]
    pub fn new(capacity: usize, keys: usize) -> TwoQueueClock {
        TwoQueueClock {
            capacity,
            queues: Queues::new(keys),
            entries: vec![Entry::default(); keys],
            ghosts: vec![None; keys],
            buried: 0,
            insertions: 0,
            goal: None,
            evicted: Vec::new(),
        }
    }

    /// Asks for a key without inserting it; true for a hit.
    pub fn get(&mut self, key: Key) -> bool {
        let hit = self.holds(key);
        if hit {
            self.entries[key as usize].marked = true;
        }
        hit
    }

    /// Inserts a key, or marks it if it is here; the keys that left for it.
    pub fn set(&mut self, key: Key) -> &[Key] {
        self.evicted.clear();
        if !self.get(key) {
            self.insert(key);
        }
        &self.evicted
    }

    /// Takes a key out; true if it was here.
    pub fn delete(&mut self, key: Key) -> bool {
        let held = self.holds(key);
        if held {
            self.queues.remove(key);
        }
        held
    }

    /// Is the key here? Marks nothing.
    #[must_use]
    pub fn holds(&self, key: Key) -> bool {
        self.queues.place(key).is_some()
    }

    fn insert(&mut self, key: Key) {
        self.insertions += 1;
        let away = self.recall(key);
        let won = self.is_full() && away.is_some_and(|away| self.challenge(away, OF_GHOST));
        while self.is_full() {
            self.evict();
        }
        self.enter(if won { MAIN } else { SMALL }, key);
    }

    fn enter(&mut self, queue: usize, key: Key) {
        self.queues.push(queue, key);
        self.entries[key as usize] = Entry {
            marked: false,
            count: 0,
            seen: self.insertions,
        };
    }

    /// For how long the key was away, if it was a ghost; it no longer is.
    fn recall(&mut self, key: Key) -> Option<usize> {
        let ghost = self.ghosts[key as usize].take()?;
        let after = self.buried - ghost.number;
        (after <= GHOSTS * self.len()).then(|| self.insertions - ghost.born)
    }

    /// One key leaves, or one goes from the small to the main queue.
    fn evict(&mut self) {
        let few = self.queues.len(SMALL) < self.goal();
        if few && self.challenge(0, OF_MARKED) {
            return;
        }
        let Some(key) = self.queues.oldest(SMALL) else {
            // All entries that the hand passed are to stay, but one has to go.
            let oldest = self.queues.oldest(MAIN).expect("a full cache has an entry");
            self.leave(oldest);
            return;
        };
        let Entry { marked, seen, .. } = self.entries[key as usize];
        if marked {
            self.move_goal(|goal| goal + PARTS);
        }
        if self.queues.len(SMALL) > self.goal() || (marked && self.challenge(0, OF_MARKED)) {
            self.queues.remove(key);
            self.enter(MAIN, key);
            return;
        }
        self.ghosts[key as usize] = Some(Ghost {
            number: self.buried,
            born: seen,
        });
        self.buried += 1;
        self.move_goal(|goal| goal - 1);
        self.leave(key);
    }

    /// True when an entry has left the main queue for the challenger, which was away so long.
    fn challenge(&mut self, away: usize, strength: u8) -> bool {
        for _ in 0..STEPS {
            let Some(key) = self.queues.oldest(MAIN) else {
                return false;
            };
            let entry = &mut self.entries[key as usize];
            if self.insertions - entry.seen < away {
                return false;
            }
            entry.seen = self.insertions;
            if entry.marked {
                entry.marked = false;
                entry.count = (entry.count + 1).min(MOST_COUNTED);
            } else if entry.count >= strength {
                entry.count -= 1;
            } else {
                self.leave(key);
                return true;
            }
            self.queues.remove(key);
            self.queues.push(MAIN, key);
        }
        false
    }

    fn leave(&mut self, key: Key) {
        self.queues.remove(key);
        self.evicted.push(key);
    }

    /// Entries that the small queue should have.
    fn goal(&mut self) -> usize {
        self.move_goal(|goal| goal);
        self.goal.unwrap_or(PARTS) / PARTS
    }

    fn move_goal(&mut self, to: impl Fn(usize) -> usize) {
        let share = |divisor: usize| (self.len() * PARTS / divisor).max(PARTS);
        let goal = to(self.goal.unwrap_or(share(START)));
        self.goal = Some(goal.clamp(share(LEAST), share(MOST)));
    }

    fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }
}

impl Policy for TwoQueueClock {
    fn access(&mut self, key: Key) -> bool {
        let hit = self.get(key);
        if !hit {
            self.set(key);
        }
        hit
    }

    fn len(&self) -> usize {
        self.queues.len(SMALL) + self.queues.len(MAIN)
    }
}
