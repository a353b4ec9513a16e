//! What is the cache's own: nothing else is opened, changed or removed.

mod support;

use polycache_host::{Mode, Options, Store};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use support::{entry, get, small};

fn code(path: &Path) -> &'static str {
    Store::open(&small(path)).err().unwrap().code()
}

/// Every name below a directory, with the file's bytes or where the link leads.
fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            found.insert(path, target.to_str().unwrap().into());
        } else if kind.is_dir() {
            found.append(&mut files(&path));
            found.insert(path, Vec::new());
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap();
            found.insert(path, bytes);
        } else {
            found.insert(path, b"special".to_vec());
        }
    }
    found
}

type Foreign = (&'static str, fn(&Path));

/// Files of another program that happen to be where a cache's would be.
const FOREIGN: [Foreign; 9] = [
    ("an index of zeros", |v2| {
        fs::write(v2.join("index"), [0; 5000]).unwrap();
        fs::create_dir(v2.join("blocks")).unwrap();
        fs::write(v2.join("blocks/important"), "x").unwrap();
    }),
    ("an index of text", |v2| {
        fs::write(v2.join("index"), "# Contents").unwrap();
    }),
    ("a short index", |v2| {
        fs::write(v2.join("index"), "POLY").unwrap();
    }),
    ("something in blocks", |v2| {
        fs::create_dir(v2.join("blocks")).unwrap();
        fs::write(v2.join("blocks/important"), "x").unwrap();
    }),
    ("a folder in blocks", |v2| {
        fs::create_dir_all(v2.join("blocks/sub")).unwrap();
    }),
    ("something beside", |v2| {
        fs::write(v2.join("users.ts"), "x").unwrap();
    }),
    ("a list of participants", |v2| {
        fs::write(v2.join("participants"), "Ann, Bob").unwrap();
    }),
    ("a file called blocks", |v2| {
        fs::write(v2.join("blocks"), "x").unwrap();
    }),
    ("a folder called index", |v2| {
        fs::create_dir(v2.join("index")).unwrap();
        fs::write(v2.join("index/important"), "x").unwrap();
    }),
];

#[test]
fn what_another_program_made_is_refused_and_left_alone() {
    for (what, make) in FOREIGN {
        let dir = tempfile::tempdir().unwrap();
        let v2 = dir.path().join("v2");
        fs::create_dir(&v2).unwrap();
        make(&v2);
        let before = files(dir.path());
        assert_eq!(code(dir.path()), "foreign_directory", "{what}");
        assert!(files(dir.path()) == before, "{what}");
        for mode in [Mode::Existing, Mode::Read] {
            let mut options = Options::new(dir.path());
            options.mode = mode;
            assert!(Store::open(&options).is_err(), "{what}");
        }
        assert!(files(dir.path()) == before, "{what}");
    }
}

/// A cache that is made anew removes its own files, and no others.
#[test]
fn what_lies_beside_a_damaged_cache_stays() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(&small(dir.path())).unwrap());
    let v2 = dir.path().join("v2");
    fs::write(v2.join("notes"), "x").unwrap();
    fs::write(v2.join("blocks/important"), "x").unwrap();
    let index = fs::File::options().write(true).open(v2.join("index"));
    index.unwrap().set_len(8192).unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    assert_eq!(store.stats().unwrap().entries, 0);
    assert_eq!(fs::read(v2.join("notes")).unwrap(), b"x");
    assert_eq!(fs::read(v2.join("blocks/important")).unwrap(), b"x");
}

/// What a process leaves that was killed while it made a cache.
#[test]
fn an_interrupted_creation_is_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let v2 = dir.path().join("v2");
    fs::create_dir_all(v2.join("blocks")).unwrap();
    for name in ["participants", "participants.new"] {
        fs::write(v2.join(name), "").unwrap();
    }
    for name in ["index.new", "blocks/0000", "blocks/0001"] {
        fs::write(v2.join(name), [7; 5000]).unwrap();
    }
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
    assert_eq!(get(&store, &ns, b"k").as_deref(), Some("v"));
    assert!(!v2.join("blocks/0001").exists());
}

/// No name of the cache's own may be a link, wherever it leads.
#[test]
fn links_are_not_followed() {
    for name in ["", "index", "participants", "blocks", "blocks/0000"] {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        drop(Store::open(&small(dir.path())).unwrap());
        let (own, moved) = (dir.path().join("v2").join(name), other.path().join("moved"));
        let own = PathBuf::from(own.to_str().unwrap().trim_end_matches('/'));
        fs::rename(&own, &moved).unwrap();
        symlink(&moved, &own).unwrap();
        let before = files(other.path());
        for mode in [Mode::Create, Mode::Existing, Mode::Read] {
            let mut options = Options::new(dir.path());
            options.mode = mode;
            let error = Store::open(&options).err().unwrap();
            assert_eq!(error.code(), "foreign_directory", "{name}: {error}");
        }
        assert!(files(other.path()) == before, "{name}");
    }
}

