//! How the outside world affects a store: full disks, failing calls, other users, wrong options. Forks are
//! in `forks.rs`, reboots and damage in `recovery.rs`.

mod support;

use polycache_host::{Lease, Options, Store};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;
use support::faulty::{with_io, Faulty};
use support::{entry, get, small};

/// Every call that can fail fails once, while opening, writing and flushing. Each time the error is
/// typed, and the next process finds a working cache.
#[test]
fn any_failing_call_is_a_typed_error_and_no_damage() {
    for errno in [libc::ENOSPC, libc::EIO] {
        let mut calls = 0;
        loop {
            let dir = tempfile::tempdir().unwrap();
            let run = || {
                let store = Store::open(&with_io(dir.path(), Faulty::new(calls, errno)))?;
                let ns = store.namespace(&["n"])?;
                for key in 0..300u32 {
                    store.put(&ns, &key.to_le_bytes(), &entry(&"x".repeat(900)))?;
                }
                store.flush()
            };
            let outcome = run();
            let store = Store::open(&small(dir.path())).unwrap();
            let ns = store.namespace(&["n"]).unwrap();
            assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
            store.put(&ns, b"after", &entry("works")).unwrap();
            assert_eq!(get(&store, &ns, b"after").as_deref(), Some("works"));
            match outcome {
                // A failed unlock, or missing space for a reserve block, does no harm that needs a
                // report.
                Ok(()) if calls > 60 => break,
                Ok(()) => {}
                Err(error) => assert!(["io", "no_space"].contains(&error.code()), "{error}"),
            }
            calls += 1;
        }
    }
}

#[test]
fn network_filesystems_and_foreign_directories_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (kind, name) in [
        (0x6969, "NFS"),
        (0xFE53_4D42, "SMB"),
        (0x6573_5546, "FUSE"),
        (0x0102_1997, "9p"),
        (0x9123_683E, "btrfs"),
    ] {
        let mut io = Faulty::new(-1, 0);
        io.filesystem = Some(kind);
        let error = Store::open(&with_io(dir.path(), io)).err().unwrap();
        assert_eq!(error.code(), "unsupported_filesystem", "{name}");
        // Processes of one machine do share the pages of btrfs: it is refused for another reason.
        let said = error.to_string();
        assert_eq!(said.contains("does not share"), name != "btrfs", "{said}");
        assert!(said.contains("ext4") && said.contains("/dev/shm"), "{said}");
    }
    let mut io = Faulty::new(-1, 0);
    io.owner = Some(12_345);
    let error = Store::open(&with_io(dir.path(), io)).err().unwrap();
    assert_eq!(error.code(), "foreign_directory");
}

#[test]
fn the_directory_is_for_its_user_only() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.path()), 0o700);
    assert_eq!(mode(&store.path().join("index")), 0o600);
    assert_eq!(mode(&store.path().join("blocks/0000")), 0o600);
}

/// A rolling deploy changes the limit: the directory's own stands, and nothing fails or is emptied.
#[test]
fn the_limit_of_the_directory_stands() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::open(&small(dir.path())).unwrap();
    let ns = first.namespace(&["n"]).unwrap();
    first.put(&ns, b"k", &entry("v")).unwrap();
    let open = |limit| {
        let mut options = Options::new(dir.path());
        options.limit = limit;
        let store = Store::open(&options)?;
        assert_eq!(get(&store, &ns, b"k").as_deref(), Some("v"));
        assert_eq!(store.stats()?.limit, 2 << 20);
        Ok::<_, polycache_host::Error>(store)
    };
    for limit in [None, Some(3 << 20), Some(1 << 30), Some(2 << 20)] {
        open(limit).unwrap();
    }
    drop(first);
    open(Some(3 << 20)).unwrap();
    // What no cache has is refused all the same.
    assert_eq!(open(Some(7)).err().unwrap().code(), "invalid_argument");
}

