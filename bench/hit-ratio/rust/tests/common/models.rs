//! Each policy again, as simply as possible and without regard for time: whatever a
//! step needs is searched for from one end to the other.

use polycache_bench_hit_ratio::policy::Key;
use polycache_bench_hit_ratio::structures::Popularity;
use std::collections::HashMap;

type Hits = Vec<bool>;

fn position(queue: &[Key], key: Key) -> Option<usize> {
    queue.iter().position(|&one| one == key)
}

pub fn fifo(capacity: usize, requests: &[Key]) -> Hits {
    let mut queue: Vec<Key> = Vec::new();
    let step = |&key: &Key| {
        let hit = queue.contains(&key);
        if !hit {
            if queue.len() == capacity {
                queue.remove(0);
            }
            queue.push(key);
        }
        hit
    };
    requests.iter().map(step).collect()
}

/// Every step looks at all requests so far: a key is there when fewer than `capacity` others were
/// asked for since it was.
pub fn lru(capacity: usize, requests: &[Key]) -> Hits {
    let step = |now: usize| {
        let before = &requests[..now];
        let last = before.iter().rposition(|&key| key == requests[now]);
        last.is_some_and(|last| {
            let mut between = before[last + 1..].to_vec();
            between.sort_unstable();
            between.dedup();
            between.len() < capacity
        })
    };
    (0..requests.len()).map(step).collect()
}

/// As a queue that marked keys go through again, instead of a ring with a hand.
pub fn clock(capacity: usize, requests: &[Key]) -> Hits {
    let mut queue: Vec<(Key, bool)> = Vec::new();
    let step = |&key: &Key| {
        if let Some(entry) = queue.iter_mut().find(|(one, _)| *one == key) {
            entry.1 = true;
            return true;
        }
        if queue.len() == capacity {
            while queue[0].1 {
                let (again, _) = queue.remove(0);
                queue.push((again, false));
            }
            queue.remove(0);
        }
        queue.push((key, false));
        false
    };
    requests.iter().map(step).collect()
}

/// The hand is a position from the oldest.
pub fn sieve(capacity: usize, requests: &[Key]) -> Hits {
    let mut queue: Vec<(Key, bool)> = Vec::new();
    let mut hand = 0;
    let step = |&key: &Key| {
        if let Some(entry) = queue.iter_mut().find(|(one, _)| *one == key) {
            entry.1 = true;
            return true;
        }
        if queue.len() == capacity {
            while queue[hand].1 {
                queue[hand].1 = false;
                hand = (hand + 1) % capacity;
            }
            queue.remove(hand);
            // What was newer is at the hand's place now, or there is nothing newer.
            if hand == queue.len() {
                hand = 0;
            }
        }
        queue.push((key, false));
        false
    };
    requests.iter().map(step).collect()
}

/// The paper's algorithm 1, line by line.
#[derive(Default)]
struct S3Fifo {
    capacity: usize,
    small: Vec<Key>,
    main: Vec<Key>,
    ghost: Vec<Key>,
    freq: HashMap<Key, u32>,
}

pub fn s3_fifo(capacity: usize, requests: &[Key]) -> Hits {
    let mut cache = S3Fifo {
        capacity,
        ..S3Fifo::default()
    };
    requests.iter().map(|&key| cache.read(key)).collect()
}

impl S3Fifo {
    fn small_size(&self) -> usize {
        std::cmp::max(1, self.capacity / 10)
    }

    fn main_size(&self) -> usize {
        self.capacity - self.small_size()
    }

    fn read(&mut self, x: Key) -> bool {
        if self.small.contains(&x) || self.main.contains(&x) {
            self.freq.insert(x, std::cmp::min(self.freq[&x] + 1, 3));
            return true;
        }
        self.insert(x);
        self.freq.insert(x, 0);
        false
    }

    fn insert(&mut self, x: Key) {
        while self.small.len() + self.main.len() == self.capacity {
            if self.small.len() >= self.small_size() {
                self.evict_small();
            } else {
                self.evict_main();
            }
        }
        if let Some(at) = position(&self.ghost, x) {
            self.ghost.remove(at);
            self.main.push(x);
        } else {
            self.small.push(x);
        }
    }

