//! Threads that end inside this library, when the interpreter does.
//!
//! A daemon thread that asks for the GIL of an interpreter that is shutting down is ended there, by
//! `pthread_exit` (CPython 3.14 and later let it wait for ever instead). With glibc that unwinds the thread's
//! stack. When the thread is in code of users that this library called (a listener, an `__eq__`, a
//! `__del__`, a clock), frames of Rust are on the stack: their destructors would release Python objects
//! without the GIL, and the first `extern "C"` function or caught panic on the way aborts the process.
//!
//! So the thread stops for ever at the first such frame, as CPython 3.14 does and as pyo3 does
//! where it takes the GIL itself. It holds no lock: code of users runs under none. The process ends with the
//! main thread, as it does while any daemon thread sleeps.
//!
//! How: the unwinder asks each frame's personality routine what to do. Rust's frames in this library find it by one
//! word, `DW.ref.rust_eh_personality`, which the compiler makes. There [`personality`] is put in front of Rust's own,
//! which still handles panics. No call of Python's API needs a guard of its own, so none can be forgotten.
//! `pthread_exit` of other systems does not unwind.

/// Makes threads that the interpreter ends stop in this library. Called when it is imported.
pub fn hold_ended_threads() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::install();
}

/// Runs `f`, which was called by the interpreter, attached to it. Unlike `Python::attach` it can be called
/// while the interpreter is shutting down, by finalizers for example.
#[inline(always)]
pub fn attached<R>(f: impl FnOnce(pyo3::Python<'_>) -> R) -> R {
    let mut f = Some(f);
    let done = pyo3::Python::try_attach(|py| f.take().map(|f| f(py)));
    match (done.flatten(), f) {
        (Some(result), _) => result,
        // SAFETY: the caller was called by the interpreter, in a thread that is attached.
        (None, Some(f)) => f(unsafe { pyo3::Python::assume_attached() }),
        (None, None) => unreachable!("what was called has given something"),
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::ffi::{c_int, c_void};
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, Ordering};
    use std::time::Duration;

    /// `_UA_FORCE_UNWIND` of the Itanium C++ ABI: the stack is unwound to its end, whatever objects.
    const FORCED: c_int = 8;

    /// `_Unwind_Personality_Fn`: version, actions, class of the exception, exception, context.
    type Personality = unsafe extern "C" fn(c_int, c_int, u64, *mut c_void, *mut c_void) -> c_int;

    extern "C" {
        /// The word by which the frames of this library find their personality routine.
        #[link_name = "DW.ref.rust_eh_personality"]
        static REFERENCE: AtomicPtr<c_void>;
    }

    /// What was there before.
    static RUSTS_OWN: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

    pub fn install() {
        let ours = personality as Personality as *mut c_void;
        // SAFETY: the word is in this library's writable data, aligned, and read by the unwinder alone.
        let word = unsafe { &REFERENCE };
        let before = word.load(Ordering::Acquire);
        if before != ours {
            // First, so that a look-up that finds ours finds Rust's own as well.
            RUSTS_OWN.store(before, Ordering::Release);
            word.store(ours, Ordering::Release);
        }
    }

    /// # Safety
    /// Called by the unwinder.
    unsafe extern "C" fn personality(
        version: c_int,
        actions: c_int,
        class: u64,
        exception: *mut c_void,
        context: *mut c_void,
    ) -> c_int {
        if actions & FORCED != 0 {
            loop {
                std::thread::sleep(Duration::MAX);
            }
        }
        // SAFETY: it was found where personality routines are found, before this one took its place.
        unsafe {
            let own = RUSTS_OWN.load(Ordering::Acquire);
            let own = std::mem::transmute::<*mut c_void, Personality>(own);
            own(version, actions, class, exception, context)
        }
    }
}
