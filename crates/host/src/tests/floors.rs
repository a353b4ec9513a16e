//! Shuttle: floors end and their cells are given away beside readers, loads, puts and clears. There are
//! eight cells, and a survey is begun or ended by every clear that is given one.

use super::history::History;
use super::memory::Interleaved;
use super::setup::{engine, enter, entry, text, World};
use crate::block::Appender;
use crate::engine::{Engine, Participant};
use crate::hash::key_hash;
use crate::layout::header;
use crate::lease::{Lease, Token};
use crate::shared_memory::SharedMemory;
use shuttle::thread;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

const BLOCKS: u64 = 16;

/// One process with one thread.
struct Process {
    engine: Engine<Arc<Interleaved>, World>,
    me: Participant,
    appender: Appender,
    history: History,
}

impl Process {
    fn new(memory: &Arc<Interleaved>, world: &World, history: &History, id: u32) -> Process {
        let mut engine = engine(memory.clone(), BLOCKS, world);
        engine.geometry.floors = 8;
        let me = enter(&engine, id);
        Process {
            engine,
            me,
            appender: Appender::default(),
            history: history.clone(),
        }
    }

    fn name(&self, namespace: &str) -> u64 {
        key_hash(self.engine.seed, namespace.as_bytes()).as_u64()
    }

    fn clear(&self, namespace: &str) {
        let start = self.history.now();
        self.engine
            .raise_floor(self.name(namespace), self.name("::"));
        if namespace == "a::" {
            self.history.wrote(None, start);
        }
    }

    /// The floor of the namespace, looked up anew.
    fn floor(&self, namespace: &str) -> impl Fn(u64) -> u64 + Copy + '_ {
        let names = [self.name("::"), self.name(namespace)];
        move |_| self.engine.floor_of(&names)
    }

    fn put(&mut self, value: &str) {
        let start = self.history.now();
        let key = self.engine.key(b"a::k");
        self.engine
            .put(&mut self.appender, self.me, key, &entry(value))
            .unwrap();
        self.history.wrote(Some(value), start);
    }

    fn get(&self, namespace: &str) -> Option<String> {
        let full = format!("{namespace}k");
        let key = self.engine.key(full.as_bytes());
        let mut out = Vec::new();
        self.engine
            .get(key, self.floor(namespace), &mut out)
            .map(|_| text(&out))
    }

    fn read(&self) {
        let start = self.history.now();
        self.history.read(self.get("a::"), start);
    }

    fn lease(&self) -> Option<Token> {
        let key = self.engine.key(b"a::k");
        match self
            .engine
            .lease(self.me, key, self.floor("a::"), 480, &mut Vec::new())
        {
            Lease::Acquired(token) => Some(token),
            _ => None,
        }
    }

    fn load(&mut self, value: &str) {
        let Some(token) = self.lease() else { return };
        let loaded = self.history.now();
        if token.born < self.engine.floor_of(&[self.name("::"), self.name("a::")]) {
            self.engine.release(token);
            return self.history.invalidated(value);
        }
        let key = self.engine.key(b"a::k");
        let filled = self
            .engine
            .fill(&mut self.appender, self.me, key, token, &entry(value));
        if filled.unwrap() {
            self.history.filled(value, loaded);
        } else {
            self.history.invalidated(value);
        }
    }

    /// So many that every floor of before has ended, and its cell is another namespace's.
    fn clear_others(&self) {
        (0..8).for_each(|other| self.clear(&format!("other{other}::")));
    }
}

type Work = Box<dyn FnOnce(Process) + Send>;