    fn evict_small(&mut self) {
        let mut evicted = false;
        while !evicted && !self.small.is_empty() {
            let t = self.small.remove(0);
            if self.freq[&t] > 1 {
                self.freq.insert(t, 0);
                self.main.push(t);
                if self.main.len() > self.main_size() {
                    self.evict_main();
                }
            } else {
                self.ghost.push(t);
                if self.ghost.len() > self.main_size() {
                    self.ghost.remove(0);
                }
                evicted = true;
            }
        }
    }

    fn evict_main(&mut self) {
        let mut evicted = false;
        while !evicted && !self.main.is_empty() {
            let t = self.main.remove(0);
            if self.freq[&t] > 0 {
                self.freq.insert(t, self.freq[&t] - 1);
                self.main.push(t);
            } else {
                evicted = true;
            }
        }
    }
}

/// `spec/eviction.md`, sentence by sentence. The oldest of a queue is its first.
#[derive(Default)]
pub struct TwoQueueClock {
    capacity: usize,
    small: Vec<TwoQueueEntry>,
    main: Vec<TwoQueueEntry>,
    /// Every key that ever left the small queue, and when it had been inserted.
    ghosts: Vec<(Option<Key>, usize)>,
    insertions: usize,
    goal: Option<usize>,
}

#[derive(Clone, Copy)]
struct TwoQueueEntry {
    key: Key,
    marked: bool,
    count: usize,
    seen: usize,
}

pub fn two_queue_clock(capacity: usize, requests: &[Key]) -> Hits {
    let mut cache = TwoQueueClock::new(capacity);
    let step = |&key: &Key| {
        let hit = cache.get(key);
        if !hit {
            cache.set(key);
        }
        hit
    };
    requests.iter().map(step).collect()
}

impl TwoQueueClock {
    pub fn new(capacity: usize) -> TwoQueueClock {
        TwoQueueClock {
            capacity,
            ..TwoQueueClock::default()
        }
    }

    /// In ascending order.
    pub fn resident(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.small.iter().chain(&self.main).map(|e| e.key).collect();
        keys.sort_unstable();
        keys
    }

    pub fn get(&mut self, key: Key) -> bool {
        let mut all = self.small.iter_mut().chain(&mut self.main);
        let found = all.find(|entry| entry.key == key);
        found.map(|entry| entry.marked = true).is_some()
    }

    /// The key that left, if one did.
    pub fn set(&mut self, key: Key) -> Option<Key> {
        if self.get(key) {
            return None;
        }
        self.insertions += 1;
        let (buried, entries) = (self.ghosts.len(), self.entries());
        let ghost = self.ghosts.iter().rposition(|ghost| ghost.0 == Some(key));
        let mut away = None;
        if let Some(at) = ghost {
            self.ghosts[at].0 = None;
            if buried - at <= 2 * entries {
                away = Some(self.insertions - self.ghosts[at].1);
            }
        }
        let mut left = None;
        let mut to_main = false;
        if let (Some(away), true) = (away, entries == self.capacity) {
            left = self.challenge(away, 2);
            to_main = left.is_some();
        }
        while self.entries() == self.capacity {
            left = self.evict();
        }
        let queue = if to_main {
            &mut self.main
        } else {
            &mut self.small
        };
        queue.push(TwoQueueEntry {
            key,
            marked: false,
            count: 0,
            seen: self.insertions,
        });
        left
    }

    pub fn delete(&mut self, key: Key) -> bool {
        let before = self.entries();
        self.small.retain(|entry| entry.key != key);
        self.main.retain(|entry| entry.key != key);
        before > self.entries()
    }

    fn entries(&self) -> usize {
        self.small.len() + self.main.len()
    }

    /// After a step up or down, in parts of which an entry has 25.
    fn goal(&mut self, up: usize, down: usize) -> usize {
        let n = self.entries();
        let (least, most) = (
            std::cmp::max(n * 25 / 100, 25),
            std::cmp::max(n * 25 / 10, 25),
        );
        let start = std::cmp::max(n * 25 / 50, 25);
        let goal = (self.goal.unwrap_or(start) + up - down).clamp(least, most);
        self.goal = Some(goal);
        goal / 25
    }

