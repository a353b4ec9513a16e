//! Opening a cache directory: create, check, map, join.

mod create;
mod existing;

use crate::engine::Participant;
use crate::error::Error;
use crate::io::Io;
use crate::layout::{header, Geometry, PARTICIPANTS, VERSION};
use crate::mapped::MappedMemory;
use crate::options::Mode;
use crate::platform::{self, Descriptor};
use crate::shared_memory::SharedMemory;
use existing::DirectoryState;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// File systems whose pages every process of the machine shares and that allocate space in advance.
const LOCAL_FILESYSTEMS: [(u32, &str); 5] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x0102_1994, "tmpfs"),
    (0x794c_7630, "overlay"),
    (0xF2F5_2010, "f2fs"),
];
/// Byte 0 of the lock file is the directory's own lock; the others belong to the participants.
const DIRECTORY_LOCK: u64 = 0;
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// A directory's files, mapped, with the geometry of its limit.
pub(crate) struct Directory {
    pub path: PathBuf,
    pub geometry: Geometry,
    pub seed: u64,
    pub memory: MappedMemory,
    pub block_files: Vec<File>,
}

/// A joined handle: its participant, and the descriptor whose lock shows that it lives.
pub(crate) struct Membership {
    pub me: Participant,
    file: Option<File>,
}

impl Membership {
    /// For a handle that only reads: no other process needs to know of it.
    pub fn none() -> Membership {
        Membership {
            me: Participant {
                id: 0,
                incarnation: 0,
            },
            file: None,
        }
    }

    pub fn descriptor(&self) -> Descriptor {
        self.file.as_ref().map_or(-1, platform::descriptor)
    }

    /// Releases the participant's lock: from now on this handle counts as dead.
    pub fn release(&self, io: &dyn Io) {
        if let Some(file) = &self.file {
            // If the unlock fails, closing the descriptor drops the lock.
            let _ = io.unlock(file, u64::from(self.me.id));
        }
    }

    /// Forgets the descriptor in a forked child, where the fork handler has already closed it.
    pub fn forget(&mut self) {
        std::mem::forget(self.file.take());
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if self.file.is_some() {
            platform::keep_in_child(self.descriptor());
        }
    }
}

/// How to open.
pub(crate) struct Opening<'a> {
    pub path: &'a Path,
    pub mode: Mode,
    pub limit: Option<u64>,
    pub keep_after_reboot: bool,
    pub io: &'a dyn Io,
}

