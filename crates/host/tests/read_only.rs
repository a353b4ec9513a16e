//! Caches that can only be read: on a read-only mount, and where the files' rights allow no more.

mod support;

use polycache_host::{Counts, Lease, MemoryHits, Mode, Options, Store};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{entry, get, in_child, small};

/// Offset of the boot id in the index.
const BOOT_ID: u64 = 32;

/// A directory's files by another path, which may only be read, while this lives.
struct ReadOnlyMount(tempfile::TempDir);

impl ReadOnlyMount {
    /// None where the user may not mount one.
    fn of(path: &Path) -> Option<ReadOnlyMount> {
        let at = tempfile::tempdir().unwrap();
        let mount = |options: &[&str]| {
            let mut command = Command::new("mount");
            command.args(options);
            command
        };
        let run = |command: &mut Command| command.output().is_ok_and(|done| done.status.success());
        let bound = run(mount(&["--bind"]).arg(path).arg(at.path()));
        if !bound {
            eprintln!("skipped: a read-only mount needs root");
            return None;
        }
        let mounted = ReadOnlyMount(at);
        assert!(run(mount(&["-o", "remount,ro,bind"]).arg(mounted.path())));
        Some(mounted)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for ReadOnlyMount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// Every file below a directory, with its bytes.
fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

/// A cache with one entry.
fn filled(path: &Path) -> Store {
    let store = Store::open(&small(path)).unwrap();
    let namespace = store.namespace(&["n"]).unwrap();
    store.put(&namespace, b"k", &entry("v")).unwrap();
    store
}

fn refuses_every_write(store: &Store) {
    let namespace = store.namespace(&["n"]).unwrap();
    let mut out = Vec::new();
    let hit = store.get(&namespace, b"k", &mut out).unwrap().unwrap();
    let new = entry("new");
    let refused = [
        store.put(&namespace, b"k", &new).err(),
        store.add(&namespace, b"other", &new).err(),
        store.replace(&namespace, b"k", hit, &new).err(),
        store.remove(&namespace, b"k", hit).err(),
        store.delete(&namespace, b"k").err(),
        store.invalidate_loads(&namespace, b"other").err(),
        store.clear(&namespace).err(),
        store.flush().err(),
        store.check_may_change().err(),
        store.participant().err(),
    ];
    for error in refused {
        let error = error.unwrap();
        assert_eq!((error.code(), error.retryable()), ("read_only", false));
    }
}

/// A handle that only reads shows what the machine counts, and adds nothing to it: it has no cell.
fn counts_for_itself_alone(store: &Store, entries: u64) {
    let namespace = store.namespace(&["n"]).unwrap();
    let before = store.machine_stats().unwrap();
    // More than what is added at once, and what the handle looks around after.
    for _ in 0..5000 {
        get(store, &namespace, b"k").unwrap();
        assert_eq!(get(store, &namespace, b"absent"), None);
    }
    MemoryHits::default().add(store, 9);
    store.add_counts(&Counts {
        hits: 1,
        unstored: 1,
        ..Counts::default()
    });
    store.count_load();
    store.count_failed_load();
    store.count_unstored();
    store.count_wait_timeout();
    store.count_found_later();
    store.look();
    let (own, after) = (store.stats().unwrap(), store.machine_stats().unwrap());
    assert!(own.hits >= 5000 && own.misses >= 4999);
    assert_eq!(after, before);
    assert!(after.processes.is_empty());
    let usage = store.usage(10).unwrap();
    assert_eq!(
        (usage[0].namespace.join("/"), usage[0].entries),
        ("n".into(), entries)
    );
}

#[test]
fn a_read_only_mount_is_read_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()));
    let Some(mount) = ReadOnlyMount::of(dir.path()) else {
        return;
    };
    let before = files(dir.path());
    // The options of a program, also those that no longer matter.
    let mut options = small(mount.path());
    options.limit = Some(4 << 20);
    options.empty_at_boot = true;
    let store = Store::open(&options).unwrap();
    assert!(store.is_read_only());
    let namespace = store.namespace(&["n"]).unwrap();
    assert_eq!(get(&store, &namespace, b"k").as_deref(), Some("v"));
    assert_eq!(get(&store, &namespace, b"other"), None);
    refuses_every_write(&store);
    let said = store.clear(&namespace).unwrap_err().to_string();
    assert!(said.contains("Read-only file system"), "{said}");
    // A load runs for its caller alone.
    let mut out = Vec::new();
    let lease = |key: &[u8], out: &mut Vec<u8>| store.lease(&namespace, key, out).unwrap();
    assert!(matches!(lease(b"k", &mut out), Lease::Hit(_)));
    assert!(matches!(lease(b"other", &mut out), Lease::Bypass));
    assert_eq!(store.check().unwrap().whole, 1);
    counts_for_itself_alone(&store, 1);
    store.close();
    drop(store);
    assert!(files(dir.path()) == before);
}

