//! What a program does often, as plain Node-API callbacks. The first argument of each is the number of
//! a namespace; a key is a Uint8Array with the range it lies in.

use crate::call::{answer, Answer, Call};
use crate::namespace::Namespace;
use crate::{conditional, error, loads, registry, remote, seen, sockets};
use napi::bindgen_prelude::{Env, FromNapiValue, Object, Unknown};
use napi::{check_status, sys, Result};
use napi_derive::napi;
use polycache_host::{Hit, Store};
use std::ptr;

/// What `get` answers instead of a payload's length.
pub(crate) mod code {
    pub const MISS: f64 = -1.0;
}

/// Calls `f` with the namespace, its store and the key of a call.
#[inline(always)]
pub(crate) fn on<const N: usize>(
    call: &Call<N>,
    f: impl FnOnce(&mut Namespace, &Store, &[u8]) -> Result<Answer>,
) -> Result<Answer> {
    let (from, to) = (call.integer(2)? as usize, call.integer(3)? as usize);
    let key = call.range(1, from, to)?;
    registry::with(call.integer(0)?, |namespace| {
        let handle = namespace.handle.clone();
        handle.with(|store| f(namespace, store, key))
    })
}

/// Hands the payload in the namespace's buffer out: its length, with the bytes in the caller's buffer
/// when they fit.
#[inline(always)]
pub(crate) fn hand_out<const N: usize>(
    call: &Call<N>,
    place: usize,
    namespace: &mut Namespace,
    key: &[u8],
) -> Result<Answer> {
    let payload = namespace.read(key)?;
    call.fill_bytes(place, payload)?;
    Ok(Answer::Number(payload.len() as f64))
}

/// As `hand_out`, for a read that is a use of the entry: it prolongs one with a time to idle.
#[inline(always)]
pub(crate) fn hand_out_used<const N: usize>(
    call: &Call<N>,
    place: usize,
    namespace: &mut Namespace,
    store: &Store,
    key: &[u8],
) -> Result<Answer> {
    let is_due = namespace.is_due(store);
    let given = hand_out(call, place, namespace, key)?;
    if is_due {
        namespace.prolong(store, key);
    }
    Ok(given)
}

/// `get(namespace, key, from, to, out, origin)`: the length of the payload behind the id of its
/// serializer, both in `out` when it is that long; -1 is a miss. `origin` gets what a memory tier
/// keeps beside the value: slot, word, epoch, when the entry was created, and until when a copy may be served.
unsafe extern "C" fn get(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<6>(env, info, |call| {
        on(call, |namespace, store, key| {
            namespace.empty();
            let found = store.get(&namespace.inner, key, &mut namespace.entry);
            let Some(Hit { slot, word, epoch }) = found.map_err(error::host)? else {
                return Ok(Answer::Number(code::MISS));
            };
            let created = polycache_entry::created(&namespace.entry);
            let kept_until = polycache_entry::kept_until(&namespace.entry);
            call.set_words(5, [slot, word, epoch, created, kept_until])?;
            hand_out_used(call, 4, namespace, store, key)
        })
    })
}

/// `put(namespace, key, from, to, payload, measured, ttl)`: stores a payload of the namespace's
/// serializer for `ttl` milliseconds, 0 for ever; below 0 `ttl` is the time at which it expires, negated: so
/// everywhere here.
unsafe extern "C" fn put(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<7>(env, info, |call| {
        let payload = call.payload(4)?;
        let ttl = call.number(6)?;
        on(call, |namespace, store, key| {
            if let Err(failure) = namespace.write(store, key, payload, ttl) {
                // The arguments were looked at before: the old value is superseded, though its successor cannot be
                // stored. If it was closed meanwhile, it is not read through this handle.
                let _ = store.delete(&namespace.inner, key);
                return Err(failure);
            }
            let done = store.put(&namespace.inner, key, &namespace.entry);
            done.map(|()| Answer::Nothing).map_err(error::host)
        })
    })
}

/// `delete(namespace, key, from, to)`: true when an entry stood there.
unsafe extern "C" fn delete(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<4>(env, info, |call| {
        on(call, |namespace, store, key| {
            let stood = store.delete(&namespace.inner, key);
            stood.map(Answer::Boolean).map_err(error::host)
        })
    })
}

