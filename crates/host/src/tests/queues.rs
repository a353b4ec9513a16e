//! Which queue an entry is in, and what that means for it: on a small engine, whose blocks hold three records.

use super::memory::Plain;
use super::setup::{engine, enter, entry, World};
use crate::block::{Appender, Queue};
use crate::engine::{Engine, Participant};
use crate::layout::header;
use crate::shared_memory::SharedMemory;
use std::sync::Arc;

const NO_FLOOR: fn(u64) -> u64 = |_| 0;
const BLOCKS: u64 = 20;

struct Process {
    engine: Engine<Arc<Plain>, World>,
    me: Participant,
    appender: Appender,
    streamed: u32,
}

impl Process {
    fn new() -> Process {
        let mut engine = engine(Plain::new(), BLOCKS, &World::default());
        // Slots for all entries that the blocks hold, with their ghosts behind them.
        engine.geometry = engine.geometry.with_levels(&[64]);
        let me = enter(&engine, 1);
        Process {
            engine,
            me,
            appender: Appender::default(),
            streamed: 0,
        }
    }

    fn put(&mut self, key: &str) {
        let key = self.engine.key(key.as_bytes());
        self.engine
            .put(&mut self.appender, self.me, key, &entry("a value"))
            .unwrap();
    }

    fn get(&self, key: &str) -> bool {
        let key = self.engine.key(key.as_bytes());
        self.engine.get(key, NO_FLOOR, &mut Vec::new()).is_some()
    }

    /// Stores entries that are never read.
    fn stream(&mut self, count: u32) {
        for _ in 0..count {
            self.streamed += 1;
            self.put(&format!("::cold{}", self.streamed));
        }
    }

    /// As many as there is room for.
    fn stream_a_round(&mut self) {
        self.stream(BLOCKS as u32 * 3);
    }

    /// Where the key's entry is, without a read of it.
    fn queue_of(&self, key: &str) -> Option<Queue> {
        let found = self.engine.find(self.engine.key(key.as_bytes()), 1)?;
        let block = found.record.at / self.engine.geometry.block_size;
        Some(self.engine.queue_of(block))
    }

    fn reads(&self, key: &str) -> u8 {
        let found = self
            .engine
            .find(self.engine.key(key.as_bytes()), 1)
            .unwrap();
        let at = self.engine.geometry.visited_byte_at(found.slot);
        self.engine.memory.visited(at)
    }

    /// A full cache, with this entry in the main queue and no reads of it left.
    fn with_main(key: &str) -> Process {
        let mut process = Process::new();
        process.put(key);
        assert!(process.get(key) && process.get(key));
        process.stream_a_round();
        assert_eq!(process.queue_of(key), Some(Queue::Main));
        assert_eq!(process.reads(key), 0);
        process
    }
}

#[test]
fn reads_are_counted_up_to_three_and_a_new_entry_has_none() {
    let mut process = Process::new();
    process.put("::k");
    assert_eq!(process.reads("::k"), 0);
    for reads in [1, 2, 3, 3] {
        assert!(process.get("::k"));
        assert_eq!(process.reads("::k"), reads);
    }
    process.put("::k");
    assert_eq!(process.reads("::k"), 3, "the key is as hot as it was");
    process.engine.delete(process.engine.key(b"::k"));
    process.put("::k");
    assert_eq!(process.reads("::k"), 0);
}

#[test]
fn an_entry_begins_on_probation_and_two_reads_take_it_to_main() {
    let mut process = Process::new();
    for key in ["::never", "::once", "::twice"] {
        process.put(key);
        assert_eq!(process.queue_of(key), Some(Queue::Probation));
    }
    assert!(process.get("::once"));
    assert!(process.get("::twice") && process.get("::twice"));
    process.stream_a_round();
    assert_eq!(process.queue_of("::never"), None);
    assert_eq!(process.queue_of("::once"), None);
    assert_eq!(process.queue_of("::twice"), Some(Queue::Main));
    assert_eq!(process.reads("::twice"), 0, "it pays for main by its reads");
}

