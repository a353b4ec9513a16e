//! Opening a cache directory: create, check, map, join.

mod create;
mod existing;
mod home;
mod join;
mod place;
mod rights;

pub use home::resolve;
pub(crate) use join::{Membership, REMOVED};
pub(crate) use place::TMPFS;

use crate::error::{Error, TOO_LARGE};
use crate::io::{Io, Status};
use crate::layout::{header, replaced, Geometry, PARTICIPANTS};
use crate::mapped::MappedMemory;
use crate::options::Mode;
use crate::platform;
use crate::shared_memory::SharedMemory;
use existing::{DirectoryState, Locked};
use join::LockFile;
use place::{Access, Place};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{fence, Ordering};
use std::time::{Duration, Instant};

/// Byte 0 of the lock file is the directory's own lock; the others belong to the participants.
const DIRECTORY_LOCK: u64 = 0;
/// How often another process may put a new file of locks in the place of the one whose lock we waited for.
const MOST_REPLACEMENTS: u32 = 100;
/// How long another user may take to give what he made its rights.
const MAKER_PATIENCE: Duration = Duration::from_secs(1);

/// A directory's files, mapped, with the geometry of its limit.
pub(crate) struct Directory {
    /// `<path>/v2`, absolute.
    pub path: PathBuf,
    pub geometry: Geometry,
    pub seed: u64,
    pub memory: MappedMemory,
    /// The index, which grows when a level is opened.
    pub index_file: File,
    pub block_files: Vec<File>,
    /// Which files these are: the index, the file of locks, the files of blocks.
    pub identities: Vec<Identity>,
    /// Why it may only be read, if that is so.
    pub read_only: Option<String>,
    /// The epoch of the files, when the index was recovered in a private copy. It moves when another process
    /// recovers the files: from then on the copy is out of date.
    pub copied_at: Option<u64>,
}

/// A file, whatever its name: its file system and its number there.
pub(crate) type Identity = (u64, u64);

pub(crate) fn identity(status: &Status) -> Identity {
    (status.device, status.inode)
}

/// How to open.
pub(crate) struct Opening<'a> {
    pub path: &'a Path,
    pub mode: Mode,
    pub limit: Option<u64>,
    pub empty_at_boot: bool,
    pub file_mode: Option<u32>,
    /// Milliseconds since 1970.
    pub now: u64,
    pub io: &'a dyn Io,
}

