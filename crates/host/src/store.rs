//! The store: one open handle on a cache directory.

mod seen;

use crate::block::Appender;
use crate::check::Report;
use crate::clock::Clock;
use crate::directory::{Directory, Membership, Opening};
use crate::engine::{Engine, Environment, Participant};
use crate::error::{Error, TOO_LARGE};
use crate::hash::key_hash;
use crate::io::Io;
use crate::keys;
use crate::layout::{header, RECORD_HEADER};
use crate::lease::{Lease, Token};
use crate::mapped::MappedMemory;
use crate::namespace::Namespace;
use crate::options::{Mode, Options};
use crate::own_leases::OwnLeases;
use crate::platform;
use crate::read::Hit;
use crate::shared_memory::SharedMemory;
use crate::stats::Stats;
use std::cell::Cell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// An open cache directory, shared with every other process that opens it. Cheap to clone; all
/// methods may be called from any thread, and from a forked child.
///
/// Entries are bytes of `spec/entry.md`; keys are bytes within a [`Namespace`].
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    engine: Engine<MappedMemory, System>,
    path: PathBuf,
    io: Arc<dyn Io>,
    /// Opened by [`Mode::Read`].
    read_only: bool,
    lease_ticks: u32,
    root: u64,
    hits: AtomicU64,
    misses: AtomicU64,
    writes: AtomicU64,
    deletes: AtomicU64,
    invalidated_loads: AtomicU64,
    unstored: AtomicU64,
    wait_timeouts: AtomicU64,
}

/// The `forks` of a handle that only reads: no process has as many.
const NEVER_JOINED: u64 = u64::MAX;

/// What belongs to one process and is never shared with a forked child.
struct Process {
    membership: Membership,
    forks: u64,
}

/// The environment of a real directory.
struct System {
    files: Vec<File>,
    io: Arc<dyn Io>,
    block_size: u64,
    clock: Clock,
    /// This process's part; replaced in a forked child by one store, so that no thread of it ever
    /// asks by a part of the parent's.
    process: AtomicPtr<Process>,
    closed: AtomicBool,
}

impl Environment for System {
    fn id_alive(&self, id: u32) -> bool {
        // SAFETY: the pointer comes from a box that is freed only with the store, or leaked.
        let process = unsafe { &*self.process.load(Ordering::Acquire) };
        // In a child that has not joined, the descriptor's number may be another file's by now; no
        // answer counts as alive. A description's own locks never show as held by another.
        process.forks != platform::forks()
            || id == process.membership.me.id
            || platform::is_locked(process.membership.descriptor(), u64::from(id), 1)
    }

    fn allocate(&self, block: u64) -> Result<(), Error> {
        let at = block * self.block_size;
        let file = &self.files[(at / crate::layout::WINDOW) as usize];
        self.io
            .allocate(file, at % crate::layout::WINDOW, self.block_size)
            .map_err(|error| {
                if platform::no_room(&error) {
                    Error::NoSpace(
                        "the disk is full and there is nothing of this cache's own to recycle",
                    )
                } else if platform::too_large(&error) {
                    Error::NoSpace(TOO_LARGE)
                } else {
                    Error::io("cannot allocate a block")(error)
                }
            })
    }

    fn ticks(&self) -> u32 {
        platform::ticks()
    }

    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
}

