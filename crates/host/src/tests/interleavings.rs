//! Shuttle runs the production algorithm under randomly chosen interleavings of every memory access.
//!
//! Replay a failure with the seed that shuttle prints. `ITERATIONS=` explores more.

use super::history::History;
use super::memory::Interleaved;
use super::setup::{engine, enter, entry, text, World};
use crate::block::Appender;
use crate::engine::{Engine, Key, Participant};
use crate::hash::key_hash;
use crate::layout::header;
use crate::lease::Lease;
use crate::shared_memory::SharedMemory;
use shuttle::thread;
use std::sync::Arc;

mod changing;
mod loads;
mod publishing;
mod recycling;

const KEY: &[u8] = b"::k";
const OTHER: &[u8] = b"::n3";

/// One process with one thread.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) engine: Arc<Engine<Arc<Interleaved>, World>>,
    pub(super) me: Participant,
    pub(super) history: History,
}

pub(super) struct Host {
    memory: Arc<Interleaved>,
    world: World,
    blocks: u64,
    /// Buckets of each level.
    levels: &'static [u64],
    history: History,
}

impl Host {
    pub(super) fn new(blocks: u64) -> Host {
        Host::with_levels(blocks, &[2])
    }

    pub(super) fn with_levels(blocks: u64, levels: &'static [u64]) -> Host {
        Host {
            memory: Interleaved::new(),
            world: World::default(),
            blocks,
            levels,
            history: History::default(),
        }
    }

    pub(super) fn process(&self, id: u32) -> Process {
        let mut engine = engine(self.memory.clone(), self.blocks, &self.world);
        engine.geometry = engine.geometry.with_levels(self.levels);
        let me = enter(&engine, id);
        Process {
            engine: Arc::new(engine),
            me,
            history: self.history.clone(),
        }
    }

    fn judge(&self) {
        let last = self.process(60);
        last.read();
        let report = last.engine.check();
        assert_eq!(report.damaged, Vec::<String>::new());
        let count = |at| self.memory.load(at);
        let evictions = count(header::EVICTED_BY_AGE) + count(header::EVICTED_BY_CONFLICT);
        self.history.judge(evictions > 0);
    }
}

impl Process {
    pub(super) fn key(&self) -> Key<'static> {
        self.engine.key(KEY)
    }

    pub(super) fn put(&self, appender: &mut Appender, value: &str) {
        let start = self.history.now();
        self.engine
            .put(appender, self.me, self.key(), &entry(value))
            .unwrap();
        self.history.wrote(Some(value), start);
    }

    pub(super) fn put_other(&self, appender: &mut Appender, name: &str, value: &str) {
        let key = self.engine.key(name.as_bytes());
        self.engine
            .put(appender, self.me, key, &entry(value))
            .unwrap();
    }

    pub(super) fn delete(&self) {
        let start = self.history.now();
        self.engine.delete(self.key());
        self.history.wrote(None, start);
    }

    /// Clears the namespace that holds every key here: to a key's history it is a delete.
    pub(super) fn clear(&self) {
        let start = self.history.now();
        self.engine.raise_floor(self.root(), self.root());
        self.history.wrote(None, start);
    }

    fn root(&self) -> u64 {
        key_hash(self.engine.seed, b"::").as_u64()
    }

    pub(super) fn floor(&self) -> impl Fn(u64) -> u64 + Copy + '_ {
        |_| self.engine.floor_of(&[self.root()])
    }

    fn delete_other(&self) {
        self.engine.delete(self.engine.key(OTHER));
    }

    pub(super) fn read(&self) {
        let start = self.history.now();
        let mut out = Vec::new();
        let hit = self.engine.get(self.key(), self.floor(), &mut out);
        self.history.read(hit.map(|_| text(&out)), start);
    }

    /// Deletes the key and gives its value.
    pub(super) fn take(&self) -> Option<String> {
        let start = self.history.now();
        loop {
            let mut out = Vec::new();
            match self.engine.peek(self.key(), self.floor(), &mut out) {
                Some(hit) if self.engine.remove(self.key(), hit) => {
                    let value = text(&out);
                    self.history.read(Some(value.clone()), start);
                    self.history.wrote(None, start);
                    return Some(value);
                }
                None if self.engine.invalidate_loads(self.key(), self.floor()) => {
                    self.history.read(None, start);
                    return None;
                }
                Some(_) | None => {}
            }
        }
    }

    /// Writes the key's entry again: to its history that is nothing at all.
    pub(super) fn touch(&self, appender: &mut Appender) -> bool {
        loop {
            let mut out = Vec::new();
            let Some(hit) = self.engine.peek(self.key(), self.floor(), &mut out) else {
                return false;
            };
            let again = entry(&text(&out));
            let touched = self
                .engine
                .replace(appender, self.me, self.key(), hit, &again);
            if touched.unwrap() {
                return true;
            }
        }
    }

    /// Loads the key once, as one caller of get-or-set that does not wait.
    pub(super) fn load(&self, appender: &mut Appender, value: &str) {
        let mut out = Vec::new();
        let lease = self
            .engine
            .lease(self.me, self.key(), self.floor(), 480, &mut out);
        if let Lease::Acquired(token) = lease {
            let loaded = self.history.now();
            let entry = entry(value);
            let filled = self
                .engine
                .fill(appender, self.me, self.key(), token, &entry)
                .unwrap();
            if filled {
                self.history.filled(value, loaded);
            } else {
                self.history.invalidated(value);
            }
        }
    }
}

pub(super) fn explore(iterations: usize, test: impl Fn() + Send + Sync + 'static) {
    let asked = std::env::var("ITERATIONS")
        .ok()
        .and_then(|n| n.parse().ok());
    let iterations = asked.unwrap_or(iterations);
    let test = Arc::new(test);
    let random = test.clone();
    shuttle::check_random(move || random(), iterations);
    shuttle::check_pct(move || test(), iterations / 2, 3);
}

/// Runs the processes' work concurrently, then judges.
pub(super) fn run(host: &Host, work: Vec<Box<dyn FnOnce(Process) + Send>>) {
    let threads: Vec<_> = work
        .into_iter()
        .enumerate()
        .map(|(number, work)| {
            let process = host.process(number as u32 + 1);
            let running = process.clone();
            (process, thread::spawn(move || work(running)))
        })
        .collect();
    let mut ended = Vec::new();
    for (process, thread) in threads {
        thread.join().unwrap();
        ended.push(process);
    }
    for process in ended {
        assert!(!process.engine.holds_any_block(process.me));
    }
    host.judge();
}

/// A neighbour occupies the key's first slot and leaves halfway, so that inserters choose different
/// slots.
fn with_neighbour(blocks: u64) -> Host {
    let host = Host::new(blocks);
    let first = host.process(50);
    first.put_other(&mut Appender::default(), "::n3", "neighbour");
    host
}

/// What one process does, with its appender.
macro_rules! work {
    (|$process:ident, $appender:ident| $body:expr) => {
        Box::new(move |$process: Process| {
            let mut owned = Appender::default();
            let $appender = &mut owned;
            let _ = &$appender;
            $body;
        })
    };
}

pub(super) use work;
