//! A slot's generation repeats after 2^20 changes: the epoch tells the laps apart.

use super::memory::Plain;
use super::setup::{engine, enter, entry, text, World};
use crate::block::Appender;
use crate::engine::Engine;
use crate::read::Hit;
use crate::shared_memory::SharedMemory;
use crate::word::Word;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

const NO_FLOOR: fn(u64) -> u64 = |_| 0;

/// Changes a slot 2^20 times, so that the same word stands there again.
fn a_lap<M: SharedMemory>(engine: &Engine<M, World>, slot: u64) {
    let first = engine.word(slot);
    for change in 1..=1u32 << 20 {
        let word = engine.word(slot);
        let next = if change == 1 << 20 {
            word.to_value(first.tag(), first.location())
        } else {
            word.to_empty()
        };
        assert!(engine.swap(slot, word, next));
    }
    assert_eq!(engine.word(slot), first);
}

#[test]
fn a_memory_tier_object_does_not_survive_a_lap() {
    let memory = Plain::new();
    let engine = engine(memory, 8, &World::default());
    let me = enter(&engine, 1);
    let key = engine.key(b"::k");
    engine
        .put(&mut Appender::default(), me, key, &entry("old"))
        .unwrap();
    let hit = engine.get(key, NO_FLOOR, &mut Vec::new()).unwrap();
    assert!(engine.stands(hit));
    a_lap(&engine, hit.slot);
    assert_eq!(engine.word(hit.slot), Word(hit.word));
    assert!(!engine.stands(hit));
    assert!(engine.stands(Hit {
        epoch: engine.epoch(),
        ..hit
    }));
}

/// A memory on which a whole lap passes while the first reader is in the middle of its copy.
struct Meddling {
    memory: Arc<Plain>,
    armed: AtomicBool,
    at: u64,
    slot: u64,
}

impl std::ops::Deref for Meddling {
    type Target = Plain;
    fn deref(&self) -> &Plain {
        &self.memory
    }
}

/// Reads like [`Plain`], except for the lap.
struct Reader(Meddling);

impl SharedMemory for Reader {
    fn load(&self, at: usize) -> u64 {
        self.0.load(at)
    }
    fn store(&self, at: usize, value: u64) {
        SharedMemory::store(&*self.0, at, value);
    }
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool {
        SharedMemory::compare_exchange(&*self.0, at, old, new)
    }
    fn fetch_add(&self, at: usize, by: u64) -> u64 {
        SharedMemory::fetch_add(&*self.0, at, by)
    }
    fn fetch_max(&self, at: usize, value: u64) {
        SharedMemory::fetch_max(&*self.0, at, value);
    }
    fn visited(&self, at: usize) -> u8 {
        self.0.visited(at)
    }
    fn set_visited(&self, at: usize, reads: u8) {
        self.0.set_visited(at, reads);
    }
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        self.0.memory.read(at, len / 2, out);
        if self.0.armed.swap(false, Ordering::SeqCst) {
            self.0
                .memory
                .write(self.0.at, &entry("a value from another lap"));
            let other = engine(self.0.memory.clone(), 8, &World::default());
            a_lap(&other, self.0.slot);
        }
        self.0
            .memory
            .read(at + (len / 2) as u64, len - len / 2, out);
    }
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        self.0.memory.read_array(at)
    }
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        self.0.memory.equal(at, bytes)
    }
    fn write(&self, at: u64, bytes: &[u8]) {
        self.0.memory.write(at, bytes);
    }
    fn fence(&self) {}
}

#[test]
fn a_lap_during_a_copy_is_a_retry() {
    let memory = Plain::new();
    let writer = engine(memory.clone(), 8, &World::default());
    let me = enter(&writer, 1);
    let key = writer.key(b"::k");
    writer
        .put(
            &mut Appender::default(),
            me,
            key,
            &entry("a value of the first lap"),
        )
        .unwrap();
    let found = writer.find(key, writer.levels()).unwrap();
    let reader = Reader(Meddling {
        memory,
        armed: AtomicBool::new(true),
        at: found.record.entry_at(),
        slot: found.slot,
    });
    let reader = engine(reader, 8, &World::default());
    let mut out = Vec::new();
    reader.get(key, NO_FLOOR, &mut out).unwrap();
    assert_eq!(text(&out), "a value from another lap");
}

/// The deadline of a lease that a living process forgot is 10 hours past: modulo the lap of the ticks it
/// seems to be 8 hours ahead. Others load beside it, and fill.
#[test]
fn a_forgotten_lease_is_overdue_a_lap_later_and_loaded_beside() {
    use crate::lease::Lease;
    let world = World::default();
    let engine = engine(Plain::new(), 8, &world);
    let me = enter(&engine, 1);
    let key = engine.key(b"::k");
    let lease = |ticks| engine.lease(me, key, NO_FLOOR, ticks, &mut Vec::new());
    let Lease::Acquired(token) = lease(480) else {
        panic!()
    };
    // A caller with a shorter timeout for its own loads still waits for this one.
    assert!(matches!(lease(480), Lease::Busy { .. }));
    assert!(matches!(lease(1), Lease::Busy { .. }));
    let late = Word(token.word);
    let hours_ago = 100u32.wrapping_sub(10 * 3600 * 16);
    let forgotten = late.to_lease(late.tag(), me.id, hours_ago);
    assert!(engine.swap(token.slot, late, forgotten));
    let Lease::Busy {
        slot,
        word,
        overdue: true,
    } = lease(480)
    else {
        panic!()
    };
    assert!(engine.beside(key, slot, word, |_, _| false).is_some());
}
