//! Values larger than a block, on a small engine: what becomes of their blocks. The modules below kill a process at
//! every access, and let shuttle interleave processes.

mod interleavings;
mod kills;

use super::memory::Plain;
use super::setup::{engine, enter, entry, text, World};
use crate::block::{descriptor, Appender, Queue};
use crate::engine::{Engine, Participant};
use crate::layout::{header, RECORD_HEADER};
use crate::lease::Lease;
use crate::shared_memory::SharedMemory;
use polycache_entry::HEADER_LEN;
use std::sync::Arc;

const NO_FLOOR: fn(u64) -> u64 = |_| 0;
/// A value may take four of them.
const BLOCKS: u64 = 16;

/// A text that takes this many blocks under a key of three bytes.
fn long(name: &str, blocks: usize) -> String {
    let most = blocks * 256 - (blocks - 1) * 48 - RECORD_HEADER - 3 - HEADER_LEN;
    format!("{name}{}", ".".repeat(most - name.len()))
}

struct Process<M> {
    engine: Engine<M, World>,
    me: Participant,
    appender: Appender,
}

impl Process<Arc<Plain>> {
    fn alone(blocks: u64) -> Process<Arc<Plain>> {
        let mut engine = engine(Plain::new(), blocks, &World::default());
        engine.geometry = engine.geometry.with_levels(&[64]);
        let me = enter(&engine, 1);
        Process {
            engine,
            me,
            appender: Appender::default(),
        }
    }
}

impl<M: SharedMemory> Process<M> {
    fn put(&mut self, key: &str, value: &str) {
        let key = self.engine.key(key.as_bytes());
        self.engine
            .put(&mut self.appender, self.me, key, &entry(value))
            .unwrap();
    }

    fn get(&self, key: &str) -> Option<String> {
        let mut out = Vec::new();
        let key = self.engine.key(key.as_bytes());
        self.engine.get(key, NO_FLOOR, &mut out).map(|_| text(&out))
    }

    fn delete(&self, key: &str) -> bool {
        self.engine.delete(self.engine.key(key.as_bytes()))
    }

    /// Writes the entry again with another time, which lies in the head.
    fn touch(&mut self, key: &str, expires: u64) -> bool {
        let key = self.engine.key(key.as_bytes());
        let mut old = Vec::new();
        let Some(hit) = self.engine.peek(key, NO_FLOOR, &mut old) else {
            return false;
        };
        let mut new = Vec::new();
        polycache_entry::renewed(&old, 1_000_000, expires, None, &mut new).unwrap();
        self.engine
            .replace(&mut self.appender, self.me, key, hit, &new)
            .unwrap()
    }

    fn field(&self, block: u64, field: usize) -> u64 {
        let at = self.engine.geometry.descriptor_at(block) + field;
        self.engine.memory.load(at)
    }

    fn sum(&self, field: usize) -> u64 {
        (0..self.engine.geometry.blocks)
            .map(|block| self.field(block, field))
            .sum()
    }

    /// Blocks with live bytes.
    fn live_blocks(&self) -> u64 {
        (self.sum(descriptor::TAIL) - self.sum(descriptor::DEAD)) / 256
    }

    fn count(&self, at: usize) -> u64 {
        self.engine.memory.load(at)
    }

    /// The queue of each block that holds a part of the key's value.
    fn queues(&self, key: &str) -> Vec<Queue> {
        let found = self
            .engine
            .find(self.engine.key(key.as_bytes()), 1)
            .unwrap();
        let large = self.engine.large(&found.record).unwrap();
        let parts = large.parts(256);
        parts.map(|part| self.engine.queue_of(part.block)).collect()
    }
}

#[test]
fn a_value_of_a_quarter_of_the_blocks_is_stored_and_one_byte_more_is_not() {
    let mut process = Process::alone(BLOCKS);
    for blocks in 1..=4 {
        process.put("::k", &long("a", blocks));
        assert_eq!(process.get("::k"), Some(long("a", blocks)));
        assert_eq!(process.live_blocks(), blocks as u64);
    }
    let key = process.engine.key(b"::k");
    let one_more = entry(&(long("a", 4) + "."));
    let error = process
        .engine
        .put(&mut process.appender, process.me, key, &one_more)
        .unwrap_err();
    assert_eq!(error.code(), "entry_too_large");
    let limit = process.engine.geometry.max_record();
    assert!(error.to_string().contains(&limit.to_string()), "{error}");
    assert_eq!(process.get("::k"), None);
    assert_eq!(process.live_blocks(), 0);
}