impl Store {
    /// Opens the directory, making it where it is missing unless [`Options::mode`] says otherwise.
    ///
    /// # Errors
    /// `InvalidArgument`, `NoCache`, `Damaged`, `ConfigMismatch`, `UnsupportedFilesystem`, `UnsupportedVersion`,
    /// `UnsupportedPlatform`, `ForeignDirectory`, `TooManyParticipants`, `NoSpace`, `Io`.
    pub fn open(options: &Options) -> Result<Store, Error> {
        let lease_ticks = options.lease_ticks()?;
        let opening = Opening {
            path: &options.path,
            mode: options.mode,
            limit: options.limit,
            keep_after_reboot: options.keep_after_reboot,
            io: &*options.io,
        };
        let (directory, membership) = opening.open()?;
        let Directory {
            path,
            geometry,
            seed,
            memory,
            block_files,
        } = directory;
        let read_only = options.mode == Mode::Read;
        let mut process = Process::new(membership);
        if read_only {
            // As in a child that has not joined: whatever needs a membership meets `rejoin`.
            process.forks = NEVER_JOINED;
        }
        let environment = System {
            files: block_files,
            io: options.io.clone(),
            block_size: geometry.block_size,
            clock: options.clock.clone(),
            process: AtomicPtr::new(Box::into_raw(Box::new(process))),
            closed: AtomicBool::new(false),
        };
        Ok(Store(Arc::new(Inner {
            engine: Engine {
                memory,
                environment,
                geometry,
                seed,
            },
            path,
            io: options.io.clone(),
            read_only,
            lease_ticks,
            root: key_hash(seed, b"::").as_u64(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            deletes: AtomicU64::new(0),
            invalidated_loads: AtomicU64::new(0),
            unstored: AtomicU64::new(0),
            wait_timeouts: AtomicU64::new(0),
        })))
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
        inner.count(if hit.is_some() {
            &inner.hits
        } else {
            &inner.misses
        });
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
            inner.count(&inner.hits);
        }
        Ok(hit)
    }

    /// Counts a read that was not counted when it was made: one that another caller's load of this process
    /// answered, or failed to, and one by [`Store::peek`] that turned out a take.
    pub fn count_joined(&self, found: bool) {
        let inner = &self.0;
        inner.count(if found { &inner.hits } else { &inner.misses });
    }

    /// True while the key is unchanged since this hit, no clear happened and its slot did not come
    /// round: what a memory tier asks before it serves its object.
    #[inline]
    #[must_use]
    pub fn stands(&self, hit: Hit) -> bool {
        !self.0.engine.environment.closed.load(Ordering::Relaxed)
            && hit.slot < self.0.engine.geometry.slots()
            && self.0.engine.stands(hit)
    }

