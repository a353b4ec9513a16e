//! What Linux has of its own.

pub(super) use super::pages::make_dirty;
use super::result_of;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Clocks that are at most a few milliseconds behind: reading them needs no system call.
pub(super) const TIME_OF_DAY: libc::clockid_t = libc::CLOCK_REALTIME_COARSE;
pub(super) const SINCE_BOOT: libc::clockid_t = libc::CLOCK_MONOTONIC_COARSE;

/// Opens a directory only to pass through it.
pub(super) const TO_PASS_THROUGH: libc::c_int = libc::O_DIRECTORY | libc::O_PATH;

/// Whether the host tier runs on this system.
pub(super) fn check() -> Result<(), crate::Error> {
    Ok(())
}

/// Where this thread's last error is.
pub(super) fn errno() -> *mut libc::c_int {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::__errno_location() }
}

/// Makes a page one that is empty in every child; false where the kernel cannot (before 4.14).
pub(super) fn wipe_on_fork(page: *mut libc::c_void, len: usize) -> bool {
    // SAFETY: the caller mapped the page; the advice changes nothing in this process.
    unsafe { libc::madvise(page, len, libc::MADV_WIPEONFORK) == 0 }
}

/// The type of an open file's file system: `f_type` of statfs(2).
pub(super) fn filesystem(file: &File) -> io::Result<u32> {
    // SAFETY: statfs is plain data for which all zero bytes are valid.
    let mut answer: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: `file` keeps the descriptor open, and `answer` is a valid buffer for the call.
    result_of(unsafe { libc::fstatfs(file.as_raw_fd(), &mut answer) })?;
    Ok(answer.f_type as u32)
}

pub(super) fn allocate(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let (offset, len) = (offset as libc::off_t, len as libc::off_t);
    loop {
        // SAFETY: the arguments are plain integers, and `file` keeps the descriptor open.
        match result_of(unsafe { libc::fallocate(file.as_raw_fd(), 0, offset, len) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

pub(super) fn write_back(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let and_wait = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    match sync_range(file, offset, len, and_wait) {
        // A sandbox without this call. What makes the pages durable writes them as well.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => Ok(()),
        done => done,
    }
}

pub(super) fn begin_sync(file: &File, offset: u64, len: u64) -> io::Result<()> {
    sync_range(file, offset, len, libc::SYNC_FILE_RANGE_WRITE)
}

fn sync_range(file: &File, offset: u64, len: u64, flags: libc::c_uint) -> io::Result<()> {
    let (offset, len) = (offset as libc::off64_t, len as libc::off64_t);
    // SAFETY: `file` keeps the descriptor open.
    result_of(unsafe { libc::sync_file_range(file.as_raw_fd(), offset, len, flags) })
}

/// Sleeps while the lower half of a shared word is that of `value`, but not longer than `longest`; it may end before.
pub(super) fn wait_on(word: &AtomicU64, value: u64, longest: Duration) {
    let longest = libc::timespec {
        tv_sec: longest.as_secs() as libc::time_t,
        tv_nsec: longest.subsec_nanos() as libc::c_long,
    };
    // SAFETY: the lower half of the word is its first four bytes, because `check` admits no other machines; the time is
    // valid for the call. Whatever it answers, the caller looks at the word.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            value as u32,
            &longest,
        )
    };
}

/// Wakes one thread of any process that sleeps on a shared word.
pub(super) fn wake(word: &AtomicU64) {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// The digits of the UUID that the kernel made at boot.
pub(super) fn boot_id() -> io::Result<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
}
