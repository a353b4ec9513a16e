//! Words that are 0 again in every forked child, whatever made it: the kernel empties their pages there
//! (`MADV_WIPEONFORK`). Where it cannot (Linux before 4.14), a child inherits them.

use std::alloc::{alloc_zeroed, handle_alloc_error, Layout};
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

const PAGE: usize = 4096;
/// Each word has a cache line to itself: threads of different handles write to them.
const LINE: usize = 64;
const WORDS: usize = PAGE / LINE;

/// A page of words. Pages are never freed.
struct Page {
    words: *mut AtomicU64,
    /// Not wiped, and without a lock: a child may use them at once, whatever its parent's threads were doing.
    taken: [AtomicBool; WORDS],
    next: *mut Page,
}

static PAGES: AtomicPtr<Page> = AtomicPtr::new(ptr::null_mut());

/// A word that is given back when it is dropped.
pub(crate) struct WipedWord {
    word: &'static AtomicU64,
    taken: &'static AtomicBool,
}

impl WipedWord {
    /// A word that is 0.
    pub fn new() -> WipedWord {
        loop {
            let first = PAGES.load(Ordering::Acquire);
            let mut page = first;
            // SAFETY: the pointer is null, or comes from a box that is never freed.
            while let Some(here) = unsafe { page.as_ref() } {
                if let Some(word) = here.take() {
                    return word;
                }
                page = here.next;
            }
            let more = Box::into_raw(Box::new(Page {
                words: map(),
                taken: [const { AtomicBool::new(false) }; WORDS],
                next: first,
            }));
            // When another thread added a page meanwhile, this one stays unused: that is rare.
            let _ = PAGES.compare_exchange(first, more, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}

impl Page {
    fn take(&'static self) -> Option<WipedWord> {
        let free = |taken: &&AtomicBool| !taken.swap(true, Ordering::AcqRel);
        let place = self.taken.iter().position(|taken| free(&taken))?;
        // SAFETY: the page is aligned, filled with zeros, never unmapped, and has as many words.
        let word = unsafe { &*self.words.add(place * LINE / size_of::<AtomicU64>()) };
        word.store(0, Ordering::Relaxed);
        Some(WipedWord {
            word,
            taken: &self.taken[place],
        })
    }
}

impl Deref for WipedWord {
    type Target = AtomicU64;

    #[inline(always)]
    fn deref(&self) -> &AtomicU64 {
        self.word
    }
}

impl Drop for WipedWord {
    fn drop(&mut self) {
        self.taken.store(false, Ordering::Release);
    }
}

/// A page of zeros that the kernel empties in children; ordinary memory where it cannot.
fn map() -> *mut AtomicU64 {
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
    if page != libc::MAP_FAILED {
        // A kernel that does not know the advice leaves the page as it is. SAFETY: the page was mapped above.
        unsafe { libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) };
        return page.cast();
    }
    let Ok(layout) = Layout::from_size_align(PAGE, PAGE) else {
        unreachable!("a page is a power of two");
    };
    // SAFETY: the layout has a size.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    memory.cast()
}