#[test]
fn every_end_of_a_value_gives_all_its_blocks_back() {
    let mut process = Process::alone(BLOCKS);
    type End = fn(&mut Process<Arc<Plain>>);
    let ends: [(&str, End); 6] = [
        ("a set", |process| process.put("::k", "short")),
        ("a delete", |process| assert!(process.delete("::k"))),
        ("a take", |process| {
            let key = process.engine.key(b"::k");
            let hit = process.engine.peek(key, NO_FLOOR, &mut Vec::new()).unwrap();
            assert!(process.engine.remove(key, hit));
        }),
        ("a replacement", |process| {
            let key = process.engine.key(b"::k");
            let hit = process.engine.peek(key, NO_FLOOR, &mut Vec::new()).unwrap();
            let (appender, new) = (&mut process.appender, entry("short"));
            assert!(process
                .engine
                .replace(appender, process.me, key, hit, &new)
                .unwrap());
        }),
        ("a lease over an expired one", |process| {
            assert!(process.touch("::k", 1));
            let key = process.engine.key(b"::k");
            let lease = process
                .engine
                .lease(process.me, key, NO_FLOOR, 480, &mut Vec::new());
            let Lease::Acquired(token) = lease else {
                panic!("{lease:?}")
            };
            process.engine.release(token);
        }),
        ("a failed set", |process| {
            let key = process.engine.key(b"::k");
            let huge = entry(&".".repeat(2000));
            assert!(process
                .engine
                .put(&mut process.appender, process.me, key, &huge)
                .is_err());
        }),
    ];
    for (what, end) in ends {
        process.put("::k", &long("a", 3));
        assert!(process.live_blocks() >= 3);
        end(&mut process);
        process.delete("::k");
        let live = process.sum(descriptor::TAIL) - process.sum(descriptor::DEAD);
        assert_eq!(live, 0, "{what}");
    }
}

#[test]
fn a_load_and_an_add_of_a_large_value_are_stored_or_give_their_blocks_back() {
    let mut process = Process::alone(BLOCKS);
    let key = process.engine.key(b"::k");
    let value = entry(&long("a", 3));
    let lease = |process: &Process<Arc<Plain>>| match process.engine.lease(
        process.me,
        key,
        NO_FLOOR,
        480,
        &mut Vec::new(),
    ) {
        Lease::Acquired(token) => token,
        other => panic!("{other:?}"),
    };
    let token = lease(&process);
    let beside = crate::lease::Token {
        beside: true,
        ..token
    };
    let (engine, me) = (&process.engine, process.me);
    let mut appender = Appender::default();
    assert!(engine.fill(&mut appender, me, key, token, &value).unwrap());
    assert_eq!(process.get("::k"), Some(long("a", 3)));
    assert!(!engine.fill(&mut appender, me, key, beside, &value).unwrap());
    assert!(!engine
        .add(&mut appender, me, key, NO_FLOOR, &value)
        .unwrap());
    assert_eq!(process.live_blocks(), 3);
    assert!(process.delete("::k"));
    assert!(engine
        .add(&mut appender, me, key, NO_FLOOR, &value)
        .unwrap());
    assert_eq!(process.live_blocks(), 3);
    process.put("::l", "short");
    assert_eq!(process.get("::k"), Some(long("a", 3)));
}

#[test]
fn a_touch_writes_the_head_only() {
    let mut process = Process::alone(BLOCKS);
    process.put("::k", &long("a", 4));
    let version = |process: &Process<Arc<Plain>>| {
        let key = process.engine.key(b"::k");
        let hit = process.engine.peek(key, NO_FLOOR, &mut Vec::new()).unwrap();
        process.engine.version(key, hit).unwrap()
    };
    let (before, claimed) = (version(&process), process.count(header::BLOCKS_CLAIMED));
    for touch in 1..=30 {
        assert!(process.touch("::k", 2_000_000 + touch));
        assert_eq!(process.live_blocks(), 4, "{touch}");
        assert_eq!(process.count(header::BLOCKS_CLAIMED), claimed + touch);
        assert_eq!(process.get("::k"), Some(long("a", 4)));
    }
    assert_ne!(version(&process), before);
    assert_eq!(process.count(header::EVICTED_BY_AGE), 0);
    // One that changes a chunk is written whole.
    let key = process.engine.key(b"::k");
    let hit = process.engine.peek(key, NO_FLOOR, &mut Vec::new()).unwrap();
    let other = long("a", 4).replace('.', "-");
    assert!(process
        .engine
        .replace(&mut process.appender, process.me, key, hit, &entry(&other))
        .unwrap());
    assert_eq!(process.get("::k"), Some(other));
    assert_eq!(process.live_blocks(), 4);
}