/// Opening a pipe for reading waits for a writer.
#[test]
fn a_pipe_does_not_block() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(&small(dir.path())).unwrap());
    let index = dir.path().join("v2/index");
    fs::remove_file(&index).unwrap();
    let name = std::ffi::CString::new(index.to_str().unwrap()).unwrap();
    // SAFETY: the name ends with a zero byte.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    for mode in [Mode::Create, Mode::Existing, Mode::Read] {
        let mut options = Options::new(dir.path());
        options.mode = mode;
        let error = Store::open(&options).err().unwrap();
        assert_eq!(error.code(), "foreign_directory", "{error}");
    }
}

#[test]
fn a_directory_that_every_user_may_write_to_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(&small(dir.path())).unwrap());
    let v2 = dir.path().join("v2");
    fs::set_permissions(&v2, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(code(dir.path()), "foreign_directory");
    // A group may: the volumes of a pod are given to one.
    fs::set_permissions(&v2, fs::Permissions::from_mode(0o770)).unwrap();
    assert!(Store::open(&small(dir.path())).is_ok());
}

/// In a container root is given a folder of another user's.
#[test]
fn root_may_make_a_cache_in_a_folder_of_another_user() {
    let dir = tempfile::tempdir().unwrap();
    if std::os::unix::fs::chown(dir.path(), Some(12_345), None).is_err() {
        eprintln!("skipped: giving a folder away needs root");
        return;
    }
    drop(Store::open(&small(dir.path())).unwrap());
    drop(Store::open(&small(dir.path())).unwrap());
}

/// Every file is looked at, not only the directory that holds them.
#[test]
fn nothing_of_another_user_is_used() {
    for name in [
        "v2",
        "v2/index",
        "v2/participants",
        "v2/blocks",
        "v2/blocks/0000",
    ] {
        let dir = tempfile::tempdir().unwrap();
        drop(Store::open(&small(dir.path())).unwrap());
        let path = dir.path().join(name);
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_err() {
            eprintln!("skipped: giving a file away needs root");
            return;
        }
        let before = files(dir.path());
        for mode in [Mode::Create, Mode::Existing, Mode::Read] {
            let mut options = Options::new(dir.path());
            options.mode = mode;
            let error = Store::open(&options).err().unwrap();
            assert_eq!(error.code(), "foreign_directory", "{name}: {error}");
        }
        assert!(files(dir.path()) == before);
    }
}

/// Another user exchanges `v2`, which is ours, for one of his own, while we open again and again.
#[test]
fn an_exchanged_directory_is_never_opened() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let (dir, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(Store::open(&small(dir.path())).unwrap());
    drop(Store::open(&small(theirs.path())).unwrap());
    let (v2, theirs) = (dir.path().join("v2"), theirs.path().join("v2"));
    for name in ["", "index", "participants", "blocks", "blocks/0000"] {
        if std::os::unix::fs::chown(theirs.join(name), Some(12_345), None).is_err() {
            eprintln!("skipped: giving a file away needs root");
            return;
        }
    }
    let name = |path: &Path| std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    let names = (name(&v2), name(&theirs));
    let stop = AtomicBool::new(false);
    let before = fs::read(theirs.join("index")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                // SAFETY: both names end with a zero byte.
                unsafe {
                    libc::syscall(
                        // musl has no function of that name before 1.2.6.
                        libc::SYS_renameat2,
                        libc::AT_FDCWD,
                        names.0.as_ptr(),
                        libc::AT_FDCWD,
                        names.1.as_ptr(),
                        libc::RENAME_EXCHANGE,
                    )
                };
            }
        });
        let mut refused = 0;
        for _ in 0..2000 {
            match Store::open(&small(dir.path())) {
                Ok(_) => {}
                Err(error) => refused += u32::from(error.code() == "foreign_directory"),
            }
        }
        stop.store(true, Ordering::SeqCst);
        assert!(refused > 0, "the directories were never exchanged");
    });
    // Whichever of the two has the name now: theirs is as it was.
    let theirs = [&v2, &theirs]
        .into_iter()
        .find(|path| std::os::unix::fs::MetadataExt::uid(&fs::metadata(path).unwrap()) == 12_345);
    assert!(fs::read(theirs.unwrap().join("index")).unwrap() == before);
}
