//! What macOS has of its own. This module is type-checked and was never run: [`check`] refuses to open a directory
//! unless the user asks for it.
//!
//! What it cannot promise, whoever runs it: msync(2) leaves pages in the disk's own cache, so a power loss may take
//! back a flush that is complete (`spec/host.md`, P1); and APFS copies what a snapshot holds, so a store may want
//! space that nothing has set aside.

use super::result_of;
use memmap2::{MmapOptions, MmapRaw};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

/// Both are read without a system call.
pub(super) const TIME_OF_DAY: libc::clockid_t = libc::CLOCK_REALTIME;
pub(super) const SINCE_BOOT: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW_APPROX;

/// Opens a directory only to pass through it.
pub(super) const TO_PASS_THROUGH: libc::c_int = libc::O_SEARCH;

/// Set to 1, it allows to open a directory.
const OPT_IN: &str = "POLYCACHE_UNTESTED_MACOS";

/// Whether the host tier runs on this system.
pub(super) fn check() -> Result<(), crate::Error> {
    if std::env::var_os(OPT_IN).is_some_and(|value| value == "1") {
        return Ok(());
    }
    Err(crate::Error::UnsupportedPlatform(
        "a cache in a directory was never run on macOS; to try it, set POLYCACHE_UNTESTED_MACOS=1",
    ))
}

/// Sleeps for a moment: the system's calls for words that processes share are not public before macOS 14.4.
pub(super) fn wait_on(_: &AtomicU64, _: u64, longest: Duration) {
    std::thread::sleep(longest.min(Duration::from_micros(200)));
}

/// Those who sleep look by themselves.
pub(super) fn wake(_: &AtomicU64) {}

/// Where this thread's last error is.
pub(super) fn errno() -> *mut libc::c_int {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::__error() }
}

/// There are no pages that the kernel empties in a child. A child that is made without fork(3), whose handlers do it,
/// has to be made by a system call that macOS calls private.
pub(super) fn wipe_on_fork(_: *mut libc::c_void, _: usize) -> bool {
    false
}

/// A number for the file systems that every Mac has on its own disks: numbers of their types differ from one release
/// to the next, names do not.
pub(super) fn filesystem(file: &File) -> io::Result<u32> {
    // SAFETY: statfs is plain data for which all zero bytes are valid.
    let mut answer: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: `file` keeps the descriptor open, and `answer` is a valid buffer for the call.
    result_of(unsafe { libc::fstatfs(file.as_raw_fd(), &mut answer) })?;
    let letters = answer.f_fstypename.iter().map(|letter| *letter as u8);
    let name: Vec<u8> = letters.take_while(|letter| *letter != 0).collect();
    Ok(match name.as_slice() {
        b"apfs" => u32::from_be_bytes(*b"apfs"),
        b"hfs" => u32::from_be_bytes(*b"hfs+"),
        _ => 0,
    })
}

/// Gives a range its space, and leaves what is in it. F_PREALLOCATE cannot: it begins at the end of a file, and the
/// files of a cache have holes. So each page is written to without a change, which is safe beside other processes
/// and threads, and msync(2) says whether the disk took all of them.
pub(super) fn allocate(file: &File, offset: u64, len: u64) -> io::Result<()> {
    extend(file, offset + len)?;
    let page = super::files::page();
    let before = offset % page as u64;
    let length = (before + len) as usize;
    let mapping = MmapOptions::new()
        .offset(offset - before)
        .len(length)
        .map_raw(file)?;
    for at in (0..length).step_by(page) {
        word(&mapping, at).fetch_or(0, Ordering::SeqCst);
    }
    mapping.flush()
}

fn word(mapping: &MmapRaw, at: usize) -> &AtomicU64 {
    // SAFETY: `at` is the beginning of a page of the mapping, so the word lies in it and is aligned. All other
    // accesses to it, by whatever process, are atomic.
    unsafe { &*mapping.as_mut_ptr().add(at).cast() }
}

/// Makes a file as long as this, never shorter: it is looked at and lengthened by one thread of the machine at a time.
fn extend(file: &File, end: u64) -> io::Result<()> {
    let _others = OneThread::wait();
    set_lock(file, super::locks::EXCLUSIVE)?;
    let longer = file.metadata().and_then(|found| {
        if found.len() < end {
            file.set_len(end)
        } else {
            Ok(())
        }
    });
    set_lock(file, libc::F_UNLCK)?;
    longer
}

/// Locks the first byte of a file that nothing else locks, and waits for it; or releases it.
fn set_lock(file: &File, kind: libc::c_short) -> io::Result<()> {
    loop {
        let mut lock = super::locks::description(kind, 0, 1);
        // SAFETY: `file` keeps the descriptor open, and `lock` is valid for the call.
        let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLKW, &mut lock) };
        match result_of(done) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// This thread, as the only one of the process. Not a `Mutex`: a child whose parent held it would wait for ever, and
/// here it sees that the holder is another process.
struct OneThread;

static HOLDER: AtomicI32 = AtomicI32::new(0);

impl OneThread {
    fn wait() -> OneThread {
        // SAFETY: getpid takes nothing and cannot fail.
        let me = unsafe { libc::getpid() };
        loop {
            let holder = HOLDER.load(Ordering::SeqCst);
            let free = holder != me
                && HOLDER
                    .compare_exchange(holder, me, Ordering::SeqCst, Ordering::SeqCst)
                    .is_ok();
            if free {
                return OneThread;
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for OneThread {
    fn drop(&mut self) {
        HOLDER.store(0, Ordering::SeqCst);
    }
}

/// The kernel writes what has changed by itself, and [`crate::io::Io::sync`] all of it.
pub(super) fn write_back(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}

/// As [`write_back`].
pub(super) fn begin_sync(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}

/// There is no call that marks pages as changed, so a flush after one that failed fails, too (`spec/host.md`, "A disk
/// that refuses a page").
pub(super) fn make_dirty(_: &MmapRaw, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The digits of the UUID that the kernel made at boot.
pub(super) fn boot_id() -> io::Result<String> {
    let mut text = [0_u8; 64];
    let mut len = text.len();
    // SAFETY: the name ends with a zero byte, and `text` has room for `len` bytes.
    result_of(unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            text.as_mut_ptr().cast(),
            &mut len,
            std::ptr::null_mut(),
            0,
        )
    })?;
    Ok(String::from_utf8_lossy(&text[..len.min(text.len())]).into_owned())
}
