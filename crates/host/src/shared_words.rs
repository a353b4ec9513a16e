//! Words that processes share by a small mapped file, and locks of its bytes: for what stands beside entries that another
//! library keeps.

use crate::error::Error;
use crate::io::{Io, SystemIo};
use crate::per_process::PerProcess;
use crate::platform::{self, Descriptor};
use memmap2::MmapRaw;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::OnceLock;
use std::time::Duration;

/// A file of 64-bit words, mapped as shared.
pub struct SharedWords {
    mapping: MmapRaw,
    count: usize,
}

// SAFETY: the mapping lives as long as `self`, and every access to it is atomic.
unsafe impl Send for SharedWords {}
// SAFETY: as above; there is no other interior state.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Maps the file, as it is or, where it is missing or shorter, made to hold `count` words of zeros.
    ///
    /// # Errors
    /// `NoSpace`, `Io`.
    pub fn open(path: &Path, count: usize) -> Result<SharedWords, Error> {
        let failed = |error: io::Error| {
            if platform::no_room(&error) {
                return Error::NoSpace("the disk has no room for the cache's files; free some");
            }
            Error::io(format!("cannot open {}", path.display()))(error)
        };
        let file = open_shared(path).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let wanted = (count * 8) as u64;
        if len < wanted {
            // A page that has no space would end the process when it is written.
            match SystemIo.allocate(&file, 0, wanted) {
                Err(error) if platform::no_allocation(&error) => {
                    SystemIo.set_len(&file, wanted).map_err(failed)?;
                }
                done => done.map_err(failed)?,
            }
        }
        let count = (len.max(wanted) / 8) as usize;
        let mapping = SystemIo.map(&file, (count * 8) as u64).map_err(failed)?;
        Ok(SharedWords { mapping, count })
    }

    /// All of them.
    #[inline]
    #[must_use]
    pub fn all(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is page-aligned, has so many words, and lives as long as `self`. All accesses are atomic.
        unsafe { std::slice::from_raw_parts(self.mapping.as_mut_ptr().cast(), self.count) }
    }

    /// Sleeps while the lower half of a word is that of `value`, until it is woken, for `longest` at most; it may end
    /// before (futex(2)).
    pub fn wait(&self, number: usize, value: u64, longest: Duration) {
        if let Some(word) = self.all().get(number) {
            platform::wait_on(word, value, longest);
        }
    }

    /// Wakes one thread of any process that sleeps on a word.
    pub fn wake(&self, number: usize) {
        if let Some(word) = self.all().get(number) {
            platform::wake(word);
        }
    }

    /// Writes them to the disk, and waits for it.
    ///
    /// # Errors
    /// `Io`.
    pub fn sync(&self) -> Result<(), Error> {
        SystemIo
            .sync(&self.mapping)
            .map_err(Error::io("cannot write the cache's state to the disk"))
    }
}

fn open_shared(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Locks of the bytes of a file, between processes: the kernel drops a dead process' locks. Handles on one file exclude
/// each other in one process, too, but threads by one handle do not.
pub struct FileLocks {
    path: PathBuf,
    file: PerProcess<OnceLock<LockFile>>,
}

/// Open in one process: every forked child closes it, so that no lock outlives its process.
struct LockFile(File);

impl Drop for LockFile {
    fn drop(&mut self) {
        platform::keep_in_child(platform::descriptor(&self.0));
    }
}

impl FileLocks {
    /// Of a file that is made when the first lock is asked for.
    #[must_use]
    pub fn new(path: PathBuf) -> FileLocks {
        FileLocks {
            path,
            file: PerProcess::new(),
        }
    }

    fn file(&self) -> Result<&File, Error> {
        let own = self.file.get();
        if let Some(file) = own.get() {
            return Ok(&file.0);
        }
        let opened = platform::open_for_this_process(|| open_shared(&self.path));
        let opened = LockFile(opened.map_err(self.failed())?);
        // Another thread's may be there by now; then this one is closed, and no child closes its number.
        Ok(&own.get_or_init(|| opened).0)
    }

    fn failed(&self) -> impl FnOnce(io::Error) -> Error + '_ {
        Error::io(format!("cannot lock {}", self.path.display()))
    }

    /// Takes the lock of a byte for this handle alone; false while another holds it, shared or not.
    ///
    /// # Errors
    /// `Io`.
    #[inline]
    pub fn take(&self, byte: u64) -> Result<bool, Error> {
        SystemIo.lock(self.file()?, byte).map_err(self.failed())
    }

    /// Takes the lock of a byte with others who share it; false while another holds it alone.
    ///
    /// # Errors
    /// `Io`.
    pub fn share(&self, byte: u64) -> Result<bool, Error> {
        SystemIo
            .lock_shared(self.file()?, byte)
            .map_err(self.failed())
    }

    /// Waits for the locks of some bytes, for this handle alone.
    ///
    /// # Errors
    /// `Io`.
    pub fn wait(&self, byte: u64, len: u64) -> Result<(), Error> {
        platform::wait_for_lock(self.descriptor()?, byte, len).map_err(self.failed())
    }

    fn descriptor(&self) -> Result<Descriptor, Error> {
        Ok(platform::descriptor(self.file()?))
    }

    /// Gives the locks of some bytes back.
    #[inline]
    pub fn release(&self, byte: u64, len: u64) {
        if let Ok(descriptor) = self.descriptor() {
            platform::release_locks(descriptor, byte, len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn words_are_shared_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let one = SharedWords::open(&path, 16).unwrap();
        let other = SharedWords::open(&path, 16).unwrap();
        assert!(one
            .all()
            .iter()
            .all(|word| word.load(Ordering::Relaxed) == 0));
        one.all()[3].store(7, Ordering::Relaxed);
        assert_eq!(other.all()[3].load(Ordering::Relaxed), 7);
        one.sync().unwrap();
        drop((one, other));
        let again = SharedWords::open(&path, 4).unwrap();
        assert_eq!(
            (again.all().len(), again.all()[3].load(Ordering::Relaxed)),
            (16, 7)
        );
    }

    #[test]
    fn a_byte_is_one_handles_or_many_that_share_it() {
        let folder = tempfile::tempdir().unwrap();
        let locks = || FileLocks::new(folder.path().join("locks"));
        let (one, other) = (locks(), locks());
        assert!(one.take(5).unwrap());
        assert!(!other.take(5).unwrap() && !other.share(5).unwrap());
        assert!(other.take(6).unwrap());
        one.release(5, 1);
        assert!(one.share(5).unwrap() && other.share(5).unwrap());
        assert!(!one.take(5).unwrap());
        drop(other);
        assert!(one.take(5).unwrap());
        one.wait(0, 100).unwrap();
        assert!(!locks().take(99).unwrap());
        one.release(0, 100);
        assert!(locks().take(5).unwrap());
    }
}
