//! Shared by the store's tests.
#![allow(dead_code)]

pub mod faulty;
pub mod large;

use polycache_entry::{encode, EntryOptions, Serializer, Value};
use polycache_host::{Clock, Namespace, Options, Store};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

/// An entry with this text; `expires` in milliseconds since 1970, 0 = never.
pub fn entry_until(text: &str, created: u64, expires: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let options = EntryOptions {
        serializer: Serializer::Text,
        created,
        expires,
        ..EntryOptions::default()
    };
    encode(&Value::Text(text.into()), &options, &mut out).unwrap();
    out
}

/// An entry that never expires.
pub fn entry(text: &str) -> Vec<u8> {
    entry_until(text, 0, 0)
}

/// The text of an entry whose checksum matches.
pub fn text(entry: &[u8]) -> String {
    polycache_entry::Header::parse(entry, polycache_entry::Verify::Checksum).unwrap();
    String::from_utf8(entry[polycache_entry::HEADER_LEN..].to_vec()).unwrap()
}

/// Options of the smallest store.
pub fn small(path: &Path) -> Options {
    let mut options = Options::new(path);
    options.limit = Some(2 << 20);
    options
}

/// A store with a clock that the test sets.
pub fn with_clock(path: &Path, now: u64) -> (Store, Arc<AtomicU64>) {
    let clock = Arc::new(AtomicU64::new(now));
    let mut options = small(path);
    options.clock = Clock::Manual(clock.clone());
    (Store::open(&options).unwrap(), clock)
}

/// Reads the key's text.
pub fn get(store: &Store, namespace: &Namespace, key: &[u8]) -> Option<String> {
    let mut out = Vec::new();
    store
        .get(namespace, key, &mut out)
        .unwrap()
        .map(|_| text(&out))
}

/// Runs `child` in a forked process, and says how it ended.
pub fn in_child(child: impl FnOnce()) -> i32 {
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
