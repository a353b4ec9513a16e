//! What the store needs from the operating system, in one trait, so that a test can fail the n-th call.

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
    /// Creates a directory and its parents, for this user only.
    fn create_directory(&self, path: &Path) -> io::Result<()>;
    /// Opens a file for reading and writing; with `create`, creates it for this user only.
    fn open(&self, path: &Path, create: bool) -> io::Result<File>;
    /// Opens a file for reading only.
    fn open_to_read(&self, path: &Path) -> io::Result<File>;
    /// Length of a file.
    fn len(&self, file: &File) -> io::Result<u64>;
    /// Sets a file's length without allocating disk space.
    fn set_len(&self, file: &File, len: u64) -> io::Result<()>;
    /// Allocates disk space for a range of a file, by fallocate(2) itself.
    fn allocate(&self, file: &File, offset: u64, len: u64) -> io::Result<()>;
    /// Maps a file as shared, for reading and writing.
    fn map(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Maps a file as shared, for reading only.
    fn map_to_read(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Maps a file for reading and writing; writes go to private pages of this process.
    fn map_private(&self, file: &File, len: u64) -> io::Result<MmapRaw>;
    /// Writes a mapping back to disk: msync(2).
    fn sync(&self, mapping: &MmapRaw) -> io::Result<()>;
    /// Renames a file.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, or a directory with its content; a missing one is not an error.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Takes the open-file-description lock of one byte; false when another description holds it.
    fn lock(&self, file: &File, byte: u64) -> io::Result<bool>;
    /// Takes a shared lock of one byte; false when another description holds the byte exclusively.
    fn lock_shared(&self, file: &File, byte: u64) -> io::Result<bool>;
    /// Releases the lock of one byte.
    fn unlock(&self, file: &File, byte: u64) -> io::Result<()>;
    /// The kernel's id of this boot.
    fn boot_id(&self) -> io::Result<[u8; 16]>;
}
