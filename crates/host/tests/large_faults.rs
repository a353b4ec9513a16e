//! Values larger than a block on a full disk, after a reboot, and with damage (`spec/host.md`, "Large values").

mod support;

use polycache_host::{Mode, Store};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicI64;
use support::faulty::{with_io, Faulty};
use support::large::{open, undamaged, value, MIB};
use support::{entry, get, small};

/// Blocks of a directory on a disk that has room for so many of them.
fn on_disk_of(path: &Path, blocks: i64) -> Store {
    let mut io = Faulty::new(-1, 0);
    // The first level of the index takes four.
    io.disk = AtomicI64::new(4 + blocks);
    Store::open(&with_io(path, io)).unwrap()
}

#[test]
fn a_full_disk_refuses_a_large_value_before_anything_else_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let store = on_disk_of(dir.path(), 4);
    let ns = store.namespace(&["n"]).unwrap();
    let block = 65_536;
    for key in 0..3 {
        store
            .put(&ns, &[key], &entry(&value(1, block * 2 / 3)))
            .unwrap();
    }
    store.put(&ns, b"k", &entry("old")).unwrap();
    for _ in 0..2 {
        let error = store
            .put(&ns, b"k", &entry(&value(2, block * 2)))
            .unwrap_err();
        assert_eq!(error.code(), "no_space");
        assert_eq!(get(&store, &ns, b"k"), None);
        assert!((0..3).all(|key| get(&store, &ns, &[key]).is_some()));
    }
    let stats = store.stats().unwrap();
    assert_eq!((stats.evicted_by_age, stats.evicted_by_failed_put), (0, 2));
    undamaged(&store);
}

#[test]
fn a_full_disk_with_enough_blocks_cleans_them_for_a_large_value() {
    let dir = tempfile::tempdir().unwrap();
    let store = on_disk_of(dir.path(), 12);
    let ns = store.namespace(&["n"]).unwrap();
    let block = 65_536;
    for round in 0..40 {
        let value = value(round, block * 5 / 2);
        store.put(&ns, &[round as u8 % 5], &entry(&value)).unwrap();
        assert!(get(&store, &ns, &[round as u8 % 5]) == Some(value));
    }
    assert!(store.stats().unwrap().evicted_by_age > 0);
    undamaged(&store);
}

/// The values before it are gone, so nothing that lives has to go for the next one.
#[test]
fn a_large_value_is_overwritten_on_a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    // Two values of three blocks, the one that is replaced among them, and two more.
    let store = on_disk_of(dir.path(), 8);
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"small", &entry("small")).unwrap();
    for round in 0..10 {
        let value = value(round, 180_000);
        store.put(&ns, b"k", &entry(&value)).unwrap();
        assert!(get(&store, &ns, b"k") == Some(value));
    }
    assert_eq!(get(&store, &ns, b"small").as_deref(), Some("small"));
    let stats = store.stats().unwrap();
    assert_eq!((stats.evicted_by_age, stats.evicted_by_failed_put), (0, 0));
    undamaged(&store);
}

fn reboot(path: &Path, boot: u8) -> Store {
    let mut io = Faulty::new(-1, 0);
    io.boot = boot;
    Store::open(&with_io(path, io)).unwrap()
}

#[test]
fn a_reboot_keeps_whole_values_and_frees_the_blocks_of_others() {
    let dir = tempfile::tempdir().unwrap();
    let store = reboot(dir.path(), 0);
    let ns = store.namespace(&["n"]).unwrap();
    let len = 180_000;
    for key in 0..5 {
        store
            .put(&ns, &[key], &entry(&value(u64::from(key), len)))
            .unwrap();
    }
    store.put(&ns, b"small", &entry("small")).unwrap();
    store.delete(&ns, &[0]).unwrap();
    store.flush().unwrap();
    drop(store);
    let store = reboot(dir.path(), 1);
    for key in 1..5 {
        assert!(
            get(&store, &ns, &[key]) == Some(value(u64::from(key), len)),
            "{key}"
        );
    }
    assert_eq!(get(&store, &ns, &[0]), None);
    assert_eq!(get(&store, &ns, b"small").as_deref(), Some("small"));
    undamaged(&store);
    drop(store);

    // Pages in the middle of two values never reached the disk.
    let file = File::options()
        .write(true)
        .open(dir.path().join("v2/blocks/0000"))
        .unwrap();
    for block in 4..7u64 {
        file.write_all_at(&[0; 4096], block * 65_536 + 8_192)
            .unwrap();
    }
    let store = reboot(dir.path(), 2);
    let left = (1..5)
        .filter(|key| get(&store, &ns, &[*key]).is_some())
        .count();
    assert!((1..4).contains(&left), "{left}");
    undamaged(&store);
    for key in 10..14 {
        store.put(&ns, &[key], &entry(&value(9, len))).unwrap();
    }
    assert!((10..14).all(|key| get(&store, &ns, &[key]).is_some()));
    undamaged(&store);
}

#[test]
fn a_reader_of_a_directory_reads_large_values_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 2 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry(&value(1, 200_000))).unwrap();
    store
        .put(&ns, b"broken", &entry(&value(2, 200_000)))
        .unwrap();
    let mut options = small(dir.path());
    options.mode = Mode::Read;
    let reader = Store::open(&options).unwrap();
    assert!(get(&reader, &ns, b"k") == Some(value(1, 200_000)));
    let file = File::options()
        .write(true)
        .open(dir.path().join("v2/blocks/0000"))
        .unwrap();
    // Values of four blocks each: this is a chunk of the second one.
    file.write_all_at(&[0; 32], 6 * 65_536).unwrap();
    assert_eq!(get(&reader, &ns, b"broken"), None);
    assert_eq!(reader.check().unwrap().damaged.len(), 1);
    assert_eq!(reader.stats().unwrap().entries, 2);
    // A handle that writes removes it.
    assert_eq!(get(&store, &ns, b"broken"), None);
    assert_eq!(reader.stats().unwrap().entries, 1);
    undamaged(&store);
}

#[test]
fn check_finds_damage_in_every_part_of_a_large_value() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 2 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry(&value(1, 200_000))).unwrap();
    assert_eq!(store.check().unwrap().whole, 1);
    let path = dir.path().join("v2/blocks/0000");
    let file = File::options().read(true).write(true).open(path).unwrap();
    let block = 65_536;
    let head = [0, 4, 7, 8, 12, 16, 24, 33, 60, 1_000, block - 1_000];
    let list = [block - 48, block - 40, block - 8];
    let chunks = [
        block,
        block + 4,
        block + 7,
        block + 8,
        block + 12,
        block + 16,
        block + 24,
    ];
    let bytes = [block + 32, 2 * block - 1, 2 * block + 500, 3 * block + 40];
    for at in [&head[..], &list, &chunks, &bytes].concat() {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
        assert_eq!(store.check().unwrap().damaged.len(), 1, "byte {at}");
        file.write_all_at(&byte, at).unwrap();
    }
    undamaged(&store);
}
