//! A directory that memory cannot hold is read by single pages (`spec/host.md`, "Larger than memory").

mod support;

use polycache_host::{Clock, Options, Store};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use support::faulty::Faulty;
use support::{entry, get};

const MIB: u64 = 1 << 20;
/// The type of ext4, whatever the tests' folder is on.
const EXT4: u32 = 0xEF53;

/// With so much memory. A test passes the time.
fn open(path: &Path, memory: u64, limit: u64, time: &Arc<AtomicU64>) -> Store {
    let mut io = Faulty::new(-1, 0);
    io.memory = Some(memory);
    io.filesystem = Some(EXT4);
    let mut options = Options::new(path);
    options.limit = Some(limit);
    options.io = Arc::new(io);
    options.clock = Clock::Manual(time.clone());
    Store::open(&options).unwrap()
}

/// Of each mapping that this process has of the blocks of a directory, whether it is read by single pages: `rr` among
/// the flags in smaps (proc(5)).
fn single_pages(path: &Path) -> Vec<bool> {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let file = path.join("v2/blocks/0000").display().to_string();
    let mut is_of_blocks = false;
    let mut found = Vec::new();
    for line in maps.lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            if is_of_blocks {
                found.push(flags.split_whitespace().any(|flag| flag == "rr"));
            }
        } else if line.contains('/') {
            is_of_blocks = line.ends_with(&file);
        } else if line
            .split_whitespace()
            .next()
            .is_some_and(|first| first.contains('-'))
        {
            is_of_blocks = false;
        }
    }
    found
}

fn fill(store: &Store, from: u64, to: u64) {
    let ns = store.namespace(&["n"]).unwrap();
    let value = entry(&"v".repeat(10_000));
    for number in from..to {
        store.put(&ns, &number.to_le_bytes(), &value).unwrap();
    }
}

#[test]
fn what_memory_cannot_hold_is_read_by_single_pages() {
    let dir = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(1_000_000));
    let store = open(dir.path(), 100 * MIB, 200 * MIB, &time);
    assert_eq!(single_pages(dir.path()), [false]);
    // More than three quarters, but the handle was asked a moment ago.
    fill(&store, 0, 9_000);
    assert_eq!(single_pages(dir.path()), [false]);
    time.fetch_add(10_000, Ordering::Relaxed);
    fill(&store, 9_000, 10_100);
    assert_eq!(single_pages(dir.path()), [true]);
    // Another handle sees it when it opens; one with more memory does not.
    let other = open(dir.path(), 100 * MIB, 200 * MIB, &time);
    let more = open(dir.path(), 1 << 40, 200 * MIB, &time);
    let mut modes = single_pages(dir.path());
    modes.sort_unstable();
    assert_eq!(modes, [false, true, true]);
    let ns = other.namespace(&["n"]).unwrap();
    for number in [0_u64, 5_000, 10_099] {
        let found = get(&other, &ns, &number.to_le_bytes());
        assert_eq!(found, get(&more, &ns, &number.to_le_bytes()));
        assert_eq!(found.map(|text| text.len()), Some(10_000));
    }
}

/// Cleaning asks for what it walks, and values of many pages are asked for at once.
#[test]
fn everything_works_by_single_pages() {
    let dir = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(1_000_000));
    drop({
        let store = open(dir.path(), 1 << 40, 96 * MIB, &time);
        fill(&store, 0, 8_000);
        store
    });
    let store = open(dir.path(), 64 * MIB, 96 * MIB, &time);
    assert_eq!(single_pages(dir.path()), [true]);
    fill(&store, 8_000, 24_000);
    let stats = store.stats().unwrap();
    assert!(stats.evicted_by_age > 0, "{stats:?}");
    let ns = store.namespace(&["n"]).unwrap();
    let large = "x".repeat(3 << 20);
    store.put(&ns, b"large", &entry(&large)).unwrap();
    assert_eq!(get(&store, &ns, b"large"), Some(large));
    let whole = store.check().unwrap();
    assert!(whole.damaged.is_empty(), "{:?}", whole.damaged);
}

#[test]
fn what_memory_holds_again_is_read_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(1_000_000));
    let store = open(dir.path(), 1 << 40, 128 * MIB, &time);
    fill(&store, 0, 8_000);
    drop(store);
    let small = open(dir.path(), 64 * MIB, 128 * MIB, &time);
    assert_eq!(single_pages(dir.path()), [true]);
    drop(small);
    let _large = open(dir.path(), 1 << 40, 128 * MIB, &time);
    assert_eq!(single_pages(dir.path()), [false]);
}
