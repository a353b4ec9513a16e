//! The tier itself: each operation over a byte store, and what stands beside it.

use super::calls::Within;
use super::key_locks::KeyLock;
use super::record::{self, Parts};
use super::scans::Scans;
use super::shared::{Joined, Shared};
use super::state::Word;
use super::stored_key::{stored_prefix, StoredKey};
use super::{ByteStore, StoreKind};
use crate::observe::Answer;
use crate::random::mark;
use crate::tier::{HostTier, Leased, Object, Place, Seen, Tier};
use crate::Error;
use polycache_host::{keys, MachineStats, MemoryHits, Options, Report, Stats, Store, Token, Usage};
use polycache_operations::{Holder, Lease};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// The folder of leases, locks and counters, a small directory of the host tier.
const GUARDS: &str = "guards";
const GUARDS_LIMIT: u64 = 2 << 20;
const SMALLEST_LIMIT: u64 = 4 << 20;
const LARGEST_LIMIT: u64 = 1 << 40;

/// One namespace of it.
pub(crate) struct StoreTier {
    handle: Arc<Handle>,
    /// The same namespace of the guards.
    guards: HostTier,
    prefix: Vec<u8>,
}

/// What all namespaces of a cache share.
struct Handle {
    joined: Joined,
    guards: Store,
    directory: PathBuf,
    scans: Scans,
    closed: AtomicBool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.close();
    }
}

impl Handle {
    fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.guards.close();
            self.joined.leave();
        }
    }
}

/// How the tier is opened.
pub(crate) struct StoreOptions {
    /// Of the guards: where the path is the cache's, and the limit that of all.
    pub host: Options,
    pub kind: StoreKind,
}

impl StoreTier {
    /// # Errors
    /// Those of a directory, and what the store gives; `TooManyParticipants` where another process has the store alone.
    pub fn open(options: StoreOptions, parts: &[String]) -> Result<StoreTier, Error> {
        let StoreOptions { mut host, kind } = options;
        let limit = host.limit;
        if limit.is_some_and(|limit| !(SMALLEST_LIMIT..=LARGEST_LIMIT).contains(&limit)) {
            return Err(Error::invalid(
                "limit lies between 4 MiB and 1 TiB for a store beside the host tier",
            ));
        }
        let directory = polycache_host::resolve(&host.path)?;
        if Within::is_under_way() {
            return Err(Error::invalid(
                "a store's own methods, and what runs during them, cannot open a store",
            ));
        }
        super::shared::check_foreign(&directory, &kind.name)?;
        host.path = directory.join(GUARDS);
        host.limit = Some(GUARDS_LIMIT);
        // Nothing in it is worth a look after the machine stopped.
        host.empty_at_boot = true;
        let guards = Store::open(&host)?;
        let read_only = guards.is_read_only();
        let joined = Joined::open(&directory, &kind, limit, GUARDS_LIMIT, read_only)
            .inspect_err(|_| guards.close())?;
        let handle = Arc::new(Handle {
            joined,
            guards,
            directory,
            scans: Scans::default(),
            closed: AtomicBool::new(false),
        });
        StoreTier::of(handle, parts)
    }

    fn of(handle: Arc<Handle>, parts: &[String]) -> Result<StoreTier, Error> {
        Ok(StoreTier {
            guards: HostTier::new(handle.guards.clone(), parts)?,
            prefix: keys::prefix(parts)?,
            handle,
        })
    }

    #[inline]
    pub(super) fn shared(&self) -> &Shared {
        &self.handle.joined.0
    }

    pub(super) fn guards(&self) -> &Store {
        &self.handle.guards
    }

    #[inline]
    pub(super) fn still_open(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        Ok(())
    }

    /// What a store's error means here: of one that was closed meanwhile, that it was closed.
    pub(super) fn failed(&self, error: Error) -> Error {
        if self.is_closed() {
            return Error::Closed;
        }
        match error {
            Error::Closed => self.shared().replaced().unwrap_or(error),
            error => error,
        }
    }

    #[inline]
    pub(super) fn stored_key(&self, key: &[u8]) -> StoredKey {
        StoredKey::new(&self.prefix, key, self.shared().kind.max_key)
    }

