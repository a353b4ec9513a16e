//! How the outside world affects a store: forks, full disks, failing calls, damage, reboots, other
//! users.

mod support;

use polycache_host::io::{Io, SystemIo};
use polycache_host::{Lease, Options, Store};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;
use support::{entry, get, small};

/// Fails the n-th call, or gives false answers about the path.
struct Faulty {
    left: AtomicI64,
    errno: i32,
    filesystem: Option<u32>,
    owner: Option<u32>,
    boot: u8,
    /// Free blocks of the disk, and how often it was asked for one that it did not have.
    disk: AtomicI64,
    refused: AtomicI64,
}

impl Faulty {
    fn new(calls: i64, errno: i32) -> Faulty {
        Faulty {
            left: AtomicI64::new(calls),
            errno,
            filesystem: None,
            owner: None,
            boot: 0,
            disk: AtomicI64::new(i64::MAX),
            refused: AtomicI64::new(0),
        }
    }

    fn count(&self) -> io::Result<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(io::Error::from_raw_os_error(self.errno));
        }
        Ok(())
    }
}

impl Io for Faulty {
    fn filesystem(&self, path: &Path) -> io::Result<u32> {
        self.count()?;
        self.filesystem
            .map_or_else(|| SystemIo.filesystem(path), Ok)
    }
    fn owner(&self, path: &Path) -> io::Result<u32> {
        self.count()?;
        self.owner.map_or_else(|| SystemIo.owner(path), Ok)
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.count()?;
        SystemIo.create_directory(path)
    }
    fn open(&self, path: &Path, create: bool) -> io::Result<File> {
        self.count()?;
        SystemIo.open(path, create)
    }
    fn open_to_read(&self, path: &Path) -> io::Result<File> {
        self.count()?;
        SystemIo.open_to_read(path)
    }
    fn len(&self, file: &File) -> io::Result<u64> {
        self.count()?;
        SystemIo.len(file)
    }
    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        self.count()?;
        SystemIo.set_len(file, len)
    }
    fn allocate(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        self.count()?;
        if self.disk.fetch_sub(1, Ordering::SeqCst) <= 0 {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        SystemIo.allocate(file, offset, len)
    }
    fn map(&self, file: &File, len: u64) -> io::Result<memmap2::MmapRaw> {
        self.count()?;
        SystemIo.map(file, len)
    }
    fn map_to_read(&self, file: &File, len: u64) -> io::Result<memmap2::MmapRaw> {
        self.count()?;
        SystemIo.map_to_read(file, len)
    }
    fn map_private(&self, file: &File, len: u64) -> io::Result<memmap2::MmapRaw> {
        self.count()?;
        SystemIo.map_private(file, len)
    }
    fn sync(&self, mapping: &memmap2::MmapRaw) -> io::Result<()> {
        self.count()?;
        SystemIo.sync(mapping)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.count()?;
        SystemIo.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.count()?;
        SystemIo.remove(path)
    }
    fn lock(&self, file: &File, byte: u64) -> io::Result<bool> {
        self.count()?;
        SystemIo.lock(file, byte)
    }
    fn lock_shared(&self, file: &File, byte: u64) -> io::Result<bool> {
        self.count()?;
        SystemIo.lock_shared(file, byte)
    }
    fn unlock(&self, file: &File, byte: u64) -> io::Result<()> {
        self.count()?;
        SystemIo.unlock(file, byte)
    }
    fn boot_id(&self) -> io::Result<[u8; 16]> {
        self.count()?;
        let mut id = SystemIo.boot_id()?;
        id[0] ^= self.boot;
        Ok(id)
    }
}

fn with_io(path: &Path, io: Faulty) -> Options {
    let mut options = small(path);
    options.io = Arc::new(io);
    options
}

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
    file.write_all_at(b"NOTCACHE", 0).unwrap();
    assert_eq!(open().err().unwrap().code(), "io");
    drop(store);
    let store = open().unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    assert_eq!(get(&store, &ns, b"k"), None);
    put(&store);
    drop(store);
    let file = File::options().write(true).open(&index).unwrap();
    file.write_all_at(&2u64.to_le_bytes(), 8).unwrap();
    assert_eq!(open().err().unwrap().code(), "unsupported_version");
    file.write_all_at(&1u64.to_le_bytes(), 8).unwrap();
    file.set_len(8192).unwrap();
    let store = open().unwrap();
    assert_eq!(get(&store, &store.namespace(&["n"]).unwrap(), b"k"), None);
}

