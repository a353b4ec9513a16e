//! The index grows with its entries: by levels, each with its own pages on the disk (`spec/host.md`, "Levels").

mod support;

use polycache_host::layout::{header, Geometry};
use polycache_host::{Mode, Namespace, Options, Store};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::faulty::{with_io, Faulty};
use support::{entry, get};

const MIB: u64 = 1 << 20;
/// Enough for the second level, of a limit that has three.
const MANY: u32 = 30_000;

fn open(path: &Path, limit: u64) -> Store {
    let mut options = Options::new(path);
    options.limit = Some(limit);
    Store::open(&options).unwrap()
}

/// Opens it as after a reboot.
fn reboot(path: &Path, boot: u8) -> Store {
    let mut io = Faulty::new(-1, 0);
    io.boot = boot;
    let mut options = with_io(path, io);
    options.limit = None;
    Store::open(&options).unwrap()
}

fn fill(store: &Store, ns: &Namespace, keys: std::ops::Range<u32>) {
    let value = entry("v");
    for key in keys {
        store.put(ns, &key.to_le_bytes(), &value).unwrap();
    }
}

fn there(store: &Store, ns: &Namespace, keys: std::ops::Range<u32>) -> usize {
    keys.filter(|key| get(store, ns, &key.to_le_bytes()).is_some())
        .count()
}

fn index_of(store: &Store) -> File {
    let path = store.path().join("index");
    File::options().read(true).write(true).open(path).unwrap()
}

/// Bytes of disk space that a file or a folder takes.
fn disk_space(path: &Path) -> u64 {
    let own = path.metadata().unwrap().blocks() * 512;
    let Ok(inside) = path.read_dir() else {
        return own;
    };
    own + inside
        .map(|file| disk_space(&file.unwrap().path()))
        .sum::<u64>()
}

fn levels(store: &Store) -> usize {
    let geometry = Geometry::new(store.stats().unwrap().limit).unwrap();
    let mut epoch = [0; 8];
    let at = header::EPOCH as u64;
    index_of(store).read_exact_at(&mut epoch, at).unwrap();
    geometry.levels_at(u64::from_le_bytes(epoch))
}

#[test]
fn an_empty_cache_takes_less_than_a_mebibyte() {
    for limit in [2 * MIB, 256 * MIB, 64 << 30] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path(), limit);
        let space = disk_space(dir.path());
        assert!(space < MIB, "{space} bytes with a limit of {limit}");
        assert!(store.stats().unwrap().bytes <= space);
    }
}

/// The pages of open levels are on the disk, and no others: an access to one that is not may be a SIGBUS.
#[test]
fn the_index_takes_the_space_of_its_open_levels() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 256 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    let geometry = Geometry::new(256 * MIB).unwrap();
    for (keys, open) in [(0..1_000, 1), (1_000..MANY, 2), (MANY..550_000, 3)] {
        fill(&store, &ns, keys);
        assert_eq!(levels(&store), open);
        let (bytes, index) = (geometry.index_bytes(open), index_of(&store));
        let on_disk = index.metadata().unwrap().blocks() * 512;
        assert!(on_disk >= bytes, "{on_disk} of {bytes} bytes");
        assert!(on_disk < bytes + (64 << 10), "{on_disk} for {bytes} bytes");
        assert_eq!(index.metadata().unwrap().len(), geometry.index_end(open));
    }
    let stats = store.stats().unwrap();
    assert_eq!((stats.entries, stats.evicted_by_conflict), (550_000, 0));
}

#[test]
fn handles_that_were_open_before_see_what_is_in_a_new_level() {
    let dir = tempfile::tempdir().unwrap();
    let early = open(dir.path(), 256 * MIB);
    let mut reading = Options::new(dir.path());
    reading.mode = Mode::Read;
    let reader = Store::open(&reading).unwrap();
    let writer = open(dir.path(), 256 * MIB);
    let ns = writer.namespace(&["n"]).unwrap();
    fill(&writer, &ns, 0..MANY);
    for store in [&early, &reader] {
        assert_eq!(there(store, &ns, 0..MANY), MANY as usize);
        let mut keys = Vec::new();
        assert_eq!(store.keys(&ns, b"", 0, u64::MAX, &mut keys).unwrap(), None);
        assert_eq!(keys.len(), MANY as usize);
        assert_eq!(store.stats().unwrap().entries, u64::from(MANY));
        assert_eq!(store.check().unwrap().whole, u64::from(MANY));
    }
    for key in 0..MANY {
        assert!(early.delete(&ns, &key.to_le_bytes()).unwrap());
    }
    assert_eq!(there(&writer, &ns, 0..MANY), 0);
}