    /// The lock of a key, for a change.
    #[inline]
    fn lock_key(&self, key: &StoredKey) -> Result<KeyLock<'_>, Error> {
        self.still_open()?;
        let shared = self.shared();
        if shared.state.is_none() {
            self.guards().check_may_change()?;
        }
        shared.join()?;
        shared.locks.lock(key.bytes(), &shared.store)
    }

    /// Appends the entry of a key that a read is served, and gives its mark.
    #[inline]
    fn read(&self, key: &StoredKey, out: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        self.still_open()?;
        let start = out.len();
        let found = self
            .look(key, out)
            .map(|mark| mark.filter(|_| self.is_served(&out[start..])));
        if !matches!(found, Ok(Some(_))) {
            out.truncate(start);
        }
        found
    }

    /// Appends the entry of a key, even if it has expired. What is appended after an error means nothing.
    fn look(&self, key: &StoredKey, out: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        let start = out.len();
        let got = self.shared().store.get(key.bytes(), out);
        if !got.map_err(|error| self.failed(error))? {
            return Ok(None);
        }
        let Some(parts) = Parts::of(&out[start..]) else {
            return Err(record::damaged());
        };
        if let (true, Some(other)) = (key.is_hashed(), parts.key) {
            // Two long keys of one hash, of which the one that was written last is there.
            if other != &key.full[..] {
                return Ok(None);
            }
        }
        parts.check(&key.full)?;
        let (len, mark) = (parts.entry.len(), parts.mark);
        out.truncate(start + len);
        Ok(Some(mark))
    }

    #[inline]
    pub(super) fn is_served(&self, entry: &[u8]) -> bool {
        polycache_entry::expires(entry) == 0 || polycache_entry::is_valid_at(entry, self.now())
    }

    pub(super) fn note_read(&self, key: &StoredKey) {
        if let Some(state) = &self.shared().state {
            state.note_read(key.bytes());
        }
    }

    /// Stores an entry, under the key's lock.
    fn write(&self, key: &StoredKey, entry: &[u8]) -> Result<(), Error> {
        self.check_size(key, entry.len() as u64)?;
        let shared = self.shared();
        let record = record::compose(entry, &key.full, key.is_hashed(), mark());
        self.write_by(key, record.len(), || shared.put(key.bytes(), &record))
    }

    /// Makes room for a record of so many bytes and has it stored, under the key's lock.
    pub(super) fn write_by(
        &self,
        key: &StoredKey,
        len: usize,
        put: impl Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let shared = self.shared();
        shared.make_room(len)?;
        let mut attempts = 0;
        loop {
            match put() {
                Ok(()) => {
                    if let Some(state) = &shared.state {
                        state.note_write(key.bytes());
                    }
                    return Ok(());
                }
                Err(Error::NoSpace(why)) => {
                    attempts += 1;
                    let asked = len.saturating_mul(1 << attempts);
                    if attempts > 10 || !shared.evict_some(asked)? {
                        return Err(Error::NoSpace(why));
                    }
                }
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Largest total size of a key and its entry, as of the host tier.
    pub(super) fn max_record(&self) -> u64 {
        let shared = self.shared();
        (shared.limit / 4).min(shared.kind.max_value)
    }

    pub(super) fn check_size(&self, key: &StoredKey, entry_len: u64) -> Result<(), Error> {
        let parts = [
            (
                entry_len.saturating_add((key.full.len() + record::TRAILER) as u64),
                self.max_record(),
            ),
            (key.full.len() as u64, self.shared().limit / 64),
        ];
        match parts.into_iter().find(|(size, limit)| size > limit) {
            Some((size, limit)) => Err(Error::EntryTooLarge { size, limit }),
            None => Ok(()),
        }
    }

    /// Has an entry stored in the place of what the key had.
    #[inline]
    pub(super) fn put_by(
        &self,
        key: &StoredKey,
        write: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let lock = self.lock_key(key)?;
        self.end_loads(key)?;
        let written = write();
        if written.is_err() {
            // What was there is superseded.
            let erased = self.erase(key);
            if let (Ok(()), Some(state)) = (erased, &self.shared().state) {
                state.add(Word::FailedPuts, 1);
            }
        }
        drop(lock);
        written?;
        self.guards().count_write();
        Ok(())
    }

    fn erase(&self, key: &StoredKey) -> Result<(), Error> {
        let erased = self.shared().delete(key.bytes());
        erased.map_err(|error| self.failed(error))
    }

    /// Deletes a key under its lock, and says whether a read was served it. What cannot be read goes as well.
    fn look_and_erase(&self, key: &StoredKey) -> Result<bool, Error> {
        let mut entry = Vec::new();
        let is_served = match self.look(key, &mut entry) {
            Ok(None) => return Ok(false),
            Ok(Some(_)) => self.is_served(&entry),
            Err(Error::Closed) => return Err(Error::Closed),
            Err(_) => true,
        };
        self.erase(key)?;
        Ok(is_served)
    }

    /// The same, of a store that does both at once.
    fn pop(&self, key: &StoredKey) -> Result<bool, Error> {
        let mut head = Vec::new();
        let popped = self
            .shared()
            .pop(key.bytes(), polycache_entry::HEADER_LEN, &mut head);
        let was_there = popped.map_err(|error| self.failed(error))?;
        let is_whole = head.len() >= polycache_entry::HEADER_LEN;
        Ok(was_there && (!is_whole || self.is_served(&head)))
    }

    /// Stores an entry if the key is still as it was seen, with its lock held for both.
    fn write_if(
        &self,
        key: &[u8],
        admit: impl FnOnce(Option<u64>) -> bool,
        entry: &[u8],
    ) -> Result<bool, Error> {
        let key = &self.stored_key(key);
        self.still_open()?;
        self.check_size(key, entry.len() as u64)?;
        let _lock = self.lock_key(key)?;
        if !admit(self.read(key, &mut Vec::new())?) {
            return Ok(false);
        }
        self.end_loads(key)?;
        self.write(key, entry)?;
        Ok(true)
    }

    /// No load of the key that began before is stored. Under the key's lock, so that none begins until it is given back.
    #[inline]
    fn end_loads(&self, key: &StoredKey) -> Result<(), Error> {
        let key = &key.full[self.prefix.len()..];
        self.guards.invalidate_loads(key)?;
        Ok(())
    }

    /// Each full key that begins with a prefix and each entry, a page at a time: those that a read is served.
    fn page(
        &self,
        prefix: &[u8],
        cursor: u64,
        found: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<Option<u64>, Error> {
        self.still_open()?;
        let shared = self.shared();
        let cursor = self.handle.scans.take(cursor)?;
        let mut page = Vec::new();
        let next = shared
            .store
            .scan(
                stored_prefix(prefix, shared.kind.max_key),
                cursor.as_deref(),
                &mut page,
            )
            .map_err(|error| self.failed(error))?;
        let mut entry = Vec::new();
        for stored in page {
            entry.clear();
            if !shared.store.get(&stored, &mut entry)? {
                continue;
            }
            // What cannot be read has no key; `check` tells of it.
            let Some(parts) = Parts::of(&entry) else {
                continue;
            };
            let full = parts.key.unwrap_or(&stored);
            let is_whole = parts.entry.len() >= polycache_entry::HEADER_LEN;
            if is_whole && full.starts_with(prefix) && self.is_served(parts.entry) {
                found(full, parts.entry);
            }
        }
        Ok(next.map(|cursor| self.handle.scans.keep(cursor)))
    }

    /// All pages.
    fn all(&self, found: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), Error> {
        let mut cursor = Some(0);
        while let Some(at) = cursor {
            cursor = self.page(b"", at, found)?;
        }
        Ok(())
    }

    /// The stored keys of all, a page at a time.
    fn each_stored(
        &self,
        prefix: &[u8],
        found: &mut dyn FnMut(Vec<u8>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let shared = self.shared();
        let prefix = stored_prefix(prefix, shared.kind.max_key);
        let mut cursor: Option<Vec<u8>> = None;
        loop {
            let mut page = Vec::new();
            let next = shared.store.scan(prefix, cursor.as_deref(), &mut page);
            let next = next.map_err(|error| self.failed(error))?;
            page.into_iter().try_for_each(&mut *found)?;
            if next.is_none() {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// Bytes that everything of the directory takes, about.
    fn bytes(&self) -> Result<u64, Error> {
        let shared = self.shared();
        let state = shared.state.as_ref();
        let store = match state {
            Some(state) if shared.kind.counts => state.get(Word::Bytes),
            _ => shared.store.size().map_err(|error| self.failed(error))?,
        };
        let guards = self.guards().stats()?.bytes;
        Ok(store + guards + state.map_or(0, super::state::State::size))
    }

    fn limit(&self) -> u64 {
        self.shared().limit
    }

    fn evicted(&self) -> (u64, u64) {
        let state = self.shared().state.as_ref();
        let get = |word| state.map_or(0, |state| state.get(word));
        (get(Word::Evicted), get(Word::FailedPuts))
    }
}

fn seen_mark(seen: &Seen) -> Option<u64> {
    match seen {
        Seen::Marked(mark) => Some(*mark),
        _ => None,
    }
}

impl Tier for StoreTier {
    fn byte_store(&self) -> Option<&StoreTier> {
        Some(self)
    }

    fn namespace(&self, parts: &[String]) -> Result<Arc<dyn Tier>, Error> {
        Ok(Arc::new(StoreTier::of(self.handle.clone(), parts)?))
    }

    fn path(&self) -> &Path {
        &self.handle.directory
    }

    #[inline]
    fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    fn answer(&self) -> Answer {
        Answer::Host
    }

    fn is_shared(&self) -> bool {
        true
    }

    #[inline]
    fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        let found = self.find(key, out)?;
        if found.is_none() {
            self.guards().count_joined(false);
        }
        Ok(found)
    }

    #[inline]
    fn find(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        let key = &self.stored_key(key);
        let found = self.read(key, out)?;
        if found.is_some() {
            self.guards().count_joined(true);
            self.note_read(key);
        }
        Ok(found.map(|_| Place::UNKNOWN))
    }

    /// The library does not tell whether an entry is the one that was read: there is no memory tier over it.
    fn stands(&self, _: &Place) -> bool {
        false
    }

    fn mark_visited(&self, _: &Place) -> bool {
        false
    }

    fn add_memory_hits(&self, _: &MemoryHits, _: u64) {}

    fn put(&self, key: &[u8], entry: &[u8], _: Option<Object>) -> Result<(), Error> {
        let key = &self.stored_key(key);
        self.put_by(key, || self.write(key, entry))
    }

    fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        let key = &self.stored_key(key);
        let _lock = self.lock_key(key)?;
        self.end_loads(key)?;
        // Of two long keys with one hash it must be seen first which of them is there.
        let is_served = if self.shared().kind.pops && !key.is_hashed() {
            self.pop(key)?
        } else {
            self.look_and_erase(key)?
        };
        if is_served {
            self.guards().count_delete();
        }
        Ok(is_served)
    }

    fn store(&self) -> Option<&Store> {
        None
    }

    fn directory(&self) -> Option<&Store> {
        Some(self.guards())
    }

    fn counting(&self) -> Option<&Store> {
        Some(self.guards())
    }

    fn see(&self, key: &[u8]) -> Result<Option<Seen>, Error> {
        self.peek(key, &mut Vec::new())
    }

    fn peek(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Seen>, Error> {
        let key = &self.stored_key(key);
        Ok(self.read(key, out)?.map(Seen::Marked))
    }

    fn remove(&self, key: &[u8], seen: &Seen) -> Result<bool, Error> {
        let key = &self.stored_key(key);
        let _lock = self.lock_key(key)?;
        let there = self.look(key, &mut Vec::new())?;
        if there.is_none() || there != seen_mark(seen) {
            return Ok(false);
        }
        self.end_loads(key)?;
        self.erase(key)?;
        self.guards().count_delete();
        Ok(true)
    }

    fn invalidate_loads(&self, key: &[u8]) -> Result<bool, Error> {
        let key = &self.stored_key(key);
        let _lock = self.lock_key(key)?;
        if self.read(key, &mut Vec::new())?.is_some() {
            return Ok(false);
        }
        self.end_loads(key)?;
        Ok(true)
    }

    fn renew(&self, key: &[u8], seen: &Seen, entry: &[u8]) -> Result<bool, Error> {
        let seen = seen_mark(seen);
        self.write_if(key, |there| there.is_some() && there == seen, entry)
    }

    fn add(&self, key: &[u8], entry: &[u8], _: Option<Object>) -> Result<bool, Error> {
        let added = self.write_if(key, |there| there.is_none(), entry)?;
        if added {
            self.guards().count_write();
        }
        Ok(added)
    }

    fn exchange(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        _: Option<Object>,
    ) -> Result<bool, Error> {
        let exchanged = self.renew(key, seen, entry)?;
        if exchanged {
            self.guards().count_write();
        }
        Ok(exchanged)
    }

    fn version(&self, _: &[u8], seen: &Seen) -> Result<Option<u64>, Error> {
        Ok(seen_mark(seen))
    }

    fn replace(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        object: Option<Object>,
    ) -> Result<bool, Error> {
        let replaced = self.exchange(key, seen, entry, object);
        if replaced.is_err() {
            // It was superseded. If the store was closed meanwhile, it is not read through this handle.
            let _ = self.remove(key, seen);
        }
        replaced
    }

    fn lease(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Leased, Error> {
        let hit = || {
            Ok(Leased {
                lease: Lease::Hit,
                place: Some(Place::UNKNOWN),
            })
        };
        if self.find(key, out)?.is_some() {
            return hit();
        }
        if self.guards().is_read_only() {
            return self.guards.lease(key, &mut Vec::new());
        }
        let stored = &self.stored_key(key);
        // Under the lock nobody stores: a key that is missing after the lease was taken was not filled before it.
        let _lock = self.lock_key(stored)?;
        let leased = self.guards.lease(key, &mut Vec::new())?;
        if let Lease::Acquired(token) = leased.lease {
            match self.find(key, out) {
                Ok(None) => {}
                found => {
                    self.guards.release(key, token);
                    self.guards().count_found_later();
                    found?;
                    return hit();
                }
            }
        }
        Ok(leased)
    }

    fn beside(&self, key: &[u8], holder: Holder) -> Result<Option<Token>, Error> {
        self.guards.beside(key, holder)
    }

    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        polycache_host::has_inherited(from, holder)
    }

    fn fill(
        &self,
        key: &[u8],
        token: Token,
        entry: &[u8],
        _: Option<Object>,
    ) -> Result<bool, Error> {
        let stored = &self.stored_key(key);
        let filled = self.lock_key(stored).and_then(|_lock| {
            if !self.guards.is_leased(key, token) {
                return Ok(false);
            }
            let written = self.write(stored, entry);
            // Of the holder beside whom this one loaded, too: the first to end fills.
            self.end_loads(stored)?;
            written.map(|()| true)
        });
        self.guards.release(key, token);
        match &filled {
            Ok(true) => self.guards().count_write(),
            Ok(false) => self.guards().count_invalidated_load(),
            Err(_) => {}
        }
        filled
    }

    fn release(&self, key: &[u8], token: Token) {
        self.guards.release(key, token);
    }

    fn is_leased(&self, key: &[u8], token: Token) -> bool {
        self.guards.is_leased(key, token)
    }

    fn lock(&self, key: &[u8]) -> Result<Option<Token>, Error> {
        self.guards.lock(key)
    }

    fn unlock(&self, key: &[u8], token: Token) {
        self.guards.unlock(key, token);
    }

    fn is_locked(&self, key: &[u8]) -> Result<bool, Error> {
        self.guards.is_locked(key)
    }

    fn count_joined(&self, found: bool) {
        self.guards.count_joined(found);
    }

    fn count_unstored(&self) {
        self.guards.count_unstored();
    }

    fn count_wait_timeout(&self) {
        self.guards.count_wait_timeout();
    }

    fn keys(
        &self,
        prefix: &[u8],
        cursor: u64,
        _: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        let full = [&self.prefix, prefix].concat();
        let len = self.prefix.len();
        self.page(&full, cursor, &mut |key, _| out.push(key[len..].to_vec()))
    }

    fn full_keys(&self, cursor: u64, _: u64, out: &mut Vec<Vec<u8>>) -> Result<Option<u64>, Error> {
        self.page(b"", cursor, &mut |key, _| out.push(key.to_vec()))
    }

    fn clear(&self, parts: &[String]) -> Result<(), Error> {
        self.still_open()?;
        let shared = self.shared();
        if shared.state.is_none() {
            self.guards().check_may_change()?;
        }
        shared.join()?;
        // Loads under way end here, and whoever is just storing one has done so once the locks were free.
        self.guards.clear(parts)?;
        shared.locks.pass_all(&shared.store)?;
        // `shop::` is the namespace, `shop:inner::` one nested in it.
        let outer = match parts {
            [] => &b""[..],
            _ => &self.prefix[..self.prefix.len() - 1],
        };
        let is_cut = stored_prefix(outer, shared.kind.max_key).len() < outer.len();
        let mut record = Vec::new();
        self.each_stored(outer, &mut |stored| {
            let _lock = shared.locks.lock(&stored, &shared.store)?;
            if is_cut {
                // Another namespace may begin alike.
                record.clear();
                if !shared.store.get(&stored, &mut record)? {
                    return Ok(());
                }
                let full = Parts::of(&record).and_then(|parts| parts.key);
                if full.is_some_and(|full| !full.starts_with(outer)) {
                    return Ok(());
                }
            }
            let deleted = shared.delete(&stored);
            deleted.map_err(|error| self.failed(error))
        })
    }

    fn clears_slowly(&self) -> bool {
        true
    }

    /// Counts the keys of the store.
    fn stats(&self) -> Result<Stats, Error> {
        self.still_open()?;
        let mut entries = 0;
        self.each_stored(b"", &mut |_| {
            entries += 1;
            Ok(())
        })?;
        let (evicted, failed_puts) = self.evicted();
        Ok(Stats {
            entries,
            bytes: self.bytes()?,
            limit: self.limit(),
            max_record: self.max_record(),
            evicted_by_age: evicted,
            evicted_by_conflict: 0,
            evicted_by_failed_put: failed_puts,
            expired: 0,
            reinserted: 0,
            blocks_claimed: 0,
            floor_overflows: 0,
            ..self.guards().stats()?
        })
    }

    fn machine_stats(&self) -> Result<Option<MachineStats>, Error> {
        let stats = self.stats()?;
        Ok(Some(MachineStats {
            entries: stats.entries,
            bytes: stats.bytes,
            limit: stats.limit,
            evicted_by_age: stats.evicted_by_age,
            evicted_by_conflict: 0,
            evicted_by_failed_put: stats.evicted_by_failed_put,
            expired: 0,
            ..self.guards().machine_stats()?
        }))
    }

    /// Reads every entry.
    fn usage(&self, most: usize) -> Result<Option<Vec<Usage>>, Error> {
        let mut found: HashMap<Vec<String>, (u64, u64)> = HashMap::new();
        self.all(&mut |key, entry| {
            if let Some((namespace, _)) = keys::split(key) {
                let (entries, bytes) = found.entry(namespace).or_default();
                *entries += 1;
                *bytes += (key.len() + entry.len() + record::TRAILER) as u64;
            }
        })?;
        let mut usage: Vec<Usage> = found
            .into_iter()
            .map(|(namespace, (entries, bytes))| Usage {
                namespace,
                entries,
                bytes,
            })
            .collect();
        usage.sort_by(|a, b| (b.bytes, &a.namespace).cmp(&(a.bytes, &b.namespace)));
        usage.truncate(most);
        Ok(Some(usage))
    }

    fn check(&self) -> Result<Report, Error> {
        self.still_open()?;
        let shared = self.shared();
        let mut report = Report {
            leases: self.guards().check()?.leases,
            ..Report::default()
        };
        let mut record = Vec::new();
        self.each_stored(b"", &mut |stored| {
            record.clear();
            if shared.store.get(&stored, &mut record)? {
                let checked = Parts::of(&record)
                    .ok_or_else(record::damaged)
                    .and_then(|parts| parts.check(parts.key.unwrap_or(&stored)));
                match checked {
                    Ok(()) => report.whole += 1,
                    Err(error) => {
                        let key = String::from_utf8_lossy(&stored);
                        report.damaged.push(format!("{key}: {error}"));
                    }
                }
            }
            Ok(())
        })?;
        Ok(report)
    }

    fn flush(&self) -> Result<(), Error> {
        self.still_open()?;
        let flushed = self.shared().store.flush();
        flushed.map_err(|error| self.failed(error))
    }

    fn close(&self) {
        self.handle.close();
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.handle.guards.is_closed()
    }

    #[inline]
    fn now(&self) -> u64 {
        self.handle.guards.now()
    }
}
