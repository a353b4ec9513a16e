//! Which entry leaves when there is no room: S3-FIFO with one bit an entry.
//!
//! J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, "FIFO Queues are All You Need for Cache
//! Eviction", SOSP 2023. New entries enter a small queue; those that were read by the time they
//! reach its end move to the main queue, the others leave, and their keys are remembered for a
//! while: an entry of a remembered key starts in the main queue.
//!
//! The policy knows entries by their index in the shard's slab. A hit does not call it: it sets the
//! entry's own visited bit, which the policy asks for when it looks for a victim.

use crate::ghosts::Ghosts;
use crate::queue::{Links, Queue};

/// Entry in neither queue.
const SMALL: usize = 0;
const MAIN: usize = 1;

/// The order of a shard's entries.
#[derive(Debug)]
pub(crate) struct Policy {
    links: Links<Item>,
    queues: [Queue; 2],
    weights: [u64; 2],
    ghosts: Ghosts,
    /// Weight from which on the small queue gives the victim.
    small: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Item {
    weight: u64,
    hash: u64,
    queue: u8,
}

impl Policy {
    /// For a shard that holds about so much weight.
    pub fn new(capacity: u64) -> Policy {
        Policy {
            links: Links::default(),
            queues: [Queue::default(); 2],
            weights: [0; 2],
            ghosts: Ghosts::default(),
            small: (capacity / 10).max(1),
        }
    }

    /// A new entry. `hash` is its key's.
    pub fn on_insert(&mut self, index: u32, hash: u64, weight: u64) {
        let queue = if self.ghosts.take(hash as u32) { MAIN } else { SMALL };
        self.push(queue, index, hash, weight);
    }

    /// The entry has another weight.
    pub fn on_weight(&mut self, index: u32, weight: u64) {
        let item = self.links.get_mut(index);
        if item.weight != weight {
            let total = &mut self.weights[usize::from(item.queue)];
            *total = *total - item.weight + weight;
            item.weight = weight;
        }
    }

    /// What the entry at this index weighs, or the last one there did.
    pub fn weight(&self, index: u32) -> u64 {
        self.links.get(index).weight
    }

    /// The hash of its key.
    pub fn hash(&self, index: u32) -> u64 {
        self.links.get(index).hash
    }

    /// What all entries weigh.
    pub fn total(&self) -> u64 {
        self.weights.iter().sum()
    }

    /// The entry is gone, without the policy having said so.
    pub fn on_remove(&mut self, index: u32) {
        let item = *self.links.get(index);
        let queue = usize::from(item.queue);
        self.queues[queue].remove(&mut self.links, index);
        self.weights[queue] -= item.weight;
    }

    /// Takes out the entry that leaves. `visited` tells whether an entry was read, and forgets it.
    pub fn victim(&mut self, mut visited: impl FnMut(u32) -> bool) -> Option<u32> {
        loop {
            let from_small = self.weights[SMALL] >= self.small || self.queues[MAIN].is_empty();
            let queue = if from_small && !self.queues[SMALL].is_empty() {
                SMALL
            } else {
                MAIN
            };
            let index = self.queues[queue].pop(&mut self.links)?;
            let item = *self.links.get(index);
            self.weights[queue] -= item.weight;
            if visited(index) {
                self.push(MAIN, index, item.hash, item.weight);
            } else {
                if queue == SMALL {
                    self.ghosts.add(item.hash as u32, self.queues[MAIN].len());
                }
                return Some(index);
            }
        }
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.links = Links::default();
        self.queues = [Queue::default(); 2];
        self.weights = [0; 2];
        self.ghosts = Ghosts::default();
    }

    fn push(&mut self, queue: usize, index: u32, hash: u64, weight: u64) {
        let item = Item {
            weight,
            hash,
            queue: queue as u8,
        };
        self.queues[queue].push(&mut self.links, index, item);
        self.weights[queue] += weight;
    }
}
