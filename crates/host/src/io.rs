//! What the store asks of the operating system, in one trait, so that a test can fail the n-th call.

use memmap2::{MmapOptions, MmapRaw};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// File operations of the host tier.
pub trait Io: Send + Sync {
    /// The type of the file system that holds `path`: `f_type` of statfs(2).
    fn filesystem(&self, path: &Path) -> io::Result<u32>;
    /// The user id that owns `path`.
    fn owner(&self, path: &Path) -> io::Result<u32>;
    /// Makes a directory, and those above it, for this user only.
    fn create_directory(&self, path: &Path) -> io::Result<()>;
    /// Opens a file for reading and writing; makes it for this user only when `create`.
    fn open(&self, path: &Path, create: bool) -> io::Result<File>;
    /// Length of a file.
    fn len(&self, file: &File) -> io::Result<u64>;
    /// Sets a file's length without giving it disk space.
    fn set_len(&self, file: &File, len: u64) -> io::Result<()>;
    /// Gives a range of a file its disk space, by fallocate(2) itself.
    fn allocate(&self, file: &File, offset: u64, len: u64) -> io::Result<()>;
    /// Maps a file shared, for reading and writing.
    fn map(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Writes a mapping back to its disk: msync(2).
    fn sync(&self, mapping: &MmapRaw) -> io::Result<()>;
    /// Renames a file.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, or a directory with what is in it; nothing there is no error.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Takes the open-file-description lock of one byte; false when another description holds it.
    fn lock(&self, file: &File, byte: u64) -> io::Result<bool>;
    /// Releases it.
    fn unlock(&self, file: &File, byte: u64) -> io::Result<()>;
    /// The kernel's id of this boot.
    fn boot_id(&self) -> io::Result<[u8; 16]>;
}

/// The system's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIo;

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// A lock description for fcntl(2).
pub(crate) fn flock(kind: libc::c_int, byte: u64, len: u64) -> libc::flock {
    // SAFETY: flock is plain data for which zero is valid in every field.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = byte as libc::off_t;
    lock.l_len = len as libc::off_t;
    lock
}

impl Io for SystemIo {
    fn filesystem(&self, path: &Path) -> io::Result<u32> {
        let file = File::open(path)?;
        // SAFETY: statfs is plain data; fstatfs fills it for a valid descriptor.
        let mut answer: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open and the buffer valid for the call.
        check(unsafe { libc::fstatfs(file.as_raw_fd(), &mut answer) })?;
        Ok(answer.f_type as u32)
    }

    fn owner(&self, path: &Path) -> io::Result<u32> {
        let (link, target) = (std::fs::symlink_metadata(path)?, std::fs::metadata(path)?);
        // A link that another user laid to a directory of ours is that user's.
        let planted = link.uid() != 0 && link.uid() != target.uid();
        Ok(if planted { link.uid() } else { target.uid() })
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<File> {
        // The standard library opens with O_CLOEXEC: a program that is started never inherits a lock.
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(create)
            .truncate(false)
            .mode(0o600)
            .open(path)
    }

    fn len(&self, file: &File) -> io::Result<u64> {
        Ok(file.metadata()?.len())
    }

    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    fn allocate(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        loop {
            // SAFETY: plain arguments; the descriptor is open.
            let result = unsafe {
                libc::fallocate(
                    file.as_raw_fd(),
                    0,
                    offset as libc::off_t,
                    len as libc::off_t,
                )
            };
            match check(result) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn map(&self, file: &File, len: u64) -> io::Result<MmapRaw> {
        MmapOptions::new().len(len as usize).map_raw(file)
    }

    fn sync(&self, mapping: &MmapRaw) -> io::Result<()> {
        mapping.flush()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let done = if path.is_dir() {
            std::fs::remove_dir_all(path)
        } else {
            std::fs::remove_file(path)
        };
        match done {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn lock(&self, file: &File, byte: u64) -> io::Result<bool> {
        let mut lock = flock(libc::F_WRLCK, byte, 1);
        // SAFETY: the descriptor is open and the lock description valid for the call.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &mut lock) };
        match check(result) {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn unlock(&self, file: &File, byte: u64) -> io::Result<()> {
        let mut lock = flock(libc::F_UNLCK, byte, 1);
        // SAFETY: as for `lock`.
        check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &mut lock) })
    }

    fn boot_id(&self) -> io::Result<[u8; 16]> {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        u128::from_str_radix(&digits, 16)
            .map(u128::to_le_bytes)
            .map_err(|_| io::Error::other("the kernel's boot id is no UUID"))
    }
}
