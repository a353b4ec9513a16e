//! Loom runs the production algorithm under Rust's memory model: like shuttle it tries orders of the
//! threads' accesses, and also which earlier value a load may still see.
//!
//! What it shows: the fences and orderings are where they must be, for two processes and one key. Bytes
//! of blocks are relaxed accesses, as `shared_bytes` says, here of eight bytes each; words may be seen
//! late unless something forbids it. A process that begins after an acknowledgement knows of it, as in
//! any program that could tell: `Process::now`.
//!
//! What it leaves out: loom has no sequentially consistent accesses and treats them as acquire and
//! release. That is weaker than what the code asks for, so what passes here holds in fact. But two
//! inserters that choose different slots rely on the single order of such accesses; they are left to
//! shuttle and `model/`. Loom never lets a load see a store that later steps of its own thread lead to
//! (load buffering), preempts threads at most `PREEMPTIONS` times, and only the first few slots of a key
//! may be written to.
//!
//! A failure is the same in every run. `LOOM_LOG=trace` prints its steps.

use super::history::History;
use super::setup::{engine, enter, entry, text, World};
use crate::block::Appender;
use crate::engine::{Engine, Key, Participant};
use crate::layout::{header, Geometry, GHOST_SET};
use crate::lease::Lease;
use crate::shared_memory::SharedMemory;
use loom::sync::atomic::{fence, AtomicU64, Ordering};
use loom::thread;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Most faults need one or two.
const PREEMPTIONS: usize = 2;
/// The limit for a test of many steps.
const FEWER_PREEMPTIONS: usize = 1;
const NO_FLOOR: fn(u64) -> u64 = |_| 0;
const BLOCKS: u64 = 6;
/// The key under test, and keys that fill the ring.
const KEYS: [&str; 7] = ["::k", "::a", "::b", "::c", "::d", "::e", "::f"];

type Cells<K> = Mutex<HashMap<K, Arc<AtomicU64>>>;

/// Cells created before the processes begin: loom wants each one created before all its uses.
struct Weak {
    geometry: Geometry,
    words: Cells<usize>,
    blocks: Cells<u64>,
    visited: Mutex<HashMap<usize, u8>>,
}

impl Weak {
    fn new(levels: &[u64]) -> Arc<Weak> {
        Arc::new(Weak {
            geometry: super::setup::geometry(BLOCKS).with_levels(levels),
            words: Mutex::default(),
            blocks: Mutex::default(),
            visited: Mutex::default(),
        })
    }

    /// Creates all cells that processes may write to, including the slots of those keys.
    fn make(&self, slots: impl Iterator<Item = u64>) {
        let geometry = &self.geometry;
        let mut words = self.words.lock().unwrap();
        let header = (header::EPOCH..=header::FLOOR_OVERFLOWS).step_by(8);
        let descriptors = (geometry.descriptors_at..geometry.descriptor_at(BLOCKS)).step_by(8);
        let slots = slots.map(|slot| geometry.slot_at(slot));
        let line = |first: usize| move |number: u64| first + number as usize * header::LINE;
        let lanes = (0..geometry.write_lanes()).map(line(header::WRITE_LANES));
        let keep = (0..geometry.keep_lanes()).map(line(header::KEEP_LANES));
        let main = (0..geometry.keep_lanes()).map(line(header::MAIN_LANES));
        let cleaners = (0..geometry.cleaners()).map(line(header::CLEANERS));
        let lanes = lanes.chain(keep).chain(main).chain(cleaners);
        let eviction = [header::GHOST_CLOCK, header::FRUITLESS].into_iter();
        let ghosts = (geometry.ghosts_at..geometry.ghosts_at + GHOST_SET).step_by(8);
        let header = header.chain(eviction).chain(ghosts);
        for at in header.chain(lanes).chain(descriptors).chain(slots) {
            words.entry(at).or_default();
        }
        let mut blocks = self.blocks.lock().unwrap();
        for word in 0..geometry.blocks_len() / 8 {
            blocks.entry(word).or_default();
        }
    }

    fn word(&self, at: usize) -> Arc<AtomicU64> {
        let words = self.words.lock().unwrap();
        words.get(&at).expect("a slot that was made").clone()
    }

    fn block_word(&self, at: u64) -> Option<Arc<AtomicU64>> {
        self.blocks.lock().unwrap().get(&at).cloned()
    }
}

