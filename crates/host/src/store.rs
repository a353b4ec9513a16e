//! The store: one open handle on a cache directory.

mod environment;
mod flush;
mod fresh;
mod leases;
mod memory_hits;
mod presence;
mod remote;
mod seen;
mod statistics;
mod tally;
mod walks;

pub use memory_hits::MemoryHits;
pub use remote::monotonic;

use crate::block::{Appender, Notes};
use crate::counters::Counter;
use crate::directory::{Directory, Identity, Opening};
use crate::engine::{Engine, Environment, Participant};
use crate::error::Error;
use crate::hash::key_hash;
use crate::io::Io;
use crate::keys;
use crate::mapped::MappedMemory;
use crate::namespace::Namespace;
use crate::options::Options;
use crate::read::Hit;
use environment::{System, CLOSED};
use presence::{root_directory, LOOK_EVERY_CHANGES, LOOK_EVERY_MISSES, LOOK_EVERY_WRITES};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tally::Tally;

/// An open cache directory, shared with every other process that opens it. Cheap to clone; all
/// methods may be called from any thread, and from a forked child.
///
/// Entries are bytes of `spec/entry.md`; keys are bytes within a [`Namespace`].
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    /// For the thread that flushes.
    weak: Weak<Inner>,
    flush_every: Option<Duration>,
    engine: Engine<MappedMemory, System>,
    path: PathBuf,
    io: Arc<dyn Io>,
    /// Nothing is written: [`Mode::Read`], or this process may not.
    read_only: bool,
    /// Why, if that is so.
    only_read_because: Option<String>,
    /// The epoch at which the index was recovered in a private copy.
    copied_at: Option<u64>,
    /// The mode that was asked for.
    file_mode: Option<u32>,
    /// Which files were opened: the index, the file of locks, the files of blocks.
    identities: Vec<Identity>,
    root_directory: Option<Identity>,
    /// When the files' times were last set to now.
    touched: AtomicU64,
    /// When it was last asked whether memory can hold the blocks.
    chose_to_read: AtomicU64,
    lease_ticks: u32,
    root: u64,
    /// False if the caller counts for the machine.
    counts: bool,
    tally: Tally,
}

impl Store {
    /// Opens the directory, making it where it is missing unless [`Options::mode`] says otherwise. Where this process
    /// may not write, a whole cache is opened for reading only: [`Store::is_read_only`].
    ///
    /// # Errors
    /// `InvalidArgument`, `NoCache`, `Damaged`, `UnsupportedFilesystem`, `UnsupportedVersion`,
    /// `UnsupportedPlatform`, `ForeignDirectory`, `TooManyParticipants`, `NoSpace`, `Io`.
    pub fn open(options: &Options) -> Result<Store, Error> {
        let lease_ticks = options.lease_ticks()?;
        let flush_every = options.checked_flush_every()?;
        let opening = Opening {
            path: &options.path,
            mode: options.mode,
            limit: options.limit,
            empty_at_boot: options.empty_at_boot,
            file_mode: options.file_mode,
            now: options.clock.now(),
            io: &*options.io,
        };
        let (directory, membership) = opening.open()?;
        let Directory {
            path,
            geometry,
            seed,
            memory,
            index_file,
            block_files,
            identities,
            read_only: only_read_because,
            copied_at,
        } = directory;
        let read_only = only_read_because.is_some();
        let environment = System::new(
            options,
            read_only,
            geometry,
            index_file,
            block_files,
            &identities,
            membership,
        );
        let inner = Arc::new_cyclic(|weak| Inner {
            weak: weak.clone(),
            flush_every,
            engine: Engine {
                memory,
                environment,
                geometry,
                seed,
                notes: Notes::default(),
            },
            path,
            io: options.io.clone(),
            read_only,
            only_read_because,
            copied_at,
            file_mode: options.file_mode,
            identities,
            root_directory: root_directory(&*options.io),
            touched: AtomicU64::new(0),
            chose_to_read: AtomicU64::new(0),
            lease_ticks,
            root: key_hash(seed, b"::").as_u64(),
            counts: options.counts,
            tally: Tally::new(),
        });
        inner.touch();
        inner.choose_how_to_read();
        if !read_only {
            inner.take_cell();
        }
        Ok(Store(inner))
    }

