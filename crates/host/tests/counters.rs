//! What all processes of the machine did: counts of several handles, of dead and forked processes, and in read mode.

mod support;

use polycache_host::{AtKey, Counts, MemoryHits, Mode, Options, Store};
use polycache_operations::Leases;
use std::path::Path;
use support::{entry, get, in_child, small, with_clock};

fn to_read(path: &Path) -> Store {
    let mut options = Options::new(path);
    options.mode = Mode::Read;
    Store::open(&options).unwrap()
}

fn hits(store: &Store) -> u64 {
    store.machine_stats().unwrap().hits
}

#[test]
fn counts_of_all_handles_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::open(&small(dir.path())).unwrap();
    let second = Store::open(&small(dir.path())).unwrap();
    let ns = first.namespace(&["n"]).unwrap();
    first.put(&ns, b"k", &entry("v")).unwrap();
    for _ in 0..10 {
        get(&first, &ns, b"k");
        get(&second, &ns, b"absent");
    }
    assert!(second.delete(&ns, b"k").unwrap());
    for store in [&first, &second, &to_read(dir.path())] {
        let stats = store.machine_stats().unwrap();
        assert_eq!(
            (stats.hits, stats.misses, stats.writes, stats.deletes),
            (10, 10, 1, 1)
        );
        let [process] = &stats.processes[..] else {
            panic!("{stats:?}")
        };
        assert_eq!((process.pid, process.handles), (std::process::id(), 2));
        assert_eq!((process.hits, process.misses), (10, 10));
    }
    // This handle's own are its own.
    assert_eq!(first.stats().unwrap().misses, 0);
}

#[test]
fn a_closed_handles_counts_stay() {
    let dir = tempfile::tempdir().unwrap();
    let stays = Store::open(&small(dir.path())).unwrap();
    let ns = stays.namespace(&["n"]).unwrap();
    stays.put(&ns, b"k", &entry("v")).unwrap();
    for closed in 1..=200 {
        let store = Store::open(&small(dir.path())).unwrap();
        for _ in 0..100 {
            get(&store, &ns, b"k");
        }
        drop(store);
        assert_eq!(hits(&stays), closed * 100);
    }
    assert_eq!(stays.machine_stats().unwrap().processes[0].handles, 1);
}

#[test]
fn more_handles_than_cells_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let stores: Vec<_> = (0..100)
        .map(|_| Store::open(&small(dir.path())).unwrap())
        .collect();
    let ns = stores[0].namespace(&["n"]).unwrap();
    stores[0].put(&ns, b"k", &entry("v")).unwrap();
    for store in &stores {
        for _ in 0..50 {
            get(store, &ns, b"k");
            get(store, &ns, b"absent");
        }
        store.look();
    }
    let stats = stores[7].machine_stats().unwrap();
    assert_eq!((stats.hits, stats.misses), (5000, 5000));
    assert!(stats.processes[0].handles < 100);
}

#[test]
fn hits_are_late_by_a_sixteenth_and_by_63_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let reader = Store::open(&small(dir.path())).unwrap();
    let looker = to_read(dir.path());
    let ns = reader.namespace(&["n"]).unwrap();
    reader.put(&ns, b"k", &entry("v")).unwrap();
    let mut latest = 0;
    for done in 1..=5000u64 {
        get(&reader, &ns, b"k");
        let late = done - hits(&looker);
        assert!(late <= (done / 16).min(63), "{late} of {done}");
        latest = latest.max(late);
    }
    // They do come in batches.
    assert!(latest > 50);
}

