//! Two processes change a small cache, and a third flushes it, until the power goes.

use super::history::History;
use super::memory::{Image, Recorded, Store};
use super::random::Random;
use crate::block::{Appender, Notes};
use crate::engine::{Engine, Participant};
use crate::hash::key_hash;
use crate::keys::ancestors;
use crate::layout::Geometry;
use crate::lease::{Lease, Token};
use crate::marks::Mark;
use crate::tests::setup::{enter, entry, entry_until, text, World};
use std::sync::{Arc, Mutex};

pub const KEYS: [&str; 24] = [
    "::k0", "::k1", "::k2", "::k3", "::k4", "a::k0", "a::k1", "a::k2", "a::k3", "a::k4", "a::k5",
    "a:b::k0", "a:b::k1", "a:b::k2", "a:b::k3", "a:b::k4", "c::k0", "c::k1", "c::k2", "c::k3",
    "c::k4", "c::k5", "c::k6", "c::k7",
];
const NAMESPACES: [&str; 3] = ["a::", "a:b::", "c::"];
/// Texts from here on lie in so many blocks.
pub const LARGE: [usize; 3] = [480, 930, 1390];
/// A time that is far ahead.
const FAR: u64 = 1 << 40;

pub type Small = Engine<Arc<Recorded>, World>;

/// Sixteen blocks of five or six records, or of a part of a value of at most four; three levels, eight cells of
/// floors.
pub fn geometry() -> Geometry {
    let mut geometry = Geometry::new(2 << 20).unwrap();
    geometry.block_size = 512;
    geometry.blocks = 16;
    geometry.floors = 8;
    // Of few slots each, so that the last one is opened, too.
    geometry.with_levels(&[2, 2, 4])
}

pub fn engine(memory: Arc<Recorded>) -> Small {
    Engine {
        memory,
        environment: World::default(),
        geometry: geometry(),
        seed: 0x5eed,
        notes: Notes::default(),
    }
}

/// Where a key's entry is served, and its text.
pub fn served(engine: &Small, key: &str) -> Option<(u64, String)> {
    let mut out = Vec::new();
    let floor = |_| engine.floor_of_key(key.as_bytes());
    let hit = engine.peek(engine.key(key.as_bytes()), floor, &mut out)?;
    Some((hit.slot, text(&out)))
}

/// Clears a namespace, given its prefix.
pub fn clear(engine: &Small, namespace: &str) {
    let name = |prefix: &str| key_hash(engine.seed, prefix.as_bytes()).as_u64();
    engine.raise_floor(name(namespace), name("::"));
}

pub struct Flush {
    mark: Mark,
    /// From here on a page that it writes has what was there at some later moment.
    pub begun: usize,
    /// From here on everything is on the disk, and the mark.
    pub complete: Option<usize>,
    /// What each key had when it began, and in which slot.
    pub seen: Vec<Option<(u64, String)>>,
}

pub struct Life {
    pub memory: Arc<Recorded>,
    pub engine: Small,
    /// The disk when it began.
    pub first: Image,
    /// Levels that its file had then.
    pub levels: usize,
    /// Everything that was stored.
    pub stores: Vec<Store>,
    pub histories: Vec<History>,
    pub flushes: Arc<Mutex<Vec<Flush>>>,
    processes: [(Participant, Appender); 2],
    loads: Vec<(usize, Token)>,
    random: Random,
    values: usize,
}

impl Life {
    /// Begins on an image, which is recovered if it is of an earlier life; `levels` are those of its file.
    pub fn begin(seed: u64, first: Image, histories: Option<Vec<History>>, levels: usize) -> Life {
        let memory = Recorded::new(&geometry(), &first);
        let engine = engine(memory.clone());
        let is_new = histories.is_none();
        if !is_new {
            engine.recover(levels);
        }
        let histories = histories.unwrap_or_else(|| vec![History::of([None]); KEYS.len()]);
        let processes = [1, 2].map(|id| (enter(&engine, id), Appender::at(u64::from(id) - 1)));
        Life {
            memory,
            engine,
            first,
            levels,
            stores: Vec::new(),
            histories,
            flushes: Arc::default(),
            processes,
            loads: Vec::new(),
            random: Random(seed),
            values: if is_new { 0 } else { 5000 },
        }
    }

    pub fn live(&mut self, operations: usize, flushes: bool) {
        for _ in 0..operations {
            if flushes && !self.memory.is_waited_for() {
                self.flush_meanwhile();
            }
            self.operation();
        }
        self.memory.act();
        self.stores = self.memory.stores();
    }

