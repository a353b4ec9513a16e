//! Answers to a thread of JavaScript that asked: it settles its promises. They come from other threads, or from fibers of
//! this one.
//!
//! A thread-safe function of napi-rs for each promise would open an event of libuv each time; here an environment has
//! one, and what came while it slept is settled in one go.

use crate::{error, remote, sockets, workers};
use napi::{check_status, sys, JsError, Result};
use polycache::bindings::remote::fibers;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a promise is settled with, made on its own thread.
pub(crate) type Answer = Box<dyn FnOnce(sys::napi_env) -> Result<sys::napi_value> + Send>;

/// A promise's end that settles it.
struct Deferred(sys::napi_deferred);

// SAFETY: other threads only hand it back to the one that made it.
unsafe impl Send for Deferred {}

/// What wakes the thread.
struct Wakes(sys::napi_threadsafe_function);

// SAFETY: it may be called on any thread as long as it is there, which the lock around it sees to.
unsafe impl Send for Wakes {}

#[derive(Default)]
struct Inside {
    /// `None` once the environment ends.
    wakes: Option<Wakes>,
    answers: Vec<(Deferred, Result<Answer>)>,
    /// Promises that are not settled yet: they keep the program alive.
    pending: usize,
}

struct Mailbox {
    env: sys::napi_env,
    inside: Mutex<Inside>,
}

// SAFETY: the environment is only used on its own thread.
unsafe impl Send for Mailbox {}
// SAFETY: as above; all else is behind the lock.
unsafe impl Sync for Mailbox {}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From any thread. Once the environment has ended nobody waits for it.
    fn post(&self, deferred: Deferred, answer: Result<Answer>) {
        let mut inside = self.lock();
        let is_first = inside.answers.is_empty();
        let Some(wakes) = &inside.wakes else { return };
        let wakes = wakes.0;
        inside.answers.push((deferred, answer));
        if is_first {
            // SAFETY: it is there while it is in the box, and the box is locked.
            unsafe {
                sys::napi_call_threadsafe_function(
                    wakes,
                    ptr::null_mut(),
                    sys::ThreadsafeFunctionCallMode::nonblocking,
                );
            }
        }
    }
}

thread_local! {
    /// Usually one: a test runner may have several contexts in a thread.
    static MAILBOXES: RefCell<Vec<Arc<Mailbox>>> = const { RefCell::new(Vec::new()) };
    /// Answers of fibers, which may not settle a promise: the engine minds on which stack it is called.
    static HERE: RefCell<Vec<OfFiber>> = const { RefCell::new(Vec::new()) };
}

type OfFiber = (Arc<Mailbox>, Deferred, Result<Answer>);

/// Begins a job, on a fiber or on another thread. The promise of its answer.
pub(crate) fn begin(
    env: sys::napi_env,
    on_fiber: bool,
    job: impl FnOnce() -> Result<Answer> + Send + 'static,
) -> Result<sys::napi_value> {
    let mailbox = mailbox(env)?;
    let mut deferred = ptr::null_mut();
    let mut promise = ptr::null_mut();
    // SAFETY: the environment is the one that the engine is in.
    let status = unsafe { sys::napi_create_promise(env, &mut deferred, &mut promise) };
    check_status!(status, "cannot make a promise")?;
    let deferred = Deferred(deferred);
    keep_alive(&mailbox, |pending| pending + 1);
    let job = move || {
        let answer = catch_unwind(AssertUnwindSafe(job));
        answer.unwrap_or_else(|_| Err(error::panicked()))
    };
    if on_fiber && fibers::has_room() {
        fibers::start(move || {
            let answer = job();
            HERE.with_borrow_mut(|here| here.push((mailbox, deferred, answer)));
        });
        settle_here();
        sockets::wake(env);
    } else {
        workers::run(move || mailbox.post(deferred, job()));
    }
    Ok(promise)
}

/// Changes the number of promises that are not settled.
fn keep_alive(mailbox: &Mailbox, change: impl FnOnce(usize) -> usize) {
    let mut inside = mailbox.lock();
    let before = inside.pending;
    inside.pending = change(before);
    let Some(Wakes(wakes)) = inside.wakes else {
        return;
    };
    // SAFETY: both are called on the environment's own thread.
    unsafe {
        match (before, inside.pending) {
            (0, 0) => {}
            (0, _) => drop(sys::napi_ref_threadsafe_function(mailbox.env, wakes)),
            (_, 0) => drop(sys::napi_unref_threadsafe_function(mailbox.env, wakes)),
            _ => {}
        }
    }
}