/// The readers take no participant's lock, and writers recycle blocks beside them.
#[test]
fn a_reader_of_a_read_only_mount_sees_what_others_write() {
    let dir = tempfile::tempdir().unwrap();
    let writer = filled(dir.path());
    let Some(mount) = ReadOnlyMount::of(dir.path()) else {
        return;
    };
    let reader = Store::open(&small(mount.path())).unwrap();
    assert!(reader.is_read_only() && !writer.is_read_only());
    let namespace = writer.namespace(&["n"]).unwrap();
    let long = "x".repeat(1000);
    // Ten times the limit.
    for round in 0..20_000 {
        let value = format!("{round} {long}");
        writer.put(&namespace, b"k", &entry(&value)).unwrap();
        assert_eq!(get(&reader, &namespace, b"k"), Some(value));
    }
    assert!(writer.stats().unwrap().blocks_claimed > 200);
    writer.clear(&namespace).unwrap();
    assert_eq!(get(&reader, &namespace, b"k"), None);
}

#[test]
fn without_a_whole_cache_a_read_only_mount_is_the_system_s_answer() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mount) = ReadOnlyMount::of(dir.path()) else {
        return;
    };
    for path in [mount.path().to_owned(), mount.path().join("missing")] {
        let error = Store::open(&small(&path)).err().unwrap();
        assert_eq!(error.code(), "io");
        let said = error.to_string();
        assert!(said.contains("Read-only file system"), "{said}");
    }
    drop(filled(dir.path()));
    fs::write(dir.path().join("v2/index"), "").unwrap();
    assert_eq!(
        Store::open(&small(mount.path())).err().unwrap().code(),
        "io"
    );
}

/// A user that owns the files and may not write to them; root always may.
#[test]
fn files_that_may_only_be_read_are_read() {
    // SAFETY: geteuid takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: becoming another user needs root");
        return;
    }
    const USER: u32 = 61_011;
    for closed in ["index", "participants", "blocks/0000"] {
        let dir = tempfile::tempdir().unwrap();
        drop(filled(dir.path()));
        for name in ["", "index", "participants", "blocks", "blocks/0000"] {
            let path = dir.path().join("v2").join(name);
            std::os::unix::fs::chown(path, Some(USER), Some(USER)).unwrap();
        }
        std::os::unix::fs::chown(dir.path(), Some(USER), Some(USER)).unwrap();
        let file = dir.path().join("v2").join(closed);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
        let before = files(dir.path());
        // SAFETY: the child runs the work and leaves without the parent's destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let work = || {
                // SAFETY: the arguments are plain integers.
                assert_eq!(unsafe { libc::setgid(USER) | libc::setuid(USER) }, 0);
                let store = Store::open(&small(dir.path())).unwrap();
                assert!(store.is_read_only());
                refuses_every_write(&store);
                // The command says what is in its way instead.
                let mut options = small(dir.path());
                options.mode = Mode::Existing;
                assert_eq!(Store::open(&options).err().unwrap().code(), "io");
            };
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
            // SAFETY: nothing of the parent's is ended.
            unsafe { libc::_exit(i32::from(!done)) };
        }
        let mut status = 0;
        // SAFETY: `status` is a valid place for the answer.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "{closed}");
        assert!(files(dir.path()) == before);
    }
}

