//! Slow calls during which other Ruby threads run.

use magnus::{rb_sys::protect, Error};
use std::ffi::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// Runs `work`, which must not touch Ruby, without Ruby's global lock. A thread that is killed
/// meanwhile ends after it.
///
/// # Errors
/// What Ruby raises on the way, an interrupt for example.
pub(crate) fn without_gvl<R>(work: impl FnOnce() -> R) -> Result<R, Error> {
    let mut call = Call {
        work: Some(work),
        answer: None,
    };
    let data = std::ptr::from_mut(&mut call).cast::<c_void>();
    fn run_of<W: FnOnce() -> R, R>(
        _: &Call<W, R>,
    ) -> unsafe extern "C" fn(*mut c_void) -> *mut c_void {
        run::<W, R>
    }
    let function = run_of(&call);
    protect(|| {
        // SAFETY: `data` is the call on this stack, which waits; `run` does not unwind.
        unsafe {
            rb_sys::rb_thread_call_without_gvl(Some(function), data, None, std::ptr::null_mut());
        }
        rb_sys::Qnil as rb_sys::VALUE
    })?;
    match call.answer {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(panic)) => resume_unwind(panic),
        None => unreachable!("Ruby ran the call or raised"),
    }
}

struct Call<W, R> {
    work: Option<W>,
    answer: Option<std::thread::Result<R>>,
}

/// # Safety
/// `data` points to a `Call<W, R>` that nothing else uses.
unsafe extern "C" fn run<W: FnOnce() -> R, R>(data: *mut c_void) -> *mut c_void {
    // SAFETY: as the caller promises.
    let call = unsafe { &mut *data.cast::<Call<W, R>>() };
    if let Some(work) = call.work.take() {
        call.answer = Some(catch_unwind(AssertUnwindSafe(work)));
    }
    std::ptr::null_mut()
}
