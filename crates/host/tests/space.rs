//! Space belongs to data: idle handles, short-lived writers, dead processes and overwritten records take
//! none from entries that stand (`spec/host.md`, "Blocks").

mod support;

use polycache_host::{Namespace, Options, Store};
use std::path::Path;
use support::{entry, get};

const MIB: u64 = 1 << 20;

fn open(path: &Path, limit: u64) -> Store {
    let mut options = Options::new(path);
    options.limit = Some(limit);
    Store::open(&options).unwrap()
}

fn key(number: u64) -> Vec<u8> {
    format!("key{number}").into_bytes()
}

/// Stores `count` entries of about `size` bytes.
fn fill(store: &Store, ns: &Namespace, count: u64, size: usize) {
    let value = entry(&"v".repeat(size));
    for number in 0..count {
        store.put(ns, &key(number), &value).unwrap();
    }
}

fn missing(store: &Store, ns: &Namespace, count: u64) -> u64 {
    (0..count)
        .filter(|number| get(store, ns, &key(*number)).is_none())
        .count() as u64
}

#[test]
fn writers_that_live_for_one_key_evict_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path(), 32 * MIB);
    let ns = first.namespace(&["n"]).unwrap();
    fill(&first, &ns, 1_000, 1_000);
    for number in 0..520 {
        let short = open(dir.path(), 32 * MIB);
        let ns = short.namespace(&["short"]).unwrap();
        short.put(&ns, &key(number), &entry("v")).unwrap();
    }
    assert_eq!(missing(&first, &ns, 1_000), 0);
    let stats = first.stats().unwrap();
    assert_eq!(
        (stats.entries, stats.evicted_by_age),
        (1_520, 0),
        "{stats:?}"
    );
}

#[test]
fn a_thousand_idle_handles_hold_no_space() {
    let dir = tempfile::tempdir().unwrap();
    let handles: Vec<Store> = (0..1_000).map(|_| open(dir.path(), 8 * MIB)).collect();
    for (number, store) in handles.iter().enumerate() {
        let ns = store.namespace(&["n"]).unwrap();
        store.put(&ns, &key(number as u64), &entry("v")).unwrap();
    }
    let ns = handles[0].namespace(&["n"]).unwrap();
    assert_eq!(missing(&handles[0], &ns, 1_000), 0);
    let ns = handles[0].namespace(&["more"]).unwrap();
    fill(&handles[999], &ns, 4_000, 1_000);
    assert_eq!(missing(&handles[1], &ns, 4_000), 0);
}

#[test]
fn more_threads_than_blocks_write_without_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let handles: Vec<Store> = (0..20).map(|_| open(dir.path(), 2 * MIB)).collect();
    std::thread::scope(|scope| {
        for (number, store) in handles.iter().enumerate() {
            for thread in 0..5 {
                scope.spawn(move || {
                    let ns = store.namespace(&[format!("n{number}-{thread}")]).unwrap();
                    fill(store, &ns, 200, 500);
                });
            }
        }
    });
    assert!(handles[0].check().unwrap().damaged.is_empty());
}

/// A quarter of the limit, never read; the rest of the space goes round many times.
#[test]
fn a_working_set_stands_through_overwrites_and_deletes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 8 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    let count = 2 * MIB / 1_100;
    fill(&store, &ns, count, 1_000);
    let churn = store.namespace(&["churn"]).unwrap();
    let value = entry(&"w".repeat(1_000));
    for round in 0..60_000u64 {
        store.put(&churn, b"hot", &value).unwrap();
        if round % 3 == 0 {
            store.put(&churn, &key(round), &value).unwrap();
            store.delete(&churn, &key(round)).unwrap();
        }
    }
    let stats = store.stats().unwrap();
    assert_eq!(missing(&store, &ns, count), 0, "{stats:?}");
    assert_eq!(stats.evicted_by_age, 0, "{stats:?}");
    assert!(stats.blocks_claimed > 1_000, "{stats:?}");
    assert!(store.check().unwrap().damaged.is_empty());
}

/// Entries that are never read lie among records that are overwritten. To get at the dead bytes, cleaners
/// must move each of these entries.
/// What is overwritten, or deleted and stored again, gives its space back before the directory takes more.
#[test]
fn the_directory_grows_with_what_lives_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 256 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    let value = entry(&"v".repeat(1_000));
    let written = 150_000_u64;
    for number in 0..written {
        // In no order, so that blocks die at different times.
        let key = key((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 2_000);
        if number % 3 == 0 {
            store.delete(&ns, &key).unwrap();
        }
        store.put(&ns, &key, &value).unwrap();
    }
    let stats = store.stats().unwrap();
    assert!(written * 1_000 > 128 * MIB);
    assert!(stats.bytes < 16 * MIB, "{stats:?}");
    assert_eq!((missing(&store, &ns, 2_000), stats.evicted_by_age), (0, 0));
}

#[test]
fn entries_that_lie_among_overwritten_ones_stand() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 8 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    let churn = store.namespace(&["churn"]).unwrap();
    let count = 2 * MIB / 1_100;
    let value = entry(&"v".repeat(1_000));
    for number in 0..count {
        store.put(&ns, &key(number), &value).unwrap();
        for hot in 0..3 {
            store.put(&churn, &key(hot), &value).unwrap();
        }
    }
    for round in 0..20_000 {
        store.put(&churn, &key(round % 3), &value).unwrap();
    }
    let stats = store.stats().unwrap();
    assert!(stats.reinserted > 100, "{stats:?}");
    assert_eq!(stats.evicted_by_age, 0, "{stats:?}");
    assert_eq!(missing(&store, &ns, count), 0, "{stats:?}");
    assert!(store.check().unwrap().damaged.is_empty());
}

/// Each fills a block so far that no second one fits, and not so far that the block counts as full.
#[test]
fn entries_that_leave_a_part_of_every_block_unused_are_evicted() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 2 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    fill(&store, &ns, 200, 40_000);
    assert!(missing(&store, &ns, 200) < 190);
    assert!(store.check().unwrap().damaged.is_empty());
}

/// Pages of a block that was never used are filled with zeros ahead of the records, by the process that allocated it.
#[test]
fn handles_that_take_turns_in_one_new_block_lose_nothing() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Blocks of 512 KiB.
    let handles = [open(dir.path(), 256 * MIB), open(dir.path(), 256 * MIB)];
    let mut number = 0;
    for turn in 0..60 {
        let store = &handles[turn % 2];
        let ns = store.namespace(&["n"]).unwrap();
        for _ in 0..=turn * 7 % 100 {
            let value = entry(&"v".repeat(1_000 + number as usize % 300));
            store.put(&ns, &key(number), &value).unwrap();
            number += 1;
        }
    }
    let ns = handles[0].namespace(&["n"]).unwrap();
    assert_eq!(missing(&handles[0], &ns, number), 0);
}
