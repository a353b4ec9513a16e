//! What the store asks of the operating system, in one trait, so that a test can fail the n-th call.

pub use crate::platform::SystemIo;
use memmap2::MmapRaw;
use std::fs::File;
use std::io;
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
    /// Opens a file for reading only.
    fn open_to_read(&self, path: &Path) -> io::Result<File>;
    /// Length of a file.
    fn len(&self, file: &File) -> io::Result<u64>;
    /// Sets a file's length without giving it disk space.
    fn set_len(&self, file: &File, len: u64) -> io::Result<()>;
    /// Gives a range of a file its disk space, by fallocate(2) itself.
    fn allocate(&self, file: &File, offset: u64, len: u64) -> io::Result<()>;
    /// Maps a file shared, for reading and writing.
    fn map(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Maps a file shared, for reading only.
    fn map_to_read(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Maps a file for reading, and for writing to pages of this process's own.
    fn map_private(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Writes a mapping back to its disk: msync(2).
    fn sync(&self, mapping: &MmapRaw) -> io::Result<()>;
    /// Renames a file.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, or a directory with what is in it; nothing there is no error.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Takes the open-file-description lock of one byte; false when another description holds it.
    fn lock(&self, file: &File, byte: u64) -> io::Result<bool>;
    /// Takes a lock of one byte that others of this kind may hold as well; false when another
    /// description holds the byte alone.
    fn lock_shared(&self, file: &File, byte: u64) -> io::Result<bool>;
    /// Releases it.
    fn unlock(&self, file: &File, byte: u64) -> io::Result<()>;
    /// The kernel's id of this boot.
    fn boot_id(&self) -> io::Result<[u8; 16]>;
}
