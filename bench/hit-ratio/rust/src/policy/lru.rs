//! LRU: evicts the key that was asked for longest ago.
//!
//! R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger, "Evaluation Techniques for Storage
//! Hierarchies", IBM Systems Journal 9(2), 1970.

use super::{Key, Policy, Setting, Subject};
use crate::structures::Queues;

pub const SUBJECT: Subject = Subject {
    name: "LRU",
    note: "",
    build: |setting| Ok(Box::new(Lru::new(setting))),
};

struct Lru {
    capacity: usize,
    /// From the least to the most recently used.
    queue: Queues<1>,
}

impl Lru {
    fn new(setting: &Setting<'_>) -> Lru {
        Lru {
            capacity: setting.capacity,
            queue: Queues::new(setting.keys),
        }
    }
}

impl Policy for Lru {
    fn access(&mut self, key: Key) -> bool {
        let hit = self.queue.holds(0, key);
        if hit {
            self.queue.remove(key);
        } else if self.queue.len(0) == self.capacity {
            self.queue.pop(0);
        }
        self.queue.push(0, key);
        hit
    }

    fn len(&self) -> usize {
        self.queue.len(0)
    }
}
