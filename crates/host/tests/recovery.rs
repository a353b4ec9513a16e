//! Reboots and damage: what a store keeps, what it refuses, and what it puts right.

mod support;

use polycache_host::Store;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use support::faulty::{with_io, Faulty};
use support::{entry, get, small};

#[test]
fn a_newer_layout_is_refused_and_damage_starts_empty() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Store::open(&small(dir.path()));
    let put = |store: &Store| {
        let ns = store.namespace(&["n"]).unwrap();
        store.put(&ns, b"k", &entry("v")).unwrap();
    };
    let store = open().unwrap();
    put(&store);
    let index = store.path().join("index");
    // While a process uses a damaged index, no process may replace it.
    let file = File::options().write(true).open(&index).unwrap();
    file.write_all_at(&7u64.to_le_bytes(), 16).unwrap();
    assert_eq!(open().err().unwrap().code(), "io");
    drop(store);
    let store = open().unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    assert_eq!(get(&store, &ns, b"k"), None);
    put(&store);
    drop(store);
    let file = File::options().write(true).open(&index).unwrap();
    file.write_all_at(&3u64.to_le_bytes(), 8).unwrap();
    assert_eq!(open().err().unwrap().code(), "unsupported_version");
    file.write_all_at(&2u64.to_le_bytes(), 8).unwrap();
    file.set_len(8192).unwrap();
    let store = open().unwrap();
    assert_eq!(get(&store, &store.namespace(&["n"]).unwrap(), b"k"), None);
}

/// Opens as in a boot with this number.
fn boot(path: &Path, boot: u8, empty_at_boot: bool) -> Store {
    let mut io = Faulty::new(-1, 0);
    io.boot = boot;
    let mut options = with_io(path, io);
    options.empty_at_boot = empty_at_boot;
    Store::open(&options).unwrap()
}

fn fill(store: &Store) {
    let ns = store.namespace(&["n"]).unwrap();
    for key in 0..200u32 {
        store
            .put(&ns, &key.to_le_bytes(), &entry(&format!("value {key}")))
            .unwrap();
    }
    store.delete(&ns, &7u32.to_le_bytes()).unwrap();
}

/// How many of these entries are there, each with its value.
fn count(store: &Store) -> usize {
    let ns = store.namespace(&["n"]).unwrap();
    (0..200u32)
        .filter(|key| {
            let value = get(store, &ns, &key.to_le_bytes());
            assert!(value.is_none() || value == Some(format!("value {key}")));
            value.is_some()
        })
        .count()
}

#[test]
fn a_reboot_keeps_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    fill(&boot(dir.path(), 0, false));
    assert_eq!(count(&boot(dir.path(), 1, false)), 199);
    assert_eq!(count(&boot(dir.path(), 2, false)), 199);

    // A page that never reached the disk: its records are gone, the others undamaged.
    let blocks = dir.path().join("v2/blocks/0000");
    let file = File::options().write(true).open(blocks).unwrap();
    file.write_all_at(&[0; 4096], 8192).unwrap();
    let store = boot(dir.path(), 3, false);
    let left = count(&store);
    assert!((50..199).contains(&left), "{left}");
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
    fill(&store);
    assert_eq!(count(&store), 199);
}

#[test]
fn a_boot_empties_the_cache_while_every_handle_asks_for_it() {
    let dir = tempfile::tempdir().unwrap();
    fill(&boot(dir.path(), 0, true));
    // Later handles of the same boot find what is there.
    assert_eq!(count(&boot(dir.path(), 0, true)), 199);
    let first = boot(dir.path(), 1, true);
    assert_eq!(count(&first), 0);
    fill(&first);
    assert_eq!(count(&boot(dir.path(), 1, true)), 199);
}

#[test]
fn a_handle_that_does_not_ask_to_empty_the_cache_loses_nothing() {
    // The first one of the directory, of a later boot, or a later one of a boot.
    for (maker, first, later) in [
        (false, true, true),
        (true, false, true),
        (true, true, false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        fill(&boot(dir.path(), 0, maker));
        let first = boot(dir.path(), 1, first);
        fill(&first);
        drop(boot(dir.path(), 1, later));
        drop(first);
        for number in 2..5 {
            assert_eq!(count(&boot(dir.path(), number, true)), 199);
        }
    }
}

#[test]
fn check_finds_a_flipped_bit() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry(&"v".repeat(500))).unwrap();
    assert_eq!(store.check().unwrap().whole, 1);
    let file = File::options()
        .read(true)
        .write(true)
        .open(store.path().join("blocks/0000"))
        .unwrap();
    for at in [1, 10, 20, 30, 34, 60, 300] {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 4], at).unwrap();
        assert_eq!(store.check().unwrap().damaged.len(), 1, "byte {at}");
        file.write_all_at(&byte, at).unwrap();
    }
    assert_eq!(store.check().unwrap().damaged.len(), 0);
}

