//! Users of one group share a cache. Each user is a child process, so the tests need root.

mod support;

use polycache_host::{Mode, Options, Store};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{chown, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use support::faulty::Faulty;
use support::{entry, get};

/// Users and groups that no account has.
const ANN: User = User(61_001, 62_001);
const BOB: User = User(61_002, 62_001);
/// Not of the group.
const EVE: User = User(61_003, 62_009);
const GROUP: u32 = 62_001;

#[derive(Clone, Copy)]
struct User(u32, u32);

impl User {
    /// Runs the work as this user, in a child process with this umask; true when it returned.
    fn does(self, umask: u32, work: impl FnOnce()) -> bool {
        // SAFETY: the child runs the work and leaves without the parent's destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // A primary group of its own: the directory's is one of the others.
            let groups = [self.1];
            // SAFETY: the list has one group, and the rest are plain integers.
            let changed = unsafe {
                libc::umask(umask as libc::mode_t);
                libc::setgroups(1, groups.as_ptr()) == 0
                    && libc::setgid(self.0) == 0
                    && libc::setuid(self.0) == 0
            };
            let done =
                changed && std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
            // SAFETY: nothing of the parent's is ended.
            unsafe { libc::_exit(i32::from(!done)) };
        }
        assert!(child > 0);
        let mut status = 0;
        // SAFETY: `status` is a valid place for the answer.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        status == 0
    }
}

fn is_root() -> bool {
    // SAFETY: geteuid takes nothing and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        eprintln!("skipped: becoming another user needs root");
    }
    is_root
}

fn shared(path: &Path, mode: Option<u32>) -> Options {
    let mut options = Options::new(path);
    options.limit = Some(2 << 20);
    options.file_mode = mode;
    options
}

/// A directory that users may pass through, and a folder in it with this owner, group and mode.
fn folder(owner: u32, group: u32, mode: u32) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = dir.path().join("cache");
    fs::create_dir(&path).unwrap();
    chown(&path, Some(owner), Some(group)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (dir, path)
}

fn put(store: &Store, key: &str, value: &str) {
    let namespace = store.namespace(&["n"]).unwrap();
    store
        .put(&namespace, key.as_bytes(), &entry(value))
        .unwrap();
}

fn value(store: &Store, key: &str) -> Option<String> {
    let namespace = store.namespace(&["n"]).unwrap();
    get(store, &namespace, key.as_bytes())
}

/// Every file and directory of the cache, with its permission bits and its group.
fn rights(path: &Path) -> Vec<(String, u32, u32)> {
    ["", "index", "participants", "blocks", "blocks/0000"]
        .into_iter()
        .map(|name| {
            let found = fs::metadata(path.join("v2").join(name)).unwrap();
            (name.to_owned(), found.mode() & 0o7777, found.gid())
        })
        .collect()
}

fn all_have(path: &Path, file: u32, directory: u32) {
    for (name, bits, group) in rights(path) {
        let wanted = if name.is_empty() || name == "blocks" {
            directory
        } else {
            file
        };
        assert_eq!(format!("{bits:o}"), format!("{wanted:o}"), "{name}");
        assert_eq!(group, GROUP, "{name}");
    }
}

#[test]
fn users_of_a_group_share_a_cache_with_any_umask() {
    if !is_root() {
        return;
    }
    for umask in [0o077, 0o022, 0] {
        let (_dir, path) = folder(ANN.0, GROUP, 0o770);
        assert!(ANN.does(umask, || {
            let store = Store::open(&shared(&path, Some(0o660))).unwrap();
            put(&store, "k", "Ann's");
            // Bob writes while Ann has the cache open.
            assert!(!store.is_read_only());
        }));
        all_have(&path, 0o660, 0o2770);
        assert!(BOB.does(umask, || {
            let store = Store::open(&shared(&path, Some(0o660))).unwrap();
            assert!(!store.is_read_only());
            assert_eq!(value(&store, "k").as_deref(), Some("Ann's"));
            put(&store, "k", "Bob's");
        }));
        assert!(ANN.does(umask, || {
            let store = Store::open(&shared(&path, Some(0o660))).unwrap();
            assert_eq!(value(&store, "k").as_deref(), Some("Bob's"));
        }));
    }
}