    /// True when nothing can be written: reads are served, loads run and are not stored, and writes are `ReadOnly`.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.0.read_only
    }

    /// Refuses a store that can only be read, and one whose files were replaced.
    ///
    /// # Errors
    /// `ReadOnly`, `Io`, `Closed`.
    pub fn check_may_change(&self) -> Result<(), Error> {
        self.open_inner()?.may_change()
    }

    /// The directory of the store's own files, `<path>/v2`, absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The namespace with these parts; none for the root.
    ///
    /// # Errors
    /// `InvalidArgument` for an empty part.
    pub fn namespace<S: AsRef<str>>(&self, parts: &[S]) -> Result<Namespace, Error> {
        Ok(Namespace::new(keys::prefix(parts)?, self.0.engine.seed))
    }

    /// The namespace of the locks that belong to this one: their names are its keys.
    #[must_use]
    pub fn locks_of(&self, namespace: &Namespace) -> Namespace {
        Namespace::new(keys::lock_prefix(namespace.prefix()), self.0.engine.seed)
    }

    /// Appends the key's entry to `out` and says where it was found; a miss leaves `out` as it was.
    ///
    /// # Errors
    /// `Closed`.
    #[inline]
    pub fn get(
        &self,
        namespace: &Namespace,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Hit>, Error> {
        let inner = self.open_inner()?;
        let full = namespace.full_key(key);
        let hit = inner
            .engine
            .get(inner.engine.key(&full), inner.floor(namespace), out);
        if hit.is_some() {
            inner.count_hit();
        } else {
            inner.missed()?;
            inner.count_miss();
        }
        Ok(hit)
    }

    /// As [`Store::get`], for a caller that goes on to a load, which counts its miss.
    ///
    /// # Errors
    /// `Closed`.
    #[inline]
    pub fn find(
        &self,
        namespace: &Namespace,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Hit>, Error> {
        let inner = self.open_inner()?;
        let full = namespace.full_key(key);
        let hit = inner
            .engine
            .get(inner.engine.key(&full), inner.floor(namespace), out);
        if hit.is_some() {
            inner.count_hit();
        } else {
            inner.missed()?;
        }
        Ok(hit)
    }

    /// Counts a read that was not counted when it was made: one that another caller's load of this process
    /// answered, or failed to, and one by [`Store::peek`] that turned out a take.
    pub fn count_joined(&self, found: bool) {
        let inner = &self.0;
        if found {
            inner.count_hit();
        } else {
            inner.count_miss();
        }
    }

    /// True while the key is unchanged since this hit, no clear happened and its slot did not come
    /// round: what a memory tier asks before it serves its object.
    #[inline]
    #[must_use]
    pub fn stands(&self, hit: Hit) -> bool {
        self.0.is_open() && self.0.engine.is_open(hit.slot) && self.0.engine.stands(hit)
    }

    /// Marks the hit's entry as read often, so that recycling keeps it; for a hit that
    /// [stands](Store::stands), which memory tiers serve without asking here. True about once in 16 calls: a good
    /// moment to add the tier's hits ([`MemoryHits`]).
    #[inline]
    pub fn mark_visited(&self, hit: Hit) -> bool {
        if self.0.engine.is_open(hit.slot) {
            self.0.engine.visit_often(hit.slot);
        }
        self.0.count_change() % 16 == 0
    }

    /// Looks whether the files are still those of the path, for a reader of the mapping that does not call the store:
    /// it does so once in about a thousand reads.
    pub fn look(&self) {
        if self.0.is_open() {
            self.0.add_hits(0);
            self.0.look_around();
        }
    }

    /// Stores an entry. When it returns, every read on this host that begins sees it or a later one.
    ///
    /// # Errors
    /// `MalformedEntry` for bytes that are not an entry; `EntryTooLarge`, `NoSpace`, `Io`, after which the
    /// old value is gone as well; `Closed`.
    pub fn put(&self, namespace: &Namespace, key: &[u8], entry: &[u8]) -> Result<(), Error> {
        let inner = self.open_inner()?;
        is_entry(entry)?;
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        let process = inner.process().inspect_err(|_| {
            // The present entry is superseded, as by any other failed put.
            if !inner.read_only {
                inner.engine.delete_unreplaced(key);
            }
        })?;
        let me = process.membership.me;
        let stored = with_appender(|appender| inner.engine.put(appender, me, key, entry));
        inner.changed(process);
        stored?;
        inner.count_write();
        Ok(())
    }

    /// Deletes the key and invalidates its loads; true when an entry stood there.
    ///
    /// # Errors
    /// `Closed`.
    pub fn delete(&self, namespace: &Namespace, key: &[u8]) -> Result<bool, Error> {
        let inner = self.open_inner()?;
        inner.count_change();
        inner.may_change()?;
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        // An entry that is expired or cleared counts as absent, though its word is removed too.
        let mut entry = Vec::new();
        let served = inner
            .engine
            .get(key, inner.floor(namespace), &mut entry)
            .is_some();
        let was_there = inner.engine.delete(key);
        if was_there {
            inner.changed_by_any();
        }
        let removed = was_there && served;
        // A copy that goes is no delete.
        if removed && !namespace.is_reserved() {
            inner.count(Counter::Deletes);
        }
        Ok(removed)
    }

    /// As [`Store::delete`], for callers that count nothing and do not ask what was there: no entry is read.
    ///
    /// # Errors
    /// As for [`Store::delete`].
    pub fn discard(&self, namespace: &Namespace, key: &[u8]) -> Result<(), Error> {
        let inner = self.open_inner()?;
        inner.count_change();
        inner.may_change()?;
        let full = namespace.full_key(key);
        if inner.engine.delete(inner.engine.key(&full)) {
            inner.changed_by_any();
        }
        Ok(())
    }

    /// Clears the namespace and those nested in it, in constant time, and invalidates the loads under way.
    ///
    /// # Errors
    /// `Closed`.
    pub fn clear(&self, namespace: &Namespace) -> Result<(), Error> {
        let inner = self.open_inner()?;
        inner.count_change();
        inner.may_change()?;
        let name = namespace.names().last().copied().unwrap_or(inner.root);
        inner.engine.raise_floor(name, inner.root);
        inner.changed_by_any();
        Ok(())
    }

    /// Closes the handle: its blocks are sealed, its leases invalid, later calls give `Closed`. The mapping
    /// goes with the last clone.
    pub fn close(&self) {
        self.0.close();
    }

    /// True after [`Store::close`].
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.engine.environment.closed.load(Ordering::Relaxed) == CLOSED
    }

    /// Milliseconds since 1970 by this store's clock.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.0.engine.environment.now()
    }

    /// The engine, for readers that look into the mapping themselves.
    #[must_use]
    pub fn shared(&self) -> Shared<'_> {
        Shared {
            memory: &self.0.engine.memory,
            geometry: &self.0.engine.geometry,
            seed: self.0.engine.seed,
        }
    }

    /// The namespace's floor now.
    #[must_use]
    pub fn floor(&self, namespace: &Namespace) -> u64 {
        self.0.floor_of(namespace.names())
    }

    #[inline(always)]
    fn open_inner(&self) -> Result<&Inner, Error> {
        self.0.still_open()?;
        Ok(&self.0)
    }
}

