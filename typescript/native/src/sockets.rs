//! The connections of operations that run on fibers: JavaScript has the sockets, on its event loop
//! (`src/remote/sockets.ts`).

use crate::call::{answer, Answer};
use crate::mailbox;
use crate::operations::Callback;
use napi::{check_status, sys, Result};
use polycache::bindings::remote::fibers::{self, Address, Task};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::time::Duration;

/// All of them, by name.
pub(crate) const CALLBACKS: [(&str, Callback); 5] = [
    ("socketsBegin", begin),
    ("socketsNext", next),
    ("socketsReceived", received),
    ("socketsClosed", closed),
    ("socketsTick", tick),
];

/// What `socketsNext` wants done.
mod kind {
    pub const NOTHING: f64 = 0.0;
    pub const OPEN: f64 = 1.0;
    pub const WRITE: f64 = 2.0;
    pub const CLOSE: f64 = 3.0;
}

/// For a socket in the file system, and where nobody waits.
const NONE: f64 = -1.0;

thread_local! {
    /// What has JavaScript ask for what is to be done, in each environment.
    static WAKES: RefCell<Vec<(sys::napi_env, sys::napi_ref)>> = const { RefCell::new(Vec::new()) };
    /// Whether it was told to ask, and has not asked until there was nothing.
    static IS_AWAKE: Cell<bool> = const { Cell::new(false) };
}

/// `socketsBegin(wake)`: `wake` sees to it that `socketsNext` is called once the running code is through.
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

/// Has JavaScript ask, if there is something to do. Outside of fibers.
pub(crate) fn wake(env: sys::napi_env) {
    if !fibers::has_tasks() || IS_AWAKE.replace(true) {
        return;
    }
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
    IS_AWAKE.set(false);
}

/// `socketsNext(told)`: what is to be done next, until there is nothing. `told`: a kind; the socket; for a new one its port, or -1
/// for one in the file system; where there is nothing the milliseconds until `socketsTick`, -1 for never. Returns the host or the
/// path of a new one, or what is to be written.
unsafe extern "C" fn next(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<1>(env, info, |call| {
        Ok(match fibers::next() {
            Some(Task::Open(number, Address::Tcp(host, port))) => {
                call.set_numbers(0, [kind::OPEN, f64::from(number), f64::from(port)])?;
                Answer::Made(text(env, &host)?)
            }
            Some(Task::Open(number, Address::Unix(path))) => {
                call.set_numbers(0, [kind::OPEN, f64::from(number), NONE])?;
                Answer::Made(text(env, &path.to_string_lossy())?)
            }
            Some(Task::Write(number, bytes)) => {
                call.set_numbers(0, [kind::WRITE, f64::from(number), NONE])?;
                Answer::Made(mailbox::array_buffer(env, &bytes)?)
            }
            Some(Task::Close(number)) => {
                call.set_numbers(0, [kind::CLOSE, f64::from(number), NONE])?;
                Answer::Nothing
            }
            None => {
                IS_AWAKE.set(false);
                let due = fibers::next_tick().map_or(NONE, |left| left.as_secs_f64() * 1000.0);
                call.set_numbers(0, [kind::NOTHING, NONE, due])?;
                Answer::Nothing
            }
        })
    })
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

/// `socketsReceived(socket, bytes)`
unsafe extern "C" fn received(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        fibers::received(call.integer(0)?, call.bytes(1)?);
        mailbox::settle_here();
        Ok(Answer::Nothing)
    })
}

/// `socketsClosed(socket, why)`: `why` in UTF-8.
unsafe extern "C" fn closed(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        let why = String::from_utf8_lossy(call.bytes(1)?).into_owned();
        fibers::closed(call.integer(0)?, &why);
        mailbox::settle_here();
        Ok(Answer::Nothing)
    })
}

/// `socketsTick(ago)`: so many milliseconds after a time since which all that was received has been handed in.
unsafe extern "C" fn tick(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<1>(env, info, |call| {
        let ago = Duration::try_from_secs_f64(call.number(0)? / 1000.0);
        fibers::tick(ago.unwrap_or_default());
        mailbox::settle_here();
        Ok(Answer::Nothing)
    })
}