impl Opening<'_> {
    /// Opens the directory as the mode allows, and joins it unless it is only read: in the mode `Read`, and in the
    /// mode `Create` where this process may not write.
    pub fn open(&self) -> Result<(Directory, Membership), Error> {
        platform::check()?;
        if let Some(limit) = self.limit {
            Geometry::new(limit)?;
        }
        if let Some(mode) = self.file_mode {
            rights::check_file_mode(mode)?;
        }
        let path = home::resolve(self.path)?;
        check_no_other_store(&path)?;
        if self.mode != Mode::Create {
            return self.open_at(&path);
        }
        let (directory, membership) = self.open_to_use(&path)?;
        let memory = &directory.memory;
        let keeps = !self.empty_at_boot && directory.read_only.is_none();
        if keeps && memory.load(header::KEPT) == 0 {
            memory.store(header::KEPT, 1);
        }
        Ok((directory, membership))
    }

    /// Opens to read and write, or, where this process may not write, a whole cache to read.
    fn open_to_use(&self, path: &Path) -> Result<(Directory, Membership), Error> {
        let deadline = Instant::now() + MAKER_PATIENCE;
        let shares = self.file_mode.is_some_and(rights::is_shared);
        let mut is_whole = false;
        loop {
            let refused = match self.open_at(path) {
                Err(Error::Io { action, source }) if platform::may_not_write(&source) => {
                    Error::Io { action, source }
                }
                done => return done,
            };
            let reader = Opening {
                mode: Mode::Read,
                ..*self
            };
            match reader.open_at(path) {
                Ok((mut directory, none)) if is_whole => {
                    directory.read_only = Some(refused.to_string());
                    return Ok((directory, none));
                }
                // It may be whole only since the system refused a file that had no rights yet.
                Ok(_) => {
                    is_whole = true;
                    continue;
                }
                Err(_) => {}
            }
            // Another user of the group may have made a directory and not yet given it its rights.
            if !shares || Instant::now() > deadline {
                return Err(refused);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn place(&self, path: &Path) -> Result<Option<Place<'_>>, Error> {
        let access = Access {
            create: self.mode == Mode::Create,
            file_mode: self.file_mode,
        };
        Place::open(self.io, path, access)
    }

    fn open_at(&self, path: &Path) -> Result<(Directory, Membership), Error> {
        for _ in 0..MOST_REPLACEMENTS {
            let Some(place) = self.place(path)? else {
                return Err(self.no_cache());
            };
            let locks = self.open_locks(&place)?;
            // A process that was stopped with the directory's lock keeps no other process from a whole cache.
            match self.existing(&place, &locks.0, Locked::No)? {
                DirectoryState::Cache(directory) if self.mode == Mode::Read => {
                    return Ok((*directory, Membership::none(&locks)))
                }
                DirectoryState::Cache(directory) => {
                    if let Some(me) = self.join_in_use(&directory.memory, &locks.0)? {
                        return Ok((*directory, Membership::new(me, locks)));
                    }
                }
                _ => {}
            }
            if let Some(opened) = self.open_locked(&place, locks)? {
                return Ok(opened);
            }
        }
        Err(Error::Io {
            action: format!("{} is made anew again and again", path.display()),
            source: ErrorKind::Interrupted.into(),
        })
    }

    /// Opens under the directory's lock; `None` when its file was replaced while we waited for it.
    fn open_locked(
        &self,
        place: &Place,
        locks: LockFile,
    ) -> Result<Option<(Directory, Membership)>, Error> {
        let path = &place.path;
        let lock = self.lock_directory(&locks.0, path, || self.progress(place))?;
        let status = self.io.status(&locks.0).map_err(failed("look at", path))?;
        if status.links == 0 {
            return Ok(None);
        }
        let creates = self.mode == Mode::Create;
        let (directory, fresh) = match self.existing(place, &locks.0, Locked::Yes)? {
            DirectoryState::Cache(directory) => (*directory, None),
            DirectoryState::Nothing | DirectoryState::InPieces(_) if creates => {
                self.create(place, &locks.0, true)?
            }
            DirectoryState::Damaged(_) | DirectoryState::EarlierBoot if creates => {
                self.create(place, &locks.0, false)?
            }
            DirectoryState::NotOurs(_) if creates => return Err(not_an_index(place)),
            DirectoryState::Nothing | DirectoryState::Unclear | DirectoryState::EarlierBoot => {
                return Err(self.no_cache())
            }
            DirectoryState::InPieces(why)
            | DirectoryState::Damaged(why)
            | DirectoryState::NotOurs(why) => return Err(self.damaged(&why)),
        };
        if self.mode == Mode::Read {
            // Before the reader's descriptor is made, which children keep.
            drop(lock);
            return Ok(Some((directory, Membership::none(&locks))));
        }
        let used = fresh.as_ref().unwrap_or(&locks);
        let me = self.join(&directory.memory, &used.0)?;
        if fresh.is_some() {
            // If the unlock fails, closing the descriptor drops the lock.
            let _ = self.io.unlock(&used.0, DIRECTORY_LOCK);
        }
        drop(lock);
        let joined = Membership::new(me, fresh.unwrap_or(locks));
        Ok(Some((directory, joined)))
    }

    /// Opens the file whose locks say which participants live.
    fn open_locks(&self, place: &Place) -> Result<LockFile, Error> {
        let mut failure = None;
        let opened = LockFile::open(|| {
            let mode = match self.mode {
                Mode::Read => Mode::Read,
                _ => Mode::Existing,
            };
            let found = place.file("participants", mode).unwrap_or_else(|error| {
                failure = Some(error);
                None
            });
            found.map_or(Err(ErrorKind::NotFound.into()), |(file, _)| Ok(file))
        });
        match (opened, failure) {
            (_, Some(error)) => Err(error),
            (Ok(locks), None) => Ok(locks),
            (Err(_), None) => self.missing_locks(place),
        }
    }

    fn missing_locks(&self, place: &Place) -> Result<LockFile, Error> {
        let has_index = place.file("index", Mode::Read)?.is_some();
        if self.mode != Mode::Create {
            return Err(if has_index {
                self.damaged("the file participants is missing")
            } else {
                self.no_cache()
            });
        }
        match self.has_magic(place)? {
            Some(true) => {}
            Some(false) => return Err(not_an_index(place)),
            None => place.check_only_ours()?,
        }
        let path = place.path.join("participants");
        LockFile::open(|| place.make_file("participants")).map_err(failed("open", &path))
    }

    fn no_cache(&self) -> Error {
        Error::NoCache(format!("there is no cache in {}", self.path.display()))
    }

    fn damaged(&self, why: &str) -> Error {
        Error::Damaged(format!(
            "there is no whole cache in {}: {why}. Nothing was changed; a program that opens it makes \
             a new one where it must",
            self.path.display()
        ))
    }
}

/// Refuses the directory of a cache whose entries another library keeps; what is beside them would be missed here.
fn check_no_other_store(path: &Path) -> Result<(), Error> {
    match std::fs::read_to_string(path.join("store")) {
        Ok(marker) if marker.starts_with("polycache store ") => {
            Err(Error::ForeignDirectory(format!(
                "{} holds a cache of another store ({}); open it with that, in Python",
                path.display(),
                marker.trim_end()
            )))
        }
        _ => Ok(()),
    }
}

fn not_an_index(place: &Place) -> Error {
    Error::ForeignDirectory(format!(
        "{} is not the index of a cache; nothing was changed",
        place.path.join("index").display()
    ))
}

/// Names the action that failed and, when rights or room are missing, what helps.
fn failed<'a>(what: &'a str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Error + 'a {
    move |error| {
        let path = path.display();
        if platform::no_room(&error) {
            Error::NoSpace(
                "the disk has no room for the cache's files; free some, or choose a smaller limit",
            )
        } else if platform::too_large(&error) {
            Error::NoSpace(TOO_LARGE)
        } else if platform::no_allocation(&error) {
            Error::UnsupportedFilesystem(format!(
                "the file system of {path} cannot give files their space in advance"
            ))
        } else if error.kind() == ErrorKind::PermissionDenied {
            Error::io(format!(
                "user {} may not {what} {path}; grant it the rights, or choose another path, and open the \
                 cache after the process changed its user",
                platform::user()
            ))(error)
        } else {
            Error::io(format!("cannot {what} {path}"))(error)
        }
    }
}