/// A disk of so many bytes, in memory, while this lives.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    /// None where the user may not mount one.
    fn mount(at: &'a Path, size: &str) -> Option<SmallDisk<'a>> {
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(at)
            .output()
            .is_ok_and(|done| done.status.success());
        if !mounted {
            eprintln!("skipped: mounting a tmpfs needs root");
        }
        mounted.then_some(SmallDisk(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount")
            .arg("-l")
            .arg(self.0)
            .status();
    }
}

#[test]
fn a_disk_too_small_for_an_empty_cache_is_a_clean_error() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(dir.path(), "128k") else {
        return;
    };
    let opened = Store::open(&Options::new(dir.path()));
    assert_eq!(opened.err().unwrap().code(), "no_space");
}

/// The first level fits, and the next one does not.
#[test]
fn a_disk_too_small_for_a_level_evicts_by_conflict() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(dir.path(), "4m") else {
        return;
    };
    let mut options = Options::new(dir.path());
    options.limit = Some(32 << 20);
    let store = Store::open(&options).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    for key in 0..60_000u32 {
        store.put(&ns, &key.to_le_bytes(), &entry("v")).unwrap();
    }
    let stats = store.stats().unwrap();
    assert!(
        stats.entries <= 32_768 && stats.entries > 24_000,
        "{stats:?}"
    );
    assert!(stats.evicted_by_conflict > 5000, "{stats:?}");
    assert!(get(&store, &ns, &59_999u32.to_le_bytes()).is_some());
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
}

/// A real full disk: a tmpfs smaller than the limit.
#[test]
fn a_full_disk_shrinks_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(dir.path(), "1m") else {
        return;
    };
    // The index fits; the blocks exhaust the disk and are recycled earlier than the limit asks.
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    for key in 0..3000u32 {
        store
            .put(&ns, &key.to_le_bytes(), &entry(&"x".repeat(1000)))
            .unwrap();
    }
    assert!(get(&store, &ns, &2999u32.to_le_bytes()).is_some());
    let stats = store.stats().unwrap();
    assert!(
        stats.evicted_by_age > 1000 && stats.bytes < 1 << 20,
        "{stats:?}"
    );
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
}

#[test]
fn too_large_is_loud_and_removes_the_old_value() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("old")).unwrap();
    let error = store
        .put(&ns, b"k", &entry(&"x".repeat(700_000)))
        .unwrap_err();
    assert_eq!(error.code(), "entry_too_large");
    assert_eq!(get(&store, &ns, b"k"), None);
    let most = store.stats().unwrap().max_record as usize;
    store
        .put(&ns, b"k", &entry(&"x".repeat(most - 24 - "n::k".len())))
        .unwrap();
    assert!(store
        .put(&ns, b"k", &entry(&"x".repeat(most - 23 - "n::k".len())))
        .is_err());
    assert_eq!(
        store.put(&ns, b"k", b"not an entry").unwrap_err().code(),
        "malformed_entry"
    );
    store.close();
    store.close();
    assert_eq!(
        store.put(&ns, b"k", &entry("x")).unwrap_err().code(),
        "closed"
    );
    assert_eq!(
        store.get(&ns, b"k", &mut Vec::new()).unwrap_err().code(),
        "closed"
    );
}

#[test]
fn a_failed_fill_gives_the_lease_back_and_no_number_is_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    let lease = || store.lease(&ns, b"k", &mut Vec::new()).unwrap();
    let Lease::Acquired(token) = lease() else {
        panic!()
    };
    let error = store.fill(&ns, b"k", token, b"no entry").unwrap_err();
    assert_eq!(error.code(), "malformed_entry");
    let Lease::Acquired(mut token) = lease() else {
        panic!()
    };
    token.slot = 1 << 60;
    assert!(!store.fill(&ns, b"k", token, &entry("v")).unwrap());
    store.release(token);
    assert!(!store.lease_stands(token.slot, token.word));
}

