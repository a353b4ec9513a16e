//! Forks: what parent and child share, and what each has for itself.

mod support;

use polycache_host::{Lease, PerProcess, Store};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use support::faulty::{with_io, Faulty};
use support::{entry, get, in_child, small};

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

/// A cleaner of /tmp removes the file of locks, because it is never written. Then live processes cannot
/// be detected: they keep their files and are told, and the next opener creates new ones.
#[test]
fn a_lost_file_of_locks_makes_a_new_cache_and_the_old_ones_users_are_told() {
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
    // The first handle was told: what it has may be older than what others write.
    let error = first.get(&ns, b"k", &mut Vec::new()).unwrap_err();
    assert!(
        error.to_string().contains("was removed or replaced"),
        "{error}"
    );
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

/// The lowest byte of the file of locks that any process keeps locked, of the directory's own and all participants'.
fn locked_byte(dir: &Path) -> Option<i64> {
    use std::os::fd::AsRawFd;
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(dir.join("v2/participants"))
        .unwrap();
    // SAFETY: flock is plain data for which all zero bytes are valid.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    (lock.l_type, lock.l_len) = (libc::F_WRLCK as libc::c_short, 4096);
    // SAFETY: `lock` is valid for the call, and `file` keeps the descriptor open.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut lock) };
    assert_eq!(asked, 0);
    (i32::from(lock.l_type) != libc::F_UNLCK).then_some(lock.l_start)
}

/// Waits until no lock stands. An idle child's handler runs when the child is first scheduled, perhaps after its
/// parent ended.
fn assert_no_lock(dir: &Path, why: &str) {
    let patience = std::time::Instant::now();
    while let Some(byte) = locked_byte(dir) {
        assert!(
            patience.elapsed().as_secs() < 10,
            "byte {byte} is still locked: {why}"
        );
        std::thread::yield_now();
    }
}

#[test]
fn a_child_has_a_value_of_its_own_whatever_its_parent_has_locked() {
    let value: PerProcess<Mutex<u32>> = PerProcess::new();
    let mut held = value.get().lock().unwrap();
    *held = 1;
    let status = in_child(|| assert_eq!(*value.get().try_lock().unwrap(), 0));
    assert_eq!(status, 0);
    drop(held);
    assert_eq!(*value.get().lock().unwrap(), 1);
}

/// A process that waits until the pipe's other end is closed, and does nothing else.
fn idle_child(fork: impl FnOnce() -> libc::pid_t, pipe: [libc::c_int; 2]) {
    if fork() == 0 {
        // SAFETY: only async-signal-safe calls, on descriptors of this process.
        unsafe {
            libc::close(pipe[1]);
            // The other end may be open in the child of another test, too, which waits for this one.
            libc::alarm(30);
            let mut byte = [0u8];
            libc::read(pipe[0], byte.as_mut_ptr().cast(), 1);
            libc::_exit(0);
        }
    }
}

fn pipe() -> [libc::c_int; 2] {
    let mut pipe = [0; 2];
    // SAFETY: the array has room for two descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    pipe
}

/// A thread opens, and another one forks, at each moment of that; then the process is killed.
#[test]
fn an_idle_child_keeps_no_lock_of_an_opening() {
    for (call, exists) in [
        ("open", false),
        ("lock", false),
        ("open", true),
        ("lock", true),
    ] {
        let dir = tempfile::tempdir().unwrap();
        if exists {
            drop(Store::open(&small(dir.path())).unwrap());
        }
        let pipe = pipe();
        let status = in_child(|| {
            let mut io = Faulty::new(-1, 0);
            let forked = AtomicBool::new(false);
            io.meanwhile = Some((
                call,
                Box::new(move || {
                    if !forked.swap(true, Ordering::SeqCst) {
                        // SAFETY: the child only waits, and leaves by `_exit`.
                        idle_child(|| unsafe { libc::fork() }, pipe);
                    }
                }),
            ));
            std::mem::forget(Store::open(&with_io(dir.path(), io)).unwrap());
        });
        assert_eq!(status, 0, "{call}");
        assert_no_lock(dir.path(), call);
        // SAFETY: this test opened the descriptor and has not closed it before.
        unsafe { libc::close(pipe[1]) };
    }
}

#[test]
fn an_idle_child_keeps_no_lock_of_more_than_a_thousand_handles() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(&small(dir.path())).unwrap());
    let pipe = pipe();
    let status = in_child(|| {
        let limit = libc::rlimit {
            rlim_cur: 8192,
            rlim_max: 8192,
        };
        // SAFETY: `limit` is valid for the call.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
        let stores: Vec<_> = (0..1100)
            .map(|_| Store::open(&small(dir.path())).unwrap())
            .collect();
        // SAFETY: the child only waits, and leaves by `_exit`.
        idle_child(|| unsafe { libc::fork() }, pipe);
        std::mem::forget(stores);
    });
    assert_eq!(status, 0);
    assert_no_lock(dir.path(), "1,100 handles");
    // SAFETY: this test opened the descriptor and has not closed it before.
    unsafe { libc::close(pipe[1]) };
}

/// The bare system call runs no handler of fork(3).
#[test]
fn a_child_that_no_handler_knows_of_joins_anew() {
    let dir = tempfile::tempdir().unwrap();
    // In a process with one thread: the bare call leaves malloc's locks as other threads hold them.
    let status = in_child(|| clone_and_write(dir.path()));
    assert_eq!(status, 0);
}

fn clone_and_write(dir: &Path) {
    let store = Store::open(&small(dir)).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"parent", &entry("before")).unwrap();
    let parent = store.participant().unwrap();
    // SAFETY: the child only uses the store, and leaves by `_exit`.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    if child == 0 {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for key in 0..2000u32 {
                let value = entry(&format!("child {key}"));
                store.put(&ns, &key.to_le_bytes(), &value).unwrap();
            }
            assert_ne!(store.participant().unwrap(), parent);
        }));
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(ended.is_err())) };
    }
    for key in 2000..4000u32 {
        let value = entry(&format!("parent {key}"));
        store.put(&ns, &key.to_le_bytes(), &value).unwrap();
    }
    let mut status = 0;
    let child = child as libc::pid_t;
    // SAFETY: `status` is valid for the call.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    for key in 0..4000u32 {
        let who = if key < 2000 { "child" } else { "parent" };
        assert_eq!(
            get(&store, &ns, &key.to_le_bytes()),
            Some(format!("{who} {key}"))
        );
    }
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
}

/// A server that starts as root: its workers' writes are refused with what helps, and reads go on.
#[test]
fn a_worker_that_changed_its_user_is_told_what_helps() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("root's")).unwrap();
    // SAFETY: geteuid takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: changing the user needs root");
        return;
    }
    let status = in_child(|| {
        // SAFETY: a plain system call.
        assert_eq!(unsafe { libc::setuid(12_345) }, 0);
        assert_eq!(get(&store, &ns, b"k").as_deref(), Some("root's"));
        let error = store.put(&ns, b"other", &entry("worker's")).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("user 12345"), "{said}");
        assert!(
            said.contains("after the process changed its user"),
            "{said}"
        );
        assert_eq!(get(&store, &ns, b"k").as_deref(), Some("root's"));
    });
    assert_eq!(status, 0);
}
