//! Handles whose files were removed, replaced or copied while they were open, and openers that meet a stopped
//! process.

mod support;

use polycache_host::{Clock, Error, Mode, Namespace, Options, Store};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use support::faulty::{with_io, Faulty};
use support::{entry, get, small};

fn open(path: &Path) -> (Store, Namespace) {
    let store = Store::open(&small(path)).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    (store, ns)
}

/// Calls until one says that the directory was replaced; how many succeeded.
fn calls_until_told(mut call: impl FnMut() -> Result<(), Error>) -> u32 {
    for calls in 0..100_000 {
        if let Err(error) = call() {
            assert_eq!(error.code(), "io");
            assert!(
                error.to_string().contains("open the cache again"),
                "{error}"
            );
            return calls;
        }
    }
    panic!("never told")
}

type Harm = (&'static str, fn(&Path));

/// What can happen to a directory under use. After each the next process makes a new cache.
const HARMS: [Harm; 5] = [
    ("removed", |path| {
        fs::remove_dir_all(path.join("v2")).unwrap()
    }),
    ("moved away", |path| {
        fs::rename(path.join("v2"), path.join("old")).unwrap();
    }),
    ("without index", |path| {
        fs::remove_file(path.join("v2/index")).unwrap();
    }),
    ("without a file of blocks", |path| {
        fs::remove_file(path.join("v2/blocks/0000")).unwrap();
    }),
    ("without participants", |path| {
        fs::remove_file(path.join("v2/participants")).unwrap();
    }),
];

#[test]
fn a_new_cache_is_made_and_every_handle_on_the_old_one_is_told() {
    for (what, harm) in HARMS {
        let dir = tempfile::tempdir().unwrap();
        let (reader, ns) = open(dir.path());
        let (writer, _) = open(dir.path());
        let (misser, _) = open(dir.path());
        writer.put(&ns, b"k", &entry("old")).unwrap();
        harm(dir.path());
        let (new, new_ns) = open(dir.path());
        new.put(&new_ns, b"k", &entry("new")).unwrap();
        let writes = calls_until_told(|| writer.put(&ns, b"other", &entry("old")));
        assert!(writes <= 1024, "{what}: {writes}");
        // Who makes the new cache tells the users of the old one, where it has an index.
        let told = ["without a file of blocks", "without participants"].contains(&what);
        assert!(!told || writes == 0, "{what}: {writes}");
        // One handle that noticed has told the others: no read serves what may be old.
        let read = reader.get(&ns, b"k", &mut Vec::new());
        assert_eq!(read.unwrap_err().code(), "io", "{what}");
        assert_eq!(misser.clear(&ns).unwrap_err().code(), "io", "{what}");
        assert_eq!(get(&new, &new_ns, b"k").as_deref(), Some("new"), "{what}");
        // Another process sees the new one, too.
        assert_eq!(
            get(&open(dir.path()).0, &new_ns, b"k").as_deref(),
            Some("new")
        );
    }
}

/// A deploy switches a link above the path. The old processes go on with the cache that they opened.
#[test]
fn a_link_above_the_path_is_switched() {
    let dir = tempfile::tempdir().unwrap();
    for release in ["a", "b"] {
        fs::create_dir(dir.path().join(release)).unwrap();
    }
    let current = dir.path().join("current");
    let switch = |release: &str| {
        let _ = fs::remove_file(&current);
        std::os::unix::fs::symlink(dir.path().join(release), &current).unwrap();
    };
    switch("a");
    let path = current.join("cache");
    let (old, ns) = open(&path);
    switch("b");
    let (new, new_ns) = open(&path);
    new.put(&new_ns, b"k", &entry("new")).unwrap();
    for _ in 0..5_000 {
        old.put(&ns, b"k", &entry("old")).unwrap();
    }
    let (neighbour, _) = open(&dir.path().join("a/cache"));
    assert_eq!(get(&neighbour, &ns, b"k").as_deref(), Some("old"));
    assert_eq!(get(&new, &new_ns, b"k").as_deref(), Some("new"));
}

/// Whatever a process does with the cache, it notices.
#[test]
fn every_operation_that_counts_as_no_read_notices() {
    type Call = fn(&Store, &Namespace) -> Result<(), Error>;
    let calls: [(&str, Call); 12] = [
        ("add", |store, ns| {
            store.add(ns, b"k", &entry("v")).map(drop)
        }),
        ("delete", |store, ns| store.delete(ns, b"missing").map(drop)),
        ("clear", |store, ns| store.clear(ns)),
        ("peek", |store, ns| {
            store.peek(ns, b"k", &mut Vec::new()).map(drop)
        }),
        ("replace", |store, ns| {
            let seen = store.peek(ns, b"k", &mut Vec::new())?.expect("it stands");
            store.replace(ns, b"k", seen, &entry("v")).map(drop)
        }),
        ("is_leased", |store, ns| store.is_leased(ns, b"k").map(drop)),
        ("stats", |store, _| store.stats().map(drop)),
        ("machine_stats", |store, _| store.machine_stats().map(drop)),
        ("usage", |store, _| store.usage(10).map(drop)),
        ("check", |store, _| store.check().map(drop)),
        ("keys", |store, ns| {
            let keys = &mut Vec::new();
            store.keys(ns, b"", 0, u64::MAX, keys).map(drop)
        }),
        ("full_keys", |store, _| {
            let keys = &mut Vec::new();
            store.full_keys(0, u64::MAX, keys).map(drop)
        }),
    ];
    for (what, call) in calls {
        let dir = tempfile::tempdir().unwrap();
        let (store, ns) = open(dir.path());
        store.put(&ns, b"k", &entry("old")).unwrap();
        fs::remove_dir_all(dir.path().join("v2")).unwrap();
        let (_new, _) = open(dir.path());
        let told = calls_until_told(|| call(&store, &ns));
        assert!(told <= 1024, "{what}: {told}");
    }
}

/// Readers notice by themselves, when no writer is there to tell them.
#[test]
fn hits_and_misses_notice_too() {
    for (key, most) in [(b"k".as_slice(), 4096), (b"missing", 1024)] {
        let dir = tempfile::tempdir().unwrap();
        let (reader, ns) = open(dir.path());
        reader.put(&ns, b"k", &entry("old")).unwrap();
        fs::remove_dir_all(dir.path().join("v2")).unwrap();
        let (_new, _) = open(dir.path());
        let mut out = Vec::new();
        let reads = calls_until_told(|| reader.get(&ns, key, &mut out).map(|_| out.clear()));
        assert!(reads <= most, "{reads}");
    }
}

/// What cannot be looked at proves nothing: a process may have changed its user or its root directory.
#[test]
fn a_path_that_is_gone_for_this_process_does_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ns) = open(&dir.path().join("p"));
    fs::rename(dir.path().join("p"), dir.path().join("q")).unwrap();
    for key in 0..1000u32 {
        store.put(&ns, &key.to_le_bytes(), &entry("v")).unwrap();
    }
    fs::rename(dir.path().join("q"), dir.path().join("p")).unwrap();
    assert_eq!(
        get(&open(&dir.path().join("p")).0, &ns, b"\0\0\0\0").as_deref(),
        Some("v")
    );
}

