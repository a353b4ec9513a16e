//! W-TinyLFU: new keys live in a small LRU window. One that leaves it enters the main cache, a
//! segmented LRU, only if it was asked for more often than the key it would push out, by a
//! sketch that forgets.
//!
//! G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM
//! Transactions on Storage 13(4), 2017. The window has 1 % of the cache; of the main cache 80 %
//! are protected. Caffeine's later adaptive window and random admission are left out.

use super::{Key, Policy, Setting, Subject};
use crate::structures::{Popularity, Queues};

pub const SUBJECT: Subject = Subject {
    name: "W-TinyLFU",
    note: "window of 1 %, not adaptive",
    build: |setting| Ok(Box::new(WTinyLfu::new(setting))),
};

const WINDOW: usize = 0;
const PROBATION: usize = 1;
const PROTECTED: usize = 2;

struct WTinyLfu {
    window: usize,
    main: usize,
    protected: usize,
    /// Each from the least to the most recently used.
    queues: Queues<3>,
    popularity: Popularity,
}

impl WTinyLfu {
    fn new(setting: &Setting<'_>) -> WTinyLfu {
        let window = (setting.capacity / 100).max(1);
        let main = setting.capacity - window;
        WTinyLfu {
            window,
            main,
            protected: main * 8 / 10,
            queues: Queues::new(setting.keys),
            popularity: Popularity::new(setting.capacity),
        }
    }

    fn on_hit(&mut self, key: Key) {
        let queue = if self.queues.holds(WINDOW, key) {
            WINDOW
        } else {
            PROTECTED
        };
        self.queues.remove(key);
        self.queues.push(queue, key);
        if self.queues.len(PROTECTED) > self.protected {
            if let Some(demoted) = self.queues.pop(PROTECTED) {
                self.queues.push(PROBATION, demoted);
            }
        }
    }

    fn on_miss(&mut self, key: Key) {
        self.queues.push(WINDOW, key);
        if self.queues.len(WINDOW) > self.window {
            if let Some(candidate) = self.queues.pop(WINDOW) {
                self.admit(candidate);
            }
        }
    }

    fn admit(&mut self, candidate: Key) {
        if self.queues.len(PROBATION) + self.queues.len(PROTECTED) == self.main {
            let victim = self
                .queues
                .oldest(PROBATION)
                .or(self.queues.oldest(PROTECTED));
            match victim {
                Some(victim) if self.is_preferred(candidate, victim) => self.queues.remove(victim),
                _ => return,
            }
        }
        self.queues.push(PROBATION, candidate);
    }

    fn is_preferred(&self, candidate: Key, victim: Key) -> bool {
        self.popularity.of(candidate) > self.popularity.of(victim)
    }
}

impl Policy for WTinyLfu {
    fn access(&mut self, key: Key) -> bool {
        self.popularity.count(key);
        let hit = self.queues.place(key).is_some();
        if hit {
            self.on_hit(key);
        } else {
            self.on_miss(key);
        }
        hit
    }

    fn len(&self) -> usize {
        (WINDOW..=PROTECTED)
            .map(|queue| self.queues.len(queue))
            .sum()
    }
}
