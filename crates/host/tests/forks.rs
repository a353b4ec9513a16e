//! Forks: what parent and child share, and what each has for itself.

mod support;

use polycache_host::{Lease, Store};
use support::{entry, get, small};

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
