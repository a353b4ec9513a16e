//! Locks of open file descriptions (fcntl(2)): they belong to an open file, not to a process, and the
//! kernel drops them when the last descriptor of that open file is closed. Linux and macOS have them.

use super::{result_of, Descriptor};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

// The constants have another type on macOS than on Linux.
pub(super) const EXCLUSIVE: libc::c_short = libc::F_WRLCK as libc::c_short;
pub(super) const SHARED: libc::c_short = libc::F_RDLCK as libc::c_short;
const NONE: libc::c_short = libc::F_UNLCK as libc::c_short;

/// True when another open file description holds a lock in the range. A failed query counts as held: no
/// block is recycled on a doubt.
pub(crate) fn is_locked(descriptor: Descriptor, byte: u64, len: u64) -> bool {
    let mut lock = description(EXCLUSIVE, byte, len);
    // SAFETY: `lock` is valid for the call; a bad descriptor only gives an error.
    let result = unsafe { libc::fcntl(descriptor, libc::F_OFD_GETLK, &mut lock) };
    result != 0 || lock.l_type != NONE
}

/// Takes the lock of one byte, of `kind` [`EXCLUSIVE`] or [`SHARED`]; false when another description holds a
/// conflicting one.
pub(super) fn take(file: &File, kind: libc::c_short, byte: u64) -> io::Result<bool> {
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
    let mut lock = description(NONE, byte, 1);
    // SAFETY: as for `take`.
    result_of(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &mut lock) })
}

/// Waits for the locks of some bytes, as their only holder.
pub(crate) fn wait_for_lock(descriptor: Descriptor, byte: u64, len: u64) -> io::Result<()> {
    loop {
        let mut lock = description(EXCLUSIVE, byte, len);
        // SAFETY: `lock` is valid for the call; a bad descriptor only gives an error.
        match result_of(unsafe { libc::fcntl(descriptor, libc::F_OFD_SETLKW, &mut lock) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Releases the locks of some bytes.
pub(crate) fn release_locks(descriptor: Descriptor, byte: u64, len: u64) {
    let mut lock = description(NONE, byte, len);
    // SAFETY: as for `wait_for_lock`. Nothing that could fail matters here: the locks end with the descriptor.
    unsafe { libc::fcntl(descriptor, libc::F_OFD_SETLK, &mut lock) };
}

pub(super) fn description(kind: libc::c_short, byte: u64, len: u64) -> libc::flock {
    // SAFETY: flock is plain data for which all zero bytes are valid.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = byte as libc::off_t;
    lock.l_len = len as libc::off_t;
    lock
}
