//! FIFO: evicts the key that came in first, however often it was asked for since.
//!
//! L. A. Belady, "A Study of Replacement Algorithms for a Virtual-Storage Computer", IBM Systems
//! Journal 5(2), 1966.

use super::{Key, Policy, Setting, Subject};
use std::collections::VecDeque;

pub const SUBJECT: Subject = Subject {
    name: "FIFO",
    note: "",
    build: |setting| Ok(Box::new(Fifo::new(setting))),
};

struct Fifo {
    capacity: usize,
    /// From the oldest to the newest.
    queue: VecDeque<Key>,
    /// By key: is it in the queue?
    resident: Vec<bool>,
}

impl Fifo {
    fn new(setting: &Setting<'_>) -> Fifo {
        Fifo {
            capacity: setting.capacity,
            queue: VecDeque::new(),
            resident: vec![false; setting.keys],
        }
    }
}

impl Policy for Fifo {
    fn access(&mut self, key: Key) -> bool {
        if self.resident[key as usize] {
            return true;
        }
        if self.queue.len() == self.capacity {
            if let Some(oldest) = self.queue.pop_front() {
                self.resident[oldest as usize] = false;
            }
        }
        self.queue.push_back(key);
        self.resident[key as usize] = true;
        false
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
