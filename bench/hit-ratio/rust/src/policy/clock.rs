//! CLOCK, also called second chance or FIFO with reinsertion: a hand goes round the entries, clears
//! the mark of those that were asked for since it last came by, and evicts the first without one.
//!
//! F. J. Corbató, "A Paging Experiment with the Multics System", MIT Project MAC Report MAC-M-384,
//! 1968. The request that brings a key in does not mark it.

use super::{Key, Policy, Setting, Subject};

pub const SUBJECT: Subject = Subject {
    name: "CLOCK",
    note: "",
    build: |setting| Ok(Box::new(Clock::new(setting))),
};

struct Clock {
    capacity: usize,
    /// The dial, in the order of the slots.
    ring: Vec<Key>,
    /// Where the hand points.
    hand: usize,
    /// By key.
    state: Vec<State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Absent,
    Unmarked,
    Marked,
}

impl Clock {
    fn new(setting: &Setting<'_>) -> Clock {
        Clock {
            capacity: setting.capacity,
            ring: Vec::new(),
            hand: 0,
            state: vec![State::Absent; setting.keys],
        }
    }

    fn turn(&mut self) {
        self.hand = (self.hand + 1) % self.capacity;
    }
}

impl Policy for Clock {
    fn access(&mut self, key: Key) -> bool {
        if self.state[key as usize] != State::Absent {
            self.state[key as usize] = State::Marked;
            return true;
        }
        self.state[key as usize] = State::Unmarked;
        if self.ring.len() < self.capacity {
            self.ring.push(key);
            return false;
        }
        while self.state[self.ring[self.hand] as usize] == State::Marked {
            self.state[self.ring[self.hand] as usize] = State::Unmarked;
            self.turn();
        }
        self.state[self.ring[self.hand] as usize] = State::Absent;
        self.ring[self.hand] = key;
        self.turn();
        false
    }

    fn len(&self) -> usize {
        self.ring.len()
    }
}