/// The report's case: the parent opens and exits, its child only reads, the index is removed, and another process
/// makes the cache anew.
#[test]
fn a_forked_reader_does_not_join_an_index_that_was_removed() {
    for name in ["index", "blocks/0000"] {
        let dir = tempfile::tempdir().unwrap();
        let (store, ns) = open(dir.path());
        store.put(&ns, b"k", &entry("parent's")).unwrap();
        // SAFETY: the child only uses the store and leaves by `_exit`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                assert_eq!(get(&store, &ns, b"k").as_deref(), Some("parent's"));
                fs::remove_file(dir.path().join("v2").join(name)).unwrap();
                let told = store.put(&ns, b"k", &entry("lost")).unwrap_err();
                assert_eq!(told.code(), "io");
                assert!(
                    told.to_string().contains("was removed or replaced"),
                    "{told}"
                );
            }));
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(ended.is_err())) };
        }
        let mut status = 0;
        // SAFETY: `status` is valid for the call.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "{name}");
    }
}

/// Keeps the directory's lock, as a process does that was stopped while it had it.
fn stopped_holder(path: &Path) -> fs::File {
    use std::os::fd::AsRawFd;
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(path.join("v2/participants"))
        .unwrap();
    // SAFETY: flock is plain data for which all zero bytes are valid.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    (lock.l_type, lock.l_len) = (libc::F_WRLCK as libc::c_short, 1);
    // SAFETY: `lock` is valid for the call, and `file` keeps the descriptor open.
    let locked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) };
    assert_eq!(locked, 0);
    file
}

#[test]
fn a_stopped_holder_of_the_directorys_lock_stops_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ns) = open(dir.path());
    store.put(&ns, b"k", &entry("v")).unwrap();
    let _holder = stopped_holder(dir.path());
    for mode in [Mode::Create, Mode::Existing, Mode::Read] {
        let mut options = Options::new(dir.path());
        options.mode = mode;
        let other = Store::open(&options).unwrap();
        assert_eq!(get(&other, &ns, b"k").as_deref(), Some("v"));
    }
    // A forked child joins at its first write.
    // SAFETY: the child only uses the store and leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let put = store.put(&ns, b"child", &entry("v"));
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(put.is_err())) };
    }
    let mut status = 0;
    // SAFETY: `status` is valid for the call.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(get(&store, &ns, b"child").as_deref(), Some("v"));
}

/// Copies with `cp`, which leaves holes where there is no data.
fn copy(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp")
        .args(["-a", "--sparse=always"])
        .args([from, to])
        .status();
    assert!(done.unwrap().success());
}

