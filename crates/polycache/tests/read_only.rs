//! A cache on a read-only mount: never worse than none.

use polycache::{Cache, Clock, Error};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// A directory's files by another path, which may only be read, while this lives.
struct ReadOnlyMount(tempfile::TempDir);

impl ReadOnlyMount {
    /// None where the user may not mount one.
    fn of(path: &Path) -> Option<ReadOnlyMount> {
        let at = tempfile::tempdir().unwrap();
        let run = |options: [&str; 2], paths: &[&Path]| {
            let mut mount = Command::new("mount");
            let done = mount.args(options).args(paths).output();
            done.is_ok_and(|done| done.status.success())
        };
        if !run(["--bind", "--"], &[path, at.path()]) {
            eprintln!("skipped: a read-only mount needs root");
            return None;
        }
        let mounted = ReadOnlyMount(at);
        assert!(run(["-o", "remount,ro,bind"], &[mounted.0.path()]));
        Some(mounted)
    }
}

impl Drop for ReadOnlyMount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn it_serves_hits_loads_misses_and_refuses_writes() {
    let directory = tempfile::tempdir().unwrap();
    let writer = Cache::builder().path(directory.path()).build().unwrap();
    writer.set("k", "v").unwrap();
    let Some(mount) = ReadOnlyMount::of(directory.path()) else {
        return;
    };
    let cache = Cache::builder().path(mount.0.path()).build().unwrap();
    let typed = cache.typed::<String>().unwrap();
    for _ in 0..3 {
        assert_eq!(cache.get("k").unwrap(), Some("v".to_owned()));
        assert_eq!(typed.get("k").unwrap(), Some("v".to_owned()));
    }
    // The memory tier's object is the directory's, too.
    writer.set("k", "w").unwrap();
    assert_eq!(typed.get("k").unwrap(), Some("w".to_owned()));
    assert_eq!(cache.get::<String>("other").unwrap(), None);
    let mut loads = 0;
    for _ in 0..2 {
        let loaded = cache.get_or_set("other", || {
            loads += 1;
            Ok::<_, Error>("loaded".to_owned())
        });
        assert_eq!(loaded.unwrap(), "loaded");
    }
    assert_eq!(loads, 2);
    let refused = [
        cache.set("k", "new").unwrap_err(),
        cache.delete("k").unwrap_err(),
        cache.clear().unwrap_err(),
        cache.take::<String>("k").unwrap_err(),
        cache.increment("number", 1).unwrap_err(),
        cache.lease("k").acquire(Duration::ZERO).unwrap_err(),
        typed.set("k", &"new".to_owned()).unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.code(), "read_only", "{error}");
    }
    assert_eq!(cache.get("k").unwrap(), Some("w".to_owned()));
    assert_eq!(typed.get("k").unwrap(), Some("w".to_owned()));
}

#[test]
fn a_read_that_cannot_prolong_is_a_hit_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(1_700_000_000_000));
    let open = |path: &Path| {
        let builder = Cache::builder().path(path);
        builder.clock(Clock::Manual(time.clone())).build().unwrap()
    };
    let writer = Cache::builder().path(directory.path());
    let writer = writer.clock(Clock::Manual(time.clone()));
    let writer = writer.time_to_idle(Duration::from_secs(8)).build().unwrap();
    writer.set("k", "v").unwrap();
    let Some(mount) = ReadOnlyMount::of(directory.path()) else {
        return;
    };
    let cache = open(mount.0.path());
    let typed = cache.typed::<String>().unwrap();
    let advance = |ms| time.fetch_add(ms, Ordering::Relaxed);
    let read = || {
        for _ in 0..3 {
            assert_eq!(cache.get("k").unwrap(), Some("v".to_owned()));
            assert_eq!(typed.get("k").unwrap(), Some("v".to_owned()));
        }
    };
    advance(8_999);
    read();
    // What another process prolongs it reads.
    assert_eq!(writer.get("k").unwrap(), Some("v".to_owned()));
    advance(8_999);
    read();
    advance(1);
    assert_eq!(cache.get::<String>("k").unwrap(), None);
    assert_eq!(typed.get("k").unwrap(), None);
}
