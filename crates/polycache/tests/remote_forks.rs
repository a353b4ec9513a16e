//! A process that opened no directory, and forks: its child has connections and mutexes of its own.
#![cfg(target_os = "linux")]

#[allow(dead_code)]
#[path = "remote/process.rs"]
mod process;

use polycache::Cache;
use process::{free_ports, Process};
use std::time::Duration;

/// Parent and child use the server at the same time. On one connection each would read the other's replies.
#[test]
fn a_child_shares_no_connection_with_its_parent() {
    let Some(server) = Process::start(free_ports(1)[0], ["--save", ""]) else {
        return;
    };
    server.answers();
    let cache = Cache::builder()
        .remote(server.url())
        .max_staleness(Duration::ZERO)
        .timeout(Duration::from_secs(20))
        .build()
        .unwrap();
    cache.set("parent", "parent").unwrap();
    cache.set("child", "child").unwrap();
    let reads = |name: &str| {
        (0..2000).all(|_| matches!(cache.get::<String>(name), Ok(Some(found)) if found == name))
    };
    // SAFETY: this test's program has one thread that matters, and the child only reads the cache and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let fine = reads("child");
        // SAFETY: it ends the child without its parent's destructors.
        unsafe { libc::_exit(i32::from(!fine)) };
    }
    assert!(reads("parent"));
    let mut status = 0;
    // SAFETY: the child is this process' own.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
}
