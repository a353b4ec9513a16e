//! Answers to a thread of JavaScript that asked. They come from other threads, or from fibers of this one.
//!
//! JavaScript keeps the promises, by tickets, and is told in one call of all that was answered (`src/remote/sockets.ts`): a
//! promise of Node-API's for each call, and an ArrayBuffer for each answer, took longer than the calls themselves. An
//! environment has one thread-safe function: one for each promise would open an event of libuv each time.

use crate::call::Call;
use crate::slab::Slab;
use crate::{error, remote, sockets, workers};
use napi::{check_status, sys, Result};
use polycache::bindings::remote::fibers;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a promise is settled with.
pub(crate) enum Answer {
    /// `undefined`.
    Nothing,
    Boolean(bool),
    Number(f64),
    /// An ArrayBuffer, or what JavaScript makes of the bytes while it is told of them.
    Bytes(Vec<u8>),
    /// Made on its own thread.
    Made(Box<dyn FnOnce(sys::napi_env) -> Result<sys::napi_value> + Send>),
}

/// What wakes the thread.
struct Wakes(sys::napi_threadsafe_function);

// SAFETY: it may be called on any thread as long as it is there, which the lock around it sees to.
unsafe impl Send for Wakes {}

#[derive(Default)]
struct Inside {
    /// `None` once the environment ends.
    wakes: Option<Wakes>,
    answers: Vec<(u32, Result<Answer>)>,
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
    fn post(&self, ticket: u32, answer: Result<Answer>) {
        let mut inside = self.lock();
        let is_first = inside.answers.is_empty();
        let Some(wakes) = &inside.wakes else { return };
        let wakes = wakes.0;
        inside.answers.push((ticket, answer));
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

/// A ticket, in the order of the answers.
struct Settled {
    mailbox: Arc<Mailbox>,
    ticket: u32,
    answer: Result<Answer>,
}

/// What became of a ticket that JavaScript has.
enum Ticket {
    Open,
    /// Told of as one that it must ask for.
    Answered(Result<Answer>),
}

thread_local! {
    /// Usually one: a test runner may have several contexts in a thread.
    static MAILBOXES: RefCell<Vec<Arc<Mailbox>>> = const { RefCell::new(Vec::new()) };
    static TICKETS: RefCell<Slab<Ticket>> = const { RefCell::new(Slab::new()) };
    /// What was answered, and was not told yet.
    static HERE: RefCell<VecDeque<Settled>> = const { RefCell::new(VecDeque::new()) };
}

/// Begins a job, on a fiber or on another thread. Its ticket; JavaScript asks for answers once the running code is through,
/// since the job may be over already.
pub(crate) fn begin(
    env: sys::napi_env,
    on_fiber: bool,
    job: impl FnOnce() -> Result<Answer> + Send + 'static,
) -> Result<u32> {
    let mailbox = mailbox(env)?;
    let ticket = TICKETS.with_borrow_mut(|all| all.add(Ticket::Open));
    keep_alive(&mailbox, |pending| pending + 1);
    let job = move || {
        let answer = catch_unwind(AssertUnwindSafe(job));
        answer.unwrap_or_else(|_| Err(error::panicked()))
    };
    if on_fiber && fibers::has_room() {
        fibers::start(move || {
            let answer = job();
            HERE.with_borrow_mut(|here| {
                here.push_back(Settled {
                    mailbox,
                    ticket,
                    answer,
                });
            });
        });
    } else {
        workers::run(move || mailbox.post(ticket, job()));
    }
    Ok(ticket)
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
    let _ = HERE.try_with(|here| {
        here.borrow_mut()
            .retain(|one| one.mailbox.env != mailbox.env)
    });
    let _ = MAILBOXES.try_with(|all| all.borrow_mut().retain(|one| one.env != mailbox.env));
}

/// Other threads answered.
unsafe extern "C" fn deliver(
    env: sys::napi_env,
    _: sys::napi_value,
    context: *mut c_void,
    _: *mut c_void,
) {
    if env.is_null() {
        return;
    }
    // SAFETY: `make` gave one away for good. That one stays.
    let mailbox = unsafe {
        let mailbox = context.cast_const().cast::<Mailbox>();
        Arc::increment_strong_count(mailbox);
        Arc::from_raw(mailbox)
    };
    let answers = std::mem::take(&mut mailbox.lock().answers);
    HERE.with_borrow_mut(|here| {
        here.extend(answers.into_iter().map(|(ticket, answer)| Settled {
            mailbox: mailbox.clone(),
            ticket,
            answer,
        }));
    });
    sockets::wake(env);
}

/// How many answers were not told yet.
pub(crate) fn untold() -> usize {
    HERE.with_borrow(VecDeque::len)
}

/// How JavaScript is told of an answer, beside the number, or the length of the bytes.
mod told {
    pub const NOTHING: f64 = 0.0;
    pub const FALSE: f64 = 1.0;
    pub const TRUE: f64 = 2.0;
    pub const NUMBER: f64 = 3.0;
    pub const BYTES: f64 = 4.0;
    /// It is asked for by [`take`].
    pub const OTHER: f64 = 5.0;
}

/// Numbers for each answer: ticket, kind, value.
const EACH: usize = 3;
/// Answers that are told of at once; there may be more.
const MOST: usize = 64;

/// Tells of answers: writes the Float64Array at the first place, of room for so many, and the bytes of those that have some,
/// one behind the other, into the Uint8Array at the second. How many. Outside of fibers.
pub(crate) fn tell<const N: usize>(call: &Call<N>, answers: usize, bytes: usize) -> Result<u32> {
    let mut all = [0.0; MOST * EACH];
    let (mut count, mut used) = (0, 0);
    while count < MOST {
        let Some(settled) = HERE.with_borrow_mut(VecDeque::pop_front) else {
            break;
        };
        let Settled {
            mailbox,
            ticket,
            answer,
        } = settled;
        if mailbox.env != call.env() {
            mailbox.post(ticket, answer);
            continue;
        }
        keep_alive(&mailbox, |pending| pending.saturating_sub(1));
        let (kind, value) = match answer {
            Ok(Answer::Nothing) => (told::NOTHING, 0.0),
            Ok(Answer::Boolean(false)) => (told::FALSE, 0.0),
            Ok(Answer::Boolean(true)) => (told::TRUE, 0.0),
            Ok(Answer::Number(number)) => (told::NUMBER, number),
            Ok(Answer::Bytes(some)) if call.fill_bytes_at(bytes, used, &some)? => {
                used += some.len();
                (told::BYTES, some.len() as f64)
            }
            other => {
                TICKETS.with_borrow_mut(|all| {
                    if let Some(its) = all.get(ticket) {
                        *its = Ticket::Answered(other);
                    }
                });
                (told::OTHER, 0.0)
            }
        };
        if kind != told::OTHER {
            TICKETS.with_borrow_mut(|all| all.remove(ticket));
        }
        all[count * EACH..][..EACH].copy_from_slice(&[f64::from(ticket), kind, value]);
        count += 1;
    }
    if count > 0 {
        call.fill_numbers(answers, &all[..count * EACH])?;
    }
    Ok(count as u32)
}

/// The answer to a ticket that is told of as another one; thrown if it is an error.
pub(crate) fn take(env: sys::napi_env, ticket: u32) -> Result<sys::napi_value> {
    match TICKETS.with_borrow_mut(|all| all.remove(ticket)) {
        Some(Ticket::Answered(answer)) => match answer? {
            Answer::Bytes(bytes) => array_buffer(env, &bytes),
            Answer::Made(make) => make(env),
            Answer::Nothing | Answer::Boolean(_) | Answer::Number(_) => {
                Err(error::invalid("the answer was told"))
            }
        },
        Some(Ticket::Open) | None => Err(error::invalid("no such answer")),
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