/// A process that was killed: what it wrote is counted, and its hits but for the last few.
#[test]
fn a_killed_process_counts() {
    let dir = tempfile::tempdir().unwrap();
    let survivor = Store::open(&small(dir.path())).unwrap();
    let ns = survivor.namespace(&["n"]).unwrap();
    survivor.put(&ns, b"k", &entry("v")).unwrap();
    let status = in_child(|| {
        let store = Store::open(&small(dir.path())).unwrap();
        for _ in 0..1000 {
            get(&store, &ns, b"k");
            get(&store, &ns, b"absent");
            store.put(&ns, b"other", &entry("v")).unwrap();
        }
        assert_eq!(store.machine_stats().unwrap().processes.len(), 2);
        for _ in 0..1000 {
            get(&store, &ns, b"k");
        }
        // SAFETY: it ends this process only.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    });
    assert_eq!(status & 0x7f, libc::SIGKILL);
    let stats = survivor.machine_stats().unwrap();
    assert_eq!((stats.misses, stats.writes), (1000, 1001));
    assert!((2000 - 63..=2000).contains(&stats.hits), "{}", stats.hits);
    assert_eq!(stats.processes.len(), 1);
    assert_eq!(stats.processes[0].pid, std::process::id());
}

/// What a parent had not added when it forked is added by the parent, and not by its children too.
#[test]
fn a_forked_child_counts_its_own_hits_from_the_first_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
    // The last 40 or so are not added yet.
    for _ in 0..2000 {
        get(&store, &ns, b"k");
    }
    let before = hits(&to_read(dir.path()));
    assert!(before < 2000);
    for children in 1..=3 {
        let status = in_child(|| {
            for _ in 0..10 {
                get(&store, &ns, b"k");
            }
        });
        assert_eq!(status, 0);
        assert_eq!(hits(&to_read(dir.path())), before + children * 10);
    }
    // One that joins, and tells of itself.
    let status = in_child(|| {
        store.put(&ns, b"child", &entry("v")).unwrap();
        for _ in 0..5 {
            get(&store, &ns, b"k");
        }
        let stats = store.machine_stats().unwrap();
        let me = std::process::id();
        let mine = stats.processes.iter().find(|one| one.pid == me).unwrap();
        assert_eq!((mine.hits, mine.handles), (5, 1));
    });
    assert_eq!(status, 0);
    assert_eq!(hits(&store), 2035);
    assert_eq!(store.machine_stats().unwrap().writes, 2);
}

#[test]
fn hits_of_memory_tiers_are_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let added = MemoryHits::default();
    added.add(&store, 100);
    added.add(&store, 100);
    added.add(&store, 130);
    let status = in_child(|| {
        // It cannot tell which of these its parent had before it forked.
        added.add(&store, 140);
        added.add(&store, 150);
    });
    assert_eq!(status, 0);
    let stats = store.machine_stats().unwrap();
    assert_eq!((stats.hits, stats.memory_hits), (140, 140));
}

#[test]
fn a_caller_that_counts_for_itself_is_not_counted_twice() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = small(dir.path());
    options.counts = false;
    let store = Store::open(&options).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
    get(&store, &ns, b"k");
    get(&store, &ns, b"absent");
    store.delete(&ns, b"k").unwrap();
    let stats = store.machine_stats().unwrap();
    assert_eq!(
        (stats.hits, stats.misses, stats.writes, stats.deletes),
        (0, 0, 0, 0)
    );
    store.add_counts(&Counts {
        memory_hits: 1,
        hits: 2,
        misses: 3,
        writes: 4,
        deletes: 5,
        invalidated_loads: 6,
        unstored: 7,
        wait_timeouts: 8,
    });
    let stats = store.machine_stats().unwrap();
    assert_eq!((stats.hits, stats.memory_hits, stats.misses), (3, 1, 3));
    assert_eq!((stats.writes, stats.deletes), (4, 5));
    let loads = (stats.invalidated_loads, stats.unstored, stats.wait_timeouts);
    assert_eq!(loads, (6, 7, 8));
}

#[test]
fn loads_are_counted_and_locks_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    let locks = store.locks_of(&ns);
    let load = |namespace, key| {
        let mut entry = Vec::new();
        let mut at = AtKey::new(&store, namespace, key, &mut entry);
        let polycache_operations::Lease::Acquired(token) = at.lease().unwrap() else {
            panic!()
        };
        token
    };
    let token = load(&ns, b"k");
    assert!(AtKey::new(&store, &ns, b"k", &mut Vec::new())
        .fill(token, &entry("v"))
        .unwrap());
    let token = load(&ns, b"fails");
    AtKey::new(&store, &ns, b"fails", &mut Vec::new()).release(token);
    let token = load(&locks, b"k");
    AtKey::new(&store, &locks, b"k", &mut Vec::new()).release(token);
    let stats = store.machine_stats().unwrap();
    assert_eq!((stats.loads, stats.failed_loads), (2, 1));
    assert_eq!((stats.misses, stats.writes), (2, 1));
}

