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
    ] {
        let mut io = Faulty::new(-1, 0);
        io.filesystem = Some(kind);
        let error = Store::open(&with_io(dir.path(), io)).err().unwrap();
        assert_eq!(error.code(), "unsupported_filesystem", "{name}");
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

#[test]
fn another_limit_is_a_mismatch_and_none_takes_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let _store = Store::open(&small(dir.path())).unwrap();
    let mut options = Options::new(dir.path());
    options.limit = Some(3 << 20);
    assert_eq!(
        Store::open(&options).err().unwrap().code(),
        "config_mismatch"
    );
    options.limit = None;
    assert_eq!(
        Store::open(&options).unwrap().stats().unwrap().limit,
        2 << 20
    );
}

/// A real full disk: a tmpfs smaller than the limit.
#[test]
fn a_full_disk_is_a_clean_error_and_the_limit_shrinks() {
    let dir = tempfile::tempdir().unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "none"])
        .arg(dir.path())
        .output()
        .is_ok_and(|done| done.status.success());
    if !mounted {
        eprintln!("skipped: mounting a tmpfs needs root");
        return;
    }
    struct Unmount<'a>(&'a Path);
    impl Drop for Unmount<'_> {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount")
                .arg("-l")
                .arg(self.0)
                .status();
        }
    }
    let _unmount = Unmount(dir.path());
    let mut large = Options::new(dir.path());
    large.limit = Some(64 << 20);
    assert_eq!(Store::open(&large).err().unwrap().code(), "no_space");
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
        .put(&ns, b"k", &entry(&"x".repeat(70_000)))
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
    faulty.disk = AtomicI64::new(1 + 4);
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
    // Making the directory, looking at its owner, opening its locks.
    for (calls, what) in [(0, "make"), (1, "look at"), (3, "open")] {
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