/// Simulates a restart of the machine.
fn reboot(path: &Path) {
    let index = fs::File::options()
        .read(true)
        .write(true)
        .open(path.join("v2/index"))
        .unwrap();
    let mut first = [0];
    index.read_exact_at(&mut first, BOOT_ID).unwrap();
    index.write_all_at(&[!first[0]], BOOT_ID).unwrap();
}

fn to_read(path: &Path) -> Options {
    let mut options = Options::new(path);
    options.mode = Mode::Read;
    options
}

/// The reader's index is a copy of its own by then: it must not serve what others have changed since.
#[test]
fn a_recovered_copy_ends_when_others_recover_the_files() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()));
    reboot(dir.path());
    let reader = Store::open(&to_read(dir.path())).unwrap();
    let namespace = reader.namespace(&["n"]).unwrap();
    let mut out = Vec::new();
    let hit = reader.get(&namespace, b"k", &mut out).unwrap().unwrap();
    assert!(reader.stands(hit));
    // A second reader is in nobody's way.
    let second = Store::open(&to_read(dir.path())).unwrap();
    let seconds = second.namespace(&["n"]).unwrap();
    assert_eq!(get(&second, &seconds, b"k").as_deref(), Some("v"));
    assert!(reader.stands(hit));

    let writer = Store::open(&small(dir.path())).unwrap();
    let writers = writer.namespace(&["n"]).unwrap();
    assert_eq!(get(&writer, &writers, b"k").as_deref(), Some("v"));
    assert!(writer.delete(&writers, b"k").unwrap());
    // What a memory tier asks before it serves its object.
    assert!(!reader.stands(hit));
    out.clear();
    let error = reader.get(&namespace, b"k", &mut out).unwrap_err();
    assert_eq!((error.code(), out.len()), ("io", 0));
    assert!(error.to_string().contains("open the cache again"));
    // Another namespace, whose floor the reader never looked up.
    let other = second.namespace(&["n"]).unwrap();
    assert_eq!(second.get(&other, b"k", &mut out).unwrap_err().code(), "io");
    let again = Store::open(&to_read(dir.path())).unwrap();
    let again_namespace = again.namespace(&["n"]).unwrap();
    assert_eq!(get(&again, &again_namespace, b"k"), None);
}

/// Recovery takes damaged entries out, so the copy's pages are the reader's own, and show no change of others.
#[test]
fn no_page_of_a_recovered_copy_shows_what_was_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    let namespace = store.namespace(&["n"]).unwrap();
    let key = |number: u32| number.to_le_bytes();
    for number in 0..1000 {
        let value = entry(&format!("value {number:04}"));
        store.put(&namespace, &key(number), &value).unwrap();
    }
    drop(store);
    let blocks = dir.path().join("v2/blocks/0000");
    let mut bytes = fs::read(&blocks).unwrap();
    for number in (1..1000).step_by(2) {
        let text = format!("value {number:04}");
        let at = bytes.windows(10).position(|part| part == text.as_bytes());
        bytes[at.unwrap()] = b'w';
    }
    let file = fs::File::options().write(true).open(&blocks).unwrap();
    file.write_all_at(&bytes, 0).unwrap();
    reboot(dir.path());
    let reader = Store::open(&to_read(dir.path())).unwrap();
    let theirs = reader.namespace(&["n"]).unwrap();
    for number in 0..1000 {
        let value = get(&reader, &theirs, &key(number));
        assert_eq!(value.is_some(), number % 2 == 0, "{number}");
    }
    let writer = Store::open(&small(dir.path())).unwrap();
    let namespace = writer.namespace(&["n"]).unwrap();
    for number in (0..1000).step_by(2) {
        assert!(writer.delete(&namespace, &key(number)).unwrap());
    }
    for number in 0..1000 {
        let mut out = Vec::new();
        let error = reader.get(&theirs, &key(number), &mut out).unwrap_err();
        assert_eq!((error.code(), out.len()), ("io", 0), "{number}");
    }
}