/// ext4 commits its journal before it reports a full disk: once for all claims is enough.
#[test]
fn a_full_disk_is_asked_once_a_claim() {
    let dir = tempfile::tempdir().unwrap();
    let mut faulty = Faulty::new(-1, 0);
    // The first level takes four of them.
    faulty.disk = AtomicI64::new(4 + 4);
    let io = Arc::new(faulty);
    let mut options = small(dir.path());
    options.io = io.clone();
    let store = Store::open(&options).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    for key in 0..3000u32 {
        store
            .put(&ns, &key.to_le_bytes(), &entry(&"x".repeat(1000)))
            .unwrap();
    }
    let claims = store.stats().unwrap().blocks_claimed as i64;
    let refused = io.refused.load(Ordering::SeqCst);
    assert!(claims > 40 && refused <= 2 * claims, "{claims} {refused}");
}

/// Opening removes anything in its directory that is not a cache; another user must not choose that directory.
#[test]
fn a_link_that_another_user_laid_is_refused() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(ours.path().join("blocks")).unwrap();
    std::os::unix::fs::symlink(ours.path(), dir.path().join("v2")).unwrap();
    if std::os::unix::fs::lchown(dir.path().join("v2"), Some(12_345), None).is_err() {
        eprintln!("skipped: giving a link away needs root");
        return;
    }
    let error = Store::open(&small(dir.path())).err().unwrap();
    assert_eq!(error.code(), "foreign_directory");
    assert!(!ours.path().join("index").exists());
}

#[test]
fn a_want_of_rights_is_said_with_what_helps() {
    let dir = tempfile::tempdir().unwrap();
    let denied = |calls| Store::open(&with_io(dir.path(), Faulty::new(calls, libc::EACCES)));
    // Making the directory, looking at it, opening it.
    for (calls, what) in [(0, "make"), (1, "look at"), (2, "open")] {
        let error = denied(calls).err().unwrap();
        let said = error.to_string();
        assert_eq!(error.code(), "io");
        assert!(said.contains(&format!(" may not {what} ")), "{said}");
        assert!(
            said.contains("grant it the rights, or choose another path"),
            "{said}"
        );
    }
}

#[test]
fn a_file_size_limit_is_said_with_what_helps() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = 0;
    for calls in 0..40 {
        let io = Faulty::new(calls, libc::EFBIG);
        if let Err(error) = Store::open(&with_io(dir.path(), io)) {
            told +=
                u32::from(error.code() == "no_space" && error.to_string().contains("ulimit -f"));
        }
        std::fs::remove_dir_all(dir.path().join("v2")).ok();
    }
    // The index's space, and the length of the file of blocks.
    assert!(told >= 2, "{told}");
}

/// The system sends SIGXFSZ to a process that exceeds its file size limit; it ends a process that does not ignore
/// it, as Python alone does.
#[test]
fn a_file_size_limit_ends_no_process() {
    let (new, made) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(Store::open(&small(made.path())).unwrap());
    in_a_child(|| {
        limit_file_sizes();
        let error = Store::open(&small(new.path())).err().unwrap();
        assert_eq!(error.code(), "no_space");
        // A new block of a cache that another process made.
        let store = Store::open(&small(made.path())).unwrap();
        let ns = store.namespace(&["n"]).unwrap();
        let error = (0..1000u32).find_map(|key| {
            store
                .put(&ns, &key.to_le_bytes(), &entry(&"x".repeat(1000)))
                .err()
        });
        assert!(error.is_none_or(|error| error.to_string().contains("ulimit -f")));
    });
}

