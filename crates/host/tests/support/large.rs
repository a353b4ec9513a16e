//! For tests of values larger than a block.

use polycache_host::{Namespace, Options, Store};
use std::path::Path;

pub const MIB: u64 = 1 << 20;

pub fn open(path: &Path, limit: u64) -> Store {
    let mut options = Options::new(path);
    options.limit = Some(limit);
    Store::open(&options).unwrap()
}

/// A text of this length that no other serial has, anywhere in it.
pub fn value(serial: u64, len: usize) -> String {
    let mark = format!("{serial:>15},");
    let mut value = mark.repeat(len / mark.len() + 1);
    value.truncate(len);
    value
}

/// Bytes of the longest text that a directory stores under a key of so many bytes.
pub fn most(store: &Store, ns: &Namespace, key: usize) -> usize {
    let full = ns.prefix().len() + key;
    store.stats().unwrap().max_record as usize - full - polycache_entry::HEADER_LEN
}

pub fn undamaged(store: &Store) {
    assert_eq!(store.check().unwrap().damaged, Vec::<String>::new());
}
