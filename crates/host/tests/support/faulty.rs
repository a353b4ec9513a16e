//! A system whose calls fail when a test says so.

use polycache_host::io::{Io, SystemIo};
use polycache_host::Options;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

/// Fails the n-th call, or gives false answers about the path.
pub struct Faulty {
    pub left: AtomicI64,
    pub errno: i32,
    pub filesystem: Option<u32>,
    pub owner: Option<u32>,
    pub boot: u8,
    /// Free blocks of the disk, and how often it was asked for one that it did not have.
    pub disk: AtomicI64,
    pub refused: AtomicI64,
}

impl Faulty {
    pub fn new(calls: i64, errno: i32) -> Faulty {
        Faulty {
            left: AtomicI64::new(calls),
            errno,
            filesystem: None,
            owner: None,
            boot: 0,
            disk: AtomicI64::new(i64::MAX),
            refused: AtomicI64::new(0),
        }
    }

    fn count(&self) -> io::Result<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(io::Error::from_raw_os_error(self.errno));
        }
        Ok(())
    }
}

impl Io for Faulty {
    fn filesystem(&self, path: &Path) -> io::Result<u32> {
        self.count()?;
        self.filesystem
            .map_or_else(|| SystemIo.filesystem(path), Ok)
    }
    fn owner(&self, path: &Path) -> io::Result<u32> {
        self.count()?;
        self.owner.map_or_else(|| SystemIo.owner(path), Ok)
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.count()?;
        SystemIo.create_directory(path)
    }
    fn open(&self, path: &Path, create: bool) -> io::Result<File> {
        self.count()?;
        SystemIo.open(path, create)
    }
    fn open_to_read(&self, path: &Path) -> io::Result<File> {
        self.count()?;
        SystemIo.open_to_read(path)
    }
    fn len(&self, file: &File) -> io::Result<u64> {
        self.count()?;
        SystemIo.len(file)
    }
    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        self.count()?;
        SystemIo.set_len(file, len)
    }
    fn allocate(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        self.count()?;
        if self.disk.fetch_sub(1, Ordering::SeqCst) <= 0 {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        SystemIo.allocate(file, offset, len)
    }
    fn map(&self, file: &File, len: u64) -> io::Result<memmap2::MmapRaw> {
        self.count()?;
        SystemIo.map(file, len)
    }
    fn map_to_read(&self, file: &File, len: u64) -> io::Result<memmap2::MmapRaw> {
        self.count()?;
        SystemIo.map_to_read(file, len)
    }
    fn map_private(&self, file: &File, len: u64) -> io::Result<memmap2::MmapRaw> {
        self.count()?;
        SystemIo.map_private(file, len)
    }
    fn sync(&self, mapping: &memmap2::MmapRaw) -> io::Result<()> {
        self.count()?;
        SystemIo.sync(mapping)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.count()?;
        SystemIo.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.count()?;
        SystemIo.remove(path)
    }
    fn lock(&self, file: &File, byte: u64) -> io::Result<bool> {
        self.count()?;
        SystemIo.lock(file, byte)
    }
    fn lock_shared(&self, file: &File, byte: u64) -> io::Result<bool> {
        self.count()?;
        SystemIo.lock_shared(file, byte)
    }
    fn unlock(&self, file: &File, byte: u64) -> io::Result<()> {
        self.count()?;
        SystemIo.unlock(file, byte)
    }
    fn boot_id(&self) -> io::Result<[u8; 16]> {
        self.count()?;
        let mut id = SystemIo.boot_id()?;
        id[0] ^= self.boot;
        Ok(id)
    }
}

/// Options of the smallest store, with this system.
pub fn with_io(path: &Path, io: Faulty) -> Options {
    let mut options = super::small(path);
    options.io = Arc::new(io);
    options
}