/// A value is one entry, whichever of its blocks is the oldest: read twice it goes to the main queue with all of them,
/// unread it leaves one ghost and is counted once.
#[test]
fn a_value_is_kept_or_evicted_as_one() {
    let mut process = Process::alone(40);
    process.put("::k", &long("kept", 4));
    process.put("::l", &long("left", 4));
    assert!(process.get("::k").is_some() && process.get("::k").is_some());
    assert_eq!(process.queues("::k"), [Queue::Probation; 4]);
    let mut streamed = 0;
    while process.queues("::k") != [Queue::Main; 4] {
        streamed += 1;
        process.put(&format!("::cold{streamed}"), &long("c", 1)[8..]);
        assert!(streamed < 100, "{:?}", process.queues("::k"));
    }
    let evicted = process.count(header::EVICTED_BY_AGE);
    while process.get("::l").is_some() {
        streamed += 1;
        process.put(&format!("::cold{streamed}"), &long("c", 1)[8..]);
        assert!(streamed < 200);
    }
    assert!(process.count(header::EVICTED_BY_AGE) - evicted <= 3);
    assert_eq!(process.get("::k"), Some(long("kept", 4)));
    assert_eq!(process.count(header::REINSERTED), 1);
    // It left a ghost: it comes back to the main queue.
    process.put("::l", &long("left", 4));
    assert_eq!(process.queues("::l"), [Queue::Main; 4]);
}

/// What is evicted for a large value is what its blocks held, and nothing else.
#[test]
fn a_large_value_evicts_what_it_needs_and_no_more() {
    let mut process = Process::alone(40);
    for key in 0..40 {
        process.put(&format!("::{key:02}"), &long("", 1)[3..]);
    }
    let before = process.count(header::EVICTED_BY_AGE);
    process.put("::k", &long("a", 10));
    let evicted = process.count(header::EVICTED_BY_AGE) - before;
    // One block more is emptied, because writers keep one in reserve.
    assert!((8..=11).contains(&evicted), "{evicted}");
    assert_eq!(process.get("::k"), Some(long("a", 10)));
}

/// A cache of large values alone, all of which are read all the time: a writer still gets its blocks.
#[test]
fn a_writer_gets_its_blocks_from_values_that_are_all_read() {
    let mut process = Process::alone(BLOCKS);
    for round in 0..60 {
        let key = format!("::{}", round % 7);
        process.put(&key, &long(&format!("{round} "), 4));
        for key in 0..7 {
            for _ in 0..3 {
                process.get(&format!("::{key}"));
            }
        }
        assert_eq!(process.get(&key), Some(long(&format!("{round} "), 4)));
    }
    assert_eq!(process.engine.check().damaged, Vec::<String>::new());
}

#[test]
fn a_value_without_one_of_its_chunks_is_a_miss_and_takes_no_space() {
    for byte in [0, 4, 8, 12, 16, 24] {
        let mut process = Process::alone(BLOCKS);
        process.put("::k", &long("a", 4));
        let found = process.engine.find(process.engine.key(b"::k"), 1).unwrap();
        let chunk = process.engine.large(&found.record).unwrap().chunks[1].block * 256;
        let old: [u8; 1] = process.engine.memory.read_array(chunk + byte);
        process.engine.memory.write(chunk + byte, &[old[0] ^ 1]);
        assert_eq!(process.engine.check().damaged.len(), 1);
        assert_eq!(process.get("::k"), None);
        assert_eq!(process.live_blocks(), 0);
        assert_eq!(process.count(header::EVICTED_BY_AGE), 1);
        let key = process.engine.key(b"::k");
        let lease = process
            .engine
            .lease(process.me, key, NO_FLOOR, 480, &mut Vec::new());
        assert!(matches!(lease, Lease::Acquired(_)), "{lease:?}");
        for _ in 0..20 {
            process.put("::l", &long("b", 4));
        }
        assert_eq!(process.engine.check().damaged, Vec::<String>::new());
    }
}
