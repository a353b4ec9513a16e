//! Opening a cache directory: made, checked, mapped, joined.

use crate::engine::Participant;
use crate::error::Error;
use crate::fork;
use crate::io::{flock, Io};
use crate::layout::{header, Geometry, DEFAULT_LIMIT, MAGIC, PARTICIPANTS, VERSION, WINDOW};
use crate::mapped::MappedMemory;
use crate::memory::Memory;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// File systems whose pages every process of the machine shares and that allocate in advance.
const LOCAL_FILESYSTEMS: [(u32, &str); 5] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x0102_1994, "tmpfs"),
    (0x794c_7630, "overlay"),
    (0xF2F5_2010, "f2fs"),
];
/// Byte 0 of the lock file is the directory's own lock; the others are the participants'.
const DIRECTORY_LOCK: u64 = 0;
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// A directory's files, mapped, with the geometry that its limit gives.
pub(crate) struct Directory {
    pub path: PathBuf,
    pub geometry: Geometry,
    pub seed: u64,
    pub memory: MappedMemory,
    pub block_files: Vec<File>,
}

/// A joined handle: its participant, and the descriptor whose lock says that it lives.
pub(crate) struct Membership {
    pub me: Participant,
    file: Option<File>,
}

impl Membership {
    pub fn descriptor(&self) -> RawFd {
        self.file.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Lets the participant's lock go: from now on this handle counts as dead.
    pub fn release(&self, io: &dyn Io) {
        if let Some(file) = &self.file {
            // A failed unlock leaves the lock to the closing of the descriptor.
            let _ = io.unlock(file, u64::from(self.me.id));
        }
    }

    /// Forgets the descriptor in a forked child, where the handler closed it already.
    pub fn forget(&mut self) {
        std::mem::forget(self.file.take());
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if self.file.is_some() {
            fork::unregister(self.descriptor());
        }
    }
}

/// How to open.
pub(crate) struct Opening<'a> {
    pub path: &'a Path,
    pub limit: Option<u64>,
    pub keep_after_reboot: bool,
    pub io: &'a dyn Io,
}

