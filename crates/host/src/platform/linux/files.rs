//! Files and their mappings.

use super::{locks, result_of};
use crate::io::Io;
use memmap2::{MmapOptions, MmapRaw};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The system's own file operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIo;

impl Io for SystemIo {
    fn filesystem(&self, path: &Path) -> io::Result<u32> {
        let file = File::open(path)?;
        // SAFETY: statfs is plain data for which all zero bytes are valid.
        let mut answer: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: `file` keeps the descriptor open, and `answer` is a valid buffer for the call.
        result_of(unsafe { libc::fstatfs(file.as_raw_fd(), &mut answer) })?;
        Ok(answer.f_type as u32)
    }

    fn owner(&self, path: &Path) -> io::Result<u32> {
        let (link, target) = (std::fs::symlink_metadata(path)?, std::fs::metadata(path)?);
        // A link that another user placed to a directory of ours counts as that user's.
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
        // The standard library opens with O_CLOEXEC: a program that this process starts never inherits a
        // lock.
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(create)
            .truncate(false)
            .mode(0o600)
            .open(path)
    }

    fn open_to_read(&self, path: &Path) -> io::Result<File> {
        File::open(path)
    }

    fn len(&self, file: &File) -> io::Result<u64> {
        Ok(file.metadata()?.len())
    }

    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    fn allocate(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        loop {
            // SAFETY: the arguments are plain integers, and `file` keeps the descriptor open.
            let result = unsafe {
                libc::fallocate(
                    file.as_raw_fd(),
                    0,
                    offset as libc::off_t,
                    len as libc::off_t,
                )
            };
            match result_of(result) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn map(&self, file: &File, len: u64) -> io::Result<MmapRaw> {
        MmapOptions::new().len(len as usize).map_raw(file)
    }

    fn map_to_read(&self, file: &File, len: u64) -> io::Result<MmapRaw> {
        MmapOptions::new().len(len as usize).map_raw_read_only(file)
    }

    fn map_private(&self, file: &File, len: u64) -> io::Result<MmapRaw> {
        // SAFETY: the mapping is used only as a `MappedMemory`, which allows for changes by other
        // processes.
        let mapping = unsafe { MmapOptions::new().len(len as usize).map_copy(file) };
        mapping.map(MmapRaw::from)
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
        locks::take(file, libc::F_WRLCK, byte)
    }

    fn lock_shared(&self, file: &File, byte: u64) -> io::Result<bool> {
        locks::take(file, libc::F_RDLCK, byte)
    }

    fn unlock(&self, file: &File, byte: u64) -> io::Result<()> {
        locks::release(file, byte)
    }

    fn boot_id(&self) -> io::Result<[u8; 16]> {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        u128::from_str_radix(&digits, 16)
            .map(u128::to_le_bytes)
            .map_err(|_| io::Error::other("the kernel's boot id is not a UUID"))
    }
}
