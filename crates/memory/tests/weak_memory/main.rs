//! Loom runs the lock under Rust's memory model: like shuttle it tries the orders of the threads' steps,
//! and also which earlier value a load may still see.
//!
//! What it shows: with the orderings that `src/lock.rs` asks for, a reader never sees a writer's changes
//! half done, and each thread sees what those before it did; loom fails on an access to the data that
//! these orderings do not order. No thread waits forever.
//!
//! What it leaves out: loom treats sequentially consistent accesses as acquire and release, which would
//! be too weak for Dekker's argument, but it has sequentially consistent fences. So `sync.rs` builds
//! these accesses from weaker ones with a fence between a change and a load. That is stronger than the
//! accesses are; that they suffice by themselves is argued at the head of `src/lock.rs`. Loom never lets
//! a load see a store that later steps of its own thread lead to (load buffering). It preempts threads
//! at most `PREEMPTIONS` times in a run.
//!
//! Loom prints no seed: a failure is the same in every run. `LOOM_LOG=trace` prints its steps.
#![allow(dead_code, missing_docs)]

#[path = "../../src/lock.rs"]
mod lock;
mod sync;
mod threads;

use lock::{Lock, Readers};
use loom::thread;
use std::sync::Arc;

/// Most faults need one or two.
const PREEMPTIONS: usize = 3;

struct Shared {
    lock: Lock<[u64; 2]>,
    readers: Readers,
}

type Work = fn(&Shared);

/// Runs each in a thread of its own, in every possible order. This many threads have a place to read
/// from.
fn explore(places: usize, work: &'static [Work]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS);
    model.check(move || {
        let shared = Arc::new(Shared {
            lock: Lock::new(1, [0, 0]),
            readers: Readers::new(places),
        });
        let running: Vec<_> = (0..)
            .zip(work)
            .map(|(number, work)| {
                let shared = shared.clone();
                thread::spawn(move || {
                    threads::be(number);
                    work(&shared);
                })
            })
            .collect();
        for thread in running {
            thread.join().unwrap();
        }
    });
}

fn read(shared: &Shared) {
    let data = shared.lock.read(&shared.readers);
    assert_eq!(data[0], data[1], "half a write");
}

fn read_quickly(shared: &Shared) {
    if let Some(data) = shared.lock.read_quickly(&shared.readers) {
        assert_eq!(data[0], data[1], "half a write");
    }
}

fn read_within_a_read(shared: &Shared) {
    let data = shared.lock.read(&shared.readers);
    assert_eq!(shared.lock.read(&shared.readers)[0], data[1]);
}

fn write(shared: &Shared) {
    let mut data = shared.lock.write(&shared.readers);
    data[0] += 1;
    data[1] += 1;
}

fn write_twice(shared: &Shared) {
    write(shared);
    write(shared);
}

#[test]
fn a_reader_in_its_place_and_a_writer() {
    explore(2, &[read_quickly, write_twice]);
}

#[test]
fn a_reader_that_waits_and_a_writer() {
    explore(2, &[read, write]);
}

#[test]
fn a_reader_without_a_place_and_a_writer() {
    explore(0, &[read, write]);
}

#[test]
fn a_read_within_a_read_and_a_writer() {
    explore(2, &[read_within_a_read, write]);
}

#[test]
fn two_writers() {
    explore(2, &[write, write]);
}

#[test]
fn two_readers_and_a_writer() {
    explore(3, &[read_quickly, read_quickly, write]);
}
