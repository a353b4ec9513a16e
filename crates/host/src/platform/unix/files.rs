//! Files and their mappings.

use super::{locks, result_of, system};
use crate::io::{Io, Kind, Status};
use memmap2::{MmapOptions, MmapRaw};
use std::ffi::{CStr, CString, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The system's own file operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIo;

impl Io for SystemIo {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
    }

    fn open_directory(&self, path: &Path) -> io::Result<File> {
        // Not O_RDONLY: a directory that may only be passed through is enough.
        OpenOptions::new()
            .read(true)
            .custom_flags(system::TO_PASS_THROUGH)
            .open(path)
    }

    fn status_of(&self, path: &Path) -> io::Result<Status> {
        std::fs::symlink_metadata(path).map(|found| status(&found))
    }

    fn create_directory_in(&self, directory: &File, name: &str) -> io::Result<()> {
        let name = CString::new(name)?;
        // SAFETY: `directory` keeps the descriptor open, and `name` ends with a zero byte.
        result_of(unsafe { libc::mkdirat(directory.as_raw_fd(), name.as_ptr(), 0o700) })
    }

    fn open_directory_in(&self, directory: &File, name: &str) -> io::Result<File> {
        open_at(directory, name, libc::O_RDONLY | libc::O_DIRECTORY)
    }

    fn open(&self, directory: &File, name: &str, create: bool) -> io::Result<File> {
        let create = if create { libc::O_CREAT } else { 0 };
        open_at(directory, name, libc::O_RDWR | create)
    }

    fn open_to_read(&self, directory: &File, name: &str) -> io::Result<File> {
        open_at(directory, name, libc::O_RDONLY)
    }

    fn status(&self, file: &File) -> io::Result<Status> {
        file.metadata().map(|found| status(&found))
    }

    fn filesystem(&self, file: &File) -> io::Result<u32> {
        system::filesystem(file)
    }

    fn set_rights(&self, file: &File, permissions: u32, group: Option<u32>) -> io::Result<()> {
        if let Some(group) = group {
            let same = libc::uid_t::MAX;
            // SAFETY: `file` keeps the descriptor open, and the rest are plain integers.
            result_of(unsafe { libc::fchown(file.as_raw_fd(), same, group) })?;
        }
        // After the group: changing that may take bits away.
        // SAFETY: as above.
        result_of(unsafe { libc::fchmod(file.as_raw_fd(), permissions as libc::mode_t) })
    }

    fn set_permissions_of(&self, directory: &Path, permissions: u32) -> io::Result<()> {
        let directory = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
            .open(directory)?;
        self.set_rights(&directory, permissions, None)
    }

    fn names(&self, directory: &File) -> io::Result<Vec<OsString>> {
        // fdopendir(3) takes the descriptor over, and moves its offset: it gets one of its own.
        let own = open_at(directory, ".", libc::O_RDONLY | libc::O_DIRECTORY)?;
        // SAFETY: the descriptor is open and belongs to nothing else from here on.
        let stream = unsafe { libc::fdopendir(std::os::fd::IntoRawFd::into_raw_fd(own)) };
        if stream.is_null() {
            return Err(io::Error::last_os_error());
        }
        let mut names = Vec::new();
        loop {
            // SAFETY: errno belongs to this thread.
            unsafe { *system::errno() = 0 };
            // SAFETY: `stream` is open, and only this thread uses it.
            let entry = unsafe { libc::readdir(stream) };
            if entry.is_null() {
                break;
            }
            // SAFETY: the entry is valid until the next call, and its name ends with a zero byte.
            let name = unsafe { CStr::from_ptr((*entry).d_name.as_ptr()) };
            if name != c"." && name != c".." {
                names.push(OsString::from_vec(name.to_bytes().to_vec()));
            }
        }
        let ended = io::Error::last_os_error();
        // SAFETY: `stream` is open, and nothing uses it from here on.
        unsafe { libc::closedir(stream) };
        match ended.raw_os_error() {
            Some(0) => Ok(names),
            _ => Err(ended),
        }
    }

    fn touch(&self, file: &File) -> io::Result<()> {
        // SAFETY: `file` keeps the descriptor open; without times the call takes the present one.
        result_of(unsafe { libc::futimens(file.as_raw_fd(), std::ptr::null()) })
    }

    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        within_file_size(len)?;
        file.set_len(len)
    }

    fn allocate(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        within_file_size(offset + len)?;
        system::allocate(file, offset, len)
    }

    fn fill(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        // Not more at once: a call holds a lock of the file, also while the kernel has its caller wait for memory.
        static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
        within_file_size(offset + len)?;
        let mut at = 0;
        while at < len {
            let part = (len - at).min(ZEROS.len() as u64) as usize;
            match file.write_at(&ZEROS[..part], offset + at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => at += written as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
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

    fn map_over(&self, mapping: &MmapRaw, file: &File, len: u64) -> io::Result<()> {
        if len as usize > mapping.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Pages of 16 or 64 KiB (macOS, some ARM64 machines): what follows would be mapped over as well.
        if len as usize % page() != 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // SAFETY: the range lies in `mapping`, whose owner accesses it by atomic loads only. It stays mapped at
        // every moment, and goes with the rest of the mapping.
        let mapped = unsafe {
            libc::mmap(
                mapping.as_mut_ptr().cast(),
                len as usize,
                libc::PROT_READ,
                libc::MAP_SHARED | libc::MAP_FIXED,
                file.as_raw_fd(),
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn sync(&self, mapping: &MmapRaw) -> io::Result<()> {
        mapping.flush()
    }

    fn write_back(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        system::write_back(file, offset, len)
    }

    fn begin_sync(&self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        system::begin_sync(file, offset, len)
    }

    fn make_dirty(&self, mapping: &MmapRaw, offset: u64, len: u64) -> io::Result<()> {
        system::make_dirty(mapping, offset, len)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
            .open(path)?
            .sync_all()
    }

    fn rename(&self, directory: &File, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (CString::new(from)?, CString::new(to)?);
        let folder = directory.as_raw_fd();
        // SAFETY: `directory` keeps the descriptor open, and both names end with a zero byte.
        result_of(unsafe { libc::renameat(folder, from.as_ptr(), folder, to.as_ptr()) })
    }

    fn remove(&self, directory: &File, name: &str) -> io::Result<()> {
        let name = CString::new(name)?;
        // SAFETY: `directory` keeps the descriptor open, and `name` ends with a zero byte.
        let done = result_of(unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), 0) });
        match done {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn lock(&self, file: &File, byte: u64) -> io::Result<bool> {
        locks::take(file, locks::EXCLUSIVE, byte)
    }

    fn lock_shared(&self, file: &File, byte: u64) -> io::Result<bool> {
        locks::take(file, locks::SHARED, byte)
    }

    fn unlock(&self, file: &File, byte: u64) -> io::Result<()> {
        locks::release(file, byte)
    }

    fn boot_id(&self) -> io::Result<[u8; 16]> {
        let text = system::boot_id()?;
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        u128::from_str_radix(&digits, 16)
            .map(u128::to_le_bytes)
            .map_err(|_| io::Error::other("the kernel's boot id is not a UUID"))
    }
}

/// Opens what a directory holds under this name. It follows no link, a program that this process starts
/// does not inherit it (nor its locks), and a pipe does not block it.
fn open_at(directory: &File, name: &str, flags: libc::c_int) -> io::Result<File> {
    let name = CString::new(name)?;
    let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    loop {
        // SAFETY: `directory` keeps the descriptor open, and `name` ends with a zero byte.
        let opened = unsafe { libc::openat(directory.as_raw_fd(), name.as_ptr(), flags, 0o600) };
        if opened >= 0 {
            // SAFETY: the call gave a descriptor that belongs to nothing else.
            return Ok(unsafe { File::from_raw_fd(opened) });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn status(found: &Metadata) -> Status {
    Status {
        kind: if found.is_file() {
            Kind::File
        } else if found.is_dir() {
            Kind::Directory
        } else {
            Kind::Other
        },
        owner: found.uid(),
        group: found.gid(),
        permissions: found.mode() & 0o7777,
        device: found.dev(),
        inode: found.ino(),
        len: found.len(),
        taken: found.blocks() * 512,
        links: found.nlink(),
    }
}

/// Bytes of a page of memory.
pub(super) fn page() -> usize {
    // SAFETY: the call takes a plain number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).unwrap_or(usize::MAX)
}

/// Refuses what exceeds the limit of `ulimit -f`. The system would refuse it too, but would first send
/// SIGXFSZ, which ends a process.
fn within_file_size(len: u64) -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid buffer for the call.
    result_of(unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) })?;
    if limit.rlim_cur != libc::RLIM_INFINITY && len > limit.rlim_cur {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    Ok(())
}