#[test]
fn what_streams_through_leaves_main_alone() {
    let mut process = Process::with_main("::k");
    for _ in 0..20 {
        process.stream_a_round();
    }
    assert_eq!(process.queue_of("::k"), Some(Queue::Main));
}

#[test]
fn the_entry_of_a_key_that_returns_begins_in_main() {
    let mut process = Process::new();
    process.put("::k");
    process.stream_a_round();
    assert_eq!(process.queue_of("::k"), None);
    process.put("::k");
    assert_eq!(process.queue_of("::k"), Some(Queue::Main));
    // The ghost is gone with that.
    process.engine.delete(process.engine.key(b"::k"));
    process.put("::k");
    assert_eq!(process.queue_of("::k"), Some(Queue::Probation));
}

#[test]
fn a_loaded_entry_of_a_key_that_returns_begins_in_main() {
    use crate::lease::Lease;
    let mut process = Process::new();
    process.put("::k");
    process.stream_a_round();
    let Process { engine, me, .. } = &process;
    let key = engine.key(b"::k");
    let leased = engine.lease(*me, key, NO_FLOOR, 480, &mut Vec::new());
    let Lease::Acquired(token) = leased else {
        panic!("{leased:?}");
    };
    let filled = engine.fill(&mut Appender::default(), *me, key, token, &entry("loaded"));
    assert!(filled.unwrap());
    assert_eq!(process.queue_of("::k"), Some(Queue::Main));
}

#[test]
fn a_ghost_is_believed_for_about_as_many_bytes_as_the_cache_holds() {
    let clock = |process: &Process| process.engine.memory.load(header::GHOST_CLOCK);
    let mut process = Process::new();
    process.put("::k");
    while process.queue_of("::k").is_some() {
        process.stream(1);
    }
    let left_at = clock(&process);
    let hash = process.engine.key(b"::k").hash;
    let all = process.engine.geometry.blocks_len();
    while clock(&process) - left_at < all * 8 / 9 - 256 {
        process.stream(1);
    }
    assert!(process.engine.take_ghost(hash));
    process.engine.leave_ghost(hash, 0);
    let left_at = clock(&process);
    while clock(&process) - left_at < all {
        process.stream(1);
    }
    assert!(!process.engine.take_ghost(hash));
    // Nor much later, when ages repeat.
    while clock(&process) - left_at < all * 3 {
        process.stream(1);
        assert!(
            !process.engine.take_ghost(hash),
            "{}",
            clock(&process) - left_at
        );
    }
}

/// A read is worth one round of the main queue.
#[test]
fn reads_keep_an_entry_in_main_for_a_round_each() {
    let mut process = Process::with_main("::k");
    assert!(process.get("::k") && process.get("::k"));
    let mut seen = vec![2];
    let mut number = 0;
    while process.queue_of("::k").is_some() {
        let reads = process.reads("::k");
        if seen.last() != Some(&reads) {
            seen.push(reads);
        }
        // New ones come to the main queue at once, so that it goes round.
        number += 1;
        assert!(number < 1_000);
        let key = format!("::back{number}");
        let hash = process.engine.key(key.as_bytes()).hash;
        process.engine.leave_ghost(hash, 1);
        process.put(&key);
        assert_eq!(process.queue_of(&key), Some(Queue::Main));
    }
    assert_eq!(seen, [2, 1, 0]);
    assert_eq!(process.queue_of("::k"), None);
    process.put("::k");
    assert_eq!(
        process.queue_of("::k"),
        Some(Queue::Probation),
        "main leaves no ghosts"
    );
}

/// All entries of the main queue are read without end; space is found all the same.
#[test]
fn a_main_queue_that_is_hot_throughout_gives_space() {
    let mut process = Process::new();
    let hot: Vec<String> = (0..40).map(|number| format!("::hot{number}")).collect();
    for round in 0..200u32 {
        for key in &hot {
            if !process.get(key) {
                process.put(key);
            }
            process.get(key);
            process.get(key);
        }
        process.put(&format!("::cold{round}"));
        assert!(process.get(&format!("::cold{round}")));
    }
    let moved = process.engine.memory.load(header::REINSERTED);
    let puts = 200 * 41;
    assert!(moved < puts * 13, "{moved}");
    let there = hot.iter().filter(|key| process.get(key)).count();
    assert!(there > 20, "{there}");
}