impl Opening<'_> {
    /// Opens the directory, making it where it is missing, and joins it.
    pub fn open(&self) -> Result<(Directory, Membership), Error> {
        if cfg!(target_endian = "big") {
            return Err(Error::UnsupportedPlatform("this machine is big-endian"));
        }
        let path = std::path::absolute(self.path)
            .map_err(Error::io(format!("cannot resolve {}", self.path.display())))?
            .join(format!("v{VERSION}"));
        self.io
            .create_directory(&path)
            .map_err(Error::io(format!("cannot make {}", path.display())))?;
        self.check_place(&path)?;
        let locks = self.open_file(&path.join("participants"), true)?;
        let held = self.lock_directory(&locks, &path)?;
        let directory = match self.existing(&path, &locks)? {
            Some(directory) => directory,
            None => self.create(&path, &locks)?,
        };
        let me = self.join(&directory.memory, &locks)?;
        drop(held);
        fork::register(locks.as_raw_fd());
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
            limit: None,
            keep_after_reboot: false,
            io,
        };
        let locks = opening.open_file(&directory.join("participants"), false)?;
        let held = opening.lock_directory(&locks, directory)?;
        if memory.load(header::LOCK_INODE) != inode(&locks)? {
            return Err(Error::Io {
                action: format!("{} was removed while it was open", directory.display()),
                source: ErrorKind::NotFound.into(),
            });
        }
        let me = opening.join(memory, &locks)?;
        drop(held);
        fork::register(locks.as_raw_fd());
        Ok(Membership {
            me,
            file: Some(locks),
        })
    }

    fn check_place(&self, path: &Path) -> Result<(), Error> {
        let owner = self
            .io
            .owner(path)
            .map_err(Error::io(format!("cannot look at {}", path.display())))?;
        // SAFETY: geteuid takes nothing and cannot fail.
        if owner != unsafe { libc::geteuid() } {
            return Err(Error::ForeignDirectory(path.display().to_string()));
        }
        let kind = self
            .io
            .filesystem(path)
            .map_err(Error::io(format!("cannot look at {}", path.display())))?;
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

    fn open_file(&self, path: &Path, create: bool) -> Result<File, Error> {
        self.io
            .open(path, create)
            .map_err(Error::io(format!("cannot open {}", path.display())))
    }

    fn lock_directory<'a>(&'a self, locks: &'a File, path: &Path) -> Result<Held<'a>, Error> {
        let deadline = Instant::now() + LOCK_PATIENCE;
        loop {
            let taken = self
                .io
                .lock(locks, DIRECTORY_LOCK)
                .map_err(Error::io(format!("cannot lock {}", path.display())))?;
            if taken {
                return Ok(Held {
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

    /// The directory as it stands, or `None` when there is none to be trusted.
    fn existing(&self, path: &Path, locks: &File) -> Result<Option<Directory>, Error> {
        let index_path = path.join("index");
        let index = match self.io.open(&index_path, false) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Error::io(format!("cannot open {}", index_path.display()))(
                    error,
                ))
            }
        };
        let failed = |error| Error::io(format!("cannot map {}", index_path.display()))(error);
        let len = self.io.len(&index).map_err(failed)?;
        if len < 4096 {
            return Ok(None);
        }
        let mapping = self.io.map(&index, len).map_err(failed)?;
        let memory = MappedMemory::new(mapping, Vec::new());
        if memory.load(header::MAGIC) != MAGIC {
            return Ok(None);
        }
        let version = memory.load(header::VERSION);
        if version > VERSION {
            return Err(Error::UnsupportedVersion(version));
        }
        let limit = memory.load(header::LIMIT);
        let Ok(geometry) = Geometry::new(limit) else {
            return Ok(None);
        };
        if version != VERSION || geometry.index_len != len {
            return Ok(None);
        }
        if let Some(requested) = self.limit.filter(|requested| *requested != limit) {
            return Err(Error::ConfigMismatch {
                existing: limit,
                requested,
            });
        }
        // Somebody removed the file of locks (a cleaner of /tmp would): whoever holds the old one can
        // not be asked, so the files are left to them.
        if memory.load(header::LOCK_INODE) != inode(locks)? {
            return Ok(None);
        }
        let boot = self.boot_words()?;
        let same_boot = boot
            == [
                memory.load(header::BOOT_ID),
                memory.load(header::BOOT_ID + 8),
            ];
        // Containers may be given boot ids of their own; recovery must never run beside a writer.
        if !same_boot && (!self.keep_after_reboot || any_participant(locks)) {
            return Ok(None);
        }
        let Some((block_files, windows)) = self.block_windows(path, &geometry, false)? else {
            return Ok(None);
        };
        let mapping = self.io.map(&index, len).map_err(failed)?;
        let directory = Directory {
            path: path.to_path_buf(),
            geometry,
            seed: memory.load(header::SEED),
            memory: MappedMemory::new(mapping, windows),
            block_files,
        };
        if !same_boot {
            crate::recover::after_reboot(&directory);
            self.store_boot(&directory.memory, boot);
        }
        Ok(Some(directory))
    }

    fn boot_words(&self) -> Result<[u64; 2], Error> {
        let id = self
            .io
            .boot_id()
            .map_err(Error::io("cannot read the kernel's boot id"))?;
        let id = u128::from_le_bytes(id);
        Ok([id as u64, (id >> 64) as u64])
    }

    fn store_boot(&self, memory: &MappedMemory, boot: [u64; 2]) {
        memory.store(header::BOOT_ID, boot[0]);
        memory.store(header::BOOT_ID + 8, boot[1]);
    }

    /// Files of blocks with their mappings; `None` when one is missing or of a wrong length.
    #[allow(clippy::type_complexity)]
    fn block_windows(
        &self,
        path: &Path,
        geometry: &Geometry,
        create: bool,
    ) -> Result<Option<(Vec<File>, Vec<memmap2::MmapRaw>)>, Error> {
        let folder = path.join("blocks");
        let (mut files, mut windows) = (Vec::new(), Vec::new());
        let mut left = geometry.blocks_len();
        while left > 0 {
            let len = left.min(WINDOW);
            let file_path = folder.join(format!("{:04}", files.len()));
            let failed = |error| Error::io(format!("cannot open {}", file_path.display()))(error);
            let file = match self.io.open(&file_path, create) {
                Err(error) if error.kind() == ErrorKind::NotFound && !create => return Ok(None),
                opened => opened.map_err(failed)?,
            };
            if create {
                self.io.set_len(&file, len).map_err(failed)?;
            } else if self.io.len(&file).map_err(failed)? != len {
                return Ok(None);
            }
            windows.push(self.io.map(&file, len).map_err(failed)?);
            files.push(file);
            left -= len;
        }
        Ok(Some((files, windows)))
    }

    /// Makes the directory's files. The index appears last, by a rename, so that a process killed in
    /// between leaves nothing that looks whole.
    fn create(&self, path: &Path, locks: &File) -> Result<Directory, Error> {
        if any_participant(locks) {
            return Err(Error::Io {
                action: format!(
                    "{} is damaged, or of another boot, while processes use it; stop them and try again",
                    path.display()
                ),
                source: ErrorKind::InvalidData.into(),
            });
        }
        let geometry = Geometry::new(self.limit.unwrap_or(DEFAULT_LIMIT))?;
        let failed = |error: std::io::Error| match error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Error::NoSpace(
                "the disk has no room for the index; free some, or choose a smaller limit",
            ),
            Some(libc::EOPNOTSUPP) => {
                Error::UnsupportedFilesystem(format!("the file system of {}", path.display()))
            }
            _ => Error::io(format!("cannot make the cache in {}", path.display()))(error),
        };
        for old in ["index", "index.new", "blocks"] {
            self.io.remove(&path.join(old)).map_err(failed)?;
        }
        let folder = path.join("blocks");
        self.io.create_directory(&folder).map_err(failed)?;
        let made = self.fill_new(path, locks, geometry, &failed);
        if made.is_err() {
            for part in ["index.new", "blocks"] {
                // The first failure is the one worth reporting.
                let _ = self.io.remove(&path.join(part));
            }
        }
        made
    }

    fn fill_new(
        &self,
        path: &Path,
        locks: &File,
        geometry: Geometry,
        failed: &dyn Fn(std::io::Error) -> Error,
    ) -> Result<Directory, Error> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)
            .map_err(|error| failed(std::io::Error::other(error.to_string())))?;
        let seed = u64::from_le_bytes(seed);
        let new = path.join("index.new");
        let index = self.io.open(&new, true).map_err(failed)?;
        self.io
            .allocate(&index, 0, geometry.index_len)
            .map_err(failed)?;
        let windows = self.block_windows(path, &geometry, true)?;
        let (block_files, windows) = windows.unwrap_or_default();
        let mapping = self.io.map(&index, geometry.index_len).map_err(failed)?;
        let memory = MappedMemory::new(mapping, windows);
        memory.store(header::VERSION, VERSION);
        memory.store(header::LIMIT, geometry.limit);
        memory.store(header::SEED, seed);
        memory.store(header::LOCK_INODE, inode(locks)?);
        self.store_boot(&memory, self.boot_words()?);
        memory.store(header::MAGIC, MAGIC);
        self.io.rename(&new, &path.join("index")).map_err(failed)?;
        Ok(Directory {
            path: path.to_path_buf(),
            geometry,
            seed,
            memory,
            block_files,
        })
    }

    /// Takes a participant id by its lock. Ids go round, so that one is not given out again soon.
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
struct Held<'a> {
    io: &'a dyn Io,
    file: &'a File,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // An unlock that fails leaves the lock to the closing of the descriptor.
        let _ = self.io.unlock(self.file, DIRECTORY_LOCK);
    }
}

fn inode(locks: &File) -> Result<u64, Error> {
    let metadata = locks
        .metadata()
        .map_err(Error::io("cannot look at the participants' file"))?;
    Ok(metadata.ino())
}

/// True when another description holds any participant's lock.
fn any_participant(locks: &File) -> bool {
    is_locked(locks.as_raw_fd(), 1, PARTICIPANTS as u64 - 1)
}

/// True when another open file description holds a lock in the range. An answer that cannot be had
/// counts as held: nobody's block is recycled on a doubt.
pub(crate) fn is_locked(descriptor: RawFd, byte: u64, len: u64) -> bool {
    let mut lock = flock(libc::F_WRLCK, byte, len);
    // SAFETY: the lock description is valid for the call; a bad descriptor gives an error.
    let result = unsafe { libc::fcntl(descriptor, libc::F_OFD_GETLK, &mut lock) };
    result != 0 || i32::from(lock.l_type) != libc::F_UNLCK
}
