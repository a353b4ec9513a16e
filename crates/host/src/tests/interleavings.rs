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

#[test]
fn publish_and_replace_beside_readers() {
    explore(600, || {
        let host = Host::new(12);
        run(
            &host,
            vec![
                work!(|process, appender| {
                    process.put(appender, "first, rather long");
                    process.put(appender, "second");
                }),
                work!(|process, _appender| (0..3).for_each(|_| process.read())),
                work!(|process, _appender| (0..3).for_each(|_| process.read())),
            ],
        );
    });
}

#[test]
fn two_inserters_race_for_one_key() {
    explore(1500, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.put(appender, "a")),
                work!(|process, appender| {
                    process.put(appender, "b");
                    process.read();
                }),
                work!(|process, _appender| process.delete_other()),
            ],
        );
    });
}

#[test]
fn put_and_delete_race() {
    explore(1000, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.put(appender, "a")),
                work!(|process, appender| process.put(appender, "b")),
                work!(|process, _appender| {
                    process.delete_other();
                    process.delete();
                    process.read();
                }),
            ],
        );
    });
}

#[test]
fn a_delete_invalidates_a_load() {
    explore(1000, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded")),
                work!(|process, _appender| {
                    process.delete();
                    process.read();
                }),
                work!(|process, _appender| process.delete_other()),
            ],
        );
    });
}

/// A put that began before the clear must not replace one that began after it.
#[test]
fn puts_and_a_clear_race() {
    explore(2000, || {
        let host = Host::new(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.put(appender, "a")),
                work!(|process, appender| {
                    process.clear();
                    process.put(appender, "b");
                    process.read();
                }),
                work!(|process, _appender| (0..2).for_each(|_| process.read())),
            ],
        );
    });
}

#[test]
fn a_load_a_put_and_a_clear_race() {
    explore(2000, || {
        let host = with_neighbour(20);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded")),
                work!(|process, appender| {
                    process.delete_other();
                    process.put(appender, "a");
                }),
                work!(|process, appender| {
                    process.clear();
                    process.put(appender, "b");
                    process.read();
                }),
            ],
        );
    });
}

/// The loader chose its slot before the put took another one.
#[test]
fn a_loader_and_an_inserter_race() {
    explore(2000, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded")),
                work!(|process, appender| {
                    process.delete_other();
                    process.put(appender, "put");
                    process.read();
                }),
            ],
        );
    });
}

#[test]
fn loaders_a_put_and_a_delete_race() {
    explore(1500, || {
        let host = with_neighbour(20);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded 1")),
                work!(|process, appender| {
                    process.load(appender, "loaded 2");
                    process.read();
                }),
                work!(|process, appender| {
                    process.delete_other();
                    process.put(appender, "put");
                    process.read();
                }),
                work!(|process, _appender| {
                    process.delete();
                    process.read();
                }),
            ],
        );
    });
}

#[test]
fn recycling_beside_readers_and_a_slow_writer() {
    // One run in about 500 finds a check that comes too late.
    explore(4000, || {
        // Eight blocks of one record each, and more entries than that: some are evicted, some are kept.
        let host = Host::new(8);
        run(
            &host,
            vec![
                work!(|process, appender| {
                    for round in 0..3 {
                        process.put(appender, &format!("value {round} that fills half a block or more, so that blocks go round often"));
                    }
                }),
                work!(|process, appender| {
                    for round in 0..10 {
                        process.put_other(appender, &format!("::o{round}"), &format!("other {round} that fills half a block or more, so that blocks go round often"));
                    }
                }),
                work!(|process, _appender| (0..6).for_each(|_| process.read())),
            ],
        );
    });
}

#[test]
fn recycling_beside_clears() {
    explore(400, || {
        let host = Host::new(10);
        run(
            &host,
            vec![
                work!(|process, appender| {
                    for round in 0..3 {
                        process.put(appender, &format!("value {round} that fills half a block or more, so that blocks go round often"));
                        process.read();
                    }
                }),
                work!(|process, appender| {
                    for round in 0..6 {
                        process.put_other(appender, &format!("::o{}", round % 3), &format!("other {round} that fills half a block or more, so that blocks go round often"));
                    }
                }),
                work!(|process, appender| {
                    for round in 0..2 {
                        process.clear();
                        process.put(appender, &format!("after clear {round}, as long as the others, so that blocks go round often"));
                        process.read();
                    }
                }),
            ],
        );
    });
}