/// What a user makes anew in the directory of another has the same rights.
#[test]
fn a_user_of_the_group_makes_the_cache_anew() {
    if !is_root() {
        return;
    }
    let (_dir, path) = folder(ANN.0, GROUP, 0o770);
    assert!(ANN.does(0o077, || {
        put(&Store::open(&shared(&path, Some(0o660))).unwrap(), "k", "v");
    }));
    let index = fs::File::options()
        .write(true)
        .open(path.join("v2/index"))
        .unwrap();
    index.set_len(8192).unwrap();
    assert!(BOB.does(0o077, || {
        let store = Store::open(&shared(&path, Some(0o660))).unwrap();
        put(&store, "k", "Bob's");
    }));
    assert_eq!(fs::metadata(path.join("v2/index")).unwrap().uid(), BOB.0);
    all_have(&path, 0o660, 0o2770);
    // Ann, whose directory it is, needs no option: her own `v2` says that the group is trusted.
    assert!(ANN.does(0o077, || {
        let store = Store::open(&shared(&path, None)).unwrap();
        assert_eq!(value(&store, "k").as_deref(), Some("Bob's"));
    }));
    all_have(&path, 0o660, 0o2770);
}

/// Many begin at the same time, and one of them makes the directories.
#[test]
fn users_that_begin_together_all_get_to_write() {
    if !is_root() {
        return;
    }
    for _ in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        chown(dir.path(), None, Some(GROUP)).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o2770)).unwrap();
        let path = dir.path().join("made/cache");
        std::thread::scope(|scope| {
            let begin = |user: User| {
                let path = &path;
                scope.spawn(move || {
                    user.does(0o077, || {
                        let store = Store::open(&shared(path, Some(0o660))).unwrap();
                        put(&store, &user.0.to_string(), "v");
                    })
                })
            };
            let users = [ANN, BOB, ANN, BOB].map(begin);
            for user in users {
                assert!(user.join().unwrap());
            }
        });
        all_have(&path, 0o660, 0o2770);
    }
}

/// Bob opens the cache, and writes. In the `nth` of his calls of this name another user comes in between.
fn meanwhile(path: &Path, call: &'static str, nth: u32, other: impl FnOnce() + Send) {
    let (bobs, others) = UnixStream::pair().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut byte = [0];
            // None comes from a Bob who gave up.
            if (&others).read(&mut byte).unwrap() == 1 {
                other();
                (&others).write_all(&byte).unwrap();
            }
        });
        let calls = AtomicU32::new(0);
        let signal = bobs.try_clone().unwrap();
        let act = move || {
            if calls.fetch_add(1, Ordering::SeqCst) == nth {
                let mut byte = [1];
                (&signal).write_all(&byte).unwrap();
                (&signal).read_exact(&mut byte).unwrap();
            }
        };
        let mut io = Faulty::new(i64::MAX, 0);
        io.meanwhile = Some((call, Box::new(act)));
        let mut options = shared(path, Some(0o660));
        options.io = Arc::new(io);
        let wrote = BOB.does(0o022, || {
            put(&Store::open(&options).unwrap(), "k", "Bob's");
        });
        drop((bobs, options));
        assert!(wrote);
    });
}

/// Ann was stopped after she had made `v2`, and goes on when Bob has been refused once.
#[test]
fn a_user_waits_for_the_one_that_makes_the_directories() {
    if !is_root() {
        return;
    }
    let (_dir, path) = folder(ANN.0, GROUP, 0o770);
    let v2 = path.join("v2");
    fs::create_dir(&v2).unwrap();
    chown(&v2, Some(ANN.0), Some(ANN.1)).unwrap();
    fs::set_permissions(&v2, fs::Permissions::from_mode(0o700)).unwrap();
    meanwhile(&path, "create_directory_in", 1, || {
        fs::set_permissions(&v2, fs::Permissions::from_mode(0o2770)).unwrap();
    });
}

/// Bob is refused a file that has no rights yet; before he looks again, Ann has made the whole cache.
#[test]
fn a_cache_that_was_not_whole_yet_is_no_read_only_one() {
    if !is_root() {
        return;
    }
    let (_dir, path) = folder(ANN.0, GROUP, 0o770);
    assert!(ANN.does(0o022, || {
        put(&Store::open(&shared(&path, Some(0o660))).unwrap(), "k", "v");
    }));
    let participants = path.join("v2/participants");
    fs::set_permissions(&participants, fs::Permissions::from_mode(0o600)).unwrap();
    meanwhile(&path, "open", 0, || {
        fs::set_permissions(&participants, fs::Permissions::from_mode(0o660)).unwrap();
    });
}

