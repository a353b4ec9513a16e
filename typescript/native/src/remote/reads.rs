//! Reads. What they hand out is the id of the serializer, then the payload.

use super::ask::{ask, boolean, bytes, key, nothing, number, on_key, Job};
use super::with;
use crate::call::{answer, Answer, Call};
use crate::{error, mailbox};
use napi::bindgen_prelude::{External, ToNapiValue};
use napi::{check_status, sys, Result};
use polycache::bindings::{Found, Payloads};
use polycache::{CompressorId, Facts, Serializer, TtlLeft};
use std::ptr;

/// What `near` answers for a key without a copy.
const MISS: f64 = -1.0;

/// `near(…, out, origin)`, at once: the length of what is handed out, in `out` when it has that room; -1 where no copy on
/// this host may be served. `origin` gets where it was read: see [`polycache::Origin::words`].
pub(super) unsafe extern "C" fn near(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<6>(env, info, |call| {
        let key = key(call)?;
        with(call.integer(0)?, |cache| {
            let found = cache.get_near_payload(key, |serializer, payload| {
                call.fill_behind(4, serializer as u8, payload)?;
                Ok::<_, napi::Error>(payload.len() as f64 + 1.0)
            });
            let Some((length, origin)) = found.map_err(error::cache)? else {
                return Ok(Answer::Number(MISS));
            };
            call.set_words(5, origin.words())?;
            length.map(Answer::Number)
        })
    })
}

/// Both in one buffer.
pub(super) fn joined(serializer: Serializer, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 1);
    out.push(serializer as u8);
    out.extend_from_slice(payload);
    out
}

/// `get(…)`: an ArrayBuffer, or `undefined`.
pub(super) unsafe extern "C" fn get(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| {
        on_key(call, bytes, |cache, key| cache.get_payload(key, joined))
    })
}

/// `peek(…)`: as `get`.
pub(super) unsafe extern "C" fn peek(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| {
        on_key(call, bytes, |cache, key| cache.peek_payload(key, joined))
    })
}

/// `entry(…)`: as `get`, behind the entry's facts: created, expires (0 is never), the time left (2^64 - 1 for ever), its
/// bytes, its version, whether it is compressed; eight bytes each, little-endian.
pub(super) unsafe extern "C" fn entry(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| {
        on_key(call, bytes, |cache, key| {
            let found = cache.entry_payload(key, joined)?;
            Ok(found.map(|(value, facts)| [words_of(&facts).as_slice(), &value].concat()))
        })
    })
}

fn words_of(facts: &Facts) -> Vec<u8> {
    let left = match facts.ttl {
        TtlLeft::Forever => u64::MAX,
        TtlLeft::For(left) => left.as_millis() as u64,
    };
    let is_compressed = u64::from(facts.compressor != CompressorId::None);
    let version = u64::from(facts.version);
    let expires = facts.expires.unwrap_or(0);
    [
        facts.created,
        expires,
        left,
        facts.size,
        version,
        is_compressed,
    ]
    .iter()
    .flat_map(|word| word.to_le_bytes())
    .collect()
}

/// `has(…)`
pub(super) unsafe extern "C" fn has(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| {
        on_key(call, boolean, |cache, key| cache.has(key))
    })
}

/// `ttl(…)`: milliseconds, infinite without expiry; `undefined` is a miss.
pub(super) unsafe extern "C" fn ttl(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| {
        let as_answer = |left| match left {
            None => nothing(()),
            Some(TtlLeft::Forever) => number(f64::INFINITY),
            Some(TtlLeft::For(left)) => number(left.as_millis() as f64),
        };
        on_key(call, as_answer, |cache, key| cache.ttl(key))
    })
}

/// `find(…)`: `[found, bytes]` for an update: the first is for `setUpdated` and `deleteUpdated`, the other as of `get`.
pub(super) unsafe extern "C" fn find(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, find_job)
}

fn find_job(call: &Call<4>) -> Result<Job> {
    on_key(call, found, |cache, key| {
        cache.find_payload_to_update(key, joined)
    })
}

/// What an update found, shared with the thread that stores in its place.
pub(super) type Place = std::sync::Arc<Found>;

fn found((value, found): (Option<Vec<u8>>, Found)) -> mailbox::Answer {
    mailbox::Answer::Made(Box::new(move |env| {
        let mut pair = ptr::null_mut();
        let place: Place = found.into();
        // SAFETY: the environment is the one that the engine is in.
        unsafe {
            let place = External::to_napi_value(env, External::new(place))?;
            let status = sys::napi_create_array_with_length(env, 2, &mut pair);
            check_status!(status, "cannot make a list")?;
            sys::napi_set_element(env, pair, 0, place);
            if let Some(value) = value {
                sys::napi_set_element(env, pair, 1, mailbox::array_buffer(env, &value)?);
            }
        }
        Ok(pair)
    }))
}

/// `keys(…)`: all that begin with the key, each behind its length in four bytes, little-endian.
pub(super) unsafe extern "C" fn keys(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| {
        on_key(call, bytes, |cache, prefix| {
            let mut out = Vec::new();
            for key in cache.keys(prefix) {
                let key = key?;
                out.extend_from_slice(&(key.len() as u32).to_le_bytes());
                out.extend_from_slice(&key);
            }
            Ok(Some(out))
        })
        .map(Job::on_thread)
    })
}