/// What is set is taken by one, replaced by the next set, or there at the end.
#[test]
fn takers_and_a_setter_race() {
    explore(2000, || {
        let host = with_neighbour(16);
        let taken = Arc::new(std::sync::Mutex::new(Vec::new()));
        let taker = || -> Box<dyn FnOnce(Process) + Send> {
            let taken = taken.clone();
            work!(|process, _appender| {
                for _ in 0..2 {
                    let value = process.take();
                    taken.lock().unwrap().extend(value);
                }
            })
        };
        let work: Vec<Box<dyn FnOnce(Process) + Send>> = vec![
            taker(),
            taker(),
            work!(|process, appender| {
                process.put(appender, "a");
                process.delete_other();
                process.put(appender, "b");
            }),
        ];
        run(&host, work);
        let mut all = taken.lock().unwrap().clone();
        let mut out = Vec::new();
        let last = host.process(61);
        if last
            .engine
            .peek(last.key(), last.floor(), &mut out)
            .is_some()
        {
            all.push(text(&out));
        }
        let times = |value: &str| all.iter().filter(|one| *one == value).count();
        assert!(times("a") <= 1, "{all:?}");
        assert_eq!(times("b"), 1, "{all:?}");
    });
}

/// A take that finds nothing invalidates the load, as a delete would.
#[test]
fn a_take_invalidates_a_load() {
    explore(1000, || {
        let host = with_neighbour(16);
        run(
            &host,
            vec![
                work!(|process, appender| process.load(appender, "loaded")),
                work!(|process, _appender| {
                    let start = process.history.now();
                    if process.take().is_none() {
                        process.history.wrote(None, start);
                    }
                    process.read();
                }),
                work!(|process, _appender| process.delete_other()),
            ],
        );
    });
}

/// A touch never brings back what was replaced, deleted or cleared.
#[test]
fn a_touch_and_writes_race() {
    explore(2000, || {
        let host = Host::new(20);
        host.process(51).put(&mut Appender::default(), "before");
        run(
            &host,
            vec![
                work!(|process, appender| (0..2).for_each(|_| {
                    process.touch(appender);
                })),
                work!(|process, appender| {
                    process.put(appender, "a");
                    process.read();
                    process.delete();
                    process.read();
                }),
                work!(|process, appender| {
                    process.clear();
                    process.read();
                    process.put(appender, "b");
                    process.read();
                }),
            ],
        );
    });
}

/// A clear that comes between what a touch read and what it writes clears that, too.
#[test]
fn a_touch_and_a_clear_race() {
    explore(1000, || {
        let host = Host::new(16);
        host.process(51).put(&mut Appender::default(), "before");
        run(
            &host,
            vec![
                work!(|process, appender| {
                    process.touch(appender);
                }),
                work!(|process, _appender| {
                    process.clear();
                    process.read();
                }),
            ],
        );
    });
}

/// A touch makes a copy, which may recycle the block in which the entry lies.
#[test]
fn a_touch_beside_recycling() {
    explore(400, || {
        let host = Host::new(9);
        host.process(51).put(
            &mut Appender::default(),
            "before, and long enough to fill half a block of two hundred and fifty-six bytes",
        );
        run(
            &host,
            vec![
                work!(|process, appender| for _ in 0..4 {
                    process.touch(appender);
                    process.read();
                }),
                work!(|process, appender| {
                    for round in 0..6 {
                        process.put_other(appender, &format!("::o{}", round % 3), &format!("other {round} that fills half a block or more, so that blocks go round often"));
                    }
                }),
                work!(|process, _appender| {
                    process.take();
                    process.read();
                }),
            ],
        );
    });
}

/// A writer stopped with a claimed block continues long after the others went round the ring.
#[test]
fn a_stopped_writer_wakes_up() {
    explore(300, || {
        let host = Host::new(7);
        let stopped = host.process(40);
        let mut appender = Appender::default();
        stopped.put_other(&mut appender, "::s0", "before the stop");
        let (process, history) = (stopped.clone(), host.history.clone());
        let waking = thread::spawn(move || {
            process.put(&mut appender, "after the stop");
            process.put_other(&mut appender, "::s1", "and once more");
            drop(history);
        });
        let busy = host.process(41);
        let writer = thread::spawn(move || {
            let mut appender = Appender::default();
            for round in 0..12 {
                busy.put_other(
                    &mut appender,
                    &format!("::o{round}"),
                    &format!("other {round}, long enough that every record takes most of a block of two hundred and fifty-six bytes, so the ring turns"),
                );
                busy.read();
            }
        });
        waking.join().unwrap();
        writer.join().unwrap();
        host.judge();
    });
}

/// The races above concern different slots only if the neighbour occupies the first one.
#[test]
fn the_neighbour_stands_in_the_keys_first_slot() {
    explore(1, || {
        let host = with_neighbour(16);
        let process = host.process(1);
        let first = process.engine.slots_of(process.key().hash).next().unwrap();
        let found = process.engine.find(process.engine.key(OTHER), 1).unwrap();
        assert_eq!(found.slot, first);
    });
}