impl SharedMemory for Weak {
    fn load(&self, at: usize) -> u64 {
        let word = self.words.lock().unwrap().get(&at).cloned();
        let Some(word) = word else {
            return 0;
        };
        word.load(Ordering::Acquire)
    }
    fn store(&self, at: usize, value: u64) {
        self.word(at).store(value, Ordering::Release);
    }
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool {
        let (done, failed) = (Ordering::AcqRel, Ordering::Acquire);
        self.word(at)
            .compare_exchange(old, new, done, failed)
            .is_ok()
    }
    fn fetch_add(&self, at: usize, by: u64) -> u64 {
        self.word(at).fetch_add(by, Ordering::AcqRel)
    }
    fn fetch_max(&self, at: usize, value: u64) {
        self.word(at).fetch_max(value, Ordering::AcqRel);
    }
    fn visited(&self, at: usize) -> u8 {
        let visited = self.visited.lock().unwrap();
        visited.get(&at).copied().unwrap_or(0)
    }
    fn set_visited(&self, at: usize, reads: u8) {
        self.visited.lock().unwrap().insert(at, reads);
    }
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        let end = at + len as u64;
        for word in at / 8..end.div_ceil(8) {
            let cell = self.block_word(word);
            let value = cell.map_or(0, |cell| cell.load(Ordering::Relaxed));
            let bytes = (word * 8..).zip(value.to_le_bytes());
            out.extend(
                bytes
                    .filter(|(place, _)| (at..end).contains(place))
                    .map(|(_, byte)| byte),
            );
        }
    }
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        let mut out = Vec::new();
        self.read(at, N, &mut out);
        out.try_into().unwrap()
    }
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        let mut out = Vec::new();
        self.read(at, bytes.len(), &mut out);
        out == bytes
    }
    fn write(&self, at: u64, bytes: &[u8]) {
        let end = at + bytes.len() as u64;
        for word in at / 8..end.div_ceil(8) {
            let cell = {
                let mut blocks = self.blocks.lock().unwrap();
                blocks.entry(word).or_default().clone()
            };
            // When a word is written in part, its other bytes belong to this writer too, or are padding.
            let whole = word * 8 >= at && word * 8 + 8 <= end;
            let old = if whole {
                0
            } else {
                cell.load(Ordering::Relaxed)
            };
            let mut value = old.to_le_bytes();
            for (place, byte) in (word * 8..).zip(&mut value) {
                if (at..end).contains(&place) {
                    *byte = bytes[(place - at) as usize];
                }
            }
            cell.store(u64::from_le_bytes(value), Ordering::Relaxed);
        }
    }
    fn fence(&self) {
        fence(Ordering::AcqRel);
    }
}

#[derive(Clone)]
struct Process {
    engine: Arc<Engine<Arc<Weak>, World>>,
    me: Participant,
    history: History,
    /// What every process knows: a later read of it has seen everything before it.
    acknowledged: Arc<AtomicU64>,
}

impl Process {
    fn key(&self) -> Key<'static> {
        self.engine.key(KEYS[0].as_bytes())
    }

    /// A moment that others may know of when they begin.
    fn now(&self) -> u64 {
        self.acknowledged.fetch_add(1, Ordering::AcqRel);
        self.history.now()
    }

    fn put(&self, appender: &mut Appender, value: &str) {
        let start = self.now();
        self.engine
            .put(appender, self.me, self.key(), &entry(value))
            .unwrap();
        self.now();
        self.history.wrote(Some(value), start);
    }

    fn put_other(&self, appender: &mut Appender, name: &str, value: &str) {
        let key = self.engine.key(name.as_bytes());
        self.engine
            .put(appender, self.me, key, &entry(value))
            .unwrap();
    }

    fn delete(&self) {
        let start = self.now();
        self.engine.delete(self.key());
        self.now();
        self.history.wrote(None, start);
    }

    fn read(&self) {
        let start = self.now();
        let mut out = Vec::new();
        let hit = self.engine.get(self.key(), NO_FLOOR, &mut out);
        self.history.read(hit.map(|_| text(&out)), start);
    }

    fn load(&self, appender: &mut Appender, value: &str) {
        let mut out = Vec::new();
        self.now();
        let lease = self
            .engine
            .lease(self.me, self.key(), NO_FLOOR, 480, &mut out);
        if let Lease::Acquired(token) = lease {
            let loaded = self.now();
            let entry = entry(value);
            let filled = self
                .engine
                .fill(appender, self.me, self.key(), token, &entry)
                .unwrap();
            self.now();
            match filled {
                true => self.history.filled(value, loaded),
                false => self.history.invalidated(value),
            }
        }
    }
}

type Work = fn(&Process, &mut Appender);

