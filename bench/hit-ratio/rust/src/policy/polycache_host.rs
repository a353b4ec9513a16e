//! Ours on the host: the real engine in a directory of its own, with a byte limit. A miss stores
//! an entry of [`RECORD`] bytes, and the limit is the largest under which no more of them fit
//! than the capacity says. Space is given back a block at a time, so that somewhat fewer are
//! there most of the time, and there is a smallest limit.

use super::{Key, Policy, Setting, Subject};
use crate::Error;
use polycache_entry::{encode, EntryOptions, Value};
use polycache_host::layout::{Geometry, MIN_LIMIT};
use polycache_host::{Namespace, Options, Store};
use tempfile::TempDir;

pub const SUBJECT: Subject = Subject {
    name: "polycache-host",
    note: "the real engine, limited in bytes: entries of 512 bytes",
    build: |setting| Ok(Box::new(Host::new(setting)?)),
};

/// Bytes an entry takes with all that belongs to it: few enough to have many in a block, enough
/// for the index never to be what limits.
const RECORD: u64 = 512;
/// Between the limits that are tried.
const STEP: u64 = 4096;

struct Host {
    store: Store,
    namespace: Namespace,
    entry: Vec<u8>,
    read: Vec<u8>,
    // Removed after the store is closed.
    _directory: TempDir,
}

impl Host {
    fn new(setting: &Setting<'_>) -> Result<Host, Error> {
        let directory = tempfile::Builder::new()
            .prefix("polycache-hit-ratio-")
            .tempdir()?;
        let mut options = Options::new(directory.path());
        options.limit = Some(limit(setting.capacity as u64)?);
        let store = Store::open(&options)?;
        let entry = entry_in(&store)?;
        Ok(Host {
            namespace: store.namespace::<&str>(&[])?,
            store,
            entry,
            read: Vec::new(),
            _directory: directory,
        })
    }
}

impl Policy for Host {
    fn access(&mut self, key: Key) -> bool {
        let key = key.to_le_bytes();
        self.read.clear();
        let found = self.store.get(&self.namespace, &key, &mut self.read);
        let hit = found.expect("the store can be read").is_some();
        if hit {
            assert_eq!(self.read, self.entry, "what is read is what was written");
        } else {
            let put = self.store.put(&self.namespace, &key, &self.entry);
            put.expect("the store can be written");
        }
        hit
    }

    fn len(&self) -> usize {
        self.store.stats().map_or(0, |stats| stats.entries as usize)
    }
}

/// Entries that fit in a directory of this byte limit.
fn entries(limit: u64) -> Result<u64, Error> {
    let geometry = Geometry::new(limit)?;
    Ok(geometry.blocks * (geometry.block_size / RECORD))
}

/// The largest byte limit with room for no more than so many entries.
fn limit(capacity: u64) -> Result<u64, Error> {
    let smallest = entries(MIN_LIMIT)?;
    if smallest > capacity {
        return Err(format!(
            "NotOffered: its smallest limit, 2 MiB, holds {smallest} such entries"
        )
        .into());
    }
    let mut limit = (2 * capacity * RECORD).max(MIN_LIMIT);
    while entries(limit)? > capacity {
        limit -= STEP;
    }
    Ok(limit)
}

/// An entry that takes [`RECORD`] bytes under a key of ours.
fn entry_in(store: &Store) -> Result<Vec<u8>, Error> {
    let geometry = store.shared().geometry;
    let options = EntryOptions {
        created: store.now(),
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    for length in (1..RECORD as usize).rev() {
        entry.clear();
        encode(
            &Value::Text("x".repeat(length).into()),
            &options,
            &mut entry,
        )?;
        if geometry.record_size(size_of::<Key>(), entry.len()) == RECORD {
            return Ok(entry);
        }
    }
    Err("no entry takes that much".into())
}
