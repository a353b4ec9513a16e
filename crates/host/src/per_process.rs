//! A value that each process has for itself: a forked child begins with a new one.
//!
//! A child has the memory of its parent, but not its threads. A mutex that one of those had locked stays locked there for
//! ever. So what is behind mutexes, and may be in use in other threads while the program forks, belongs to one process.

use crate::platform;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// One value for each process, made when it is first asked for.
pub struct PerProcess<T> {
    /// With the generation of its process.
    current: AtomicPtr<(u64, T)>,
    owns: std::marker::PhantomData<(u64, T)>,
}

impl<T: Default + Send> PerProcess<T> {
    /// No value yet.
    #[must_use]
    pub const fn new() -> PerProcess<T> {
        PerProcess {
            current: AtomicPtr::new(ptr::null_mut()),
            owns: std::marker::PhantomData,
        }
    }

    /// That of this process.
    pub fn get(&self) -> &T {
        let before = self.current.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or comes from a box that is not freed before `self` is.
        if let Some((forks, value)) = unsafe { before.as_ref() } {
            if *forks == platform::forks() {
                return value;
            }
        }
        // Otherwise only a process that has opened a directory would.
        platform::notice_forks();
        // The parent's is leaked: its mutexes may be locked by threads that the child lacks.
        let mine = Box::into_raw(Box::new((platform::forks(), T::default())));
        match self
            .current
            .compare_exchange(before, mine, Ordering::AcqRel, Ordering::Acquire)
        {
            // SAFETY: it is not freed before `self` is.
            Ok(_) => unsafe { &(*mine).1 },
            Err(theirs) => {
                // SAFETY: the box was made above and never shared.
                drop(unsafe { Box::from_raw(mine) });
                // SAFETY: another thread of this process has just made it, and it is not freed before `self` is.
                unsafe { &(*theirs).1 }
            }
        }
    }
}

impl<T: Default + Send> Default for PerProcess<T> {
    fn default() -> Self {
        PerProcess::new()
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let current = *self.current.get_mut();
        // SAFETY: as in `get`.
        let is_own =
            unsafe { current.as_ref() }.is_some_and(|(forks, _)| *forks == platform::forks());
        if is_own {
            // SAFETY: it comes from a box, and nobody has a reference any more.
            drop(unsafe { Box::from_raw(current) });
        }
    }
}

impl<T> fmt::Debug for PerProcess<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerProcess").finish_non_exhaustive()
    }
}