/// `ttl(namespace, key, from, to)`: milliseconds the entry has left, infinite without expiry; -1 is a
/// miss.
unsafe extern "C" fn ttl(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<4>(env, info, |call| {
        on(call, |namespace, store, key| {
            namespace.empty();
            let found = store.get(&namespace.inner, key, &mut namespace.entry);
            let expires = polycache_entry::expires(&namespace.entry);
            Ok(Answer::Number(match found.map_err(error::host)? {
                None => code::MISS,
                Some(_) if expires == 0 => f64::INFINITY,
                Some(_) => expires.saturating_sub(store.now()) as f64,
            }))
        })
    })
}

/// `floor(namespace)`: the namespace's floor now; entries born below are not served.
unsafe extern "C" fn floor(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    answer::<1>(env, info, |call| {
        registry::with(call.integer(0)?, |namespace| {
            let handle = &namespace.handle;
            handle.with(|store| Ok(Answer::Number(store.floor(&namespace.inner) as f64)))
        })
    })
}

/// `prefetch(namespace, keys, length)`: fetches what reads of these keys will touch into the processor's caches. The keys
/// are that many bytes, each behind its own length in four bytes, little-endian.
unsafe extern "C" fn prefetch(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<3>(env, info, |call| {
        let mut rest = call.range(1, 0, call.integer(2)? as usize)?;
        let keys = std::iter::from_fn(|| {
            let (length, behind) = rest.split_first_chunk()?;
            let (key, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = behind;
            Some(key)
        });
        registry::with(call.integer(0)?, |namespace| {
            let handle = namespace.handle.clone();
            handle.with(|store| {
                store.prefetch(&namespace.inner, keys);
                Ok(Answer::Nothing)
            })
        })
    })
}

pub(crate) type Callback =
    unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

const ALL: [(&str, Callback); 24] = [
    ("get", get),
    ("put", put),
    ("delete", delete),
    ("ttl", ttl),
    ("floor", floor),
    ("peek", seen::peek),
    ("remove", seen::remove),
    ("invalidateLoads", seen::invalidate_loads),
    ("touch", seen::touch),
    ("version", seen::version),
    ("prefetch", prefetch),
    ("add", conditional::add),
    ("replace", conditional::replace),
    ("compareAndSet", conditional::compare_and_set),
    ("exchange", conditional::exchange),
    ("increment", conditional::increment),
    ("loadBegin", loads::begin),
    ("loadStep", loads::step),
    ("loadFill", loads::fill),
    ("loadEnd", loads::end_load),
    ("loadOpen", loads::open),
    ("lockStep", loads::lock),
    ("unlock", loads::unlock),
    ("locked", loads::locked),
];

/// An object with the callbacks; made once for each isolate.
#[napi]
pub fn operations(env: &Env) -> Result<Object<'_>> {
    made(env, &ALL)
}

/// The same of caches with a remote tier. The first argument is the number of such a cache.
#[napi]
pub fn remote_operations(env: &Env) -> Result<Object<'_>> {
    made(env, &remote::CALLBACKS)
}

/// The callbacks by which JavaScript's sockets serve such caches.
#[napi]
pub fn socket_operations(env: &Env) -> Result<Object<'_>> {
    made(env, &sockets::CALLBACKS)
}

fn made<'env>(env: &'env Env, callbacks: &[(&str, Callback)]) -> Result<Object<'env>> {
    let mut all = Object::new(env)?;
    for (name, callback) in callbacks {
        let mut function = ptr::null_mut();
        // SAFETY: the name is valid for its length during the call; the callback takes no data.
        let status = unsafe {
            sys::napi_create_function(
                env.raw(),
                name.as_ptr().cast(),
                name.len() as isize,
                Some(*callback),
                ptr::null_mut(),
                &mut function,
            )
        };
        check_status!(status, "cannot make the callback {name}")?;
        // SAFETY: the value was just made by this environment.
        let function = unsafe { Unknown::from_napi_value(env.raw(), function)? };
        all.set(name, function)?;
    }
    Ok(all)
}