impl Opening<'_> {
    /// Opens the directory as the mode allows, and joins it unless the mode is `Read`.
    pub fn open(&self) -> Result<(Directory, Membership), Error> {
        platform::check()?;
        let path = std::path::absolute(self.path)
            .map_err(Error::io(format!("cannot resolve {}", self.path.display())))?
            .join(format!("v{VERSION}"));
        if self.mode == Mode::Create {
            self.io
                .create_directory(&path)
                .map_err(failed("make", &path))?;
        }
        self.check_place(&path)?;
        let locks = self.open_locks(&path)?;
        let lock = self.lock_directory(&locks, &path)?;
        let directory = match self.existing(&path, &locks)? {
            DirectoryState::Cache(directory) => *directory,
            _ if self.mode == Mode::Create => self.create(&path, &locks)?,
            DirectoryState::Nothing => return Err(self.no_cache()),
            DirectoryState::Damaged(why) => return Err(self.damaged(&why)),
            DirectoryState::EarlierBoot => {
                return Err(Error::NoCache(format!(
                    "the cache in {} was written before this machine started, and is not kept \
                     (keep_after_reboot): it counts as empty",
                    self.path.display()
                )))
            }
        };
        if self.mode == Mode::Read {
            return Ok((directory, Membership::none()));
        }
        let me = self.join(&directory.memory, &locks)?;
        drop(lock);
        platform::close_in_child(platform::descriptor(&locks));
        let membership = Membership {
            me,
            file: Some(locks),
        };
        Ok((directory, membership))
    }

    /// Joins an open directory anew, in a forked child.
    pub fn rejoin(
        io: &dyn Io,
        directory: &Path,
        memory: &MappedMemory,
    ) -> Result<Membership, Error> {
        let opening = Opening {
            path: directory,
            mode: Mode::Existing,
            limit: None,
            keep_after_reboot: false,
            io,
        };
        let locks_path = directory.join("participants");
        let locks = io
            .open(&locks_path, false)
            .map_err(failed("open", &locks_path))?;
        let lock = opening.lock_directory(&locks, directory)?;
        if memory.load(header::LOCK_INODE) != inode(&locks)? {
            return Err(Error::Io {
                action: format!("{} was removed while it was open", directory.display()),
                source: ErrorKind::NotFound.into(),
            });
        }
        let me = opening.join(memory, &locks)?;
        drop(lock);
        platform::close_in_child(platform::descriptor(&locks));
        Ok(Membership {
            me,
            file: Some(locks),
        })
    }

    fn check_place(&self, path: &Path) -> Result<(), Error> {
        let owner = match self.io.owner(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && self.mode != Mode::Create => {
                return Err(self.no_cache())
            }
            owner => owner.map_err(failed("look at", path))?,
        };
        if owner != platform::user() {
            return Err(Error::ForeignDirectory(path.display().to_string()));
        }
        let kind = self.io.filesystem(path).map_err(failed("look at", path))?;
        if !LOCAL_FILESYSTEMS.iter().any(|(known, _)| *known == kind) {
            let known: Vec<_> = LOCAL_FILESYSTEMS.iter().map(|(_, name)| *name).collect();
            return Err(Error::UnsupportedFilesystem(format!(
                "the file system of {} (type {kind:#x}, known are {})",
                path.display(),
                known.join(", ")
            )));
        }
        Ok(())
    }

    /// Opens the file whose locks say which participants live.
    fn open_locks(&self, path: &Path) -> Result<File, Error> {
        let file = path.join("participants");
        let opened = match self.mode {
            Mode::Create => self.io.open(&file, true),
            Mode::Existing => self.io.open(&file, false),
            Mode::Read => self.io.open_to_read(&file),
        };
        match opened {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(match self.io.open_to_read(&path.join("index")) {
                    Ok(_) => self.damaged("the file participants is missing"),
                    Err(_) => self.no_cache(),
                })
            }
            opened => opened.map_err(failed("open", &file)),
        }
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

    fn lock_directory<'a>(
        &'a self,
        locks: &'a File,
        path: &Path,
    ) -> Result<DirectoryLock<'a>, Error> {
        let deadline = Instant::now() + LOCK_PATIENCE;
        loop {
            let taken = match self.mode {
                // Readers exclude processes that create or replace a cache, but not each other.
                Mode::Read => self.io.lock_shared(locks, DIRECTORY_LOCK),
                _ => self.io.lock(locks, DIRECTORY_LOCK),
            };
            let taken = taken.map_err(failed("lock", path))?;
            if taken {
                return Ok(DirectoryLock {
                    io: self.io,
                    file: locks,
                });
            }
            if Instant::now() > deadline {
                return Err(Error::Io {
                    action: format!("another process keeps {} locked", path.display()),
                    source: ErrorKind::TimedOut.into(),
                });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Takes a participant id by its lock. Ids are tried in turn, so that one is not reused soon.
    fn join(&self, memory: &MappedMemory, locks: &File) -> Result<Participant, Error> {
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
struct DirectoryLock<'a> {
    io: &'a dyn Io,
    file: &'a File,
}

impl Drop for DirectoryLock<'_> {
    fn drop(&mut self) {
        // If the unlock fails, closing the descriptor drops the lock.
        let _ = self.io.unlock(self.file, DIRECTORY_LOCK);
    }
}

/// Names the action that failed and, when rights are missing, what helps.
fn failed<'a>(what: &'a str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Error + 'a {
    move |error| {
        let path = path.display();
        Error::io(match error.kind() {
            ErrorKind::PermissionDenied => format!(
                "user {} may not {what} {path}; grant it the rights, or choose another path",
                platform::user()
            ),
            _ => format!("cannot {what} {path}"),
        })(error)
    }
}

fn inode(locks: &File) -> Result<u64, Error> {
    platform::inode(locks).map_err(Error::io("cannot look at the participants' file"))
}

/// True when another description holds any participant's lock.
fn any_participant(locks: &File) -> bool {
    platform::is_locked(platform::descriptor(locks), 1, PARTICIPANTS as u64 - 1)
}