/// Notes in the header which files belong together.
fn store_identity(memory: &MappedMemory, identities: &[Identity]) {
    if let [(device, index), (_, locks), ..] = identities {
        memory.store(header::DEVICE, *device);
        memory.store(header::INDEX_INODE, *index);
        memory.store(header::LOCK_INODE, *locks);
    }
}

/// Marks an index that is in use, or perhaps being replaced; false for one that was replaced, which stays so.
fn mark(memory: &MappedMemory, mark: u64) -> bool {
    loop {
        let found = memory.load(header::REPLACED);
        if found == replaced::YES {
            return false;
        }
        if memory.compare_exchange(header::REPLACED, found, mark) {
            return true;
        }
    }
}

/// True when another description holds any participant's lock.
fn any_participant(locks: &File) -> bool {
    platform::is_locked(platform::descriptor(locks), 1, PARTICIPANTS as u64 - 1)
}

/// Orders a store before a look at locks, and the taking of a lock before a load. Of a process that joins and
/// one that replaces the cache, at least one sees the other.
fn full_fence() {
    fence(Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_was_replaced_stays_so() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(header::LEN).unwrap();
        let mapping = memmap2::MmapOptions::new().map_raw(&file).unwrap();
        let memory = MappedMemory::new(mapping, Vec::new());
        for as_what in [replaced::PERHAPS, replaced::NO, replaced::PERHAPS] {
            assert!(mark(&memory, as_what));
            assert_eq!(memory.load(header::REPLACED), as_what);
        }
        memory.store(header::REPLACED, replaced::YES);
        for as_what in [replaced::PERHAPS, replaced::NO] {
            assert!(!mark(&memory, as_what));
            assert_eq!(memory.load(header::REPLACED), replaced::YES);
        }
    }
}
