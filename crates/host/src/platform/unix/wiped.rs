//! Words that are 0 again in every forked child, whatever made it: the kernel empties their pages there
//! (`MADV_WIPEONFORK`). Where it cannot (macOS, Linux before 4.14), a handler of fork(3) does.

use super::{fork, system};
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
    /// Whether the kernel empties it in children.
    is_wiped: bool,
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
            let (words, is_wiped) = map();
            if !is_wiped {
                fork::set_up_once();
            }
            let more = Box::into_raw(Box::new(Page {
                words,
                is_wiped,
                taken: [const { AtomicBool::new(false) }; WORDS],
                next: first,
            }));
            // When another thread added a page meanwhile, this one stays unused: that is rare.
            let _ = PAGES.compare_exchange(first, more, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}

/// Empties, in a child, what the kernel did not. Only loads and stores: the caller is a handler of fork(3).
pub(super) fn wipe() {
    let mut page = PAGES.load(Ordering::Acquire);
    // SAFETY: the pointer is null, or comes from a box that is never freed.
    while let Some(here) = unsafe { page.as_ref() } {
        here.wipe();
        page = here.next;
    }
}

impl Page {
    fn take(&'static self) -> Option<WipedWord> {
        let free = |taken: &&AtomicBool| !taken.swap(true, Ordering::AcqRel);
        let place = self.taken.iter().position(|taken| free(&taken))?;
        let word = self.word(place);
        word.store(0, Ordering::Relaxed);
        Some(WipedWord {
            word,
            taken: &self.taken[place],
        })
    }

    fn wipe(&'static self) {
        if !self.is_wiped {
            (0..WORDS).for_each(|place| self.word(place).store(0, Ordering::Relaxed));
        }
    }

    fn word(&'static self, place: usize) -> &'static AtomicU64 {
        // SAFETY: the page is aligned, was filled with zeros, is never unmapped, and has as many words.
        unsafe { &*self.words.add(place * LINE / size_of::<AtomicU64>()) }
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

/// A page of zeros, and whether the kernel empties it in children.
fn map() -> (*mut AtomicU64, bool) {
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
        return (page.cast(), system::wipe_on_fork(page, PAGE));
    }
    let Ok(layout) = Layout::from_size_align(PAGE, PAGE) else {
        unreachable!("a page is a power of two");
    };
    // SAFETY: the layout has a size.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    (memory.cast(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_empties_only_what_the_kernel_did_not() {
        for is_wiped in [true, false] {
            let page = Box::leak(Box::new(Page {
                words: map().0,
                is_wiped,
                taken: [const { AtomicBool::new(false) }; WORDS],
                next: ptr::null_mut(),
            }));
            page.word(1).store(7, Ordering::Relaxed);
            page.wipe();
            // Where the kernel empties them, a thread of the child may have written to them by now.
            let left = if is_wiped { 7 } else { 0 };
            assert_eq!(page.word(1).load(Ordering::Relaxed), left);
        }
    }
}