#[test]
fn a_reboot_empties_the_cache_unless_it_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let reboot = |boot: u8, keep: bool| {
        let mut io = Faulty::new(-1, 0);
        io.boot = boot;
        let mut options = with_io(dir.path(), io);
        options.keep_after_reboot = keep;
        Store::open(&options).unwrap()
    };
    let fill = |store: &Store| {
        let ns = store.namespace(&["n"]).unwrap();
        for key in 0..200u32 {
            store
                .put(&ns, &key.to_le_bytes(), &entry(&format!("value {key}")))
                .unwrap();
        }
        store.delete(&ns, &7u32.to_le_bytes()).unwrap();
        store.flush().unwrap();
    };
    let count = |store: &Store| {
        let ns = store.namespace(&["n"]).unwrap();
        (0..200u32)
            .filter(|key| {
                let value = get(store, &ns, &key.to_le_bytes());
                assert!(value.is_none() || value == Some(format!("value {key}")));
                value.is_some()
            })
            .count()
    };
    fill(&reboot(0, false));
    assert_eq!(count(&reboot(0, false)), 199);
    assert_eq!(count(&reboot(1, true)), 199);
    assert_eq!(count(&reboot(2, false)), 0);

    // A page that never reached the disk: its records are gone, the others undamaged.
    fill(&reboot(2, false));
    let blocks = dir.path().join("v1/blocks/0000");
    let file = File::options().write(true).open(blocks).unwrap();
    file.write_all_at(&[0; 4096], 8192).unwrap();
    let store = reboot(3, true);
    let left = count(&store);
    assert!((50..199).contains(&left), "{left}");
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
    fill(&store);
    assert_eq!(count(&store), 199);
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

/// Runs `child` in a forked process and says how it ended.
fn in_child(child: impl FnOnce()) -> i32 {
    // SAFETY: the child only uses the store and leaves by `_exit`.
    unsafe {
        let pid = libc::fork();
        if pid == 0 {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
            libc::_exit(i32::from(ended.is_err()));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(pid, &mut status, 0), pid);
        status
    }
}

#[test]
fn a_forked_child_writes_to_blocks_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"parent", &entry("before")).unwrap();
    let parent = store.participant().unwrap();
    let status = in_child(|| {
        assert_eq!(get(&store, &ns, b"parent").as_deref(), Some("before"));
        for key in 0..2000u32 {
            store
                .put(
                    &ns,
                    &(key % 100).to_le_bytes(),
                    &entry(&format!("child {key}")),
                )
                .unwrap();
        }
        assert_ne!(store.participant().unwrap(), parent);
        let Lease::Acquired(_) = store.lease(&ns, b"left behind", &mut Vec::new()).unwrap() else {
            panic!()
        };
    });
    assert_eq!(status, 0);
    for key in 0..2000u32 {
        store
            .put(&ns, &(key % 100 + 1000).to_le_bytes(), &entry("parent"))
            .unwrap();
    }
    assert_eq!(
        get(&store, &ns, &50u32.to_le_bytes()).as_deref(),
        Some("child 1950")
    );
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
    // The child died with a lease: its lock was dropped with it, although the child was forked.
    let lease = store.lease(&ns, b"left behind", &mut Vec::new()).unwrap();
    assert!(matches!(lease, Lease::Acquired(_)), "{lease:?}");
}

