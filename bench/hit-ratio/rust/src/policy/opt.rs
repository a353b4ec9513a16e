//! OPT, also called MIN: knows the future and keeps what is asked for soonest. No policy does
//! better, so it is the bound for all of them.
//!
//! L. A. Belady, "A Study of Replacement Algorithms for a Virtual-Storage Computer", IBM Systems
//! Journal 5(2), 1966. A key that will be used later than everything in the cache is not
//! inserted, so it also bounds policies that refuse keys.

use super::{Key, Policy, Setting, Subject};
use std::collections::BinaryHeap;

pub const SUBJECT: Subject = Subject {
    name: "OPT",
    note: "the bound: it knows the future",
    build: |setting| Ok(Box::new(Opt::new(setting))),
};

/// A point in time: how many requests came before. The last one stands for never.
type Time = u32;
const NEVER: Time = Time::MAX;

struct Opt {
    capacity: usize,
    now: usize,
    /// By request: when its key is asked for next.
    next: Vec<Time>,
    resident: Vec<bool>,
    len: usize,
    /// Keys of the cache by when they are asked for next, the latest on top. Those whose time has
    /// passed were hit and are there again; they never come to the top before all others.
    latest: BinaryHeap<(Time, Key)>,
}

impl Opt {
    fn new(setting: &Setting<'_>) -> Opt {
        Opt {
            capacity: setting.capacity,
            now: 0,
            next: next_times(setting.requests, setting.keys),
            resident: vec![false; setting.keys],
            len: 0,
            latest: BinaryHeap::new(),
        }
    }

    fn take_in(&mut self, key: Key, next: Time) {
        if next == NEVER {
            return;
        }
        if self.len == self.capacity {
            match self.latest.peek() {
                Some(&(latest, victim)) if latest > next => {
                    self.resident[victim as usize] = false;
                    self.latest.pop();
                }
                _ => return,
            }
        } else {
            self.len += 1;
        }
        self.resident[key as usize] = true;
        self.latest.push((next, key));
    }

    /// Its next time, at which it may never come.
    fn keep(&mut self, key: Key, next: Time) {
        self.latest.push((next, key));
        if self.latest.len() > 4 * self.capacity + 64 {
            let now = self.now;
            self.latest.retain(|&(time, _)| time as usize > now);
        }
    }
}

impl Policy for Opt {
    fn access(&mut self, key: Key) -> bool {
        let next = self.next[self.now];
        let hit = self.resident[key as usize];
        if hit {
            self.keep(key, next);
        } else {
            self.take_in(key, next);
        }
        self.now += 1;
        hit
    }

    fn len(&self) -> usize {
        self.len
    }
}

fn next_times(requests: &[Key], keys: usize) -> Vec<Time> {
    let mut next = vec![NEVER; requests.len()];
    let mut seen = vec![NEVER; keys];
    for (now, &key) in requests.iter().enumerate().rev() {
        next[now] = std::mem::replace(&mut seen[key as usize], now as Time);
    }
    next
}