#[test]
fn a_copied_directory_opens_with_its_entries() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    let (store, ns) = open(&from);
    for key in 0..1000u32 {
        let value = entry(&format!("value {key}"));
        store.put(&ns, &key.to_le_bytes(), &value).unwrap();
    }
    // Under use, and so with a block that is being filled.
    copy(&from, &to);
    let read = |path: &Path, mode| {
        let mut options = Options::new(path);
        options.mode = mode;
        let store = Store::open(&options).unwrap();
        for key in 0..1000u32 {
            assert_eq!(
                get(&store, &ns, &key.to_le_bytes()),
                Some(format!("value {key}"))
            );
        }
        assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
        store
    };
    let before = fs::read(to.join("v2/index")).unwrap();
    read(&to, Mode::Read);
    assert!(fs::read(to.join("v2/index")).unwrap() == before);
    let copied = read(&to, Mode::Create);
    // The copy has its space: a store into a hole would end the process on a full disk.
    let blocks = fs::metadata(to.join("v2/blocks/0000")).unwrap();
    let used = copied.stats().unwrap().bytes - fs::metadata(to.join("v2/index")).unwrap().len();
    assert!(blocks.blocks() * 512 >= used, "{} {used}", blocks.blocks());
    // From now on they are two caches.
    copied.put(&ns, b"k", &entry("copy's")).unwrap();
    assert_eq!(get(&store, &ns, b"k"), None);
    read(&to, Mode::Create);
    read(&from, Mode::Create);
}

/// A copy may have been made while pages changed: what does not fit together is left out.
#[test]
fn a_torn_copy_serves_no_wrong_byte() {
    use std::os::unix::fs::FileExt;
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    let (store, ns) = open(&from);
    for key in 0..200u32 {
        let value = entry(&format!("value {key}"));
        store.put(&ns, &key.to_le_bytes(), &value).unwrap();
    }
    copy(&from, &to);
    let blocks = fs::File::options()
        .write(true)
        .open(to.join("v2/blocks/0000"));
    blocks.unwrap().write_all_at(&[7; 100], 5000).unwrap();
    let (copied, _) = open(&to);
    let mut served = 0;
    for key in 0..200u32 {
        if let Some(value) = get(&copied, &ns, &key.to_le_bytes()) {
            assert_eq!(value, format!("value {key}"));
            served += 1;
        }
    }
    assert!((20..200).contains(&served), "{served}");
    assert_eq!(copied.check().unwrap().damaged, Vec::<String>::new());
}

/// Programs that clean temporary folders go by the files' times. No file of locks is ever written.
#[test]
fn opening_and_use_show_in_every_files_times() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["participants", "index", "blocks/0000"];
    let path = |name| dir.path().join("v2").join(name);
    let make_old = || {
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        for name in names {
            let file = fs::File::options().write(true).open(path(name)).unwrap();
            file.set_modified(then).unwrap();
        }
    };
    let are_new = || names.map(|name| fs::metadata(path(name)).unwrap().mtime() > 1_000_000);
    let clock = Arc::new(AtomicU64::new(1_000));
    let mut options = small(dir.path());
    options.clock = Clock::Manual(clock.clone());
    drop(Store::open(&options).unwrap());
    make_old();
    let store = Store::open(&options).unwrap();
    assert_eq!(are_new(), [true; 3]);
    // Only reads: they change no file.
    let ns = store.namespace(&["n"]).unwrap();
    make_old();
    let read = || (0..1024).for_each(|_| assert_eq!(get(&store, &ns, b"k"), None));
    read();
    assert_eq!(are_new(), [false; 3]);
    clock.store(1_000 + 3_600_000, Ordering::SeqCst);
    read();
    assert_eq!(are_new(), [true; 3]);
}

/// A process with the directory's lock says so before it decides whether to replace the cache; who joins
/// meanwhile waits for that lock. What a killed one has left is put right.
#[test]
fn a_joiner_waits_for_one_who_may_be_replacing_the_cache() {
    use std::os::unix::fs::FileExt;
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let index = fs::File::options()
        .read(true)
        .write(true)
        .open(dir.path().join("v2/index"))
        .unwrap();
    let replaced = polycache_host::layout::header::REPLACED as u64;
    let say = index.try_clone().unwrap();
    let mut io = Faulty::new(-1, 0);
    let locks = Arc::new(AtomicU64::new(0));
    let counted = locks.clone();
    // The joiner has just locked its byte.
    io.meanwhile = Some((
        "lock",
        Box::new(move || {
            if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                say.write_all_at(&1u64.to_le_bytes(), replaced).unwrap();
            }
        }),
    ));
    let store = Store::open(&with_io(dir.path(), io)).unwrap();
    // Its byte, the directory's, its byte again.
    assert_eq!(locks.load(Ordering::SeqCst), 3);
    let mut word = [0; 8];
    index.read_exact_at(&mut word, replaced).unwrap();
    assert_eq!(u64::from_le_bytes(word), 0);
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
}
