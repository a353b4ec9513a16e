//! The connections of operations that run on fibers: JavaScript has the sockets, on its event loop
//! (`src/remote/sockets.ts`).

use crate::call::{answer, Answer, Call};
use crate::mailbox;
use crate::operations::Callback;
use napi::{check_status, sys, Result};
use polycache::bindings::remote::fibers::{self, Address, Task};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::time::{Duration, Instant};

/// All of them, by name.
pub(crate) const CALLBACKS: [(&str, Callback); 7] = [
    ("socketsBegin", begin),
    ("socketsNext", next),
    ("socketsReceived", received),
    ("socketsClosed", closed),
    ("socketsTick", tick),
    ("answersNext", answers),
    ("answersTake", take),
];

/// What `socketsNext` wants done.
mod kind {
    pub const NOTHING: f64 = 0.0;
    pub const OPEN: f64 = 1.0;
    pub const WRITE: f64 = 2.0;
    pub const CLOSE: f64 = 3.0;
    /// A write, and nothing else.
    pub const WRITE_ONLY: f64 = 4.0;
}

/// For a socket in the file system, and where nobody waits.
const NONE: f64 = -1.0;

thread_local! {
    /// What has JavaScript ask for answers, in each environment.
    static WAKES: RefCell<Vec<(sys::napi_env, sys::napi_ref)>> = const { RefCell::new(Vec::new()) };
    /// When JavaScript calls `socketsTick`, as far as it was told.
    static TOLD: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// `socketsBegin(wake)`: `wake` sees to it that `answersNext` is called: other threads answered.
unsafe extern "C" fn begin(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<1>(env, info, |call| {
        let mut reference = ptr::null_mut();
        // SAFETY: the value belongs to this call, in this environment.
        let status = unsafe { sys::napi_create_reference(env, call.value(0), 1, &mut reference) };
        check_status!(status, "cannot keep the function")?;
        WAKES.with_borrow_mut(|all| all.push((env, reference)));
        Ok(Answer::Nothing)
    })
}

/// Has JavaScript ask for answers. Outside of fibers.
pub(crate) fn wake(env: sys::napi_env) {
    let reference = WAKES.with_borrow(|all| all.iter().find(|(of, _)| *of == env).map(|one| one.1));
    let Some(reference) = reference else { return };
    let (mut function, mut global, mut result) =
        (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the environment is the one that the engine is in, and the reference is its own.
    unsafe {
        sys::napi_get_reference_value(env, reference, &mut function);
        sys::napi_get_global(env, &mut global);
        sys::napi_call_function(env, global, function, 0, ptr::null(), &mut result);
    }
}

/// The environment ends, and its sockets with it.
pub(crate) fn end(env: sys::napi_env) {
    let _ = WAKES.try_with(|all| all.borrow_mut().retain(|(of, _)| *of != env));
    fibers::end_all();
    TOLD.set(None);
}

/// `socketsNext(told, out)`: what is to be done next, until there is nothing. `told`: a kind; the socket; for a new one its port, or
/// -1 for one in the file system, for a write its length; the milliseconds until `socketsTick`, -1 for never, where nothing else is to be
/// done, and it is another time than before; how many answers wait for `answersNext`. What is to be written is in `out`, or is returned if that has no room for it. Returns the
/// host or the path of a new one.
unsafe extern "C" fn next(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        let tell = |kind, number: u32, about| {
            let due = match kind {
                kind::NOTHING | kind::WRITE_ONLY => due(),
                _ => NONE,
            };
            let untold = mailbox::untold() as f64;
            call.set_numbers(0, [kind, f64::from(number), about, due, untold])
        };
        Ok(match fibers::next() {
            Some(Task::Open(number, Address::Tcp(host, port))) => {
                tell(kind::OPEN, number, f64::from(port))?;
                Answer::Made(text(env, &host)?)
            }
            Some(Task::Open(number, Address::Unix(path))) => {
                tell(kind::OPEN, number, NONE)?;
                Answer::Made(text(env, &path.to_string_lossy())?)
            }
            Some(Task::Write(number, bytes)) => {
                let kind = match fibers::has_tasks() {
                    true => kind::WRITE,
                    false => kind::WRITE_ONLY,
                };
                tell(kind, number, bytes.len() as f64)?;
                match call.fill_bytes_at(1, 0, &bytes)? {
                    true => Answer::Nothing,
                    false => Answer::Made(mailbox::array_buffer(env, &bytes)?),
                }
            }
            Some(Task::Close(number)) => {
                tell(kind::CLOSE, number, NONE)?;
                Answer::Nothing
            }
            None => {
                tell(kind::NOTHING, 0, NONE)?;
                Answer::Nothing
            }
        })
    })
}

/// Milliseconds until `socketsTick`, if that is another time than JavaScript was told: it need not look at its clock for
/// each call.
fn due() -> f64 {
    let due = fibers::next_tick();
    let told = TOLD.replace(due);
    match due {
        Some(time) if due != told => {
            let left = time.saturating_duration_since(Instant::now());
            left.as_secs_f64() * 1000.0
        }
        _ => NONE,
    }
}

fn text(env: sys::napi_env, text: &str) -> Result<sys::napi_value> {
    let mut made = ptr::null_mut();
    let length = text.len() as isize;
    // SAFETY: the environment is the one that the engine is in.
    let status =
        unsafe { sys::napi_create_string_utf8(env, text.as_ptr().cast(), length, &mut made) };
    check_status!(status, "cannot make a text")?;
    Ok(made)
}

/// Where JavaScript is told of answers, and whether it is to ask what to do next.
fn told_of<const N: usize>(call: &Call<N>, answers: usize, bytes: usize) -> Result<Answer> {
    let count = mailbox::tell(call, answers, bytes)?;
    let has_more = fibers::has_tasks() || mailbox::untold() > 0;
    let sign = if has_more { -1.0 } else { 1.0 };
    // As there may be none: one more.
    Ok(Answer::Number(sign * f64::from(count + 1)))
}

/// `socketsReceived(socket, bytes, length, answers, room)`: the beginning of `bytes` was received. Returns what `answersNext` does.
unsafe extern "C" fn received(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<5>(env, info, |call| {
        let length = call.integer(2)? as usize;
        fibers::received(call.integer(0)?, call.range(1, 0, length)?);
        told_of(call, 3, 4)
    })
}

/// `answersNext(answers, room)`: tells of answers in `answers`: for each a ticket, a kind, and a number or the length of bytes that stand in
/// `room`, one behind the other. One more than there are; negated if `socketsNext` or this is to be called next.
unsafe extern "C" fn answers(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<2>(env, info, |call| told_of(call, 0, 1))
}

/// `answersTake(ticket)`: an answer of the kind that is asked for; throws if it is an error.
unsafe extern "C" fn take(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<1>(env, info, |call| {
        mailbox::take(env, call.integer(0)?).map(Answer::Made)
    })
}

/// `socketsClosed(socket, why)`: `why` in UTF-8.
unsafe extern "C" fn closed(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        let why = String::from_utf8_lossy(call.bytes(1)?).into_owned();
        fibers::closed(call.integer(0)?, &why);
        Ok(Answer::Nothing)
    })
}

/// `socketsTick(ago)`: so many milliseconds after a time since which all that was received has been handed in.
unsafe extern "C" fn tick(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<1>(env, info, |call| {
        let ago = Duration::try_from_secs_f64(call.number(0)? / 1000.0);
        TOLD.set(None);
        fibers::tick(ago.unwrap_or_default());
        Ok(Answer::Nothing)
    })
}