fn mailbox(env: sys::napi_env) -> Result<Arc<Mailbox>> {
    let known = MAILBOXES.with_borrow(|all| all.iter().find(|one| one.env == env).cloned());
    match known {
        Some(mailbox) => Ok(mailbox),
        None => make(env),
    }
}

#[cold]
fn make(env: sys::napi_env) -> Result<Arc<Mailbox>> {
    let mailbox = Arc::new(Mailbox {
        env,
        inside: Mutex::default(),
    });
    // One for the callback, which may come once more while the environment ends, so it is never given back.
    let context = Arc::into_raw(mailbox.clone()).cast_mut().cast::<c_void>();
    let name = "polycache";
    let mut wakes = ptr::null_mut();
    // SAFETY: the environment is the one that the engine is in. The cleanup hook is added after the function, so it
    // is run before the engine's own one that ends the function.
    unsafe {
        let mut text = ptr::null_mut();
        let length = name.len() as isize;
        let status = sys::napi_create_string_utf8(env, name.as_ptr().cast(), length, &mut text);
        check_status!(status, "cannot make a text")?;
        let status = sys::napi_create_threadsafe_function(
            env,
            ptr::null_mut(),
            ptr::null_mut(),
            text,
            0,
            1,
            ptr::null_mut(),
            None,
            context,
            Some(deliver),
            &mut wakes,
        );
        check_status!(status, "cannot make a thread-safe function")?;
        sys::napi_unref_threadsafe_function(env, wakes);
        sys::napi_add_env_cleanup_hook(env, Some(end), context);
    }
    mailbox.lock().wakes = Some(Wakes(wakes));
    MAILBOXES.with_borrow_mut(|all| all.push(mailbox.clone()));
    Ok(mailbox)
}

/// The environment ends: a worker thread was ended, or the program.
unsafe extern "C" fn end(context: *mut c_void) {
    // SAFETY: `make` gave one away for good.
    let mailbox = unsafe { &*context.cast_const().cast::<Mailbox>() };
    let mut inside = mailbox.lock();
    inside.answers.clear();
    if let Some(Wakes(wakes)) = inside.wakes.take() {
        // SAFETY: it is there, and nobody calls it from now on.
        unsafe {
            sys::napi_release_threadsafe_function(wakes, sys::ThreadsafeFunctionReleaseMode::abort);
        }
    }
    drop(inside);
    sockets::end(mailbox.env);
    remote::end_all();
    let _ = MAILBOXES.try_with(|all| all.borrow_mut().retain(|one| one.env != mailbox.env));
}

/// Settles what came, on the environment's thread.
unsafe extern "C" fn deliver(
    env: sys::napi_env,
    _: sys::napi_value,
    context: *mut c_void,
    _: *mut c_void,
) {
    if env.is_null() {
        return;
    }
    // SAFETY: `make` gave one away for good.
    let mailbox = unsafe { &*context.cast_const().cast::<Mailbox>() };
    let answers = std::mem::take(&mut mailbox.lock().answers);
    keep_alive(mailbox, |pending| pending.saturating_sub(answers.len()));
    for (deferred, answer) in answers {
        settle(env, deferred, answer);
    }
}

fn settle(env: sys::napi_env, Deferred(deferred): Deferred, answer: Result<Answer>) {
    let made = answer.and_then(|answer| answer(env));
    // SAFETY: each is settled once, in its own environment, on its thread.
    unsafe {
        match made {
            Ok(value) => sys::napi_resolve_deferred(env, deferred, value),
            Err(failure) => {
                sys::napi_reject_deferred(env, deferred, JsError::from(failure).into_value(env))
            }
        };
    }
}

/// Settles what fibers of this thread answered. Outside of fibers.
pub(crate) fn settle_here() {
    for (mailbox, deferred, answer) in HERE.take() {
        // Else its environment has ended.
        if mailbox.lock().wakes.is_some() {
            keep_alive(&mailbox, |pending| pending.saturating_sub(1));
            settle(mailbox.env, deferred, answer);
        }
    }
}

pub(crate) fn array_buffer(env: sys::napi_env, bytes: &[u8]) -> Result<sys::napi_value> {
    let (mut data, mut value) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the environment is the one that the engine is in; the new buffer has room for all of the bytes.
    unsafe {
        let status = sys::napi_create_arraybuffer(env, bytes.len(), &mut data, &mut value);
        check_status!(status, "cannot make an ArrayBuffer")?;
        if !bytes.is_empty() {
            ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len());
        }
    }
    Ok(value)
}
