//! A byte store in this process' memory: each folder has one, which stays when it is closed, as a file would.

use polycache::bindings::{ByteStore, Durability, Ended, Opening, Popped, StoreKind};
use polycache::Error;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Keys of a page.
const PAGE: usize = 3;
/// What each entry takes beside its bytes, as if it were on a disk.
const OVERHEAD: i64 = 32;

/// What a folder holds, and what its tests make of it.
#[derive(Default)]
pub struct Content {
    pub entries: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
    /// So many puts fail for want of room.
    pub full: AtomicUsize,
    /// Each put is an error.
    pub broken: AtomicBool,
    /// Entries take whole pages of so many bytes.
    pub page: AtomicUsize,
    /// How its users found that it was left.
    pub found: Mutex<Vec<Ended>>,
}

impl Content {
    /// The bytes of the disk that they take.
    pub fn taken(&self, entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> u64 {
        let page = self.page.load(Ordering::Relaxed).max(1) as u64;
        let sizes = entries.iter().map(|(key, value)| weight(key, value) as u64);
        sizes.map(|size| size.next_multiple_of(page)).sum()
    }
}

static FOLDERS: Mutex<Option<HashMap<PathBuf, Arc<Content>>>> = Mutex::new(None);

/// What a cache's directory holds.
pub fn content(directory: &std::path::Path) -> Arc<Content> {
    let folder = directory.join("data");
    let folder = std::fs::canonicalize(&folder).unwrap_or(folder);
    let mut folders = FOLDERS.lock().unwrap();
    folders
        .get_or_insert_default()
        .entry(folder)
        .or_default()
        .clone()
}

pub struct InMemory {
    content: Arc<Content>,
    closed: AtomicBool,
}

/// A store that counts its bytes, or one that does not.
pub fn kind(counts: bool) -> StoreKind {
    StoreKind {
        has_files: false,
        name: "in-memory".into(),
        is_shared: true,
        counts,
        reclaims: false,
        // So both ways to delete are tried.
        pops: counts,
        durability: Durability::Synced,
        max_key: 64,
        max_value: u64::MAX,
        open: Arc::new(open),
    }
}

fn open(opening: Opening<'_>) -> Result<Box<dyn ByteStore>, Error> {
    let directory = opening.folder.parent().unwrap();
    let content = content(directory);
    content.found.lock().unwrap().push(opening.ended);
    Ok(Box::new(InMemory {
        content,
        closed: AtomicBool::new(false),
    }))
}

impl InMemory {
    fn check(&self) -> Result<(), Error> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(Error::Io("the store was closed".into()));
        }
        Ok(())
    }
}

fn weight(key: &[u8], value: &[u8]) -> i64 {
    (key.len() + value.len()) as i64 + OVERHEAD
}

impl ByteStore for InMemory {
    fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool, Error> {
        self.check()?;
        let entries = self.content.entries.lock().unwrap();
        let found = entries.get(key);
        out.extend_from_slice(found.map_or(&[], Vec::as_slice));
        Ok(found.is_some())
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<Option<i64>, Error> {
        self.check()?;
        assert!(key.len() <= 64, "{} bytes", key.len());
        if self.content.broken.load(Ordering::Relaxed) {
            return Err(Error::Io("the store is broken".into()));
        }
        let take = |left: usize| left.checked_sub(1);
        let full = &self.content.full;
        if full
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
        {
            return Err(Error::NoSpace("no room".into()));
        }
        let mut entries = self.content.entries.lock().unwrap();
        let before = entries.insert(key.to_vec(), value.to_vec());
        let before = before.map_or(0, |before| weight(key, &before));
        Ok(Some(weight(key, value) - before))
    }

    fn delete(&self, key: &[u8]) -> Result<Option<i64>, Error> {
        self.check()?;
        let before = self.content.entries.lock().unwrap().remove(key);
        Ok(Some(before.map_or(0, |before| -weight(key, &before))))
    }

    fn pop(&self, key: &[u8], most: usize, out: &mut Vec<u8>) -> Result<Popped, Error> {
        self.check()?;
        let before = self.content.entries.lock().unwrap().remove(key);
        if let Some(before) = &before {
            out.extend_from_slice(&before[..most.min(before.len())]);
        }
        let weight = before.as_ref().map_or(0, |before| weight(key, before));
        Ok(Popped {
            was_there: before.is_some(),
            grown: Some(-weight),
        })
    }

    fn scan(
        &self,
        prefix: &[u8],
        cursor: Option<&[u8]>,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Error> {
        self.check()?;
        let entries = self.content.entries.lock().unwrap();
        let after = |key: &&Vec<u8>| cursor.is_none_or(|cursor| key.as_slice() > cursor);
        let keys = entries.range(prefix.to_vec()..).map(|(key, _)| key);
        let keys = keys.take_while(|key| key.starts_with(prefix));
        out.extend(keys.filter(after).take(PAGE).cloned());
        Ok(out.last().filter(|_| out.len() == PAGE).cloned())
    }

    fn size(&self) -> Result<u64, Error> {
        self.check()?;
        let entries = self.content.entries.lock().unwrap();
        Ok(self.content.taken(&entries))
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}
