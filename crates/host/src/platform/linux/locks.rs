//! Locks of open file descriptions (fcntl(2)): they belong to an open file, not to a process, and the
//! kernel drops them when the last descriptor of that open file is closed.

use super::{result_of, Descriptor};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// True when another open file description holds a lock in the range. A failed query counts as held: no
/// block is recycled on a doubt.
pub(crate) fn is_locked(descriptor: Descriptor, byte: u64, len: u64) -> bool {
    let mut lock = description(libc::F_WRLCK, byte, len);
    // SAFETY: `lock` is valid for the call; a bad descriptor only gives an error.
    let result = unsafe { libc::fcntl(descriptor, libc::F_OFD_GETLK, &mut lock) };
    result != 0 || i32::from(lock.l_type) != libc::F_UNLCK
}

/// Takes the lock of one byte, of `kind` F_WRLCK or F_RDLCK; false when another description holds a
/// conflicting one.
pub(super) fn take(file: &File, kind: libc::c_int, byte: u64) -> io::Result<bool> {
    let mut lock = description(kind, byte, 1);
    // SAFETY: `file` keeps the descriptor open, and `lock` is valid for the call.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &mut lock) };
    match result_of(result) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Releases the lock of one byte.
pub(super) fn release(file: &File, byte: u64) -> io::Result<()> {
    let mut lock = description(libc::F_UNLCK, byte, 1);
    // SAFETY: as for `take`.
    result_of(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &mut lock) })
}

fn description(kind: libc::c_int, byte: u64, len: u64) -> libc::flock {
    // SAFETY: flock is plain data for which all zero bytes are valid.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = byte as libc::off_t;
    lock.l_len = len as libc::off_t;
    lock
}