/// Runs `before`, then each of the others in a process of its own, in every possible way, and judges.
/// Only the first `slots` slots of a key in the newest level may be written to: the more, the longer it takes.
fn explore(preemptions: usize, slots: usize, before: Work, work: &'static [Work]) {
    explore_levels(&[2], preemptions, slots, before, work);
}

/// The same with levels of so many buckets.
fn explore_levels(
    levels: &'static [u64],
    preemptions: usize,
    slots: usize,
    before: Work,
    work: &'static [Work],
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 50_000;
    model.check(move || {
        let memory = Weak::new(levels);
        let history = History::default();
        let acknowledged = Arc::new(AtomicU64::new(0));
        let process = |id: u32| {
            let mut engine = engine(memory.clone(), BLOCKS, &World::default());
            engine.geometry = memory.geometry;
            Process {
                me: enter(&engine, id),
                engine: Arc::new(engine),
                history: history.clone(),
                acknowledged: acknowledged.clone(),
            }
        };
        let participants = |id: u32| memory.geometry.participants_at + id as usize * 8;
        for id in 1..=work.len() as u32 {
            let mut words = memory.words.lock().unwrap();
            words.entry(participants(id)).or_default();
        }
        let first = process(1);
        let written = KEYS.iter().flat_map(|key| {
            let hash = first.engine.key(key.as_bytes()).hash;
            let newest = first.engine.geometry.levels[levels.len() - 1];
            let from = newest.first_candidate(hash);
            from..from + slots as u64
        });
        memory.make(written);
        let mut appender = Appender::default();
        before(&first, &mut appender);
        // It continues to write to the same block.
        let mut appenders = vec![appender];
        let running: Vec<_> = (1..)
            .zip(work)
            .map(|(id, work)| {
                let process = if id == 1 { first.clone() } else { process(id) };
                let mut appender = appenders.pop().unwrap_or_default();
                thread::spawn(move || work(&process, &mut appender))
            })
            .collect();
        for thread in running {
            thread.join().unwrap();
        }
        first.read();
        assert_eq!(first.engine.check().damaged, Vec::<String>::new());
        let evicted = [header::EVICTED_BY_AGE, header::EVICTED_BY_CONFLICT];
        let evicted = evicted.into_iter().any(|at| memory.load(at) > 0);
        history.judge(evicted);
    });
}

const NOTHING: Work = |_, _| ();

/// Long enough that a block of 256 bytes holds only one.
const LONG: &str = "long enough that its record takes most of a block of two hundred and fifty-six bytes, so that the ring turns with every one of them, as it does";

#[test]
fn a_put_beside_a_reader() {
    explore(
        PREEMPTIONS,
        3,
        |process, appender| process.put(appender, "old"),
        &[
            |process, appender| process.put(appender, "new"),
            |process, _| {
                process.read();
                process.read();
            },
        ],
    );
}

/// The reader may begin with one level or with two.
#[test]
fn a_put_into_a_new_level_beside_a_reader() {
    explore_levels(
        &[2, 2],
        PREEMPTIONS,
        3,
        NOTHING,
        &[
            |process, appender| {
                assert!(process.engine.open_level(1));
                process.put(appender, "new");
            },
            |process, _| {
                process.read();
                process.read();
            },
        ],
    );
}

#[test]
fn two_inserters_in_one_slot() {
    explore(
        PREEMPTIONS,
        3,
        NOTHING,
        &[
            |process, appender| process.put(appender, "a"),
            |process, appender| process.put(appender, "b"),
        ],
    );
}

#[test]
fn a_load_beside_a_delete() {
    explore(
        PREEMPTIONS,
        3,
        NOTHING,
        &[
            |process, appender| process.load(appender, "loaded"),
            |process, _| process.delete(),
        ],
    );
}

#[test]
fn a_load_beside_a_put() {
    explore(
        PREEMPTIONS,
        3,
        NOTHING,
        &[
            |process, appender| process.load(appender, "loaded"),
            |process, appender| process.put(appender, "put"),
        ],
    );
}

/// The writer goes once round the ring: the record that is being read is unlinked and overwritten.
#[test]
fn recycling_beside_a_reader() {
    explore(
        FEWER_PREEMPTIONS,
        8,
        |process, appender| {
            process.put(appender, "short");
            for name in ["::a", "::b", "::c"] {
                process.put_other(appender, name, LONG);
            }
        },
        &[
            |process, appender| {
                for name in ["::d", "::e", "::f"] {
                    process.put_other(appender, name, LONG);
                }
            },
            |process, _| process.read(),
        ],
    );
}