/// A parent's liveness is its own: a child that outlives it does not keep its leases.
#[test]
fn a_parents_lock_falls_with_the_parent() {
    let dir = tempfile::tempdir().unwrap();
    let watcher = Store::open(&small(dir.path())).unwrap();
    let ns = watcher.namespace(&["n"]).unwrap();
    let mut pipe = [0; 2];
    // SAFETY: the array has room for two descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    let status = in_child(|| {
        let store = Store::open(&small(dir.path())).unwrap();
        let ns = store.namespace(&["n"]).unwrap();
        let Lease::Acquired(_) = store.lease(&ns, b"k", &mut Vec::new()).unwrap() else {
            panic!()
        };
        // SAFETY: the grandchild only waits for the pipe to close and leaves by `_exit`.
        unsafe {
            if libc::fork() == 0 {
                libc::close(pipe[1]);
                let mut byte = [0u8];
                libc::read(pipe[0], byte.as_mut_ptr().cast(), 1);
                libc::_exit(0);
            }
        }
        std::mem::forget(store);
    });
    assert_eq!(status, 0);
    // The grandchild's handler runs when it is first scheduled, perhaps after its parent ended, but
    // always far earlier than the lease's half minute.
    let patience = std::time::Instant::now();
    let acquired = || {
        let lease = watcher.lease(&ns, b"k", &mut Vec::new()).unwrap();
        matches!(lease, Lease::Acquired(_))
    };
    while !acquired() {
        assert!(patience.elapsed().as_secs() < 10, "the lock still stands");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // SAFETY: this test opened the descriptor and has not closed it before.
    unsafe { libc::close(pipe[1]) };
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
    let mut io = Faulty::new(-1, 0);
    io.boot = 1;
    let mut options = with_io(dir.path(), io);
    options.keep_after_reboot = true;
    let store = Store::open(&options).unwrap();
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

/// The pages of the index reach the disk in any order: the clock's may be the oldest.
#[test]
fn a_clock_from_before_the_clears_is_put_right_by_recovery() {
    let reopen = |path: &Path, boot: u8| {
        let mut io = Faulty::new(-1, 0);
        io.boot = boot;
        let mut options = with_io(path, io);
        options.keep_after_reboot = true;
        Store::open(&options).unwrap()
    };
    let forget_clock = |store: Store| {
        let index = store.path().join("index");
        drop(store);
        let file = File::options().write(true).open(index).unwrap();
        let at = polycache_host::layout::header::CLOCK as u64;
        file.write_all_at(&0u64.to_le_bytes(), at).unwrap();
    };
    let dir = tempfile::tempdir().unwrap();
    let store = reopen(dir.path(), 0);
    let (ns, other) = (
        store.namespace(&["n"]).unwrap(),
        store.namespace(&["other"]).unwrap(),
    );
    (0..5).for_each(|_| store.clear(&ns).unwrap());
    forget_clock(store);
    // The floor of the namespace is 5: an entry stored now must be born at or above it.
    let store = reopen(dir.path(), 1);
    store.put(&ns, b"k", &entry("v")).unwrap();
    assert_eq!(get(&store, &ns, b"k").as_deref(), Some("v"));
    for _ in 0..5 {
        store.clear(&other).unwrap();
    }
    store.put(&ns, b"late", &entry("v")).unwrap();
    let floors = dir.path().join("v1/index");
    forget_clock(store);
    // The floors' pages are lost too, but the record was born at 10.
    let file = File::options().write(true).open(floors).unwrap();
    let at = polycache_host::layout::Geometry::new(2 << 20)
        .unwrap()
        .floors_at;
    file.write_all_at(&[0; 4096 * 16], at as u64).unwrap();
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
    for keep in [false, true] {
        let mut io = Faulty::new(-1, 0);
        io.boot = 1;
        let mut options = with_io(dir.path(), io);
        options.keep_after_reboot = keep;
        assert_eq!(Store::open(&options).err().unwrap().code(), "io");
    }
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
    assert_eq!(get(&store, &ns, b"k").as_deref(), Some("v"));
}

/// A cleaner of /tmp removes the file of locks, because it is never written. Then live processes cannot
/// be detected, so they keep their files and the next opener creates new ones.
#[test]
fn a_lost_file_of_locks_costs_no_live_process_its_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::open(&small(dir.path())).unwrap();
    let ns = first.namespace(&["n"]).unwrap();
    first.put(&ns, b"k", &entry("first's")).unwrap();
    std::fs::remove_file(first.path().join("participants")).unwrap();
    let second = Store::open(&small(dir.path())).unwrap();
    for key in 0..20_000u32 {
        second
            .put(&ns, &key.to_le_bytes(), &entry(&"x".repeat(200)))
            .unwrap();
    }
    assert_eq!(get(&first, &ns, b"k").as_deref(), Some("first's"));
    assert_eq!(first.check().unwrap().damaged, Vec::<String>::new());
    let status = in_child(|| {
        let error = first.put(&ns, b"k", &entry("child's")).unwrap_err();
        assert_eq!(error.code(), "io");
    });
    assert_eq!(status, 0);
}

#[test]
fn a_put_in_a_child_that_cannot_join_removes_the_old_value() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("superseded")).unwrap();
    let participants = store.path().join("participants");
    let status = in_child(|| {
        std::fs::remove_file(&participants).unwrap();
        assert_eq!(
            store.put(&ns, b"k", &entry("new")).unwrap_err().code(),
            "io"
        );
    });
    assert_eq!(status, 0);
    assert_eq!(get(&store, &ns, b"k"), None);
    assert_eq!(store.stats().unwrap().evicted_by_failed_put, 1);
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

/// Opening removes anything in its directory that is no cache; another user must not choose that
/// directory.
#[test]
fn a_link_that_another_user_laid_is_refused() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(ours.path().join("blocks")).unwrap();
    std::os::unix::fs::symlink(ours.path(), dir.path().join("v1")).unwrap();
    if std::os::unix::fs::lchown(dir.path().join("v1"), Some(12_345), None).is_err() {
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
        std::fs::remove_dir_all(dir.path().join("v1")).ok();
    }
    // The index's space, and the length of the file of blocks.
    assert!(told >= 2, "{told}");
}
