//! Any system except Linux and macOS: [`check`] refuses to open a directory, so nothing behind it is reached. The
//! clock serves caches in the memory of one process.

use crate::error::Error;
use crate::io::{Io, Status};
use memmap2::MmapRaw;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Identifies an open file within the process.
pub(crate) type Descriptor = i32;

/// Whether the host tier runs on this machine.
pub(crate) fn check() -> Result<(), Error> {
    Err(Error::UnsupportedPlatform(
        "a cache in a directory, shared between processes, needs Linux",
    ))
}

/// Milliseconds since 1970-01-01T00:00Z.
#[inline]
pub(crate) fn now() -> u64 {
    // A clock before 1970 counts as 1970.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    since.as_millis() as u64
}

/// Time on a clock that is never set.
pub(crate) fn monotonic() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Sixteenths of a second.
pub(crate) fn ticks() -> u32 {
    (now() * 16 / 1000) as u32
}

pub(crate) fn descriptor(_: &File) -> Descriptor {
    -1
}

pub(crate) fn user() -> u32 {
    0
}

pub(crate) fn is_in_group(_: u32) -> bool {
    false
}

pub(crate) fn may_not_write(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// A failed query counts as held.
pub(crate) fn is_locked(_: Descriptor, _: u64, _: u64) -> bool {
    true
}

pub(crate) fn wait_for_lock(_: Descriptor, _: u64, _: u64) -> io::Result<()> {
    unsupported()
}

pub(crate) fn release_locks(_: Descriptor, _: u64, _: u64) {}

pub(crate) fn no_room(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::StorageFull
}

pub(crate) fn too_large(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge
}

pub(crate) fn no_allocation(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

pub(crate) fn is_link(_: &io::Error) -> bool {
    false
}

/// Without a store, no fork matters.
pub(crate) fn forks() -> u64 {
    0
}

/// From here on [`forks`] tells a forked child from its parent.
pub(crate) fn notice_forks() {}

pub(crate) fn open_for_this_process<O: FnMut() -> io::Result<File>>(
    mut open: O,
) -> io::Result<File> {
    open()
}

pub(crate) fn keep_in_child(_: Descriptor) {}

pub fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// Nobody waits for another process.
pub(crate) fn wait_on(_: &AtomicU64, _: u64, longest: Duration) {
    std::thread::sleep(longest);
}

pub(crate) fn wake(_: &AtomicU64) {}

/// A word that is 0 again in a forked child where the host tier runs.
pub(crate) struct WipedWord(AtomicU64);

impl WipedWord {
    pub fn new() -> WipedWord {
        WipedWord(AtomicU64::new(0))
    }
}

impl Deref for WipedWord {
    type Target = AtomicU64;

    fn deref(&self) -> &AtomicU64 {
        &self.0
    }
}

pub(crate) fn memory() -> Option<u64> {
    None
}

pub(crate) fn read_at_random(_: &MmapRaw, _: bool) {}

pub(crate) fn will_read(_: &MmapRaw, _: usize, _: usize) {}

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Refuses everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIo;

impl Io for SystemIo {
    fn create_directory(&self, _: &Path) -> io::Result<()> {
        unsupported()
    }
    fn open_directory(&self, _: &Path) -> io::Result<File> {
        unsupported()
    }
    fn status_of(&self, _: &Path) -> io::Result<Status> {
        unsupported()
    }
    fn create_directory_in(&self, _: &File, _: &str) -> io::Result<()> {
        unsupported()
    }
    fn open_directory_in(&self, _: &File, _: &str) -> io::Result<File> {
        unsupported()
    }
    fn open(&self, _: &File, _: &str, _: bool) -> io::Result<File> {
        unsupported()
    }
    fn open_to_read(&self, _: &File, _: &str) -> io::Result<File> {
        unsupported()
    }
    fn status(&self, _: &File) -> io::Result<Status> {
        unsupported()
    }
    fn filesystem(&self, _: &File) -> io::Result<u32> {
        unsupported()
    }
    fn set_rights(&self, _: &File, _: u32, _: Option<u32>) -> io::Result<()> {
        unsupported()
    }
    fn set_permissions_of(&self, _: &Path, _: u32) -> io::Result<()> {
        unsupported()
    }
    fn names(&self, _: &File) -> io::Result<Vec<OsString>> {
        unsupported()
    }
    fn touch(&self, _: &File) -> io::Result<()> {
        unsupported()
    }
    fn set_len(&self, _: &File, _: u64) -> io::Result<()> {
        unsupported()
    }
    fn allocate(&self, _: &File, _: u64, _: u64) -> io::Result<()> {
        unsupported()
    }
    fn fill(&self, _: &File, _: u64, _: u64) -> io::Result<()> {
        unsupported()
    }
    fn map(&self, _: &File, _: u64) -> io::Result<MmapRaw> {
        unsupported()
    }
    fn map_to_read(&self, _: &File, _: u64) -> io::Result<MmapRaw> {
        unsupported()
    }
    fn map_private(&self, _: &File, _: u64) -> io::Result<MmapRaw> {
        unsupported()
    }
    fn map_over(&self, _: &MmapRaw, _: &File, _: u64) -> io::Result<()> {
        unsupported()
    }
    fn sync(&self, _: &MmapRaw) -> io::Result<()> {
        unsupported()
    }
    fn write_back(&self, _: &File, _: u64, _: u64) -> io::Result<()> {
        unsupported()
    }
    fn begin_sync(&self, _: &File, _: u64, _: u64) -> io::Result<()> {
        unsupported()
    }
    fn make_dirty(&self, _: &MmapRaw, _: u64, _: u64) -> io::Result<()> {
        unsupported()
    }
    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        unsupported()
    }
    fn rename(&self, _: &File, _: &str, _: &str) -> io::Result<()> {
        unsupported()
    }
    fn remove(&self, _: &File, _: &str) -> io::Result<()> {
        unsupported()
    }
    fn lock(&self, _: &File, _: u64) -> io::Result<bool> {
        unsupported()
    }
    fn lock_shared(&self, _: &File, _: u64) -> io::Result<bool> {
        unsupported()
    }
    fn unlock(&self, _: &File, _: u64) -> io::Result<()> {
        unsupported()
    }
    fn boot_id(&self) -> io::Result<[u8; 16]> {
        unsupported()
    }
}
