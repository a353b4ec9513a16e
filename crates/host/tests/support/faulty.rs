//! A system whose calls fail when a test says so.

use polycache_host::io::{Io, Status, SystemIo};
use polycache_host::Options;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

/// What others do.
pub type Act = Box<dyn Fn() + Send + Sync>;

/// Fails the n-th call, or gives false answers about the path.
pub struct Faulty {
    pub left: AtomicI64,
    pub errno: i32,
    pub filesystem: Option<u32>,
    pub owner: Option<u32>,
    pub boot: u8,
    /// Bytes of memory that there are.
    pub memory: Option<u64>,
    /// Free blocks of the disk, and how often it was asked for one that it did not have.
    pub disk: AtomicI64,
    pub refused: AtomicI64,
    /// The system has no room for another thread.
    pub refuses_threads: AtomicBool,
    /// What was to be written, with offset and length.
    pub ranges: Mutex<Vec<(&'static str, u64, u64)>>,
    /// What others do after each call of this name, before the caller goes on.
    pub meanwhile: Option<(&'static str, Act)>,
}

impl Faulty {
    pub fn new(calls: i64, errno: i32) -> Faulty {
        Faulty {
            left: AtomicI64::new(calls),
            errno,
            filesystem: None,
            owner: None,
            boot: 0,
            memory: None,
            disk: AtomicI64::new(i64::MAX),
            refused: AtomicI64::new(0),
            refuses_threads: AtomicBool::new(false),
            ranges: Mutex::default(),
            meanwhile: None,
        }
    }

    fn meanwhile(&self, call: &str) {
        if let Some((_, act)) = self.meanwhile.as_ref().filter(|(name, _)| *name == call) {
            act();
        }
    }

    fn note(&self, call: &'static str, offset: u64, len: u64) {
        self.ranges.lock().unwrap().push((call, offset, len));
    }

    /// What was to be written since the last question.
    pub fn take_ranges(&self) -> Vec<(&'static str, u64, u64)> {
        std::mem::take(&mut self.ranges.lock().unwrap())
    }

    fn count(&self) -> io::Result<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(io::Error::from_raw_os_error(self.errno));
        }
        Ok(())
    }
}

impl Io for Faulty {
    fn memory(&self) -> Option<u64> {
        self.memory.or_else(|| SystemIo.memory())
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.count()?;
        SystemIo.create_directory(path)
    }
    fn open_directory(&self, path: &Path) -> io::Result<File> {
        self.count()?;
        SystemIo.open_directory(path)
    }
    fn status_of(&self, path: &Path) -> io::Result<Status> {
        self.count()?;
        SystemIo.status_of(path)
    }
    fn create_directory_in(&self, directory: &File, name: &str) -> io::Result<()> {
        self.count()?;
        let made = SystemIo.create_directory_in(directory, name);
        self.meanwhile("create_directory_in");
        made
    }
    fn open_directory_in(&self, directory: &File, name: &str) -> io::Result<File> {
        self.count()?;
        SystemIo.open_directory_in(directory, name)
    }
    fn open(&self, directory: &File, name: &str, create: bool) -> io::Result<File> {
        self.count()?;
        let file = SystemIo.open(directory, name, create);
        self.meanwhile("open");
        file
    }
    fn open_to_read(&self, directory: &File, name: &str) -> io::Result<File> {
        self.count()?;
        SystemIo.open_to_read(directory, name)
    }
    fn status(&self, file: &File) -> io::Result<Status> {
        self.count()?;
        let mut status = SystemIo.status(file)?;
        status.owner = self.owner.unwrap_or(status.owner);
        Ok(status)
    }
    fn filesystem(&self, file: &File) -> io::Result<u32> {
        self.count()?;
        self.filesystem
            .map_or_else(|| SystemIo.filesystem(file), Ok)
    }
    fn set_rights(&self, file: &File, permissions: u32, group: Option<u32>) -> io::Result<()> {
        self.count()?;
        SystemIo.set_rights(file, permissions, group)
    }
    fn set_permissions_of(&self, directory: &Path, permissions: u32) -> io::Result<()> {
        self.count()?;
        SystemIo.set_permissions_of(directory, permissions)
    }
    fn names(&self, directory: &File) -> io::Result<Vec<OsString>> {
        self.count()?;
        SystemIo.names(directory)
    }
    fn touch(&self, file: &File) -> io::Result<()> {
        self.count()?;
        SystemIo.touch(file)
    }
    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        self.count()?;
        SystemIo.set_len(file, len)
    }
    fn fill(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        self.count()?;
        SystemIo.fill(file, offset, len)
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
    fn map_over(&self, mapping: &memmap2::MmapRaw, file: &File, len: u64) -> io::Result<()> {
        self.count()?;
        SystemIo.map_over(mapping, file, len)
    }
    fn sync(&self, mapping: &memmap2::MmapRaw) -> io::Result<()> {
        self.meanwhile("sync");
        self.count()?;
        SystemIo.sync(mapping)
    }
    fn write_back(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        self.meanwhile("write_back");
        self.note("write_back", offset, len);
        self.count()?;
        SystemIo.write_back(file, offset, len)
    }
    fn begin_sync(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        self.meanwhile("begin_sync");
        self.count()?;
        SystemIo.begin_sync(file, offset, len)
    }
    fn make_dirty(&self, mapping: &memmap2::MmapRaw, offset: u64, len: u64) -> io::Result<()> {
        self.meanwhile("make_dirty");
        self.note("make_dirty", offset, len);
        self.count()?;
        SystemIo.make_dirty(mapping, offset, len)
    }
    fn begin_thread(
        &self,
        name: &str,
        stack: usize,
        work: Box<dyn FnOnce() + Send>,
    ) -> io::Result<()> {
        self.count()?;
        self.meanwhile("begin_thread");
        if self.refuses_threads.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(libc::EAGAIN));
        }
        SystemIo.begin_thread(name, stack, work)
    }
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.count()?;
        SystemIo.sync_directory(path)
    }
    fn rename(&self, directory: &File, from: &str, to: &str) -> io::Result<()> {
        self.count()?;
        SystemIo.rename(directory, from, to)
    }
    fn remove(&self, directory: &File, name: &str) -> io::Result<()> {
        self.count()?;
        SystemIo.remove(directory, name)
    }
    fn lock(&self, file: &File, byte: u64) -> io::Result<bool> {
        self.count()?;
        let taken = SystemIo.lock(file, byte);
        self.meanwhile("lock");
        taken
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
        self.meanwhile("boot_id");
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
