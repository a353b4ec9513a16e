//! The index grows: a level opens at any moment of other operations, a disk refuses it, a process is killed.

use super::interleavings::{explore, run, Host, Process};
use super::kills::print_no_kills;
use super::memory::{Killable, Killed, Plain};
use super::setup::{engine, enter, entry, text, World};
use crate::block::{Appender, Notes};
use crate::engine::{Engine, Environment, Participant};
use crate::error::Error;
use crate::hash::key_hash;
use crate::layout::{header, Geometry};
use crate::lease::Lease;
use crate::shared_memory::SharedMemory;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

const LEVELS: &[u64] = &[2, 8];
const BLOCKS: u64 = 64;
const NO_FLOOR: fn(u64) -> u64 = |_| 0;

type Work = Box<dyn FnOnce(Process) + Send>;

fn work(work: impl FnOnce(&Process, &mut Appender) + Send + 'static) -> Work {
    Box::new(move |process| work(&process, &mut Appender::default()))
}

fn opening() -> Work {
    work(|process, _| {
        assert!(process.engine.open_level(1));
    })
}

/// One of them knows of one level, the other one of two, and both find an empty slot.
#[test]
fn inserters_race_while_a_level_opens() {
    explore(1500, || {
        run(
            &Host::with_levels(16, LEVELS),
            vec![
                work(|process, appender| process.put(appender, "a")),
                work(|process, appender| {
                    process.put(appender, "b");
                    process.read();
                }),
                opening(),
            ],
        );
    });
}

#[test]
fn loaders_and_a_delete_race_while_a_level_opens() {
    explore(1500, || {
        run(
            &Host::with_levels(16, LEVELS),
            vec![
                work(|process, appender| process.load(appender, "loaded 1")),
                work(|process, appender| process.load(appender, "loaded 2")),
                work(|process, appender| {
                    process.put(appender, "put");
                    process.delete();
                    process.read();
                }),
                opening(),
            ],
        );
    });
}

/// The holder of the lease may not have looked at the other slots when another caller loads beside it.
#[test]
fn a_load_beside_another_while_a_level_opens() {
    explore(3000, || {
        run(
            &Host::with_levels(16, LEVELS),
            vec![
                work(|process, appender| process.load(appender, "loaded")),
                work(load_beside),
                work(|process, appender| process.put(appender, "put")),
                opening(),
            ],
        );
    });
}

fn load_beside(process: &Process, appender: &mut Appender) {
    let (engine, key) = (&process.engine, process.key());
    let lease = engine.lease(process.me, key, process.floor(), 480, &mut Vec::new());
    let Lease::Busy { slot, word, .. } = lease else {
        if let Lease::Acquired(token) = lease {
            engine.release(token);
        }
        return;
    };
    let Some(token) = engine.beside(key, slot, word, |_, _| false) else {
        return;
    };
    let loaded = process.history.now();
    let filled = engine.fill(appender, process.me, key, token, &entry("beside"));
    if filled.unwrap() {
        process.history.filled("beside", loaded);
    } else {
        process.history.invalidated("beside");
    }
}

/// A disk that can be full, and time.
#[derive(Clone, Default)]
struct Disk {
    is_full: Arc<AtomicBool>,
    asked: Arc<AtomicU64>,
    ticks: Arc<AtomicU64>,
    now: Arc<AtomicU64>,
}

impl Environment for Disk {
    fn id_alive(&self, _: u32) -> bool {
        true
    }
    fn allocate(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
    fn allocate_level(&self, level: usize) -> Result<(), Error> {
        assert_eq!(level, 1);
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.is_full.load(Ordering::SeqCst) {
            return Err(Error::NoSpace("full"));
        }
        Ok(())
    }
    fn ticks(&self) -> u32 {
        self.ticks.load(Ordering::SeqCst) as u32
    }
    fn now(&self) -> u64 {
        1_000_000 + self.now.load(Ordering::SeqCst)
    }
}

struct Grower<M, E> {
    engine: Engine<M, E>,
    me: Participant,
}

impl<M: SharedMemory, E: Environment> Grower<M, E> {
    fn put(&self, key: &str, entry: &[u8]) {
        let key = self.engine.key(key.as_bytes());
        let mut appender = Appender::default();
        self.engine.put(&mut appender, self.me, key, entry).unwrap();
    }