/// Entries that are never read are moved out of the way of dead records. That is no reason to take them to
/// main.
#[test]
fn entries_that_lie_among_dead_ones_stay_on_probation() {
    let mut process = Process::new();
    for number in 0..BLOCKS {
        process.put(&format!("::k{number}"));
        process.put("::overwritten");
        process.put("::overwritten");
    }
    for _ in 0..BLOCKS * 20 {
        process.put("::overwritten");
    }
    assert!(process.engine.memory.load(header::REINSERTED) > 0);
    assert_eq!(process.engine.memory.load(header::EVICTED_BY_AGE), 0);
    for number in 0..BLOCKS {
        let queue = process.queue_of(&format!("::k{number}"));
        assert_eq!(queue, Some(Queue::Probation), "{number}");
    }
}

/// Many writers at the same time each began a block; one goes on. What the others left is emptied with the
/// rest.
#[test]
fn a_lane_that_is_idle_keeps_no_block() {
    let mut process = Process::new();
    let lanes = process.engine.geometry.write_lanes() as u32;
    for lane in 0..lanes {
        process.appender = Appender::at(u64::from(lane));
        process.put(&format!("::idle{lane}"));
    }
    process.appender = Appender::default();
    for _ in 0..3 {
        process.stream_a_round();
    }
    for lane in 0..lanes {
        assert_eq!(process.queue_of(&format!("::idle{lane}")), None, "{lane}");
    }
}

/// A large record that does not fit gets a block for itself, and the block that was being filled stays
/// in use.
#[test]
fn a_large_record_seals_no_block_that_has_room() {
    let mut process = Process::new();
    process.put("::small0");
    let block = |process: &Process, key: &str| {
        let found = process.engine.find(process.engine.key(key.as_bytes()), 1);
        found.unwrap().record.at / process.engine.geometry.block_size
    };
    let first = block(&process, "::small0");
    let large = entry(&"x".repeat(150));
    let key = process.engine.key(b"::large");
    let put = process
        .engine
        .put(&mut process.appender, process.me, key, &large);
    put.unwrap();
    assert_ne!(block(&process, "::large"), first);
    process.put("::small1");
    process.put("::small2");
    assert_eq!(block(&process, "::small1"), first);
    assert_eq!(block(&process, "::small2"), first);
    // No other record is put beside the large one.
    process.put("::small3");
    assert_ne!(block(&process, "::small3"), block(&process, "::large"));
}

/// Steps are so short here that each put does a part of a block.
#[test]
fn a_step_of_cleaning_is_a_part_of_a_block() {
    let mut process = Process::new();
    process.engine.geometry.block_size = 4096;
    process.engine.geometry = process.engine.geometry.with_levels(&[512]);
    let partly = |process: &Process| {
        (0..BLOCKS).any(|block| {
            let at = process.engine.geometry.descriptor_at(block);
            process.engine.memory.load(at) == 3
        })
    };
    let mut seen = 0;
    for _ in 0..BLOCKS * 100 {
        process.stream(1);
        seen += u32::from(partly(&process));
    }
    assert!(seen > 100, "{seen}");
}

/// A lane names a block that was recycled since, and belongs to the main queue by now.
#[test]
fn a_writer_fills_no_block_of_the_main_queue() {
    let mut process = Process::with_main("::k");
    let found = process.engine.find(process.engine.key(b"::k"), 1).unwrap();
    let block = found.record.at / process.engine.geometry.block_size;
    process.engine.memory.store(header::WRITE_LANES, block + 1);
    process.put("::new");
    assert_eq!(process.queue_of("::new"), Some(Queue::Probation));
}
