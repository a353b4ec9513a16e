//! Linux, where the host tier runs, and macOS, where it was never run (`macos.rs`).

mod clock;
mod files;
mod fork;
mod locks;
mod memory;
#[cfg(target_os = "linux")]
mod pages;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
mod system;
mod wiped;

pub(crate) use clock::{monotonic, now, ticks};
pub use files::SystemIo;
pub(crate) use fork::{forks, keep_in_child, open_for_this_process, set_up_once as notice_forks};
pub(crate) use locks::{is_locked, release_locks, wait_for_lock};
pub(crate) use memory::{memory, read_at_random, will_read};
pub(crate) use wiped::WipedWord;

use crate::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Identifies an open file within the process.
pub(crate) type Descriptor = RawFd;

/// Whether the host tier runs on this machine.
pub(crate) fn check() -> Result<(), Error> {
    if cfg!(target_endian = "big") {
        return Err(Error::UnsupportedPlatform(
            "a cache in a directory needs a little-endian machine",
        ));
    }
    system::check()
}

pub(crate) fn descriptor(file: &File) -> Descriptor {
    file.as_raw_fd()
}

/// Sleeps while the lower half of a shared word is that of `value`, but not longer than `longest`; it may end before.
pub(crate) fn wait_on(word: &AtomicU64, value: u64, longest: Duration) {
    system::wait_on(word, value, longest);
}

/// Wakes one thread of any process that sleeps on a shared word.
pub(crate) fn wake(word: &AtomicU64) {
    system::wake(word);
}

/// Calls `f` with all signals of this thread blocked. A thread that `f` begins keeps them so: the program's
/// handlers run on its own threads, whose system calls they are to interrupt.
pub fn without_signals<T>(f: impl FnOnce() -> T) -> T {
    // SAFETY: sigset_t is plain data for which all zero bytes are valid.
    let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
    // SAFETY: both sets are valid for the calls.
    let blocked = unsafe {
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before)
    };
    let result = f();
    if blocked == 0 {
        // SAFETY: `before` was filled by the call above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    }
    result
}

/// The user id that this process runs as.
pub(crate) fn user() -> u32 {
    // SAFETY: geteuid takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// True when this process has the rights of a group.
pub(crate) fn is_in_group(group: u32) -> bool {
    // SAFETY: getegid takes nothing and cannot fail.
    if unsafe { libc::getegid() } == group {
        return true;
    }
    // SAFETY: without room the call only counts.
    let count = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
    let mut groups = vec![0; count.max(0) as usize];
    // SAFETY: there is room for as many groups as the call is told of.
    let got = unsafe { libc::getgroups(groups.len() as libc::c_int, groups.as_mut_ptr()) };
    groups.truncate(got.max(0) as usize);
    groups.contains(&group)
}

/// True when this process may not write: it lacks the rights, or the file system is mounted for reading only.
pub(crate) fn may_not_write(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EACCES | libc::EPERM | libc::EROFS)
    )
}

/// True when the disk, or this user's quota, is full.
pub(crate) fn no_room(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

/// True when this process may not write files that large.
pub(crate) fn too_large(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EFBIG)
}

/// True when the file system cannot give a file its space in advance.
pub(crate) fn no_allocation(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EOPNOTSUPP)
}

/// True when what should be a file or a directory is a symbolic link, or a file where a directory should be.
pub(crate) fn is_link(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR))
}

fn result_of(call: libc::c_int) -> io::Result<()> {
    if call == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
