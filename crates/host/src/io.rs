//! What the store needs from the operating system, in one trait, so that a test can fail the n-th call.
//!
//! Files are opened below an open directory, never by a path: what was looked at is what is used.

use crate::platform;
pub use crate::platform::SystemIo;
use memmap2::MmapRaw;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else: a symbolic link, a pipe, a device.
    Other,
}

/// What stat(2) says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it is.
    pub kind: Kind,
    /// The user id that owns it.
    pub owner: u32,
    /// The group id that it belongs to.
    pub group: u32,
    /// Its permission bits.
    pub permissions: u32,
    /// Its file system.
    pub device: u64,
    /// Its number in the file system.
    pub inode: u64,
    /// Its length in bytes.
    pub len: u64,
    /// Bytes that it takes on the disk.
    pub taken: u64,
    /// Names that it has in the file system; 0 when it was removed.
    pub links: u64,
}

/// File operations of the host tier.
pub trait Io: Send + Sync {
    /// Creates a directory and its parents, for this user only.
    fn create_directory(&self, path: &Path) -> io::Result<()>;
    /// Opens a directory by its path, through symbolic links.
    fn open_directory(&self, path: &Path) -> io::Result<File>;
    /// What a path names; a symbolic link itself, not what it leads to.
    fn status_of(&self, path: &Path) -> io::Result<Status>;
    /// Creates a directory in another one, for this user only.
    fn create_directory_in(&self, directory: &File, name: &str) -> io::Result<()>;
    /// Opens a directory in another one; a symbolic link is refused.
    fn open_directory_in(&self, directory: &File, name: &str) -> io::Result<File>;
    /// Opens a file of a directory for reading and writing; with `create`, creates it for this user only. A
    /// symbolic link is refused.
    fn open(&self, directory: &File, name: &str, create: bool) -> io::Result<File>;
    /// Opens a file of a directory for reading only. A symbolic link is refused.
    fn open_to_read(&self, directory: &File, name: &str) -> io::Result<File>;
    /// What an open file is.
    fn status(&self, file: &File) -> io::Result<Status>;
    /// The type of the file system that holds an open file: `f_type` of statfs(2).
    fn filesystem(&self, file: &File) -> io::Result<u32>;
    /// Sets an open file's group, if one is given, and then its permission bits.
    fn set_rights(&self, file: &File, permissions: u32, group: Option<u32>) -> io::Result<()>;
    /// Sets the permission bits of a directory of this user, which may not be a symbolic link.
    fn set_permissions_of(&self, directory: &Path, permissions: u32) -> io::Result<()>;
    /// The names in a directory.
    fn names(&self, directory: &File) -> io::Result<Vec<OsString>>;
    /// Sets a file's times to now.
    fn touch(&self, file: &File) -> io::Result<()>;
    /// Sets a file's length without allocating disk space.
    fn set_len(&self, file: &File, len: u64) -> io::Result<()>;
    /// Allocates disk space for a range of a file, by fallocate(2) itself.
    fn allocate(&self, file: &File, offset: u64, len: u64) -> io::Result<()>;
    /// Writes zeros to a range of a file that has its disk space.
    fn fill(&self, file: &File, offset: u64, len: u64) -> io::Result<()>;
    /// Maps a file as shared, for reading and writing.
    fn map(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Maps a file as shared, for reading only.
    fn map_to_read(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Maps a file for reading and writing; writes go to private pages of this process.
    fn map_private(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Puts the beginning of a file, shared and for reading only, in the place of the beginning of a mapping that
    /// is at least as long; `len` is a multiple of a page.
    fn map_over(&self, mapping: &MmapRaw, file: &File, len: u64) -> io::Result<()>;
    /// Writes a mapping back to disk: msync(2).
    fn sync(&self, mapping: &MmapRaw) -> io::Result<()>;
    /// Writes the changed pages of a range of a file back to disk, and waits for them. It does not make them durable:
    /// that takes [`Io::sync`].
    fn write_back(&self, file: &File, offset: u64, len: u64) -> io::Result<()>;
    /// Begins to write the changed pages of a range of a file back to disk. It waits only while the disk takes no
    /// more.
    fn begin_sync(&self, file: &File, offset: u64, len: u64) -> io::Result<()>;
    /// Marks the pages of a range of a mapping as changed, so that they are written to the disk once more. Their
    /// bytes stay as they are, whoever writes to them meanwhile. Pages that are not in memory are left out.
    fn make_dirty(&self, mapping: &MmapRaw, offset: u64, len: u64) -> io::Result<()>;
    /// Begins a thread of this name that runs none of the program's signal handlers.
    fn begin_thread(
        &self,
        name: &str,
        stack: usize,
        work: Box<dyn FnOnce() + Send>,
    ) -> io::Result<()> {
        let thread = std::thread::Builder::new().name(name.into());
        platform::without_signals(|| thread.stack_size(stack).spawn(work).map(drop))
    }
    /// Writes the names in a directory to disk.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;
    /// Renames a file within its directory.
    fn rename(&self, directory: &File, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file of a directory; a missing one is not an error.
    fn remove(&self, directory: &File, name: &str) -> io::Result<()>;
    /// Takes the open-file-description lock of one byte; false when another description holds it.
    fn lock(&self, file: &File, byte: u64) -> io::Result<bool>;
    /// Takes a shared lock of one byte; false when another description holds the byte exclusively.
    fn lock_shared(&self, file: &File, byte: u64) -> io::Result<bool>;
    /// Releases the lock of one byte.
    fn unlock(&self, file: &File, byte: u64) -> io::Result<()>;
    /// Bytes of memory that this process may use; `None` where the system does not tell.
    fn memory(&self) -> Option<u64> {
        platform::memory()
    }
    /// The kernel's id of this boot.
    fn boot_id(&self) -> io::Result<[u8; 16]>;
}