/// What another language's engine needs to read the mapping in place.
pub struct Shared<'a> {
    /// The mappings.
    pub memory: &'a MappedMemory,
    /// Where everything lies.
    pub geometry: &'a crate::layout::Geometry,
    /// Seed of the key hash.
    pub seed: u64,
}

impl Inner {
    #[inline(always)]
    fn floor<'a>(&'a self, namespace: &'a Namespace) -> impl Fn(u64) -> u64 + 'a {
        move |epoch| namespace.floor(epoch, |names| self.floor_of(names))
    }

    #[inline(always)]
    fn count_miss(&self) {
        self.count_and_look(Counter::Misses, LOOK_EVERY_MISSES);
    }

    #[inline(always)]
    fn count_write(&self) {
        self.count_and_look(Counter::Writes, LOOK_EVERY_WRITES);
    }

    /// Counts what is no read or write here: changes that may find nothing to change, hits of memory tiers.
    #[inline(always)]
    fn count_change(&self) -> u64 {
        let changes = self.tally.changes.fetch_add(1, Ordering::Relaxed);
        if changes % LOOK_EVERY_CHANGES == LOOK_EVERY_CHANGES - 1 {
            self.look_around();
        }
        changes
    }
}

thread_local! {
    /// The lane in which this thread last met no other writer.
    static LANE: Cell<u64> = const { Cell::new(0) };
}

fn with_appender<T>(work: impl FnOnce(&mut Appender) -> T) -> T {
    let mut appender = Appender::at(LANE.get());
    let result = work(&mut appender);
    LANE.set(appender.lane());
    result
}

fn is_entry(entry: &[u8]) -> Result<(), Error> {
    match entry.first() {
        Some(0xC1) if entry.len() >= polycache_entry::HEADER_LEN => Ok(()),
        _ => Err(Error::MalformedEntry(
            "an entry has a header of at least 24 bytes that begins with 0xC1",
        )),
    }
}

/// This participant, for tests that stop a writer half-way.
impl Store {
    /// Id and incarnation of this handle.
    ///
    /// # Errors
    /// `Io` when a forked child cannot join.
    pub fn participant(&self) -> Result<Participant, Error> {
        Ok(self.0.process()?.membership.me)
    }
}
