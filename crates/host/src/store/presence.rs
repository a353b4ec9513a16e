//! A handle's presence in its directory: it joins anew in a forked child, notices that its files were replaced,
//! shows that they are in use, and leaves when it is closed.

use super::environment::{Process, CLOSED, OPEN, REPLACED};
use super::Inner;
use crate::counters::Counter;
use crate::directory::{identity, Identity, Opening, REMOVED};
use crate::engine::Environment;
use crate::error::Error;
use crate::flusher::{self, Flush};
use crate::io::Io;
use crate::layout::{header, replaced};
use crate::platform;
use crate::shared_memory::SharedMemory;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::Weak;
use std::time::Duration;

/// A handle looks whether its files are still those of its path once in so many hits, misses and writes: a look
/// takes some microseconds, a write less than one.
pub(super) const LOOK_EVERY_HITS: u64 = 4096;
pub(super) const LOOK_EVERY_MISSES: u64 = 1024;
pub(super) const LOOK_EVERY_WRITES: u64 = 1024;
pub(super) const LOOK_EVERY_CHANGES: u64 = 1024;
/// Milliseconds after which a look asks anew whether memory can hold the directory.
const CHOOSE_EVERY: u64 = 10_000;
/// Bytes of blocks that any machine's memory holds.
const LEAST_MEMORY: u64 = 64 << 20;
/// Milliseconds after which a look sets the files' times to now.
const TOUCH_EVERY: u64 = 3_600_000;

/// Which directory the process sees as `/`.
pub(super) fn root_directory(io: &dyn Io) -> Option<Identity> {
    io.status_of(Path::new("/"))
        .ok()
        .map(|status| identity(&status))
}

impl Inner {
    #[inline(always)]
    pub(super) fn still_open(&self) -> Result<(), Error> {
        if self.is_open() {
            return Ok(());
        }
        Err(self.not_open())
    }

