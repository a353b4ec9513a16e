//! What the engine needs from the operating system, for a real directory, and what belongs to one process.

use super::fresh::Fresh;
use crate::clock::Clock;
use crate::directory::{identity, Identity, Membership, TMPFS};
use crate::engine::Environment;
use crate::error::{Error, TOO_LARGE};
use crate::io::Io;
use crate::layout::{Geometry, WINDOW};
use crate::options::Options;
use crate::platform;
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicU8, Ordering};
use std::sync::Arc;

/// The handle may be used.
pub(super) const OPEN: u8 = 0;
/// The files are no longer those of the path: every call fails.
pub(super) const REPLACED: u8 = 1;
/// The handle was closed.
pub(super) const CLOSED: u8 = 2;

/// The `forks` of a handle that only reads: no process has as many.
const NEVER_JOINED: u64 = u64::MAX;

/// What belongs to one process and is never shared with a forked child.
pub(super) struct Process {
    pub membership: Membership,
    pub forks: u64,
    /// Something was changed, perhaps after `dirty_since`. Always true for a handle that never flushes.
    pub is_dirty: AtomicBool,
    /// While `is_dirty` is false, no change is later than this tick.
    pub dirty_since: AtomicU32,
    /// A flush is asked for.
    pub is_asked_for: AtomicBool,
    /// The tick at which the system refused the thread that is to flush, plus one; 0 when it did not.
    pub refused: AtomicU64,
    /// This process flushes now: what was changed before is perhaps not yet on the disk.
    pub is_flushing: AtomicBool,
    pub fresh: Fresh,
}

impl Process {
    pub fn new(membership: Membership, flushes: bool) -> Process {
        Process {
            membership,
            forks: platform::forks(),
            is_dirty: AtomicBool::new(!flushes),
            dirty_since: AtomicU32::new(0),
            is_asked_for: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            is_flushing: AtomicBool::new(false),
            fresh: Fresh::default(),
        }
    }
}

/// The environment of a real directory.
pub(super) struct System {
    /// The index, which grows when a level is opened.
    pub index: File,
    /// The files of blocks.
    pub files: Vec<File>,
    io: Arc<dyn Io>,
    geometry: Geometry,
    clock: Clock,
    /// Which the files of blocks are, should their descriptors' numbers be others' by now.
    identities: Vec<Identity>,
    /// tmpfs has given a block its pages with its space.
    pub is_tmpfs: bool,
    /// This process's part; replaced in a forked child by one store, so that no thread of it ever
    /// asks by a part of the parent's.
    pub process: AtomicPtr<Process>,
    /// `OPEN`, `REPLACED` or `CLOSED`.
    pub closed: AtomicU8,
}

impl System {
    pub fn new(
        options: &Options,
        read_only: bool,
        geometry: Geometry,
        index: File,
        files: Vec<File>,
        identities: &[Identity],
        membership: Membership,
    ) -> System {
        let filesystem = files.first().map(|file| options.io.filesystem(file));
        let is_tmpfs = matches!(filesystem, Some(Ok(TMPFS)));
        let mut process = Process::new(membership, options.flush_every.is_some());
        if read_only {
            // As in a child that has not joined: whatever needs a membership meets `rejoin`.
            process.forks = NEVER_JOINED;
        }
        System {
            index,
            files,
            io: options.io.clone(),
            geometry,
            clock: options.clock.clone(),
            identities: identities.get(2..).unwrap_or_default().to_vec(),
            is_tmpfs,
            process: AtomicPtr::new(Box::into_raw(Box::new(process))),
            closed: AtomicU8::new(OPEN),
        }
    }

    fn process(&self) -> &Process {
        // SAFETY: the pointer comes from a box that is freed only with the store, or leaked.
        unsafe { &*self.process.load(Ordering::Acquire) }
    }

    /// Calls `work` with the file that has a place of a block, and the place in it. A program may have closed all descriptors
    /// that it does not know, as daemons do, and have opened a file of its own under the number: that fails.
    fn with_file(
        &self,
        block: u64,
        place: u64,
        work: impl Fn(&File, u64) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let at = block * self.geometry.block_size + place;
        let number = (at / WINDOW) as usize;
        let file = &self.files[number];
        if self.identities.get(number) != Some(&identity(&self.io.status(file)?)) {
            return Err(std::io::Error::other(
                "the program has closed the descriptor of a file of blocks",
            ));
        }
        work(file, at % WINDOW)
    }
}

impl Environment for System {
    fn id_alive(&self, id: u32) -> bool {
        let process = self.process();
        if let Some(locks) = process.membership.watched() {
            return platform::is_locked(locks, u64::from(id), 1);
        }
        // In a child that has not joined, the descriptor's number may be another file's by now; no
        // answer counts as alive. A description's own locks never show as held by another.
        process.forks != platform::forks()
            || id == process.membership.me.id
            || platform::is_locked(process.membership.descriptor(), u64::from(id), 1)
    }

    fn allocate(&self, block: u64) -> Result<(), Error> {
        let len = self.geometry.block_size;
        self.with_file(block, 0, |file, at| self.io.allocate(file, at, len))
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
            })?;
        if !self.is_tmpfs {
            self.process().fresh.add(block);
        }
        Ok(())
    }

    #[cold]
    fn prepare(&self, block: u64, tail: u64, to: u64) {
        let fill = |from, len| self.with_file(block, from, |file, at| self.io.fill(file, at, len));
        let size = self.geometry.block_size;
        self.process().fresh.fill(block, size, tail, to, fill);
    }

    fn allocate_level(&self, level: usize) -> Result<(), Error> {
        for (at, len) in self.geometry.level_ranges(level) {
            self.io
                .allocate(&self.index, at, len)
                .map_err(Error::io("cannot allocate a level of the index"))?;
        }
        Ok(())
    }

    fn ticks(&self) -> u32 {
        platform::ticks()
    }

    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst) == CLOSED
    }
}
