//! SIEVE: a queue that no hit reorders. A hand goes from the oldest to the newest key, clears the
//! mark of those that were asked for, evicts the first without one and stays where it is, so that
//! new keys, which come in at the head, are met soon while old ones have proved themselves.
//!
//! Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi, "SIEVE is Simpler than LRU: an Efficient
//! Turn-Key Eviction Algorithm for Web Caches", NSDI 2024.

use super::{Key, Policy, Setting, Subject};
use crate::structures::Queues;

pub const SUBJECT: Subject = Subject {
    name: "SIEVE",
    note: "",
    build: |setting| Ok(Box::new(Sieve::new(setting))),
};

struct Sieve {
    capacity: usize,
    queue: Queues<1>,
    /// By key: was it asked for since the hand last came by?
    visited: Vec<bool>,
    /// Where the hand goes on; `None` is the oldest key.
    hand: Option<Key>,
}

impl Sieve {
    fn new(setting: &Setting<'_>) -> Sieve {
        Sieve {
            capacity: setting.capacity,
            queue: Queues::new(setting.keys),
            visited: vec![false; setting.keys],
            hand: None,
        }
    }

    fn evict(&mut self) {
        let mut at = self.hand.or(self.queue.oldest(0));
        while let Some(key) = at {
            let newer = self.queue.newer(key);
            if self.visited[key as usize] {
                self.visited[key as usize] = false;
                at = newer.or(self.queue.oldest(0));
            } else {
                self.queue.remove(key);
                self.hand = newer;
                return;
            }
        }
    }
}

impl Policy for Sieve {
    fn access(&mut self, key: Key) -> bool {
        if self.queue.holds(0, key) {
            self.visited[key as usize] = true;
            return true;
        }
        if self.queue.len(0) == self.capacity {
            self.evict();
        }
        self.queue.push(0, key);
        false
    }

    fn len(&self) -> usize {
        self.queue.len(0)
    }
}