/// A volume that is mounted for reading only, in another container say, shows what is there.
#[test]
fn a_read_only_mount_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
    let there = tempfile::tempdir().unwrap();
    let mount = |arguments: &[&str]| {
        let mut command = std::process::Command::new("mount");
        command.args(arguments).args([dir.path(), there.path()]);
        command.output().is_ok_and(|done| done.status.success())
    };
    if !mount(&["--bind", "-o", "ro"]) {
        eprintln!("skipped: mounting needs root");
        return;
    }
    let read = || {
        let mut options = Options::new(there.path());
        // A program, too: read_only.rs.
        assert!(Store::open(&options)?.is_read_only());
        options.mode = polycache_host::Mode::Read;
        let reader = Store::open(&options)?;
        store.put(&ns, b"k", &entry("new"))?;
        Ok::<_, polycache_host::Error>(get(&reader, &ns, b"k"))
    };
    let seen = read();
    let unmounted = std::process::Command::new("umount")
        .arg(there.path())
        .status();
    assert!(unmounted.unwrap().success());
    assert_eq!(seen.unwrap().as_deref(), Some("new"));
}

/// Every call of an opening that can meet a full disk says so, from the first mkdir(2) on.
#[test]
fn a_disk_that_is_full_from_the_start_is_no_space() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = 0;
    for calls in 0..60 {
        let io = Faulty::new(calls, libc::ENOSPC);
        if let Err(error) = Store::open(&with_io(&dir.path().join("p"), io)) {
            // The boot id is not on a disk, and a lock needs no room.
            let other = ["boot id", "lock"]
                .iter()
                .any(|what| error.to_string().contains(what));
            assert!(error.code() == "no_space" || other, "{calls}: {error}");
            told += 1;
        }
        std::fs::remove_dir_all(dir.path().join("p")).ok();
    }
    assert!(told > 20, "{told}");
}

/// As before, where the limit is lowered when a part of a block is already in use.
#[test]
fn a_file_size_limit_that_is_lowered_later_ends_no_process() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    in_a_child(|| {
        // Blocks of 512 KiB, of which the first 64 have their pages after this.
        let store = Store::open(&large(dir.path())).unwrap();
        let ns = store.namespace(&["n"]).unwrap();
        let value = entry(&"x".repeat(1000));
        store.put(&ns, b"first", &value).unwrap();
        limit_file_sizes();
        for key in 0..400u32 {
            store.put(&ns, &key.to_le_bytes(), &value).unwrap();
        }
    });
}

/// A daemon forks, closes all that it does not know, and opens files of its own, which get the same numbers.
#[test]
fn a_child_that_closed_the_descriptors_writes_to_no_file_of_its_own() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let own = dir.path().join("own");
    std::fs::write(&own, "precious").unwrap();
    let store = Store::open(&large(&dir.path().join("cache"))).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    let value = entry(&"x".repeat(1000));
    store.put(&ns, b"first", &value).unwrap();
    in_a_child(|| {
        for number in 3..1000 {
            // SAFETY: the child uses none of them but through the store, which is what is tried.
            unsafe { libc::close(number) };
        }
        let mut options = std::fs::OpenOptions::new();
        let files: Vec<_> = (0..40)
            .map(|_| options.read(true).write(true).open(&own).unwrap())
            .collect();
        // In the block of the parent, and beyond it.
        let stored = (0..2000u32).filter(|key| store.put(&ns, &key.to_le_bytes(), &value).is_ok());
        assert!(stored.count() >= 400);
        drop(files);
    });
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "precious");
}

fn large(path: &Path) -> Options {
    let mut options = Options::new(path);
    options.limit = Some(256 << 20);
    options
}

/// To 100,000 bytes, for this process.
fn limit_file_sizes() {
    let limit = libc::rlimit {
        rlim_cur: 100_000,
        rlim_max: 100_000,
    };
    // SAFETY: plain system calls; `limit` is valid for the call.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
}

/// Runs it in a forked child, which no signal may end.
fn in_a_child(run: impl FnOnce()) {
    // SAFETY: the child only uses stores of its own, or tells what became of its parent's, and leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(ended.is_err())) };
    }
    let mut status = 0;
    // SAFETY: `status` is valid for the call.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
}