#[test]
fn a_directory_that_is_made_anew_begins_at_zero_and_says_when() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_clock(dir.path(), 5000);
    let ns = store.namespace(&["n"]).unwrap();
    get(&store, &ns, b"absent");
    let stats = store.machine_stats().unwrap();
    assert_eq!((stats.since, stats.misses), (5000, 1));
    assert_eq!(stats.processes[0].since, 5000);
    store.clear(&ns).unwrap();
    assert_eq!(store.machine_stats().unwrap().misses, 1);
    drop(store);
    let (store, _) = with_clock(dir.path(), 6000);
    let stats = store.machine_stats().unwrap();
    assert_eq!((stats.since, stats.misses), (5000, 1));
    drop(store);
    std::fs::remove_dir_all(dir.path().join("v2")).unwrap();
    let (store, _) = with_clock(dir.path(), 7000);
    let stats = store.machine_stats().unwrap();
    assert_eq!((stats.since, stats.misses), (7000, 0));
}

#[test]
fn usage_is_told_by_namespace_the_largest_first() {
    let dir = tempfile::tempdir().unwrap();
    let (store, clock) = with_clock(dir.path(), 1000);
    let put = |parts: &[&str], key: &str, len: usize| {
        let ns = store.namespace(parts).unwrap();
        store
            .put(&ns, key.as_bytes(), &entry(&"x".repeat(len)))
            .unwrap();
    };
    put(&[], "a::b", 10);
    put(&["shop"], "1", 1000);
    put(&["shop"], "2", 1000);
    put(&["shop", "a:b"], "1", 500);
    put(&["gone"], "1", 5000);
    let gone = store.namespace(&["gone"]).unwrap();
    store.clear(&gone).unwrap();
    let short = store.namespace(&["short"]).unwrap();
    let expires = support::entry_until(&"x".repeat(5000), 1000, 2000);
    store.put(&short, b"k", &expires).unwrap();
    clock.store(3000, std::sync::atomic::Ordering::SeqCst);
    let usage = store.usage(10).unwrap();
    let shown: Vec<_> = usage
        .iter()
        .map(|one| (one.namespace.join("/"), one.entries))
        .collect();
    let want = [("shop", 2), ("shop/a:b", 1), ("", 1)];
    assert_eq!(
        shown,
        want.map(|(name, entries)| (name.to_owned(), entries))
    );
    // A record is its header of 32 bytes, key, and entry with a header of 24, rounded up to 16.
    assert_eq!(
        usage[0].bytes,
        2 * (32 + 7 + 24 + 1000u64).next_multiple_of(16)
    );
    assert_eq!(store.usage(1).unwrap(), usage[..1]);
}

/// One that is a little larger than a block takes two.
#[test]
fn usage_counts_the_blocks_of_a_large_value() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    let block = 64 << 10;
    let large = entry(&"x".repeat(block));
    store.put(&ns, b"k", &large).unwrap();
    let usage = store.usage(10).unwrap();
    let [of_ns] = &usage[..] else {
        panic!("{usage:?}")
    };
    assert_eq!((of_ns.entries, of_ns.bytes), (1, 2 * block as u64));
}

/// Until it joins it counts for the machine.
#[test]
fn a_forked_child_that_only_misses_does_not_count_for_its_parent() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    assert_eq!(get(&store, &ns, b"absent"), None);
    let status = in_child(|| {
        (0..500).for_each(|_| assert_eq!(get(&store, &ns, b"absent"), None));
    });
    assert_eq!(status, 0);
    let stats = store.machine_stats().unwrap();
    assert_eq!((stats.misses, stats.processes[0].misses), (501, 1));
    // The parent goes on in its own cell.
    assert_eq!(get(&store, &ns, b"absent"), None);
    let stats = store.machine_stats().unwrap();
    assert_eq!((stats.misses, stats.processes[0].misses), (502, 2));
}

/// It joins at its first look at the path, and takes a cell by that.
#[test]
fn a_forked_child_that_only_reads_takes_one_cell() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
    let status = in_child(|| {
        (0..9_000).for_each(|_| assert!(get(&store, &ns, b"k").is_some()));
        let processes = store.machine_stats().unwrap().processes;
        assert_eq!(processes.len(), 2);
        assert!(processes.iter().all(|process| process.handles == 1));
    });
    assert_eq!(status, 0);
}