#[test]
fn a_group_that_may_only_read_does() {
    if !is_root() {
        return;
    }
    let (_dir, path) = folder(ANN.0, GROUP, 0o750);
    assert!(ANN.does(0o077, || {
        put(&Store::open(&shared(&path, Some(0o640))).unwrap(), "k", "v");
    }));
    all_have(&path, 0o640, 0o750);
    assert!(BOB.does(0o077, || {
        let store = Store::open(&shared(&path, Some(0o640))).unwrap();
        assert!(store.is_read_only());
        assert_eq!(value(&store, "k").as_deref(), Some("v"));
        let namespace = store.namespace(&["n"]).unwrap();
        let refused = store.put(&namespace, b"k", &entry("w")).unwrap_err();
        assert_eq!(refused.code(), "read_only");
    }));
}

fn is_foreign(path: &Path, mode: Option<u32>) {
    for how in [Mode::Create, Mode::Existing, Mode::Read] {
        let mut options = shared(path, mode);
        options.mode = how;
        let error = Store::open(&options).err().unwrap();
        assert_eq!(error.code(), "foreign_directory", "{error}");
    }
}

/// Ann lets the group write. Bob did not ask for a shared cache: it may be a trap.
#[test]
fn another_user_s_cache_is_refused_without_a_word_for_it() {
    if !is_root() {
        return;
    }
    let (_dir, path) = folder(ANN.0, GROUP, 0o770);
    assert!(ANN.does(0o022, || {
        put(&Store::open(&shared(&path, Some(0o660))).unwrap(), "k", "v");
    }));
    assert!(BOB.does(0o022, || is_foreign(&path, None)));
    assert!(BOB.does(0o022, || is_foreign(&path, Some(0o600))));
    // Root set up the folder for the group, and so speaks for it.
    chown(&path, Some(0), Some(GROUP)).unwrap();
    assert!(BOB.does(0o022, || {
        let store = Store::open(&shared(&path, None)).unwrap();
        assert_eq!(value(&store, "k").as_deref(), Some("v"));
    }));
    // But not for another group, nor if the group may not write to it.
    chown(&path, Some(0), Some(EVE.1)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o775)).unwrap();
    assert!(BOB.does(0o022, || is_foreign(&path, None)));
    chown(&path, Some(0), Some(GROUP)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(BOB.does(0o022, || is_foreign(&path, None)));
}

/// Eve offers a cache that every user may read, or a group that Bob is not in may write to.
#[test]
fn a_group_is_trusted_only_by_its_members() {
    if !is_root() {
        return;
    }
    let (_dir, path) = folder(EVE.0, EVE.1, 0o775);
    assert!(EVE.does(0o022, || {
        put(&Store::open(&shared(&path, Some(0o664))).unwrap(), "k", "v");
    }));
    assert!(BOB.does(0o022, || is_foreign(&path, Some(0o660))));
    // With 0o664 Bob asks to read the cache of any user.
    assert!(BOB.does(0o022, || {
        let store = Store::open(&shared(&path, Some(0o664))).unwrap();
        assert_eq!(value(&store, "k").as_deref(), Some("v"));
        assert!(store.is_read_only());
    }));
}

