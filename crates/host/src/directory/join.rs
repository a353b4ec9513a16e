//! Joining a directory: a participant's lock, with the directory's lock or without it.

use super::place::Place;
use super::{failed, full_fence, identity, mark, Identity, Opening, DIRECTORY_LOCK};
use crate::engine::Participant;
use crate::error::Error;
use crate::io::Io;
use crate::layout::{header, replaced, Geometry, PARTICIPANTS};
use crate::mapped::MappedMemory;
use crate::options::Mode;
use crate::platform::{self, Descriptor};
use crate::shared_memory::SharedMemory;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// How long the directory's lock is waited for while its holder shows no progress. Recovery does, however long it
/// takes.
struct Patience {
    until: Instant,
    seen: u64,
}

impl Patience {
    fn new(now: Instant, progress: u64) -> Patience {
        Patience {
            until: now + LOCK_PATIENCE,
            seen: progress,
        }
    }

    /// Whether it is worth to wait on.
    fn is_left(&mut self, now: Instant, progress: impl Fn() -> u64) -> bool {
        if now <= self.until {
            return true;
        }
        let progress = progress();
        let goes_on = progress != self.seen;
        *self = Patience::new(now, progress);
        goes_on
    }
}

/// What a handle says whose files are no longer those of its path.
pub(crate) const REMOVED: &str = "was removed or replaced while it was open; open the cache again";

/// The file of locks, opened by this process: every child closes it, so that no lock outlives its process.
pub(super) struct LockFile(pub File);

impl LockFile {
    pub fn open(open: impl FnMut() -> std::io::Result<File>) -> std::io::Result<LockFile> {
        platform::open_for_this_process(open).map(LockFile)
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        platform::keep_in_child(platform::descriptor(&self.0));
    }
}

/// A joined handle: its participant, and the file whose lock shows that it lives.
pub(crate) struct Membership {
    pub me: Participant,
    locks: Option<LockFile>,
    /// Of a handle that only reads: the file of locks, to ask which participants live. No lock is taken by it, so
    /// children keep it.
    watched: Option<File>,
}

impl Membership {
    pub(super) fn new(me: Participant, locks: LockFile) -> Membership {
        Membership {
            me,
            locks: Some(locks),
            watched: None,
        }
    }

    /// For a handle that only reads: no other process needs to know of it.
    pub(super) fn none(locks: &LockFile) -> Membership {
        Membership {
            me: Participant {
                id: 0,
                incarnation: 0,
            },
            locks: None,
            // Without it every participant counts as alive.
            watched: locks.0.try_clone().ok(),
        }
    }

    /// As [`Membership::file`], for a handle that only reads.
    pub fn watched(&self) -> Option<Descriptor> {
        self.watched.as_ref().map(platform::descriptor)
    }

    pub fn descriptor(&self) -> Descriptor {
        self.file().map_or(-1, platform::descriptor)
    }

    /// The file of locks.
    pub fn file(&self) -> Option<&File> {
        self.locks.as_ref().map(|locks| &locks.0)
    }

    /// Releases the participant's lock: from now on this handle counts as dead.
    pub fn release(&self, io: &dyn Io) {
        if let Some(file) = self.file() {
            // If the unlock fails, closing the descriptor drops the lock.
            let _ = io.unlock(file, u64::from(self.me.id));
        }
    }

    /// Forgets the descriptor in a forked child, where it has already been closed.
    pub fn forget(&mut self) {
        std::mem::forget(self.locks.take());
    }
}

