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
    let (function, data) = call.raw();
    protect(|| {
        // SAFETY: `data` is the call on this stack, which waits; `run` does not unwind.
        unsafe {
            rb_sys::rb_thread_call_without_gvl(Some(function), data, None, std::ptr::null_mut());
        }
        rb_sys::Qnil as rb_sys::VALUE
    })?;
    Ok(call.into_answer())
}

/// As [`without_gvl`], for work whose end no interrupt may hide, a lease that was acquired for example: interrupts are
/// looked at before it, and not after it.
///
/// # Errors
/// An interrupt that came before; then nothing was done.
pub(crate) fn without_gvl_unless_interrupted<R>(work: impl FnOnce() -> R) -> Result<R, Error> {
    let mut call = Call {
        work: Some(work),
        answer: None,
    };
    while !call.try_without_gvl() {
        // SAFETY: nothing is owned in there.
        protect(|| unsafe {
            rb_sys::rb_thread_check_ints();
            rb_sys::Qnil as rb_sys::VALUE
        })?;
    }
    Ok(call.into_answer())
}

/// As [`without_gvl`], for work that has to be done whatever comes. While an interrupt waits for the thread, Ruby does
/// not let it go without the lock: then it keeps that.
pub(crate) fn without_gvl_in_any_case<R>(work: impl FnOnce() -> R) -> R {
    let mut call = Call {
        work: Some(work),
        answer: None,
    };
    if !call.try_without_gvl() {
        call.run();
    }
    call.into_answer()
}

/// Runs `work`, which may use Ruby, with Ruby's global lock: for work within [`without_gvl`]. An object that it makes
/// has to be reachable for the garbage collector when it ends: afterwards other threads run.
pub(crate) fn with_gvl<R>(work: impl FnOnce() -> R) -> R {
    let mut call = Call {
        work: Some(work),
        answer: None,
    };
    let (function, data) = call.raw();
    // SAFETY: the thread is Ruby's and has let go of the lock; `data` is the call on this stack, which waits; `run`
    // does not unwind, and Ruby does not jump out of it, because all that raises is called in `protect`.
    unsafe {
        rb_sys::rb_thread_call_with_gvl(Some(function), data);
    }
    call.into_answer()
}

struct Call<W, R> {
    work: Option<W>,
    answer: Option<std::thread::Result<R>>,
}

impl<W: FnOnce() -> R, R> Call<W, R> {
    fn raw(
        &mut self,
    ) -> (
        unsafe extern "C" fn(*mut c_void) -> *mut c_void,
        *mut c_void,
    ) {
        (run::<W, R>, std::ptr::from_mut(self).cast())
    }

    /// False if an interrupt waits for the thread; then it did not run.
    fn try_without_gvl(&mut self) -> bool {
        let (function, data) = self.raw();
        // SAFETY: `data` is the call, which waits; `run` does not unwind; this form of the call does not raise.
        unsafe {
            rb_sys::rb_thread_call_without_gvl2(Some(function), data, None, std::ptr::null_mut());
        }
        self.answer.is_some()
    }

    fn run(&mut self) {
        if let Some(work) = self.work.take() {
            self.answer = Some(catch_unwind(AssertUnwindSafe(work)));
        }
    }

    fn into_answer(self) -> R {
        match self.answer {
            Some(Ok(answer)) => answer,
            Some(Err(panic)) => resume_unwind(panic),
            None => unreachable!("the call ran"),
        }
    }
}

/// # Safety
/// `data` points to a `Call<W, R>` that nothing else uses.
unsafe extern "C" fn run<W: FnOnce() -> R, R>(data: *mut c_void) -> *mut c_void {
    // SAFETY: as the caller promises.
    let call = unsafe { &mut *data.cast::<Call<W, R>>() };
    call.run();
    std::ptr::null_mut()
}
