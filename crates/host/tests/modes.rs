//! What opening may do to a directory: [`Mode::Existing`] creates none, [`Mode::Read`] changes no byte.

mod support;

use polycache_host::{Lease, Mode, Options, Store};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use support::{entry, get, small};

/// Offset of the boot id in the index.
const BOOT_ID: u64 = 32;
const ENTRIES: u32 = 1000;

fn mode(path: &Path, mode: Mode) -> Options {
    let mut options = Options::new(path);
    options.mode = mode;
    options
}

fn code(path: &Path, how: Mode) -> &'static str {
    Store::open(&mode(path, how)).err().unwrap().code()
}

/// A cache with a thousand entries, closed again.
fn filled(path: &Path) {
    fill(&Store::open(&small(path)).unwrap());
}

fn fill(store: &Store) {
    let namespace = store.namespace(&["n"]).unwrap();
    for key in 0..ENTRIES {
        let value = entry(&format!("value {key}"));
        store.put(&namespace, &key.to_le_bytes(), &value).unwrap();
    }
}

/// How many of the entries are served, each with its value.
fn served(store: &Store) -> u32 {
    let namespace = store.namespace(&["n"]).unwrap();
    let mut served = 0;
    for key in 0..ENTRIES {
        if let Some(value) = get(store, &namespace, &key.to_le_bytes()) {
            assert_eq!(value, format!("value {key}"));
            served += 1;
        }
    }
    served
}

/// Every file below a directory, with its bytes.
fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() {
            found.insert(entry.clone(), Vec::new());
            found.append(&mut files(&entry));
        } else {
            found.insert(entry.clone(), fs::read(&entry).unwrap());
        }
    }
    found
}

fn index(path: &Path) -> fs::File {
    fs::File::options()
        .read(true)
        .write(true)
        .open(path.join("v2/index"))
        .unwrap()
}

/// Simulates a restart of the machine.
fn reboot(path: &Path) {
    let mut first = [0];
    index(path).read_exact_at(&mut first, BOOT_ID).unwrap();
    index(path).write_all_at(&[!first[0]], BOOT_ID).unwrap();
}

#[test]
fn a_cache_is_made_by_no_other_mode() {
    for how in [Mode::Existing, Mode::Read] {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("missing");
        assert_eq!(code(&missing, how), "no_cache");
        assert_eq!(code(dir.path(), how), "no_cache");
        // A creation that was interrupted before the index appeared.
        fs::create_dir_all(dir.path().join("v2/blocks")).unwrap();
        assert_eq!(code(dir.path(), how), "no_cache");
        fs::write(dir.path().join("v2/participants"), "").unwrap();
        assert_eq!(code(dir.path(), how), "no_cache");
        assert_eq!(files(dir.path()).len(), 3);
    }
}

#[test]
fn a_reader_changes_no_byte_and_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let before = files(dir.path());
    let store = Store::open(&mode(dir.path(), Mode::Read)).unwrap();
    assert_eq!(served(&store), ENTRIES);
    assert_eq!(store.stats().unwrap().entries, u64::from(ENTRIES));
    assert_eq!(store.check().unwrap().whole, u64::from(ENTRIES));
    let namespace = store.namespace(&["n"]).unwrap();
    let key = 7u32.to_le_bytes();
    let lease = store.lease(&namespace, b"none", &mut Vec::new());
    assert!(matches!(lease, Ok(Lease::Bypass)));
    let refused = [
        store.put(&namespace, &key, &entry("new")).err(),
        store.delete(&namespace, &key).err(),
        store.clear(&namespace).err(),
        store.flush().err(),
        store.participant().err(),
    ];
    for error in refused {
        assert_eq!(error.unwrap().code(), "read_only");
    }
    store.close();
    drop(store);
    assert!(files(dir.path()) == before);
}

#[test]
fn a_reader_sees_what_others_write() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let reader = Store::open(&mode(dir.path(), Mode::Read)).unwrap();
    let writer = Store::open(&small(dir.path())).unwrap();
    let namespace = writer.namespace(&["n"]).unwrap();
    for round in 0..100 {
        let value = format!("round {round}");
        writer.put(&namespace, b"k", &entry(&value)).unwrap();
        assert_eq!(get(&reader, &namespace, b"k"), Some(value));
    }
    writer.clear(&namespace).unwrap();
    assert_eq!(get(&reader, &namespace, b"k"), None);
}

#[test]
fn readers_are_not_in_each_others_way_and_take_no_participant() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    // More than the number of participants.
    for _ in 0..5000 {
        let store = Store::open(&mode(dir.path(), Mode::Read)).unwrap();
        drop(store);
    }
    assert_eq!(served(&Store::open(&small(dir.path())).unwrap()), ENTRIES);
}