impl Opening<'_> {
    /// Joins an open directory anew, in a forked child. `directory` is `<path>/v2`, and the files must still be
    /// those that the parent opened.
    pub fn rejoin(
        io: &dyn Io,
        directory: &Path,
        file_mode: Option<u32>,
        memory: &MappedMemory,
        identities: &[Identity],
    ) -> Result<Membership, Error> {
        let removed = || Error::Io {
            action: format!("{} {REMOVED}", directory.display()),
            source: ErrorKind::NotFound.into(),
        };
        let path = directory.parent().unwrap_or(directory);
        let opening = Opening {
            path,
            mode: Mode::Existing,
            limit: None,
            empty_at_boot: false,
            file_mode,
            now: 0,
            io,
        };
        let place = opening.place(path)?.ok_or_else(removed)?;
        if place.path != directory || !opening.is_still_there(&place, identities)? {
            return Err(removed());
        }
        let locks = match opening.open_locks(&place) {
            Err(Error::Damaged(_) | Error::NoCache(_)) => return Err(removed()),
            locks => locks?,
        };
        let status = io.status(&locks.0).map_err(failed("look at", directory))?;
        if identities.get(1) != Some(&identity(&status)) {
            return Err(removed());
        }
        if let Some(me) = opening.join_in_use(memory, &locks.0)? {
            return Ok(Membership::new(me, locks));
        }
        let progress = || memory.load(header::RECOVERED);
        let lock = opening.lock_directory(&locks.0, directory, progress)?;
        // Otherwise it may be what a process left that was killed before it decided.
        if !mark(memory, replaced::NO) {
            return Err(removed());
        }
        let me = opening.join(memory, &locks.0)?;
        drop(lock);
        Ok(Membership::new(me, locks))
    }

    /// Whether every file is the one that was opened.
    fn is_still_there(&self, place: &Place, identities: &[Identity]) -> Result<bool, Error> {
        let Some((index, rest)) = identities.split_first() else {
            return Ok(false);
        };
        let is = |found: Option<(File, crate::io::Status)>, identity: &Identity| {
            found.is_some_and(|(_, status)| super::identity(&status) == *identity)
        };
        if !is(place.file("index", Mode::Read)?, index) {
            return Ok(false);
        }
        let Some(folder) = place.blocks()? else {
            return Ok(false);
        };
        for (number, identity) in rest.iter().skip(1).enumerate() {
            let name = format!("{number:04}");
            if !is(place.block_file(&folder, &name, Mode::Read)?, identity) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits for the directory's lock. `progress` is a number that a recovery changes as it goes on.
    pub(super) fn lock_directory<'a>(
        &'a self,
        locks: &'a File,
        path: &Path,
        progress: impl Fn() -> u64,
    ) -> Result<DirectoryLock<'a>, Error> {
        let mut patience: Option<Patience> = None;
        loop {
            let taken = match self.mode {
                // Readers exclude processes that create or replace a cache, but not each other.
                Mode::Read => self.io.lock_shared(locks, DIRECTORY_LOCK),
                _ => self.io.lock(locks, DIRECTORY_LOCK),
            };
            if taken.map_err(failed("lock", path))? {
                return Ok(DirectoryLock {
                    io: self.io,
                    file: locks,
                });
            }
            let now = Instant::now();
            let patience = patience.get_or_insert_with(|| Patience::new(now, progress()));
            if !patience.is_left(now, &progress) {
                return Err(Error::Io {
                    action: format!("another process keeps {} locked", path.display()),
                    source: ErrorKind::TimedOut.into(),
                });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Joins without the directory's lock; `None` when a process with that lock may be replacing the cache.
    pub(super) fn join_in_use(
        &self,
        memory: &MappedMemory,
        locks: &File,
    ) -> Result<Option<Participant>, Error> {
        let me = self.join(memory, locks)?;
        full_fence();
        if memory.load(header::REPLACED) == replaced::NO {
            return Ok(Some(me));
        }
        let unlocked = self.io.unlock(locks, u64::from(me.id));
        unlocked.map_err(Error::io("cannot unlock a participant's byte"))?;
        Ok(None)
    }

    /// Takes a participant id by its lock. Ids are tried in turn, so that one is not reused soon.
    pub(super) fn join(&self, memory: &MappedMemory, locks: &File) -> Result<Participant, Error> {
        let geometry = Geometry::new(memory.load(header::LIMIT))?;
        let ids = PARTICIPANTS as u64 - 1;
        let first = memory.fetch_add(header::NEXT_PARTICIPANT, 1);
        for step in 0..ids {
            let id = (first + step) % ids + 1;
            let taken = self
                .io
                .lock(locks, id)
                .map_err(Error::io("cannot lock a participant's byte"))?;
            if taken {
                let incarnation =
                    memory.fetch_add(geometry.participants_at + id as usize * 8, 1) + 1;
                return Ok(Participant {
                    id: id as u32,
                    incarnation: incarnation & 0xffff_ffff_ffff,
                });
            }
        }
        Err(Error::TooManyParticipants)
    }
}

/// The directory's lock while it is held.
pub(super) struct DirectoryLock<'a> {
    io: &'a dyn Io,
    file: &'a File,
}

impl Drop for DirectoryLock<'_> {
    fn drop(&mut self) {
        // If the unlock fails, closing the descriptor drops the lock.
        let _ = self.io.unlock(self.file, DIRECTORY_LOCK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_that_shows_progress_is_waited_for() {
        let begin = Instant::now();
        let mut patience = Patience::new(begin, 1);
        let mut after =
            |seconds, progress| patience.is_left(begin + Duration::from_secs(seconds), || progress);
        assert!(after(9, 1));
        assert!(after(11, 2));
        assert!(after(21, 2));
        assert!(after(22, 3));
        assert!(!after(33, 3));
    }
}