/// Records of 80 bytes leave 16 at the end of a block, less than a record's fixed part: recovery must
/// not look for a record there, least of all at the end of the mapping.
#[test]
fn a_reboot_keeps_blocks_that_end_in_less_than_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    for key in 0..30_000u32 {
        store
            .put(
                &ns,
                &(key % 5000).to_le_bytes(),
                &entry(&format!("{key:010}")),
            )
            .unwrap();
    }
    drop(store);
    let store = boot(dir.path(), 1, false);
    assert!(get(&store, &ns, &4999u32.to_le_bytes()).is_some());
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
}

/// An index with a valid header and nonsense after it: no panic, no read outside the mapping, and the
/// store still works.
#[test]
fn a_damaged_index_neither_panics_nor_hangs() {
    use polycache_host::layout::Geometry;
    let geometry = Geometry::new(2 << 20).unwrap();
    let last = geometry.blocks_len() / geometry.unit - 1;
    for (location, tail) in [
        (last, geometry.block_size - 16),
        (last - 2, u64::MAX),
        (u64::from(u32::MAX), 24),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&small(dir.path())).unwrap();
        let ns = store.namespace(&["n"]).unwrap();
        let put_all = || {
            for key in 0..3000u32 {
                store
                    .put(&ns, &key.to_le_bytes(), &entry(&"x".repeat(900)))
                    .unwrap();
            }
        };
        put_all();
        let file = File::options()
            .write(true)
            .open(store.path().join("index"))
            .unwrap();
        for slot in 0..geometry.slots() {
            let word = (location << 32) | (2 << 30) | ((slot % 1024) << 20);
            file.write_all_at(&word.to_le_bytes(), geometry.slot_at(slot) as u64)
                .unwrap();
        }
        for block in 0..geometry.blocks {
            let at = geometry.descriptor_at(block) as u64 + 16;
            file.write_all_at(&tail.to_le_bytes(), at).unwrap();
        }
        // The header of an empty record at the very end of the blocks.
        let blocks = File::options()
            .write(true)
            .open(store.path().join("blocks/0000"))
            .unwrap();
        blocks
            .write_all_at(&[0; 48], geometry.blocks_len() - 48)
            .unwrap();
        for key in 0..3000u32 {
            assert_eq!(get(&store, &ns, &key.to_le_bytes()), None);
        }
        store.keys(&ns, b"", 0, u64::MAX, &mut Vec::new()).unwrap();
        assert!(!store.check().unwrap().damaged.is_empty());
        put_all();
        put_all();
        assert!(get(&store, &ns, &2999u32.to_le_bytes()).is_some());
    }
}

/// The pages of the index reach the disk in any order: the one with the count of clears may be the oldest.
#[test]
fn a_count_of_clears_that_is_too_old_is_put_right_by_recovery() {
    let reopen = |path: &Path, number| boot(path, number, false);
    let forget_clears = |store: Store| {
        let index = store.path().join("index");
        drop(store);
        let file = File::options().write(true).open(index).unwrap();
        let at = polycache_host::layout::header::CLEARS as u64;
        file.write_all_at(&0u64.to_le_bytes(), at).unwrap();
    };
    let dir = tempfile::tempdir().unwrap();
    let store = reopen(dir.path(), 0);
    let (ns, other) = (
        store.namespace(&["n"]).unwrap(),
        store.namespace(&["other"]).unwrap(),
    );
    (0..5).for_each(|_| store.clear(&ns).unwrap());
    forget_clears(store);
    // The floor of the namespace is 5: an entry stored now must be born at or above it.
    let store = reopen(dir.path(), 1);
    store.put(&ns, b"k", &entry("v")).unwrap();
    assert_eq!(get(&store, &ns, b"k").as_deref(), Some("v"));
    for _ in 0..5 {
        store.clear(&other).unwrap();
    }
    store.put(&ns, b"late", &entry("v")).unwrap();
    let floors = dir.path().join("v2/index");
    forget_clears(store);
    // The floors' pages are lost too, but the record was born at 10.
    let file = File::options().write(true).open(floors).unwrap();
    let geometry = polycache_host::layout::Geometry::new(2 << 20).unwrap();
    let floors = vec![0; geometry.descriptors_at - geometry.floors_at];
    file.write_all_at(&floors, geometry.floors_at as u64)
        .unwrap();
    let store = reopen(dir.path(), 2);
    assert_eq!(get(&store, &ns, b"late").as_deref(), Some("v"));
    store.clear(&ns).unwrap();
    assert_eq!(get(&store, &ns, b"late"), None);
}

/// Some containers have their own boot id: their recovery would seal the blocks of live writers.
#[test]
fn another_boot_id_beside_a_live_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    for empty in [false, true] {
        let mut io = Faulty::new(-1, 0);
        io.boot = 1;
        let mut options = with_io(dir.path(), io);
        options.empty_at_boot = empty;
        assert_eq!(Store::open(&options).err().unwrap().code(), "io");
    }
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
    assert_eq!(get(&store, &ns, b"k").as_deref(), Some("v"));
}