    fn put_all(&self, keys: std::ops::Range<u32>) {
        keys.for_each(|key| self.put(&format!("::{key}"), &entry("v")));
    }

    fn there(&self, keys: std::ops::Range<u32>) -> usize {
        let found = |key: &u32| {
            let key = format!("::{key}");
            let mut out = Vec::new();
            self.engine
                .get(self.engine.key(key.as_bytes()), NO_FLOOR, &mut out)
                .is_some()
        };
        keys.filter(found).count()
    }

    fn name(&self, namespace: &str) -> u64 {
        key_hash(self.engine.seed, namespace.as_bytes()).as_u64()
    }

    fn clear(&self, namespace: &str) {
        self.engine
            .raise_floor(self.name(namespace), self.name("::"));
    }

    fn floor(&self, namespace: &str) -> u64 {
        self.engine
            .floor_of(&[self.name("::"), self.name(namespace)])
    }

    fn count(&self, at: usize) -> u64 {
        self.engine.memory.load(at)
    }
}

fn on(disk: &Disk) -> Grower<Arc<Plain>, Disk> {
    let engine = Engine {
        memory: Plain::new(),
        environment: disk.clone(),
        geometry: super::setup::geometry(BLOCKS).with_levels(LEVELS),
        seed: 0x5eed,
        notes: Notes::default(),
    };
    let me = Participant {
        id: 1,
        incarnation: 1,
    };
    let at = engine.geometry.participants_at + 8;
    engine.memory.store(at, 1);
    Grower { engine, me }
}

#[test]
fn a_level_opens_instead_of_an_eviction() {
    let (disk, epoch) = (Disk::default(), 1 << 56);
    let grower = on(&disk);
    grower.put_all(0..16);
    assert_eq!((grower.engine.levels(), grower.there(0..16)), (1, 16));
    grower.put_all(16..17);
    assert_eq!((grower.engine.levels(), grower.there(0..17)), (2, 17));
    // The epoch moved with the level.
    assert_eq!(grower.engine.epoch(), epoch + 1);
    grower.put_all(17..40);
    assert_eq!(grower.there(0..40), 40);
    assert_eq!(grower.count(header::EVICTED_BY_CONFLICT), 0);
    assert_eq!(grower.engine.check().damaged, Vec::<String>::new());
    // There is no third one.
    grower.put_all(40..200);
    assert_eq!(
        (grower.engine.levels(), disk.asked.load(Ordering::SeqCst)),
        (2, 1)
    );
    assert!(grower.count(header::EVICTED_BY_CONFLICT) > 0);
}

#[test]
fn what_is_expired_makes_room_before_a_level_opens() {
    let disk = Disk::default();
    let grower = on(&disk);
    let options = polycache_entry::EntryOptions {
        serializer: polycache_entry::Serializer::Text,
        created: 1_000_000,
        expires: 1_000_010,
        ..polycache_entry::EntryOptions::default()
    };
    let mut brief = Vec::new();
    polycache_entry::encode(
        &polycache_entry::Value::Text("v".into()),
        &options,
        &mut brief,
    )
    .unwrap();
    (0..16).for_each(|key| grower.put(&format!("::{key}"), &brief));
    disk.now.store(10, Ordering::SeqCst);
    grower.put_all(100..116);
    assert_eq!((grower.engine.levels(), grower.there(100..116)), (1, 16));
    assert_eq!(grower.count(header::EVICTED_BY_CONFLICT), 0);
    assert_eq!(grower.count(header::EXPIRED), 16);
}

#[test]
fn a_full_disk_evicts_and_is_asked_again_later() {
    let disk = Disk::default();
    disk.is_full.store(true, Ordering::SeqCst);
    let grower = on(&disk);
    grower.put_all(0..30);
    let asked = || disk.asked.load(Ordering::SeqCst);
    assert_eq!(
        (grower.engine.levels(), grower.there(0..30), asked()),
        (1, 16, 1)
    );
    assert_eq!(grower.count(header::EVICTED_BY_CONFLICT), 14);
    disk.ticks.store(16, Ordering::SeqCst);
    grower.put_all(30..31);
    assert_eq!((grower.engine.levels(), asked()), (1, 2));
    disk.is_full.store(false, Ordering::SeqCst);
    grower.put_all(31..32);
    assert_eq!((grower.engine.levels(), asked()), (1, 2));
    disk.ticks.store(32, Ordering::SeqCst);
    grower.put_all(32..33);
    assert_eq!((grower.engine.levels(), asked()), (2, 3));
}

/// Each level brings cells: a floor is found in those of before, and in those that came since.
#[test]
fn floors_of_before_and_after_a_level_count() {
    let mut grower = on(&Disk::default());
    // More than are given here, or a survey would end floors.
    grower.engine.geometry.floors = 128;
    grower.clear("a::");
    assert_eq!(grower.floor("a::"), 1);
    assert!(grower.engine.open_level(1));
    assert_eq!(grower.floor("a::"), 1);
    let others: Vec<_> = (0..10).map(|other| format!("other{other}::")).collect();
    for (clears, other) in (2..).zip(&others) {
        grower.clear(other);
        assert_eq!(grower.floor(other), clears);
    }
    assert_eq!(grower.floor("a::"), 1);
    assert_eq!(
        grower.count(header::FLOOR_OVERFLOWS),
        0,
        "eight cells and eight more"
    );
    grower.clear("a::");
    assert_eq!(grower.floor("a::"), 12);
    assert_eq!(grower.engine.check().damaged, [""; 0]);
}

#[test]
fn a_survey_looks_at_all_open_levels() {
    let mut grower = on(&Disk::default());
    grower.engine.geometry.blocks = 1024;
    grower.engine.geometry = grower.engine.geometry.with_levels(&[64, 256]);
    grower.engine.geometry.floors = 8;
    (0..1000).for_each(|key| grower.put(&format!("a::{key}"), &entry("v")));
    assert_eq!(
        (grower.engine.levels(), grower.engine.count_values()),
        (2, 1000)
    );
    grower.clear("a::");
    (0..40).for_each(|other| grower.clear(&format!("other{other}::")));
    assert!(grower.count(header::FLOORS_ENDED) > 1);
    assert_eq!(grower.engine.count_values(), 0);
}

/// Else the numbers of the chunks that are left would be those of other slots.
#[test]
fn chunks_of_a_survey_stay_as_long_when_a_level_opens() {
    let mut grower = on(&Disk::default());
    grower.engine.geometry = Geometry::new(64 << 30).unwrap();
    let before = grower.engine.chunk_len();
    for levels in 1..grower.engine.geometry.level_count {
        let epoch = grower.engine.geometry.epoch_with(0, levels + 1);
        grower.engine.memory.store(header::EPOCH, epoch);
        assert_eq!(
            (grower.engine.levels(), grower.engine.chunk_len()),
            (levels + 1, before)
        );
    }
}

/// At each of its accesses, also between the level's pages and its opening.
#[test]
fn a_writer_that_opens_a_level_is_killed() {
    print_no_kills();
    for accesses in 0.. {
        let (memory, world) = (Plain::new(), World::default());
        let mut survivor = engine(memory.clone(), BLOCKS, &world);
        survivor.geometry = survivor.geometry.with_levels(LEVELS);
        let (me, other) = (enter(&survivor, 1), enter(&survivor, 2));
        let survivor = Grower {
            engine: survivor,
            me,
        };
        survivor.put_all(0..16);
        let mut victim = engine(Killable::new(memory, accesses), BLOCKS, &world);
        victim.geometry = survivor.engine.geometry;
        let victim = Grower {
            engine: victim,
            me: other,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| victim.put_all(16..17)));
        world.dies(2);
        let killed = matches!(&outcome, Err(payload) if payload.is::<Killed>());
        assert!(killed || outcome.is_ok(), "after {accesses} accesses");
        survivor.put_all(16..18);
        assert_eq!(survivor.there(0..18), 18, "after {accesses} accesses");
        assert_eq!(survivor.engine.check().damaged, Vec::<String>::new());
        let mut out = Vec::new();
        let key = survivor.engine.key(b"::17");
        assert!(survivor.engine.get(key, NO_FLOOR, &mut out).is_some());
        assert_eq!(text(&out), "v");
        if !killed {
            return;
        }
    }
}
