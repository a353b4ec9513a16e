//! The bytes of a record are counted as dead once no word points to it, however that came about.

use super::memory::Plain;
use super::setup::{engine, enter, entry, World};
use crate::block::{descriptor, Appender};
use crate::engine::{Engine, Participant};
use crate::lease::{Lease, Token};
use crate::shared_memory::SharedMemory;
use std::sync::Arc;

const NO_FLOOR: fn(u64) -> u64 = |_| 0;
/// So many that none is cleaned.
const BLOCKS: u64 = 32;

struct Process {
    engine: Engine<Arc<Plain>, World>,
    me: Participant,
    appender: Appender,
}

impl Process {
    fn put(&mut self, key: &str) {
        let key = self.engine.key(key.as_bytes());
        self.engine
            .put(&mut self.appender, self.me, key, &entry("a value"))
            .unwrap();
    }

    fn delete(&self, key: &str) -> bool {
        self.engine.delete(self.engine.key(key.as_bytes()))
    }

    fn lease(&self, key: &str) -> Token {
        let key = self.engine.key(key.as_bytes());
        match self
            .engine
            .lease(self.me, key, NO_FLOOR, 480, &mut Vec::new())
        {
            Lease::Acquired(token) => token,
            other => panic!("{other:?}"),
        }
    }

    fn fill(&mut self, key: &str, token: Token) -> bool {
        let key = self.engine.key(key.as_bytes());
        self.engine
            .fill(&mut self.appender, self.me, key, token, &entry("loaded"))
            .unwrap()
    }

    /// Bytes of records that were written, and of those the dead ones.
    fn written_and_dead(&self) -> (u64, u64) {
        let sum = |field| {
            let at = |block| self.engine.geometry.descriptor_at(block) + field;
            (0..BLOCKS)
                .map(|block| self.engine.memory.load(at(block)))
                .sum()
        };
        (sum(descriptor::TAIL), sum(descriptor::DEAD))
    }

    fn live(&self) -> u64 {
        let (written, dead) = self.written_and_dead();
        written - dead
    }
}

#[test]
fn every_record_that_no_word_points_to_is_counted() {
    let engine = engine(Plain::new(), BLOCKS, &World::default());
    let me = enter(&engine, 1);
    let mut process = Process {
        engine,
        me,
        appender: Appender::default(),
    };
    process.put("::k");
    let one = process.live();
    assert!(one > 0);
    process.put("::k");
    assert_eq!(process.live(), one, "a set over a value");

    let key = process.engine.key(b"::k");
    let mut out = Vec::new();
    let hit = process.engine.peek(key, NO_FLOOR, &mut out).unwrap();
    let touched = process
        .engine
        .replace(&mut process.appender, me, key, hit, &out);
    assert!(touched.unwrap());
    assert_eq!(process.live(), one, "a touch");
    let hit = process.engine.peek(key, NO_FLOOR, &mut out).unwrap();
    assert!(process.engine.remove(key, hit));
    assert_eq!(process.live(), 0, "a take");

    process.put("::k");
    assert!(process.delete("::k"));
    assert_eq!(process.live(), 0, "a delete");

    let token = process.lease("::k");
    let beside = Token {
        beside: true,
        ..token
    };
    assert!(process.fill("::k", token));
    assert!(process.delete("::k"));
    assert_eq!(process.live(), 0, "a load");
    assert!(!process.fill("::k", beside));
    assert_eq!(process.live(), 0, "a load whose lease is gone");

    // Both buckets overflow.
    let keys: Vec<_> = (0..30).map(|number| format!("::{number}")).collect();
    keys.iter().for_each(|key| process.put(key));
    let there = keys.iter().filter(|key| process.delete(key)).count();
    assert!(there < keys.len());
    assert_eq!(process.live(), 0, "an eviction for want of a slot");
}
