//! Cells of counters: what dead participants counted stays, and nothing is counted twice.

use super::kills::print_no_kills;
use super::memory::{Interleaved, Killable, Killed, Plain};
use super::setup::{engine, enter, World};
use crate::counters::{Counter, SHARED_CELL};
use crate::engine::{Engine, Participant};
use crate::shared_memory::SharedMemory;
use shuttle::thread;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

const BLOCKS: u64 = 8;

/// Takes a cell, and counts a write there.
fn count_a_write<M: SharedMemory>(engine: &Engine<M, World>, me: Participant, pid: u32) -> u64 {
    let cell = engine.take_cell(me, pid);
    let at = engine.counts_at(cell) + Counter::Writes as usize * 8;
    engine.memory.fetch_add(at, 1);
    cell
}

fn writes<M: SharedMemory>(engine: &Engine<M, World>) -> u64 {
    engine.counted()[Counter::Writes as usize]
}

/// Process ids of the owners that live, with what they wrote.
fn owners<M: SharedMemory>(engine: &Engine<M, World>, world: &World) -> Vec<(u32, u64)> {
    let owners = engine.cell_owners(|id| world.lives(id));
    let writes = |counted: crate::counters::Counted| counted[Counter::Writes as usize];
    let shown = owners
        .into_iter()
        .map(|one| (one.process, writes(one.counted)));
    shown.collect()
}

#[test]
fn the_next_owner_of_a_cell_counts_on() {
    let (memory, world) = (Plain::new(), World::default());
    let engine = engine(memory, BLOCKS, &world);
    let first = enter(&engine, 1);
    let cell = count_a_write(&engine, first, 101);
    assert_eq!(owners(&engine, &world), [(101, 1)]);
    world.dies(1);
    assert_eq!(owners(&engine, &world), []);
    // The id is given out again.
    world.revives(1);
    let at = engine.geometry.participants_at + 8;
    engine.memory.store(at, 2);
    let next = Participant {
        id: 1,
        incarnation: 2,
    };
    assert_eq!(count_a_write(&engine, next, 102), cell);
    assert_eq!(owners(&engine, &world), [(102, 1)]);
    assert_eq!(writes(&engine), 2);
}

#[test]
fn a_reboot_keeps_the_counts_and_no_owner() {
    let (memory, world) = (Plain::new(), World::default());
    let engine = engine(memory, BLOCKS, &world);
    let me = enter(&engine, 1);
    let cell = count_a_write(&engine, me, 101);
    engine.recover(1);
    // After a power loss another process may be the same participant.
    assert_eq!(owners(&engine, &world), []);
    assert_eq!(writes(&engine), 1);
    assert_eq!(count_a_write(&engine, me, 102), cell);
    assert_eq!(owners(&engine, &world), [(102, 1)]);
    assert_eq!(writes(&engine), 2);
}

#[test]
fn participants_without_a_cell_share_one() {
    let (memory, world) = (Plain::new(), World::default());
    let mut engine = engine(memory, BLOCKS, &world);
    engine.geometry.cells = 9;
    let mut cells = std::collections::HashSet::new();
    for id in 1..=8 {
        let me = enter(&engine, id);
        assert!(cells.insert(count_a_write(&engine, me, 100 + id)));
    }
    assert!(!cells.contains(&SHARED_CELL));
    let late = enter(&engine, 9);
    assert_eq!(count_a_write(&engine, late, 109), SHARED_CELL);
    assert_eq!((writes(&engine), owners(&engine, &world).len()), (9, 8));
    // Once an owner is dead there is a cell again.
    world.dies(7);
    assert!(cells.contains(&count_a_write(&engine, late, 109)));
    assert_eq!(writes(&engine), 10);
    let mut found = owners(&engine, &world);
    found.sort_unstable();
    assert_eq!(found.last(), Some(&(109, 1)));
}

#[test]
fn a_kill_at_any_access_loses_no_count_and_repeats_none() {
    print_no_kills();
    for accesses in 0.. {
        let (memory, world) = (Plain::new(), World::default());
        let survivor = engine(memory.clone(), BLOCKS, &world);
        // What an earlier owner of the cell counted.
        let before = enter(&survivor, 3);
        count_a_write(&survivor, before, 103);
        world.dies(3);
        let victim_id = enter(&survivor, 2);
        let victim = engine(Killable::new(memory, accesses), BLOCKS, &world);
        let outcome = catch_unwind(AssertUnwindSafe(|| count_a_write(&victim, victim_id, 102)));
        let killed = outcome.is_err_and(|payload| payload.is::<Killed>());
        let counted = writes(&survivor);
        assert!(
            counted == 2 || killed && counted == 1,
            "after {accesses}: {counted}"
        );
        world.dies(2);
        let me = enter(&survivor, 1);
        assert_ne!(count_a_write(&survivor, me, 101), SHARED_CELL);
        assert_eq!(writes(&survivor), counted + 1, "after {accesses}");
        assert_eq!(owners(&survivor, &world), [(101, 1)], "after {accesses}");
        if !killed {
            assert!(accesses > 20, "{accesses}");
            return;
        }
    }
}

#[test]
fn owners_are_told_with_their_own_counts_only() {
    shuttle::check_random(
        || {
            let (memory, world) = (Interleaved::new(), World::default());
            let first = Arc::new(engine(memory.clone(), BLOCKS, &world));
            let me = enter(&first, 1);
            count_a_write(&first, me, 101);
            count_a_write(&first, me, 101);
            // The id is given on, so the cell may be taken.
            world.dies(1);
            let takers: Vec<_> = [2, 3]
                .into_iter()
                .map(|id| {
                    let taker = Arc::new(engine(memory.clone(), BLOCKS, &world));
                    let me = enter(&taker, id);
                    thread::spawn(move || count_a_write(&taker, me, 100 + id))
                })
                .collect();
            for _ in 0..2 {
                for (pid, writes) in owners(&first, &world) {
                    assert!(
                        (102..=103).contains(&pid) && writes <= 1,
                        "{pid} wrote {writes}"
                    );
                }
            }
            let cells: Vec<_> = takers
                .into_iter()
                .map(|taker| taker.join().unwrap())
                .collect();
            assert_ne!(cells[0], cells[1]);
            assert_eq!(writes(&first), 4);
            let mut found = owners(&first, &world);
            found.sort_unstable();
            assert_eq!(found, [(102, 1), (103, 1)]);
        },
        2000,
    );
}
