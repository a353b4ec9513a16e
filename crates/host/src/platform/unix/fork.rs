//! Forks: a child shares the mapping but not the parent's liveness, blocks or mutexes.
//!
//! A page that the kernel empties in every child (MADV_WIPEONFORK) holds the number of this process'
//! generation. So a child knows itself whatever made it: fork(3), `_Fork`, or the bare system call, which
//! run no handlers. When it finds the page empty it closes the inherited lock descriptors, so that a parent's
//! lock is dropped when the parent dies, and begins a generation; a handle of an earlier one joins anew. In a
//! child of fork(3) a handler does this at once, and without such pages (macOS, Linux before 4.14) it is the only
//! sign.

use super::{system, wiped, Descriptor};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering};

/// In the page: the kernel emptied it, so this is a child that has not looked yet.
const WIPED: u64 = 0;
/// In the page: a thread of this child is closing the inherited descriptors.
const BEGINNING: u64 = 1;
/// The generation of the process that loaded the library.
const FIRST: u64 = 2;

/// Where the generation is: in the page, or here until there is one.
static CELL: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::addr_of!(WITHOUT_PAGE).cast_mut());
static WITHOUT_PAGE: AtomicU64 = AtomicU64::new(FIRST);
/// The last generation, in memory that a child inherits.
static LAST: AtomicU64 = AtomicU64::new(FIRST);
/// Forks by fork(3) that this process has begun and ended.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);
/// `NOT_SET_UP`, `SET_UP`, or the process whose thread is doing it. Not a `Once`: a child whose parent was at it
/// would wait for ever.
static STATE: AtomicI32 = AtomicI32::new(NOT_SET_UP);
const NOT_SET_UP: i32 = 0;
const SET_UP: i32 = -1;

/// Descriptors to close in a child, in as many chunks as are needed. Chunks are never freed.
struct Chunk {
    descriptors: [AtomicI32; CHUNK],
    next: AtomicPtr<Chunk>,
}

const CHUNK: usize = 256;
const NONE: Descriptor = -1;
static LOCKS: Chunk = Chunk::new();

impl Chunk {
    const fn new() -> Chunk {
        Chunk {
            descriptors: [const { AtomicI32::new(NONE) }; CHUNK],
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn next(&self) -> Option<&'static Chunk> {
        // SAFETY: the pointer is null, or comes from a box that is never freed.
        unsafe { self.next.load(Ordering::Acquire).as_ref() }
    }
}

fn chunks() -> impl Iterator<Item = &'static Chunk> {
    std::iter::successors(Some(&LOCKS), |chunk| chunk.next())
}

/// Changes the first place that holds `from`; false when none does.
fn change(from: Descriptor, to: Descriptor) -> bool {
    chunks().any(|chunk| {
        chunk.descriptors.iter().any(|place| {
            place
                .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
        })
    })
}

extern "C" fn before() {
    BEGUN.fetch_add(1, Ordering::SeqCst);
}

extern "C" fn in_parent() {
    ENDED.fetch_add(1, Ordering::SeqCst);
}

/// Makes only async-signal-safe calls.
extern "C" fn in_child() {
    ENDED.store(BEGUN.load(Ordering::SeqCst), Ordering::SeqCst);
    cell().store(WIPED, Ordering::SeqCst);
    wiped::wipe();
    begin();
}

#[inline(always)]
fn cell() -> &'static AtomicU64 {
    // SAFETY: the pointer is to a static, or to a page that is never unmapped.
    unsafe { &*CELL.load(Ordering::Relaxed) }
}

/// Begins a generation in a child, and returns its number. Of several threads one does it, and the others wait:
/// what they register from then on must stay open.
#[cold]
fn begin() -> u64 {
    loop {
        match cell().compare_exchange(WIPED, BEGINNING, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => break,
            Err(BEGINNING) => std::hint::spin_loop(),
            Err(begun) => return begun,
        }
    }
    for place in chunks().flat_map(|chunk| &chunk.descriptors) {
        let descriptor = place.swap(NONE, Ordering::SeqCst);
        if descriptor != NONE {
            // SAFETY: close(2) is async-signal-safe. The owner registered the descriptor and takes it
            // back before it closes it, so it is still open, and the child never uses the owner's state
            // again (it joins anew).
            unsafe { libc::close(descriptor) };
        }
    }
    let generation = LAST.fetch_add(1, Ordering::SeqCst) + 1;
    cell().store(generation, Ordering::SeqCst);
    generation
}

/// The generation of this process: another number than that of the process it was forked from.
#[inline(always)]
pub(crate) fn forks() -> u64 {
    match cell().load(Ordering::Relaxed) {
        WIPED | BEGINNING => begin(),
        generation => generation,
    }
}

/// Opens a file that every forked child closes: nothing that is locked by it stays locked in a child.
pub(crate) fn open_for_this_process<O: FnMut() -> io::Result<File>>(
    mut open: O,
) -> io::Result<File> {
    set_up_once();
    loop {
        let ended = ENDED.load(Ordering::SeqCst);
        if BEGUN.load(Ordering::SeqCst) != ended {
            std::thread::yield_now();
            continue;
        }
        let file = open()?;
        register(file.as_raw_fd());
        if BEGUN.load(Ordering::SeqCst) == ended {
            return Ok(file);
        }
        // A child may have inherited it before it was registered. It is not locked yet: another one is.
        keep_in_child(file.as_raw_fd());
    }
}

fn register(descriptor: Descriptor) {
    while !change(NONE, descriptor) {
        let more = Box::into_raw(Box::new(Chunk::new()));
        let mut last = &LOCKS;
        while let Err(next) =
            last.next
                .compare_exchange(ptr::null_mut(), more, Ordering::AcqRel, Ordering::Acquire)
        {
            // SAFETY: the pointer is not null, and comes from a box that is never freed.
            last = unsafe { &*next };
        }
    }
}

/// Children no longer close this descriptor: its owner is about to.
pub(crate) fn keep_in_child(descriptor: Descriptor) {
    change(descriptor, NONE);
}

pub(crate) fn set_up_once() {
    // SAFETY: getpid takes nothing and cannot fail.
    let me = unsafe { libc::getpid() };
    loop {
        let state = STATE.load(Ordering::SeqCst);
        if state == SET_UP {
            return;
        }
        if state == me {
            std::thread::yield_now();
            continue;
        }
        // What a parent left half done is done again: handlers may run twice.
        let won = STATE.compare_exchange(state, me, Ordering::SeqCst, Ordering::SeqCst);
        if won.is_ok() {
            set_up();
            STATE.store(SET_UP, Ordering::SeqCst);
            return;
        }
    }
}

fn set_up() {
    // SAFETY: the handlers are plain functions, valid for the life of the program.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    const PAGE: usize = 4096;
    // SAFETY: a new mapping touches no other memory.
    let page = unsafe {
        libc::mmap(
            ptr::null_mut(),
            PAGE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return;
    }
    if !system::wipe_on_fork(page, PAGE) {
        // SAFETY: as above, and nothing points to it.
        unsafe { libc::munmap(page, PAGE) };
        return;
    }
    let generation: *mut AtomicU64 = page.cast();
    // SAFETY: the page is aligned, filled with zeros, and never unmapped.
    unsafe { (*generation).store(LAST.load(Ordering::SeqCst), Ordering::SeqCst) };
    CELL.store(generation, Ordering::SeqCst);
}
