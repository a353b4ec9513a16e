//! Two caches with a directory each are two hosts.

use crate::process::until;
use crate::server::{Server, PROGRAMS};
use polycache::{Builder, Cache, Remote};
use std::time::Duration;
use tempfile::TempDir;

pub const SECOND: Duration = Duration::from_secs(1);

/// Runs on every server that is installed.
pub fn everywhere(check: impl Fn(Server)) {
    PROGRAMS
        .into_iter()
        .filter_map(Server::start)
        .for_each(check);
}

/// Runs on the first server that is installed.
pub fn somewhere(check: impl FnOnce(Server)) {
    if let Some(server) = PROGRAMS.into_iter().find_map(Server::start) {
        check(server);
    }
}

pub struct Host {
    pub directory: TempDir,
    pub cache: Cache,
}

/// With a timeout for slow machines: a command that waits for its turn is no fault.
pub fn options(remote: impl Into<Remote>) -> Builder {
    Cache::builder().remote(remote).timeout(SECOND * 5)
}

pub fn host(remote: impl Into<Remote>) -> Host {
    host_with(options(remote))
}

/// A host whose cache has these options.
pub fn host_with(options: Builder) -> Host {
    let directory = TempDir::new().expect("a directory");
    let cache = options.path(directory.path()).build().expect("it opens");
    Host { directory, cache }
}

/// Waits until a cache serves copies.
pub fn listens(cache: &Cache) {
    until("it listens", || {
        cache.get::<String>("anything").expect("a read");
        cache.remote_stats().expect("it is remote").listens
    });
}

/// Waits until a cache reads this value.
pub fn reads(cache: &Cache, key: &str, value: &str) {
    until("the value is read", || {
        cache.get::<String>(key).ok().flatten().as_deref() == Some(value)
    });
}

/// Waits until a cache can store this value.
pub fn writes(cache: &Cache, key: &str, value: &str) {
    until("it can be written", || cache.set(key, value).is_ok());
}