    fn evict(&mut self) -> Option<Key> {
        if self.small.len() < self.goal(0, 0) {
            if let Some(left) = self.challenge(0, 1) {
                return Some(left);
            }
        }
        if self.small.is_empty() {
            return Some(self.main.remove(0).key);
        }
        let tail = self.small[0];
        let goal = self.goal(if tail.marked { 25 } else { 0 }, 0);
        let mut left = None;
        let spare = self.small.len() > goal;
        if !spare && tail.marked {
            left = self.challenge(0, 1);
        }
        if spare || left.is_some() {
            self.small.remove(0);
            self.main.push(TwoQueueEntry {
                marked: false,
                count: 0,
                seen: self.insertions,
                ..tail
            });
            return left;
        }
        self.ghosts.push((Some(tail.key), tail.seen));
        self.goal(0, 1);
        self.small.remove(0);
        Some(tail.key)
    }

    fn challenge(&mut self, away: usize, strength: usize) -> Option<Key> {
        for _ in 0..6 {
            let mut under = *self.main.first()?;
            if self.insertions - under.seen < away {
                return None;
            }
            self.main.remove(0);
            if under.marked {
                under.count = std::cmp::min(under.count + 1, 7);
            } else if under.count >= strength {
                under.count -= 1;
            } else {
                return Some(under.key);
            }
            under.marked = false;
            under.seen = self.insertions;
            self.main.push(under);
        }
        None
    }
}

/// The sketch is the same one, since what it gets wrong matters too; it has its own tests.
pub fn w_tinylfu(capacity: usize, requests: &[Key]) -> Hits {
    let mut popularity = Popularity::new(capacity);
    let window_size = std::cmp::max(1, capacity / 100);
    let main_size = capacity - window_size;
    let protected_size = main_size * 8 / 10;
    let (mut window, mut probation, mut protected) = (Vec::new(), Vec::new(), Vec::new());
    let step = |&key: &Key| {
        popularity.count(key);
        if let Some(at) = position(&window, key) {
            window.remove(at);
            window.push(key);
            return true;
        }
        if let Some(at) = position(&protected, key) {
            protected.remove(at);
            protected.push(key);
            return true;
        }
        if let Some(at) = position(&probation, key) {
            probation.remove(at);
            protected.push(key);
            if protected.len() > protected_size {
                probation.push(protected.remove(0));
            }
            return true;
        }
        window.push(key);
        if window.len() <= window_size {
            return false;
        }
        let candidate = window.remove(0);
        if probation.len() + protected.len() < main_size {
            probation.push(candidate);
            return false;
        }
        let segment = if probation.is_empty() {
            &mut protected
        } else {
            &mut probation
        };
        if let Some(&victim) = segment.first() {
            if popularity.of(candidate) > popularity.of(victim) {
                segment.remove(0);
                probation.push(candidate);
            }
        }
        false
    };
    requests.iter().map(step).collect()
}

/// The most hits there can be: every choice is tried after every miss, also that of not keeping
/// the key.
pub fn most_hits(capacity: usize, requests: &[Key]) -> usize {
    fn from(
        capacity: usize,
        requests: &[Key],
        cached: u32,
        known: &mut HashMap<(usize, u32), usize>,
    ) -> usize {
        let Some((&key, rest)) = requests.split_first() else {
            return 0;
        };
        if let Some(&most) = known.get(&(requests.len(), cached)) {
            return most;
        }
        let asked = 1 << key;
        let most = if cached & asked != 0 {
            1 + from(capacity, rest, cached, known)
        } else if (cached.count_ones() as usize) < capacity {
            from(capacity, rest, cached | asked, known)
        } else {
            let victims = (0..u32::BITS)
                .map(|bit| 1 << bit)
                .filter(|v| cached & v != 0);
            let choices = victims
                .map(|victim| cached & !victim | asked)
                .chain([cached]);
            let hits = choices.map(|next| from(capacity, rest, next, known));
            hits.max().expect("there is a choice")
        };
        known.insert((requests.len(), cached), most);
        most
    }
    from(capacity, requests, 0, &mut HashMap::new())
}