/// Whoever may write removes a damaged large value. In a recovered copy the page with the counters shows the file.
#[test]
fn a_damaged_large_value_is_missed_in_a_recovered_copy() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    let namespace = store.namespace(&["n"]).unwrap();
    let large = "x".repeat(200 << 10);
    store.put(&namespace, b"large", &entry(&large)).unwrap();
    drop(store);
    reboot(dir.path());
    let reader = Store::open(&to_read(dir.path())).unwrap();
    assert!(get(&reader, &namespace, b"large") == Some(large));
    counts_for_itself_alone(&reader, 2);

    let blocks = dir.path().join("v2/blocks/0000");
    let file = fs::File::options().read(true).write(true).open(blocks);
    let file = file.unwrap();
    let mut chunks = 0;
    for block in 0.. {
        let mut header = [0; 8];
        let at = block * (64 << 10);
        if file.read_exact_at(&mut header, at).is_err() {
            break;
        }
        // The flags of a chunk.
        if header[7] == 2 {
            file.write_all_at(&[0; 8], at).unwrap();
            chunks += 1;
        }
    }
    assert!(chunks > 1);
    let before = files(dir.path());
    assert_eq!(get(&reader, &namespace, b"large"), None);
    assert_eq!(get(&reader, &namespace, b"k").as_deref(), Some("v"));
    drop(reader);
    assert!(files(dir.path()) == before);
}

/// It takes no lock, and asks for those of the others; so does its forked child.
#[test]
fn a_reader_knows_which_holders_of_a_lock_live() {
    let dir = tempfile::tempdir().unwrap();
    let holder = filled(dir.path());
    let reader = Store::open(&to_read(dir.path())).unwrap();
    let namespace = holder.namespace(&["n"]).unwrap();
    let is_leased = |key: &[u8]| reader.is_leased(&namespace, key).unwrap();
    let take = |key: &[u8]| {
        let lease = holder.lease(&namespace, key, &mut Vec::new()).unwrap();
        assert!(matches!(lease, Lease::Acquired(_)));
    };
    assert!(!is_leased(b"free"));
    take(b"held");
    let status = in_child(|| {
        take(b"killed");
        assert!(is_leased(b"held") && is_leased(b"killed"));
        // SAFETY: the signal ends this process.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    });
    assert_eq!(status & 0x7f, libc::SIGKILL);
    assert!(is_leased(b"held") && !is_leased(b"killed"));
    holder.close();
    assert!(!is_leased(b"held"));
}

/// What a walk over an index finds that others have changed since is not told.
#[test]
fn a_recovered_copy_that_is_out_of_date_is_not_walked() {
    let walks: [fn(&Store) -> Option<polycache_host::Error>; 6] = [
        |store| store.stats().err(),
        |store| store.machine_stats().err(),
        |store| store.usage(10).err(),
        |store| store.check().err(),
        |store| store.full_keys(0, u64::MAX, &mut Vec::new()).err(),
        |store| {
            let namespace = store.namespace(&["n"]).unwrap();
            store
                .keys(&namespace, b"", 0, u64::MAX, &mut Vec::new())
                .err()
        },
    ];
    for walk in walks {
        let dir = tempfile::tempdir().unwrap();
        drop(filled(dir.path()));
        reboot(dir.path());
        let reader = Store::open(&to_read(dir.path())).unwrap();
        assert!(walk(&reader).is_none());
        let writer = Store::open(&small(dir.path())).unwrap();
        drop(writer);
        assert_eq!(walk(&reader).unwrap().code(), "io");
    }
}