    /// Whether a miss is one, and a walk over the index saw all: not if the look at the floor showed that the cache was
    /// replaced, nor in a copy of the index that is out of date.
    #[inline(always)]
    pub(super) fn missed(&self) -> Result<(), Error> {
        if self.copied_at.is_some() && self.is_copy_out_of_date() {
            self.note_replaced();
        }
        self.still_open()
    }

    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        self.engine.environment.closed.load(Ordering::Relaxed) == OPEN
    }

    #[cold]
    fn not_open(&self) -> Error {
        if self.engine.environment.closed.load(Ordering::Relaxed) == CLOSED {
            return Error::Closed;
        }
        Error::Io {
            action: format!("{} {REMOVED}", self.path.display()),
            source: ErrorKind::NotFound.into(),
        }
    }

    #[inline(always)]
    pub(super) fn may_change(&self) -> Result<(), Error> {
        if self.read_only {
            return Err(self.is_only_read());
        }
        if self.is_replaced() {
            self.note_replaced();
            return Err(self.not_open());
        }
        Ok(())
    }

    #[cold]
    fn is_only_read(&self) -> Error {
        let path = self.path.parent().unwrap_or(&self.path).display();
        let why = self.only_read_because.as_deref().unwrap_or_default();
        Error::ReadOnly(format!("the cache in {path} can only be read: {why}"))
    }

    /// True when another process recovered the files, of whose index this handle has a recovered copy.
    fn is_copy_out_of_date(&self) -> bool {
        self.copied_at
            .is_some_and(|epoch| self.engine.memory.load(header::EPOCH) != epoch)
    }

    /// True when another cache takes this one's place. A handle whose own look found that says so to all others.
    #[inline(always)]
    fn is_replaced(&self) -> bool {
        self.engine.memory.load(header::REPLACED) == replaced::YES
    }

    #[cold]
    fn note_replaced(&self) {
        let state = &self.engine.environment.closed;
        // Otherwise it was noted already, or the handle is closed.
        let _ = state.compare_exchange(OPEN, REPLACED, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The floor of a namespace, looked up. The epoch moves when the cache is replaced; from then on nothing is
    /// served, because other processes may have written to the new one.
    pub(super) fn floor_of(&self, names: &[u64]) -> u64 {
        if self.is_replaced() || self.is_copy_out_of_date() {
            self.note_replaced();
            return u64::MAX;
        }
        self.engine.floor_of(names)
    }

    #[inline(always)]
    pub(super) fn count_and_look(&self, counter: Counter, every: u64) {
        if self.count(counter) % every == every - 1 {
            self.look_around();
        }
    }

    /// For a walk over the index, beside which a look costs nothing: a process that does nothing else must notice, too,
    /// that the cache was replaced.
    pub(super) fn look_before_walk(&self) -> Result<(), Error> {
        self.look_around();
        self.still_open()
    }

    /// Looks whether the files are still those of the path. A file that cannot be looked at proves nothing: a
    /// process may have changed its user or its root directory.
    #[cold]
    pub(super) fn look_around(&self) {
        let is_another = |name: &str, at: usize| {
            let found = self.io.status_of(&self.path.join(name));
            found.is_ok_and(|status| self.identities.get(at) != Some(&identity(&status)))
        };
        let was_removed = || {
            let status = self.io.status(&self.engine.environment.index);
            status.is_ok_and(|status| status.links == 0)
        };
        // After a change of the root directory the path names something else for this process, and only for it.
        if self.root_directory != root_directory(&*self.io) {
            return;
        }
        if is_another("index", 0) || is_another("participants", 1) || was_removed() {
            if !self.read_only {
                let memory = &self.engine.memory;
                memory.store(header::REPLACED, replaced::YES);
                memory.fetch_add(header::EPOCH, 1);
            }
            self.note_replaced();
            return;
        }
        self.take_missing_cell();
        self.choose_how_to_read();
        let now = self.engine.environment.now();
        if now.abs_diff(self.touched.load(Ordering::Relaxed)) >= TOUCH_EVERY {
            self.touch();
        }
    }

    /// A directory that memory cannot hold is read by single pages: with what the system would read around each one, what
    /// is read often would be in memory less often, and each read take longer. Others are in memory sooner that way.
    pub(super) fn choose_how_to_read(&self) {
        let environment = &self.engine.environment;
        let now = environment.now();
        if now.abs_diff(self.chose_to_read.swap(now, Ordering::Relaxed)) < CHOOSE_EVERY {
            return;
        }
        let taken = |file| Some(self.io.status(file).ok()?.taken);
        let taken: u64 = environment.files.iter().filter_map(taken).sum();
        // Small ones are spared the question.
        let is_larger = taken > LEAST_MEMORY
            && !environment.is_tmpfs
            && self
                .io
                .memory()
                .is_some_and(|memory| taken > memory / 4 * 3);
        self.engine.memory.read_at_random(is_larger);
    }

    /// Sets the files' times to now. Nothing else does: no file of locks is ever written, and what is read or written
    /// through a mapping need not show. Programs that clean temporary folders go by these times.
    pub(super) fn touch(&self) {
        if self.read_only {
            return;
        }
        let now = self.engine.environment.now();
        self.touched.store(now, Ordering::Relaxed);
        let environment = &self.engine.environment;
        // SAFETY: as in `process`.
        let process = unsafe { &*environment.process.load(Ordering::Acquire) };
        // In a child that has not joined, the descriptor may be another file's by now.
        let locks = (process.forks == platform::forks())
            .then(|| process.membership.file())
            .flatten();
        let files = environment.files.iter().chain([&environment.index]);
        for file in files.chain(locks) {
            // It only keeps cleaners away.
            let _ = self.io.touch(file);
        }
    }

    /// This process's part; a forked child joins anew at its first write.
    #[inline(always)]
    pub(super) fn process(&self) -> Result<&Process, Error> {
        let pointer = self.engine.environment.process.load(Ordering::Acquire);
        // SAFETY: the pointer comes from a box that is freed only when self is dropped, or leaked.
        let process = unsafe { &*pointer };
        if process.forks == platform::forks() && !self.is_replaced() {
            return Ok(process);
        }
        self.rejoin(pointer)
    }

    #[cold]
    fn rejoin(&self, parents: *mut Process) -> Result<&Process, Error> {
        self.may_change()?;
        let joined = Opening::rejoin(
            &*self.io,
            &self.path,
            self.file_mode,
            &self.engine.memory,
            &self.identities,
        );
        let process = Process::new(joined?, self.flush_every.is_some());
        let mine = Box::into_raw(Box::new(process));
        // The parent's part is leaked: its mutexes may be locked by threads that the child lacks.
        let current = &self.engine.environment.process;
        match current.compare_exchange(parents, mine, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                self.count_anew();
                // SAFETY: as in `process`.
                Ok(unsafe { &*mine })
            }
            Err(theirs) => {
                // SAFETY: the box was made above and never shared.
                let mine = unsafe { Box::from_raw(mine) };
                // Before the descriptor is closed: until then a child might inherit it with its lock.
                mine.membership.release(&*self.io);
                drop(mine);
                // SAFETY: as in `process`.
                Ok(unsafe { &*theirs })
            }
        }
    }

    pub(super) fn close(&self) {
        self.add_hits(0);
        if self
            .engine
            .environment
            .closed
            .swap(CLOSED, Ordering::SeqCst)
            == CLOSED
        {
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
        self.begin_last_flush(process);
        process.membership.release(&*self.io);
        if self.flush_every.is_some() {
            let me: Weak<dyn Flush> = self.weak.clone();
            flusher::forget(&me);
        }
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