/// The answer about a directory, and what happened to its files.
type Harm = (&'static str, fn(&Path));

#[test]
fn what_is_no_whole_cache_is_said_and_left_alone() {
    let harms: [Harm; 8] = [
        ("has 100 bytes", |path| {
            index(path).set_len(100).unwrap();
        }),
        ("has 8192 bytes, and should have", |path| {
            index(path).set_len(8192).unwrap();
        }),
        ("its index is empty", |path| {
            fs::write(path.join("v2/index"), "").unwrap();
        }),
        ("a limit of 7 bytes", |path| {
            index(path).write_all_at(&7u64.to_le_bytes(), 16).unwrap();
        }),
        ("blocks/0000 is missing", |path| {
            fs::remove_file(path.join("v2/blocks/0000")).unwrap();
        }),
        ("blocks/0000 has 3 bytes", |path| {
            fs::write(path.join("v2/blocks/0000"), "abc").unwrap();
        }),
        ("participants is missing", |path| {
            fs::remove_file(path.join("v2/participants")).unwrap();
        }),
        ("participants is another one", |path| {
            fs::rename(path.join("v2/participants"), path.join("v2/old")).unwrap();
            fs::write(path.join("v2/participants"), "").unwrap();
        }),
    ];
    for how in [Mode::Existing, Mode::Read] {
        for (said, harm) in harms {
            let dir = tempfile::tempdir().unwrap();
            filled(dir.path());
            harm(dir.path());
            let before = files(dir.path());
            let error = Store::open(&mode(dir.path(), how)).err().unwrap();
            assert_eq!(error.code(), "damaged", "{error}");
            assert!(error.to_string().contains(said), "{error}");
            assert!(files(dir.path()) == before, "{said}");
            // A program continues as usual: mostly with a new cache.
            assert!(Store::open(&small(dir.path())).is_ok());
        }
    }
}

#[test]
fn a_cache_of_an_earlier_boot_is_read_as_it_stands() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    reboot(dir.path());
    let before = files(dir.path());
    let store = Store::open(&mode(dir.path(), Mode::Read)).unwrap();
    assert_eq!(served(&store), ENTRIES);
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
    drop(store);
    assert!(files(dir.path()) == before);
    // A handle that changes entries recovers the cache for good.
    let store = Store::open(&mode(dir.path(), Mode::Existing)).unwrap();
    assert_eq!(served(&store), ENTRIES);
    let namespace = store.namespace(&["n"]).unwrap();
    store.delete(&namespace, &0u32.to_le_bytes()).unwrap();
    drop(store);
    assert_eq!(
        served(&Store::open(&small(dir.path())).unwrap()),
        ENTRIES - 1
    );
}

#[test]
fn a_damaged_entry_of_an_earlier_boot_is_not_served() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let place = |bytes: &[u8]| bytes.windows(9).position(|part| part == b"value 500");
    let blocks = dir.path().join("v2/blocks/0000");
    let at = place(&fs::read(&blocks).unwrap()).unwrap();
    let file = fs::File::options().write(true).open(&blocks).unwrap();
    file.write_all_at(b"w", at as u64).unwrap();
    reboot(dir.path());
    let store = Store::open(&mode(dir.path(), Mode::Read)).unwrap();
    assert_eq!(served(&store), ENTRIES - 1);
}

/// The command opens with these modes, beside programs that empty the cache at boot.
#[test]
fn only_a_program_empties_a_cache_at_boot() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = small(dir.path());
    options.empty_at_boot = true;
    fill(&Store::open(&options).unwrap());
    reboot(dir.path());
    for how in [Mode::Read, Mode::Existing] {
        let mut options = mode(dir.path(), how);
        options.empty_at_boot = true;
        assert_eq!(served(&Store::open(&options).unwrap()), ENTRIES);
    }
    reboot(dir.path());
    let mut options = small(dir.path());
    options.empty_at_boot = true;
    assert_eq!(served(&Store::open(&options).unwrap()), 0);
}

/// Containers may have boot ids of their own: writers with another one live beside the reader.
#[test]
fn a_reader_of_another_boot_id_sees_what_living_writers_write() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let writer = Store::open(&small(dir.path())).unwrap();
    reboot(dir.path());
    let reader = Store::open(&mode(dir.path(), Mode::Read)).unwrap();
    assert_eq!(served(&reader), ENTRIES);
    let namespace = writer.namespace(&["n"]).unwrap();
    writer.put(&namespace, b"k", &entry("new")).unwrap();
    assert_eq!(get(&reader, &namespace, b"k").as_deref(), Some("new"));
    assert_eq!(code(dir.path(), Mode::Existing), "damaged");
}
