//! Blocks that a handle noted as worth cleaning: each is looked at again before it is taken.

use super::memory::Plain;
use super::setup::{engine, enter, entry, World};
use crate::block::{descriptor, Appender};
use crate::engine::{Engine, Participant};
use crate::shared_memory::SharedMemory;
use std::sync::Arc;

const BLOCKS: u64 = 40;
/// Records of a block.
const RECORDS: usize = 3;

struct Process {
    engine: Engine<Arc<Plain>, World>,
    me: Participant,
    appender: Appender,
}

impl Process {
    fn new(memory: Arc<Plain>, world: &World, id: u32) -> Process {
        let mut engine = engine(memory, BLOCKS, world);
        engine.geometry = engine.geometry.with_levels(&[64]);
        let me = enter(&engine, id);
        Process {
            engine,
            me,
            appender: Appender::default(),
        }
    }

    /// Fills so many blocks, and returns the keys of each.
    fn fill(&mut self, blocks: usize) -> Vec<[String; RECORDS]> {
        let keys: Vec<_> = (0..blocks)
            .map(|block| std::array::from_fn(|record| format!("::{block}.{record}")))
            .collect();
        for key in keys.iter().flatten() {
            let key = self.engine.key(key.as_bytes());
            let put = self
                .engine
                .put(&mut self.appender, self.me, key, &entry("a value"));
            put.unwrap();
        }
        keys
    }

    fn delete(&self, key: &str) {
        assert!(self.engine.delete(self.engine.key(key.as_bytes())));
    }

    fn block_of(&self, key: &str) -> u64 {
        let found = self.engine.find(self.engine.key(key.as_bytes()), 1);
        found.unwrap().record.at / self.engine.geometry.block_size
    }

    fn chosen(&self) -> Option<u64> {
        self.engine.choose().map(|victim| victim.block)
    }

    fn nearly_dead(&self) -> Option<u64> {
        self.engine.choose_nearly_dead().map(|victim| victim.block)
    }

    fn set_dead(&self, block: u64, bytes: u64) {
        let at = self.engine.geometry.descriptor_at(block) + descriptor::DEAD;
        self.engine.memory.store(at, bytes);
    }
}

#[test]
fn of_the_noted_blocks_the_deadest_is_taken() {
    let mut process = Process::new(Plain::new(), &World::default(), 1);
    let keys = process.fill(10);
    let blocks: Vec<_> = keys.iter().map(|keys| process.block_of(&keys[0])).collect();
    process.delete(&keys[2][0]);
    process.delete(&keys[2][1]);
    process.delete(&keys[5][0]);
    assert_eq!(process.chosen(), Some(blocks[2]), "two thirds are dead");
    for key in &keys[5][1..] {
        process.delete(key);
    }
    assert_eq!(
        process.chosen(),
        Some(blocks[5]),
        "all of it is dead by now"
    );
    assert_eq!(process.nearly_dead(), Some(blocks[5]));
}

#[test]
fn a_noted_block_that_another_cleaned_is_not_taken() {
    let world = World::default();
    let memory = Plain::new();
    let mut process = Process::new(memory.clone(), &world, 1);
    let other = Process::new(memory, &world, 2);
    let keys = process.fill(10);
    let blocks: Vec<_> = keys.iter().map(|keys| process.block_of(&keys[0])).collect();
    for key in keys[2].iter().chain(&keys[5][..2]) {
        process.delete(key);
    }
    assert_eq!(process.nearly_dead(), Some(blocks[2]));
    // The block is cleaned, filled again and sealed: as it is now, all of it lives.
    other.set_dead(blocks[2], 0);
    assert_eq!(process.nearly_dead(), None);
    assert_eq!(process.chosen(), Some(blocks[5]));
    other.set_dead(blocks[5], 0);
    let oldest = process.chosen();
    assert_eq!(oldest, Some(blocks[0]), "nothing is worth it: by age");
}

#[test]
fn what_dies_after_a_look_is_found_by_the_next_one() {
    let mut process = Process::new(Plain::new(), &World::default(), 1);
    let keys = process.fill(20);
    assert_eq!(process.nearly_dead(), None);
    // More than are noted.
    let dead = &keys[3..15];
    for key in dead.iter().flatten() {
        process.delete(key);
    }
    for left in (0..dead.len()).rev() {
        let block = process.nearly_dead().expect("another one is dead");
        process.set_dead(block, 0);
        assert_eq!(process.nearly_dead().is_some(), left > 0);
    }
}
