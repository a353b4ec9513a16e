//! S3-FIFO: a small FIFO queue that most keys leave at once, a main one for those that were asked
//! for again, and a ghost one of the keys that left, without their values.
//!
//! J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, "FIFO Queues are All You Need for Cache
//! Eviction", SOSP 2023, algorithm 1: the small queue has 10 % of the cache, main and ghost 90 %
//! each; a key moves from small to main once it had two hits, and starts there from none; counts
//! end at 3.

use super::{Key, Policy, Setting, Subject};
use crate::structures::Queues;

pub const SUBJECT: Subject = Subject {
    name: "S3-FIFO",
    note: "",
    build: |setting| Ok(Box::new(S3Fifo::new(setting))),
};

const SMALL: usize = 0;
const MAIN: usize = 1;
const GHOST: usize = 2;

const MOST_HITS: u8 = 3;
/// Hits that take a key from the small queue to the main one.
const HITS_TO_MAIN: u8 = 2;

struct S3Fifo {
    capacity: usize,
    small: usize,
    queues: Queues<3>,
    /// Hits by key.
    hits: Vec<u8>,
}

impl S3Fifo {
    fn new(setting: &Setting<'_>) -> S3Fifo {
        S3Fifo {
            capacity: setting.capacity,
            small: (setting.capacity / 10).max(1),
            queues: Queues::new(setting.keys),
            hits: vec![0; setting.keys],
        }
    }

    /// Entries of the main queue, and of the ghost queue.
    fn main(&self) -> usize {
        self.capacity - self.small
    }

    fn evict(&mut self) {
        if self.queues.len(SMALL) >= self.small {
            self.evict_from_small();
        } else {
            self.evict_from_main();
        }
    }

    /// Goes on until a key has left; those on the way that had their hits go to the main queue.
    fn evict_from_small(&mut self) {
        while let Some(key) = self.queues.pop(SMALL) {
            if self.hits[key as usize] < HITS_TO_MAIN {
                self.remember(key);
                return;
            }
            self.hits[key as usize] = 0;
            self.queues.push(MAIN, key);
            if self.queues.len(MAIN) > self.main() {
                self.evict_from_main();
            }
        }
    }

    fn evict_from_main(&mut self) {
        while let Some(key) = self.queues.pop(MAIN) {
            if self.hits[key as usize] == 0 {
                return;
            }
            self.hits[key as usize] -= 1;
            self.queues.push(MAIN, key);
        }
    }

    fn remember(&mut self, key: Key) {
        if self.main() == 0 {
            return;
        }
        if self.queues.len(GHOST) == self.main() {
            self.queues.pop(GHOST);
        }
        self.queues.push(GHOST, key);
    }
}

impl Policy for S3Fifo {
    fn access(&mut self, key: Key) -> bool {
        if self.queues.holds(SMALL, key) || self.queues.holds(MAIN, key) {
            let hits = &mut self.hits[key as usize];
            *hits = (*hits + 1).min(MOST_HITS);
            return true;
        }
        while self.len() >= self.capacity {
            self.evict();
        }
        // Looked at after the eviction, which may have pushed it out of the ghost queue.
        if self.queues.holds(GHOST, key) {
            self.queues.remove(key);
            self.queues.push(MAIN, key);
        } else {
            self.queues.push(SMALL, key);
        }
        self.hits[key as usize] = 0;
        false
    }

    fn len(&self) -> usize {
        self.queues.len(SMALL) + self.queues.len(MAIN)
    }
}