    /// Marks the hit's entry as read since it was written, so that recycling keeps it; for a hit that
    /// [stands](Store::stands), which memory tiers serve without asking here.
    #[inline]
    pub fn mark_visited(&self, hit: Hit) {
        if hit.slot < self.0.engine.geometry.slots() {
            self.0.engine.visit(hit.slot);
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
        with_appender(|appender| inner.engine.put(appender, me, key, entry))?;
        inner.count(&inner.writes);
        Ok(())
    }

    /// Deletes the key and invalidates its loads; true when an entry stood there.
    ///
    /// # Errors
    /// `Closed`.
    pub fn delete(&self, namespace: &Namespace, key: &[u8]) -> Result<bool, Error> {
        let inner = self.open_inner()?;
        inner.may_change()?;
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        // An entry that is expired or cleared counts as absent, though its word is removed too.
        let mut entry = Vec::new();
        let served = inner
            .engine
            .get(key, inner.floor(namespace), &mut entry)
            .is_some();
        let removed = inner.engine.delete(key) && served;
        if removed {
            inner.count(&inner.deletes);
        }
        Ok(removed)
    }

    /// Reads the key, or takes the lease to load it, or says that another caller holds it. A lease of this process that is
    /// another key's counts as overdue: see `own_leases.rs`.
    ///
    /// # Errors
    /// `Closed`; `Io` when a forked child cannot join.
    pub fn lease(
        &self,
        namespace: &Namespace,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Lease, Error> {
        let inner = self.open_inner()?;
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        let me = inner.process()?.membership.me;
        let mut lease = inner
            .engine
            .lease(me, key, inner.floor(namespace), inner.lease_ticks, out);
        let (own, seed) = (OwnLeases::of_this_process(), inner.engine.seed);
        match &mut lease {
            Lease::Hit(_) => inner.count(&inner.hits),
            Lease::Acquired(token) => {
                own.note(seed, token.slot, token.word, key.hash);
                inner.count(&inner.misses);
            }
            Lease::Bypass => inner.count(&inner.misses),
            Lease::Busy {
                slot,
                word,
                overdue,
            } => *overdue |= own.is_of_another(seed, *slot, *word, key.hash),
        }
        Ok(lease)
    }

    /// The right to load the key beside the caller that holds this lease, of a [`Lease::Busy`]; `None` when
    /// that lease stands no more: ask for one again.
    ///
    /// # Errors
    /// As for [`Store::lease`].
    pub fn beside(
        &self,
        namespace: &Namespace,
        key: &[u8],
        slot: u64,
        word: u64,
    ) -> Result<Option<Token>, Error> {
        let inner = self.open_inner()?;
        // Only a caller that can append loads.
        inner.process()?;
        let full = namespace.full_key(key);
        let (key, seed) = (inner.engine.key(&full), inner.engine.seed);
        let own = OwnLeases::of_this_process();
        let is_of_another = |slot, word| own.is_of_another(seed, slot, word, key.hash);
        let token = inner.engine.beside(key, slot, word, is_of_another);
        if token.is_some() {
            inner.count(&inner.misses);
        }
        Ok(token)
    }

    /// True while a living process holds a lease of the key (or of one that the index can't tell from it).
    ///
    /// # Errors
    /// `Closed`.
    pub fn is_leased(&self, namespace: &Namespace, key: &[u8]) -> Result<bool, Error> {
        let inner = self.open_inner()?;
        let full = namespace.full_key(key);
        Ok(inner.engine.is_leased(inner.engine.key(&full)))
    }

    /// Counts a loaded value that could not be stored.
    pub fn count_unstored(&self) {
        self.0.count(&self.0.unstored);
    }

    /// Counts a caller that waited in vain for the loads of others.
    pub fn count_wait_timeout(&self) {
        self.0.count(&self.0.wait_timeouts);
    }

    /// Stores the entry that the lease's holder loaded; false when a set, delete, clear or eviction
    /// came in between, and then the value belongs to the caller alone.
    ///
    /// # Errors
    /// As for [`Store::put`]; the lease is released.
    pub fn fill(
        &self,
        namespace: &Namespace,
        key: &[u8],
        token: Token,
        entry: &[u8],
    ) -> Result<bool, Error> {
        self.0.forget(token);
        let inner = self.open_inner()?;
        let process = is_entry(entry)
            .and_then(|()| inner.process())
            .inspect_err(|_| self.release(token))?;
        if token.slot >= inner.engine.geometry.slots() {
            return Ok(false);
        }
        // What was born before a clear would not be served.
        if token.born < inner.floor(namespace)(inner.engine.epoch()) {
            self.release(token);
            inner.count(&inner.invalidated_loads);
            return Ok(false);
        }
        let full = namespace.full_key(key);
        let key = inner.engine.key(&full);
        let me = process.membership.me;
        let filled = with_appender(|appender| inner.engine.fill(appender, me, key, token, entry))?;
        inner.count(if filled {
            &inner.writes
        } else {
            &inner.invalidated_loads
        });
        Ok(filled)
    }

    /// Gives a lease back without a value, so that the next caller loads. Does nothing when the lease
    /// is invalid already or the store closed.
    pub fn release(&self, token: Token) {
        self.0.forget(token);
        if token.slot < self.0.engine.geometry.slots() && !self.0.read_only {
            self.0.engine.release(token);
        }
    }

    /// True while the load that a `Busy` answer told of may still fill.
    #[must_use]
    pub fn lease_stands(&self, slot: u64, word: u64) -> bool {
        slot < self.0.engine.geometry.slots() && self.0.engine.lease_stands(slot, word)
    }

    /// True while what is loaded by this token would be stored and served: the key was not set, deleted, cleared or
    /// filled since.
    #[must_use]
    pub fn may_fill(&self, namespace: &Namespace, token: Token) -> bool {
        token.slot < self.0.engine.geometry.slots()
            && self.0.engine.may_fill(token, self.0.floor(namespace))
    }

    /// Clears the namespace and those nested in it, in constant time, and invalidates the loads under way.
    ///
    /// # Errors
    /// `Closed`.
    pub fn clear(&self, namespace: &Namespace) -> Result<(), Error> {
        let inner = self.open_inner()?;
        inner.may_change()?;
        let name = namespace.names().last().copied().unwrap_or(inner.root);
        inner.engine.raise_floor(name, inner.root);
        Ok(())
    }

    /// Looks at `budget` slots from `cursor` on and appends the namespace's keys that begin with
    /// `prefix`, without the namespace's part. Returns the cursor to go on from, `None` at the end.
    ///
    /// # Errors
    /// `Closed`.
    pub fn keys(
        &self,
        namespace: &Namespace,
        prefix: &[u8],
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        let inner = self.open_inner()?;
        let wanted = namespace.full_key(prefix);
        let floor = inner.floor(namespace);
        let end = inner
            .engine
            .geometry
            .slots()
            .min(cursor.saturating_add(budget));
        for slot in cursor..end {
            if let Some(mut key) = inner.engine.key_at(slot, &wanted, &floor) {
                out.push(key.split_off(namespace.prefix().len()));
            }
        }
        Ok((end < inner.engine.geometry.slots()).then_some(end))
    }

    /// Looks at `budget` slots from `cursor` on and appends the full keys of every namespace. Returns
    /// the cursor to go on from, `None` at the end.
    ///
    /// # Errors
    /// `Closed`.
    pub fn full_keys(
        &self,
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        let engine = &self.open_inner()?.engine;
        let slots = engine.geometry.slots();
        let end = slots.min(cursor.saturating_add(budget));
        for slot in cursor..end {
            // The floor hangs on the key: it is read first without one, then against its own.
            let Some(key) = engine.key_at(slot, b"", &|_| 0) else {
                continue;
            };
            let namespace = Namespace::new(key, engine.seed);
            let current = engine.key_at(slot, namespace.prefix(), &self.0.floor(&namespace));
            out.extend(current.filter(|key| key == namespace.prefix()));
        }
        Ok((end < slots).then_some(end))
    }

    /// Counts and sizes. Walks the index: some milliseconds for the default limit.
    ///
    /// # Errors
    /// `Closed`.
    pub fn stats(&self) -> Result<Stats, Error> {
        let inner = self.open_inner()?;
        let engine = &inner.engine;
        let shared = |at| engine.memory.load(at);
        let own = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Ok(Stats {
            hits: own(&inner.hits),
            misses: own(&inner.misses),
            writes: own(&inner.writes),
            deletes: own(&inner.deletes),
            invalidated_loads: own(&inner.invalidated_loads),
            unstored: own(&inner.unstored),
            wait_timeouts: own(&inner.wait_timeouts),
            entries: engine.count_values(),
            bytes: engine.geometry.index_len
                + engine.allocated_blocks() * engine.geometry.block_size,
            limit: engine.geometry.limit,
            max_record: engine.geometry.block_size - RECORD_HEADER as u64,
            evicted_by_age: shared(header::EVICTED_BY_AGE),
            evicted_by_conflict: shared(header::EVICTED_BY_CONFLICT),
            evicted_by_failed_put: shared(header::EVICTED_BY_FAILED_PUT),
            expired: shared(header::EXPIRED),
            reinserted: shared(header::REINSERTED),
            blocks_claimed: shared(header::BLOCKS_CLAIMED),
            floor_overflows: shared(header::FLOOR_OVERFLOWS),
        })
    }

    /// Verifies every entry against its checksums.
    ///
    /// # Errors
    /// `Closed`.
    pub fn check(&self) -> Result<Report, Error> {
        Ok(self.open_inner()?.engine.check())
    }

    /// Writes everything to the disk. Only `keep_after_reboot` has a use for it.
    ///
    /// # Errors
    /// `Io`, `Closed`.
    pub fn flush(&self) -> Result<(), Error> {
        let inner = self.open_inner()?;
        inner.may_change()?;
        let memory = &inner.engine.memory;
        // Records first, so that a word on the disk points to what is there.
        for mapping in memory.windows().iter().chain([memory.index()]) {
            inner
                .io
                .sync(mapping)
                .map_err(Error::io("cannot write the cache to its disk"))?;
        }
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
        self.0.engine.environment.closed.load(Ordering::Relaxed)
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
        self.0.engine.floor_of(namespace.names())
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
    fn still_open(&self) -> Result<(), Error> {
        if self.engine.environment.closed.load(Ordering::Relaxed) {
            return Err(Error::Closed);
        }
        Ok(())
    }

    fn may_change(&self) -> Result<(), Error> {
        if self.read_only {
            return Err(Error::InvalidArgument(
                "the cache was opened for reading only".into(),
            ));
        }
        Ok(())
    }

    #[inline(always)]
    fn floor<'a>(&'a self, namespace: &'a Namespace) -> impl Fn(u64) -> u64 + 'a {
        move |epoch| namespace.floor(epoch, |names| self.engine.floor_of(names))
    }

    /// The lease ends.
    fn forget(&self, token: Token) {
        if !token.beside {
            OwnLeases::of_this_process().forget(self.engine.seed, token.slot, token.word);
        }
    }

    #[inline(always)]
    fn count(&self, counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// This process's part; a forked child joins anew at its first write.
    #[inline(always)]
    fn process(&self) -> Result<&Process, Error> {
        let pointer = self.engine.environment.process.load(Ordering::Acquire);
        // SAFETY: the pointer comes from a box that is freed only when self is dropped, or leaked.
        let process = unsafe { &*pointer };
        if process.forks == platform::forks() {
            return Ok(process);
        }
        self.rejoin(pointer)
    }

    #[cold]
    fn rejoin(&self, parents: *mut Process) -> Result<&Process, Error> {
        self.may_change()?;
        let membership = Opening::rejoin(&*self.io, &self.path, &self.engine.memory)?;
        let process = Process::new(membership);
        let mine = Box::into_raw(Box::new(process));
        // The parent's part is leaked: its mutexes may be locked by threads that the child lacks.
        let current = &self.engine.environment.process;
        match current.compare_exchange(parents, mine, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: as in `process`.
            Ok(_) => Ok(unsafe { &*mine }),
            Err(theirs) => {
                // SAFETY: the box was made above and never shared.
                drop(unsafe { Box::from_raw(mine) });
                // SAFETY: as in `process`.
                Ok(unsafe { &*theirs })
            }
        }
    }

    fn close(&self) {
        if self.engine.environment.closed.swap(true, Ordering::SeqCst) {
            return;
        }
        let pointer = self.engine.environment.process.load(Ordering::Acquire);
        // SAFETY: as in `process`.
        let process = unsafe { &*pointer };
        if process.forks != platform::forks() {
            return; // The parent's blocks are the parent's.
        }
        // A writer that holds a block saw the handle open, or will see it closed and give the block back:
        // the handle counts as dead only when none holds one.
        let mut looks = 0;
        while !self.read_only && self.engine.holds_any_block(process.membership.me) {
            looks += 1;
            // A writer of lower priority must get its turn.
            match looks {
                0..100 => std::thread::yield_now(),
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        process.membership.release(&*self.io);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
        // SAFETY: nothing else holds self; the pointer comes from a box.
        let mut process = unsafe { Box::from_raw(*self.engine.environment.process.get_mut()) };
        if process.forks != platform::forks() {
            process.membership.forget();
        }
    }
}

impl Process {
    fn new(membership: Membership) -> Process {
        Process {
            membership,
            forks: platform::forks(),
        }
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