/// Runs the processes' work concurrently, then judges; what the key has in the end.
fn run(first: Option<&str>, work: Vec<Work>) -> Option<String> {
    let (memory, world, history) = (Interleaved::new(), World::default(), History::default());
    let process = |id| Process::new(&memory, &world, &history, id);
    if let Some(value) = first {
        process(50).put(value);
    }
    let threads: Vec<_> = work
        .into_iter()
        .enumerate()
        .map(|(number, work)| {
            let process = process(number as u32 + 1);
            thread::spawn(move || work(process))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let last = process(60);
    last.read();
    assert_eq!(last.engine.check().damaged, [""; 0]);
    history.judge(memory.load(header::EVICTED_BY_AGE) > 0);
    last.get("a::")
}

fn explore(iterations: usize, test: impl Fn() + Send + Sync + 'static) {
    let test = Arc::new(test);
    let random = test.clone();
    shuttle::check_random(move || random(), iterations);
    shuttle::check_pct(move || test(), iterations, 3);
}

#[test]
fn readers_beside_a_floor_that_ends() {
    explore(600, || {
        let _ = run(
            Some("first"),
            vec![
                Box::new(|process| {
                    process.clear("a::");
                    process.clear_others();
                }),
                Box::new(|process| (0..4).for_each(|_| process.read())),
            ],
        );
    });
}

#[test]
fn a_load_beside_a_floor_that_ends() {
    explore(600, || {
        let _ = run(
            None,
            vec![
                Box::new(|mut process| process.load("loaded")),
                Box::new(|process| {
                    process.clear("a::");
                    process.read();
                    process.clear_others();
                    process.read();
                }),
            ],
        );
    });
}

/// What a reader no longer found once the clear was over, no reader finds again.
#[test]
fn a_put_beside_a_floor_that_ends() {
    explore(600, || {
        let over = Arc::new(AtomicBool::new(false));
        let missed = Arc::new(AtomicBool::new(false));
        let (is_over, has_missed) = (over.clone(), missed.clone());
        let last = run(
            None,
            vec![
                Box::new(move |mut process| {
                    process.put("put");
                    for _ in 0..4 {
                        let clear_is_over = is_over.load(Ordering::SeqCst);
                        let found = process.get("a::");
                        assert!(found.is_none() || !has_missed.load(Ordering::SeqCst));
                        if clear_is_over && found.is_none() {
                            has_missed.store(true, Ordering::SeqCst);
                        }
                    }
                }),
                Box::new(move |process| {
                    process.clear("a::");
                    over.store(true, Ordering::SeqCst);
                    process.clear_others();
                }),
            ],
        );
        assert!(last.is_none() || !missed.load(Ordering::SeqCst));
    });
}

#[test]
fn clears_that_race_for_cells_clear_what_they_should_and_nothing_else() {
    explore(400, || {
        let work = |number: u32| -> Work {
            Box::new(move |mut process: Process| {
                for round in 0..3 {
                    let namespace = format!("mine{number}-{round}::");
                    let full = format!("{namespace}k");
                    let put = |process: &mut Process| {
                        let key = process.engine.key(full.as_bytes());
                        process
                            .engine
                            .put(&mut process.appender, process.me, key, &entry("v"))
                            .unwrap();
                    };
                    put(&mut process);
                    process.clear(&namespace);
                    assert_eq!(process.get(&namespace), None);
                    put(&mut process);
                    let found = process.get(&namespace);
                    let memory = &process.engine.memory;
                    let counters = [
                        header::EVICTED_BY_AGE,
                        header::EVICTED_BY_CONFLICT,
                        header::FLOOR_OVERFLOWS,
                    ];
                    let counted = counters.iter().any(|at| memory.load(*at) > 0);
                    assert!(found.is_some() || counted);
                }
            })
        };
        let _ = run(None, (0..3).map(work).collect());
    });
}

/// Names that agree in one half of a cell are told apart by the other.
#[test]
fn a_floor_counts_for_the_name_in_both_halves() {
    let memory = super::memory::Plain::new();
    let mut engine = engine(memory, BLOCKS, &World::default());
    engine.geometry.floors = 8;
    let root = 1;
    let name = |first: u64, second: u64| second << 48 | first << 32 | 7;
    engine.raise_floor(name(3, 4), root);
    assert_eq!(engine.floor_of(&[root, name(3, 4)]), 1);
    for other in [name(3, 5), name(5, 4), name(5, 5), name(0, 0)] {
        assert_eq!(engine.floor_of(&[root, other]), 0);
    }
}

/// A table that is full, because nothing has ended yet, clears a group and not the root.
#[test]
fn a_clear_without_a_cell_clears_its_group_only() {
    let memory = super::memory::Plain::new();
    let mut engine = engine(memory, BLOCKS, &World::default());
    engine.geometry.floors = 8;
    let root = 1;
    let held = enter(&engine, 1);
    // A writer that was stopped: no floor ends.
    let _stopped = engine.append(
        &mut Appender::default(),
        held,
        engine.key(b"::k"),
        &entry("v"),
        None,
    );
    let name = |number: u64| number << 48 | number << 32 | number;
    (1..=9).for_each(|number| engine.raise_floor(name(number), root));
    assert_eq!(engine.memory.load(header::FLOOR_OVERFLOWS), 1);
    for number in 1..=9 {
        assert_eq!(engine.floor_of(&[root, name(number)]), number);
    }
    assert_eq!(engine.floor_of(&[root]), 0);
    assert_eq!(engine.floor_of(&[root, name(10)]), 0);
    let of_the_group = name(11) - 11 + 9 + 1024;
    assert_eq!(engine.floor_of(&[root, of_the_group]), 9);
}

/// A survey with which no floor ends would use up cells for nothing: each clear asks the writers anew.
#[test]
fn a_survey_for_floors_begins_as_soon_as_the_writers_are_done() {
    // A survey of so many slots takes several clears.
    let mut engine = engine(super::memory::Plain::new(), BLOCKS, &World::default());
    engine.geometry = engine.geometry.with_levels(&[1024]);
    engine.geometry.floors = 64;
    let clear = |number: u64| engine.raise_floor(number << 48 | number << 32 | number, 0);
    let me = enter(&engine, 1);
    let key = engine.key(b"::k");
    let stopped = engine
        .append(&mut Appender::default(), me, key, &entry("v"), None)
        .unwrap();
    (1..=20).for_each(clear);
    assert_eq!(engine.memory.load(header::SURVEY), 0);
    engine.never_published(&stopped);
    engine.appended(&stopped, me);
    clear(21);
    let waited = 1 << 17;
    assert_ne!(engine.memory.load(header::SURVEY) & waited, 0);
}