/// The folder is another group's. Its members could not share the cache, and Ann is told so before anything is made.
#[test]
fn a_mode_for_a_group_that_its_user_is_not_in_is_refused() {
    if !is_root() {
        return;
    }
    for mode in [0o640, 0o660, 0o664] {
        let (_dir, path) = folder(ANN.0, EVE.1, 0o2775);
        for path in [path.clone(), path.join("made/cache")] {
            assert!(ANN.does(0o022, || {
                let error = Store::open(&shared(&path, Some(mode))).err().unwrap();
                assert_eq!(error.code(), "invalid_argument", "{error}");
                assert!(error.to_string().contains("62009"), "{error}");
            }));
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        // Root may give a cache to any group.
        put(&Store::open(&shared(&path, Some(mode))).unwrap(), "k", "v");
    }
}

/// Whichever group has the files, every user may read them.
#[test]
fn a_cache_that_every_user_may_read_can_lie_in_a_folder_of_any_group() {
    if !is_root() {
        return;
    }
    let (_dir, path) = folder(ANN.0, EVE.1, 0o2775);
    for path in [path.clone(), path.join("made/cache")] {
        assert!(ANN.does(0o022, || {
            put(&Store::open(&shared(&path, Some(0o644))).unwrap(), "k", "v");
            // An existing one, too.
            put(&Store::open(&shared(&path, Some(0o644))).unwrap(), "k", "w");
        }));
        assert!(BOB.does(0o022, || {
            let store = Store::open(&shared(&path, Some(0o644))).unwrap();
            assert_eq!(value(&store, "k").as_deref(), Some("w"));
        }));
    }
}

/// In a directory of the group a file of another group, or one that every user may write to, is nobody's word.
#[test]
fn what_the_group_cannot_have_made_is_refused() {
    if !is_root() {
        return;
    }
    for name in ["index", "participants", "blocks", "blocks/0000"] {
        let (_dir, path) = folder(ANN.0, GROUP, 0o770);
        assert!(ANN.does(0o022, || {
            put(&Store::open(&shared(&path, Some(0o660))).unwrap(), "k", "v");
        }));
        let file = path.join("v2").join(name);
        let bits = fs::metadata(&file).unwrap().mode() & 0o7777;
        chown(&file, Some(EVE.0), Some(EVE.1)).unwrap();
        fs::set_permissions(
            &file,
            fs::Permissions::from_mode(bits | 0o004 | (bits & 0o010) >> 3),
        )
        .unwrap();
        for user in [ANN, BOB] {
            assert!(user.does(0o022, || {
                let mut options = shared(&path, Some(0o660));
                options.mode = Mode::Read;
                let error = Store::open(&options).err().unwrap();
                assert_eq!(error.code(), "foreign_directory", "{name}: {error}");
            }));
        }
        chown(&file, Some(BOB.0), Some(GROUP)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(bits)).unwrap();
        for user in [ANN, BOB] {
            assert!(user.does(0o022, || {
                let store = Store::open(&shared(&path, Some(0o660))).unwrap();
                assert_eq!(value(&store, "k").as_deref(), Some("v"), "{name}");
            }));
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(bits | 0o002)).unwrap();
        assert!(ANN.does(0o022, || is_foreign(&path, Some(0o660))), "{name}");
    }
}

/// A deploy gives an existing cache to the group, and takes it back.
#[test]
fn the_owner_changes_who_shares_a_cache() {
    if !is_root() {
        return;
    }
    let (_dir, path) = folder(ANN.0, GROUP, 0o770);
    assert!(ANN.does(0o022, || {
        put(&Store::open(&shared(&path, None)).unwrap(), "k", "v");
    }));
    assert!(rights(&path).iter().all(|(_, bits, _)| bits & 0o077 == 0));
    assert!(ANN.does(0o022, || {
        let store = Store::open(&shared(&path, Some(0o660))).unwrap();
        assert_eq!(value(&store, "k").as_deref(), Some("v"));
    }));
    all_have(&path, 0o660, 0o2770);
    // Who asks for nothing leaves it.
    assert!(ANN.does(0o022, || drop(Store::open(&shared(&path, None)).unwrap())));
    // Nor does another user change what is not theirs.
    assert!(BOB.does(0o022, || {
        let store = Store::open(&shared(&path, Some(0o640))).unwrap();
        put(&store, "k", "Bob's");
    }));
    all_have(&path, 0o660, 0o2770);
    assert!(ANN.does(0o022, || {
        let store = Store::open(&shared(&path, Some(0o600))).unwrap();
        assert_eq!(value(&store, "k").as_deref(), Some("Bob's"));
    }));
    assert!(rights(&path).iter().all(|(_, bits, _)| bits & 0o077 == 0));
}

/// A forked child of a process that shares another user's cache joins it.
#[test]
fn a_forked_child_shares_it_too() {
    if !is_root() {
        return;
    }
    let (_dir, path) = folder(ANN.0, GROUP, 0o770);
    assert!(ANN.does(0o022, || {
        put(&Store::open(&shared(&path, Some(0o660))).unwrap(), "k", "v");
    }));
    assert!(BOB.does(0o022, || {
        let store = Store::open(&shared(&path, Some(0o660))).unwrap();
        // SAFETY: as in `does`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let work = || put(&store, "k", "the child's");
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
            // SAFETY: as in `does`.
            unsafe { libc::_exit(i32::from(!done)) };
        }
        let mut status = 0;
        // SAFETY: `status` is a valid place for the answer.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        assert_eq!(value(&store, "k").as_deref(), Some("the child's"));
    }));
}

#[test]
fn other_modes_are_refused_and_leave_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    for mode in [0, 0o400, 0o666, 0o700, 0o770, 0o620, 660, 0o100_600] {
        let path = dir.path().join("cache");
        let error = Store::open(&shared(&path, Some(mode))).err().unwrap();
        assert_eq!(error.code(), "invalid_argument", "{mode:o}");
        assert!(!path.exists());
    }
}
