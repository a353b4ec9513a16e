//! How a call is asked of another thread, or of a fiber of this one.
//!
//! Most callbacks take the number of a cache, then a key as a Uint8Array with the range it lies in; their comments name
//! what follows these four. All but [`near`](super::reads::near), those of
//! [`origins`] and `loadBegin`, `loadOpen` answer by a ticket for a promise (`src/remote/sockets.ts`).

use super::{cached, loads, many, origins, reads, with, writes};
use crate::call::{answer, Answer as Answered, Call};
use crate::error;
use crate::mailbox::{self, Answer};
use crate::operations::Callback;
use napi::{sys, Result};
use polycache::bindings::Bindings;
use polycache::{Cache, Error, Ttl};
use std::time::{Duration, UNIX_EPOCH};

/// What waits for a thread, or a fiber.
pub(super) struct Job {
    run: Box<dyn FnOnce() -> Result<Answer> + Send>,
    /// Whether its commands go out on the sockets of JavaScript's event loop.
    on_fiber: bool,
}

impl Job {
    /// One that takes long by itself, and would hold up the event loop.
    pub fn on_thread(self) -> Job {
        self.on_thread_if(true)
    }

    pub fn on_thread_if(self, takes_long: bool) -> Job {
        Job {
            on_fiber: self.on_fiber && !takes_long,
            ..self
        }
    }
}

/// All of them, by name.
pub(crate) const CALLBACKS: [(&str, Callback); 44] = [
    ("near", reads::near),
    ("keep", origins::keep),
    ("stands", origins::stands),
    ("get", reads::get),
    ("peek", reads::peek),
    ("entry", reads::entry),
    ("has", reads::has),
    ("ttl", reads::ttl),
    ("find", reads::find),
    ("keys", reads::keys),
    ("set", writes::set),
    ("add", writes::add),
    ("replace", writes::replace),
    ("compareAndSet", writes::compare_and_set),
    ("setUpdated", writes::set_updated),
    ("deleteUpdated", writes::delete_updated),
    ("delete", writes::delete),
    ("deletePrefix", writes::delete_prefix),
    ("touch", writes::touch),
    ("increment", writes::increment),
    ("clear", writes::clear),
    ("flush", writes::flush),
    ("check", writes::check),
    ("usage", writes::usage),
    ("close", writes::close),
    ("getMany", many::get),
    ("setMany", many::set),
    ("deleteMany", many::delete),
    ("loadBegin", loads::begin),
    ("loadStep", loads::step),
    ("loadFill", loads::fill),
    ("loadEnd", loads::end),
    ("loadOpen", loads::open),
    ("lockStep", loads::lock),
    ("unlock", loads::unlock),
    ("locked", loads::locked),
    ("readKnow", cached::know),
    ("readIsKnown", cached::is_known),
    ("readStands", cached::stands),
    ("readKeep", cached::keep),
    ("readNear", cached::near),
    ("readBegin", cached::begin),
    ("readEnd", cached::end),
    ("readForget", cached::forget),
];

/// Runs a callback whose body reads the arguments and says what another thread does.
#[inline(always)]
pub(super) fn ask<const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    body: impl FnOnce(&Call<N>) -> Result<Job>,
) -> sys::napi_value {
    answer::<N>(env, info, |call| {
        let job = body(call)?;
        let ticket = mailbox::begin(env, job.on_fiber, job.run)?;
        Ok(Answered::Number(f64::from(ticket)))
    })
}

/// Work on a cache.
pub(super) fn on_cache<const N: usize, T: 'static>(
    call: &Call<N>,
    as_answer: impl FnOnce(T) -> Answer + Send + 'static,
    work: impl FnOnce(&Cache) -> std::result::Result<T, Error> + Send + 'static,
) -> Result<Job> {
    let cache = with(call.integer(0)?, |cache| Ok(cache.clone()))?;
    Ok(Job {
        on_fiber: cache.serves_fibers(),
        run: Box::new(move || work(&cache).map(as_answer).map_err(error::cache)),
    })
}

/// Work on a key of a cache.
pub(super) fn on_key<const N: usize, T: 'static>(
    call: &Call<N>,
    as_answer: impl FnOnce(T) -> Answer + Send + 'static,
    work: impl FnOnce(&Cache, &[u8]) -> std::result::Result<T, Error> + Send + 'static,
) -> Result<Job> {
    let key = key(call)?.to_vec();
    on_cache(call, as_answer, move |cache| work(cache, &key))
}

pub(super) fn key<const N: usize>(call: &Call<N>) -> Result<&[u8]> {
    call.range(1, call.integer(2)? as usize, call.integer(3)? as usize)
}

/// How long an entry lives: milliseconds, 0 for ever; below 0 when it expires, negated, in milliseconds since 1970.
pub(super) fn lifetime(ttl: f64) -> Ttl {
    if ttl < 0.0 {
        return Ttl::Until(UNIX_EPOCH + Duration::from_millis(-ttl as u64));
    }
    match ttl as u64 {
        0 => Ttl::Forever,
        ttl => Ttl::For(Duration::from_millis(ttl)),
    }
}

pub(super) fn nothing((): ()) -> Answer {
    Answer::Nothing
}

pub(super) fn boolean(truth: bool) -> Answer {
    Answer::Boolean(truth)
}

pub(super) fn number(number: f64) -> Answer {
    Answer::Number(number)
}

/// `undefined` for none.
pub(super) fn bytes(bytes: Option<Vec<u8>>) -> Answer {
    bytes.map_or(Answer::Nothing, Answer::Bytes)
}

/// Whatever napi-rs makes a value of.
pub(super) fn object<T: napi::bindgen_prelude::ToNapiValue + Send + 'static>(given: T) -> Answer {
    // SAFETY: the environment is the one that the engine is in.
    Answer::Made(Box::new(move |env| unsafe { T::to_napi_value(env, given) }))
}