/// It opens one after the other has asked for the length of the index, and another one if that one looks again.
#[test]
fn a_writer_opens_a_level_while_another_process_opens_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path(), 256 * MIB);
    let ns = writer.namespace(&["n"]).unwrap();
    let mut io = Faulty::new(-1, 0);
    let (writing, its) = (writer.clone(), writer.namespace(&["n"]).unwrap());
    let keys = [0..MANY, MANY..550_000];
    let looks = AtomicUsize::new(0);
    let fill_it = move || {
        let look = looks.fetch_add(1, Ordering::SeqCst);
        keys.get(look)
            .into_iter()
            .for_each(|keys| fill(&writing, &its, keys.clone()));
    };
    io.meanwhile = Some(("boot_id", Box::new(fill_it)));
    let mut options = with_io(dir.path(), io);
    (options.mode, options.limit) = (Mode::Existing, None);
    let store = Store::open(&options).unwrap();
    assert_eq!(
        (levels(&store), there(&store, &ns, 0..MANY)),
        (2, MANY as usize)
    );
}

/// A hit of a store with more levels names a slot that this one has no pages for.
#[test]
fn a_hit_of_another_store_is_refused() {
    let (large, small) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (large, small) = (open(large.path(), 256 * MIB), open(small.path(), 256 * MIB));
    let ns = large.namespace(&["n"]).unwrap();
    fill(&large, &ns, 0..MANY);
    let mut out = Vec::new();
    let last = (MANY - 1).to_le_bytes();
    let hit = large.get(&ns, &last, &mut out).unwrap().unwrap();
    let geometry = Geometry::new(256 * MIB).unwrap();
    assert!(hit.slot >= geometry.slots_in(1));
    let other = small.namespace(&["n"]).unwrap();
    assert!(!small.stands(hit) && !small.lease_stands(hit.slot, hit.word));
    small.mark_visited(hit);
    assert!(!small.remove(&other, &last, hit).unwrap());
    assert!(!small.replace(&other, &last, hit, &out).unwrap());
}

/// The first bucket to the brim and then the second one would open a level at a load of 0.4.
#[test]
fn no_level_opens_before_the_one_before_it_is_half_full() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 256 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    let slots = Geometry::new(256 * MIB).unwrap().slots_in(1) as u32;
    let first = (0..slots).find(|key| {
        fill(&store, &ns, *key..key + 1);
        levels(&store) > 1
    });
    assert!(first.unwrap() > slots / 2, "{first:?} of {slots}");
}

/// Keys that compete for a full bucket take what is not marked as read, in the old level as in the new one.
#[test]
fn entries_of_the_first_level_keep_their_marks() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 8 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    let (hot, cold) = (0..100, 100..200);
    fill(&store, &ns, 0..200);
    for key in 200..100_200u32 {
        fill(&store, &ns, key..key + 1);
        if key % 64 == 0 {
            there(&store, &ns, hot.clone());
        }
    }
    let stats = store.stats().unwrap();
    assert_eq!((levels(&store), stats.evicted_by_age), (2, 0));
    assert!(stats.evicted_by_conflict > 10_000);
    assert!(there(&store, &ns, hot) > 60 && there(&store, &ns, cold) < 50);
}

/// The page with the number of levels is older than the pages of the newest level: its entries are found.
#[test]
fn levels_that_the_epoch_forgot_are_opened_by_recovery() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path(), 256 * MIB));
    let store = reboot(dir.path(), 1);
    let ns = store.namespace(&["n"]).unwrap();
    fill(&store, &ns, 0..MANY);
    assert_eq!(levels(&store), 2);
    let index = index_of(&store);
    drop(store);
    index.write_all_at(&[0; 8], header::EPOCH as u64).unwrap();
    let store = reboot(dir.path(), 2);
    assert_eq!(levels(&store), 2);
    assert_eq!(there(&store, &ns, 0..MANY), MANY as usize);
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
}

/// The number of levels reached the disk, and the length of the file did not.
#[test]
fn levels_whose_pages_are_lost_are_not_open_after_recovery() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 256 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    fill(&store, &ns, 0..MANY);
    let end = Geometry::new(256 * MIB).unwrap().index_end(1);
    let index = index_of(&store);
    drop(store);
    index.set_len(end).unwrap();
    let mut existing = Options::new(dir.path());
    existing.mode = Mode::Existing;
    assert_eq!(Store::open(&existing).err().unwrap().code(), "damaged");
    let store = reboot(dir.path(), 1);
    assert_eq!(levels(&store), 1);
    let kept = there(&store, &ns, 0..MANY);
    assert!(kept > 1_000 && kept <= 8 * 4096, "{kept}");
    fill(&store, &ns, 0..MANY);
    assert_eq!(there(&store, &ns, 0..MANY), MANY as usize);
}

/// Between the level's pages and its opening.
#[test]
fn a_file_that_a_killed_opener_left_longer_is_a_whole_cache() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 256 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    fill(&store, &ns, 0..100);
    let end = Geometry::new(256 * MIB).unwrap().index_end(2);
    let index = index_of(&store);
    drop(store);
    index.set_len(end).unwrap();
    let store = open(dir.path(), 256 * MIB);
    assert_eq!((levels(&store), there(&store, &ns, 0..100)), (1, 100));
    fill(&store, &ns, 0..MANY);
    assert_eq!(there(&store, &ns, 0..MANY), MANY as usize);
}