    /// A flush begins or ends in the middle of an operation.
    fn flush_meanwhile(&mut self) {
        let is_open = |flush: &Flush| flush.complete.is_none();
        let goes_on = self.flushes.lock().unwrap().last().is_some_and(is_open);
        let stores = self.random.below(30);
        let (flushes, engine) = (self.flushes.clone(), engine(self.memory.clone()));
        if goes_on && self.random.one_in(3) {
            self.memory.meanwhile(stores, move || {
                let mut flushes = flushes.lock().unwrap();
                let last = flushes.last_mut().unwrap();
                engine.complete_mark(last.mark);
                last.complete = Some(engine.memory.now());
            });
        } else if !goes_on && self.random.one_in(8) {
            self.memory.meanwhile(stores, move || {
                let mark = engine.begin_mark();
                let seen = KEYS.iter().map(|key| served(&engine, key)).collect();
                flushes.lock().unwrap().push(Flush {
                    mark,
                    begun: engine.memory.now(),
                    complete: None,
                    seen,
                });
            });
        }
    }

    fn value(&mut self) -> String {
        self.values += 1;
        let pad = match self.random.below(36) {
            // In two blocks, three and four.
            0 => LARGE[self.random.below(3)] + self.random.below(400),
            some => [0, 0, 0, 0, 16, 48][some % 6],
        };
        format!("{:04}{}", self.values, "x".repeat(pad))
    }

    fn operation(&mut self) {
        let number = self.random.below(KEYS.len());
        let bytes = KEYS[number].as_bytes();
        let process = self.random.below(2);
        let me = self.processes[process].0;
        let mut appender = self.processes[process].1;
        let value = self.value();
        let new = entry(&value);
        let from = self.memory.now();
        let engine = &self.engine;
        let key = engine.key(bytes);
        let floor = |_| engine.floor_of_key(bytes);
        // What the key has afterwards, if that is known.
        let mut changed: Option<Option<&str>> = None;
        let mut touched = None;
        match self.random.below(26) {
            0..=8 => {
                engine.put(&mut appender, me, key, &new).unwrap();
                changed = Some(Some(&value));
            }
            9 | 10 => {
                engine.delete(key);
                changed = Some(None);
            }
            11 => {
                if engine.add(&mut appender, me, key, floor, &new).unwrap() {
                    changed = Some(Some(&value));
                }
            }
            12 | 13 => {
                if let Some(hit) = engine.get(key, floor, &mut Vec::new()) {
                    if engine.replace(&mut appender, me, key, hit, &new).unwrap() {
                        changed = Some(Some(&value));
                    }
                }
            }
            14 | 15 => {
                let lease = engine.lease(me, key, floor, 480, &mut Vec::new());
                if let Lease::Acquired(token) = lease {
                    self.loads.push((number, token));
                }
            }
            16 | 17 if !self.loads.is_empty() => {
                let (number, token) = self.loads.swap_remove(self.random.below(self.loads.len()));
                let bytes = KEYS[number].as_bytes();
                let key = engine.key(bytes);
                let is_cleared = token.born < engine.floor_of_key(bytes);
                if is_cleared {
                    engine.release(token);
                } else if engine.fill(&mut appender, me, key, token, &new).unwrap() {
                    let until = self.memory.now();
                    self.histories[number].changed(Some(&value), from, until);
                }
            }
            18 if self.random.one_in(2) => {
                let namespace = NAMESPACES[self.random.below(NAMESPACES.len())];
                self.clear(namespace);
            }
            19 if self.random.one_in(12) => self.clear("::"),
            21 => {
                // A touch: of a large value only the head is written anew.
                let mut out = Vec::new();
                if let Some(hit) = engine.get(key, floor, &mut out) {
                    let same = text(&out);
                    let later = entry_until(&same, FAR + self.values as u64);
                    if engine.replace(&mut appender, me, key, hit, &later).unwrap() {
                        touched = Some(same);
                    }
                }
            }
            22 if self.random.one_in(2) => {
                // Keys that no history is kept of: they fill the levels.
                let number = self.random.below(30);
                for number in number..number + 5 {
                    let other = format!("o{number}::k");
                    let key = engine.key(other.as_bytes());
                    engine.put(&mut appender, me, key, &entry("other")).unwrap();
                }
            }
            20 if self.random.one_in(3) => {
                // So many that floors end, and their cells are given away.
                let first = self.random.below(1000);
                (first..first + 6).for_each(|other| clear(&self.engine, &format!("o{other}::")));
            }
            _ => {
                engine.get(key, floor, &mut Vec::new());
            }
        }
        self.processes[process].1 = appender;
        if let Some(changed) = changed.or(touched.as_deref().map(Some)) {
            let until = self.memory.now();
            self.histories[number].changed(changed, from, until);
        }
    }

    fn clear(&mut self, namespace: &str) {
        let from = self.memory.now();
        clear(&self.engine, namespace);
        let until = self.memory.now();
        for (key, history) in KEYS.iter().zip(&mut self.histories) {
            if ancestors(key.as_bytes()).any(|prefix| prefix == namespace.as_bytes()) {
                history.changed(None, from, until);
            }
        }
    }
}
