//! Queues of keys in which each key is at most once, and in one of them: doubly linked lists
//! whose links lie in an array by key.

use crate::policy::Key;

/// `N` queues.
pub struct Queues<const N: usize> {
    /// By key, then an end for each queue: its newer is the oldest key, its older the newest.
    links: Vec<Link>,
    /// By key: the queue it is in, or [`NOWHERE`].
    places: Vec<u8>,
    lengths: [usize; N],
}

#[derive(Clone, Copy)]
struct Link {
    newer: Key,
    older: Key,
}

const NOWHERE: u8 = u8::MAX;

impl<const N: usize> Queues<N> {
    /// Empty queues for keys below `keys`.
    #[must_use]
    pub fn new(keys: usize) -> Queues<N> {
        let own = |key| Link {
            newer: key as Key,
            older: key as Key,
        };
        Queues {
            links: (0..keys + N).map(own).collect(),
            places: vec![NOWHERE; keys],
            lengths: [0; N],
        }
    }

    /// Keys in a queue.
    #[must_use]
    pub fn len(&self, queue: usize) -> usize {
        self.lengths[queue]
    }

    /// Is the key in that queue?
    #[must_use]
    pub fn holds(&self, queue: usize, key: Key) -> bool {
        self.places[key as usize] == queue as u8
    }

    /// The queue that the key is in.
    #[must_use]
    pub fn place(&self, key: Key) -> Option<usize> {
        let place = self.places[key as usize];
        (place != NOWHERE).then_some(place as usize)
    }

    /// Adds a key that is in no queue, as the newest.
    pub fn push(&mut self, queue: usize, key: Key) {
        debug_assert_eq!(self.places[key as usize], NOWHERE);
        let end = self.end(queue);
        let newest = self.links[end as usize].older;
        self.links[key as usize] = Link {
            newer: end,
            older: newest,
        };
        self.links[newest as usize].newer = key;
        self.links[end as usize].older = key;
        self.places[key as usize] = queue as u8;
        self.lengths[queue] += 1;
    }

    /// Takes a key out of the queue that it is in.
    pub fn remove(&mut self, key: Key) {
        let Link { newer, older } = self.links[key as usize];
        self.links[newer as usize].older = older;
        self.links[older as usize].newer = newer;
        self.lengths[self.places[key as usize] as usize] -= 1;
        self.places[key as usize] = NOWHERE;
    }

    /// Takes the oldest key out.
    pub fn pop(&mut self, queue: usize) -> Option<Key> {
        let oldest = self.oldest(queue)?;
        self.remove(oldest);
        Some(oldest)
    }

    /// The key that has been in the queue longest.
    #[must_use]
    pub fn oldest(&self, queue: usize) -> Option<Key> {
        self.key(self.links[self.end(queue) as usize].newer)
    }

    /// The key that came after this one.
    #[must_use]
    pub fn newer(&self, key: Key) -> Option<Key> {
        self.key(self.links[key as usize].newer)
    }

    fn end(&self, queue: usize) -> Key {
        (self.places.len() + queue) as Key
    }

    fn key(&self, link: Key) -> Option<Key> {
        ((link as usize) < self.places.len()).then_some(link)
    }
}
