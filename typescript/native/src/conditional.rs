//! Writing on a condition: only without an entry, only over one, only over the one that was seen. After an error
//! nothing has changed.

use crate::call::{answer, Answer, Call};
use crate::error;
use crate::namespace::Namespace;
use crate::operations::on;
use crate::seen::{TIME_TO_IDLE, WORDS};
use napi::{sys, Result};
use polycache_host::{Hit, Store};

/// Writes the payload of a call (arguments 4 to 6: payload, measured, ttl) as the key's entry into the namespace's
/// buffer, with a time to idle or the namespace's, and calls `f` to store it.
#[inline(always)]
fn writing<const N: usize>(
    call: &Call<N>,
    time_to_idle: Option<u64>,
    f: impl FnOnce(&mut Namespace, &Store, &[u8]) -> Result<bool>,
) -> Result<Answer> {
    let payload = call.payload(4)?;
    let ttl = call.number(6)?;
    on(call, |namespace, store, key| {
        let time_to_idle = time_to_idle.unwrap_or(namespace.time_to_idle);
        namespace.write_idle(store, key, payload, ttl, time_to_idle)?;
        f(namespace, store, key).map(Answer::Boolean)
    })
}

/// `add(namespace, key, from, to, payload, measured, ttl)`: stores a payload if the key has no entry; false if it has
/// one.
pub(crate) unsafe extern "C" fn add(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<7>(env, info, |call| {
        writing(call, None, |namespace, store, key| {
            let added = store.add(&namespace.inner, key, &namespace.entry);
            added.map_err(error::host)
        })
    })
}

/// `replace(namespace, key, from, to, payload, measured, ttl)`: stores a payload if the key has an entry; false if it
/// has none.
pub(crate) unsafe extern "C" fn replace(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<7>(env, info, |call| {
        writing(call, None, |namespace, store, key| {
            replace_if(namespace, store, key, None)
        })
    })
}

/// `compare_and_set(namespace, key, from, to, payload, measured, ttl, version)`: stores a payload if the key's entry has
/// this version, an array of one word; false otherwise.
pub(crate) unsafe extern "C" fn compare_and_set(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<8>(env, info, |call| {
        let [version] = call.words::<1>(7)?;
        writing(call, None, |namespace, store, key| {
            replace_if(namespace, store, key, Some(version))
        })
    })
}

/// Stores the entry in the buffer in the place of the key's, if it has one, of this version if one is given.
fn replace_if(
    namespace: &Namespace,
    store: &Store,
    key: &[u8],
    version: Option<u64>,
) -> Result<bool> {
    let mut old = Vec::new();
    loop {
        old.clear();
        let found = store.peek(&namespace.inner, key, &mut old);
        let Some(hit) = found.map_err(error::host)? else {
            return Ok(false);
        };
        if let Some(version) = version {
            let there = store.version(&namespace.inner, key, hit);
            match there.map_err(error::host)? {
                Some(there) if there == version => {}
                Some(_) => return Ok(false),
                // It was changed meanwhile.
                None => continue,
            }
        }
        let replaced = store.replace(&namespace.inner, key, hit, &namespace.entry);
        if replaced.map_err(error::host)? {
            return Ok(true);
        }
    }
}

/// `exchange(namespace, key, from, to, payload, measured, ttl, seen)`: stores a payload in the place of the entry that `peek`
/// saw, with that one's time to idle; false if it is gone.
pub(crate) unsafe extern "C" fn exchange(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<8>(env, info, |call| {
        let seen = call.words::<WORDS>(7)?;
        let [slot, word, epoch, ..] = seen;
        let hit = Hit { slot, word, epoch };
        writing(call, Some(seen[TIME_TO_IDLE]), |namespace, store, key| {
            let replaced = store.replace(&namespace.inner, key, hit, &namespace.entry);
            replaced.map_err(error::host)
        })
    })
}

/// `increment(namespace, key, from, to, ttl, integers, subtracts)`: `integers` are what is added to the key's integer, or
/// subtracted from it if `subtracts` is 1, and what a key without an entry counts as; the sum takes the place of the
/// first. `ttl` is for a key without an entry.
pub(crate) unsafe extern "C" fn increment(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<7>(env, info, |call| {
        let new_ttl = call.number(4)?;
        let [by, initial] = call.words::<2>(5)?.map(|word| word as i64);
        let by = match call.integer(6)? {
            0 => i128::from(by),
            _ => -i128::from(by),
        };
        on(call, |namespace, store, key| loop {
            namespace.empty();
            let found = store.peek(&namespace.inner, key, &mut namespace.entry);
            let found = found.map_err(error::host)?;
            let (there, ttl, time_to_idle) = match found {
                None => (initial, new_ttl, namespace.time_to_idle),
                Some(_) => {
                    let (ends, time_to_idle) = polycache_entry::times_of(&namespace.entry);
                    // It keeps both times.
                    (namespace.integer(key)?, -(ends as f64), time_to_idle)
                }
            };
            let sum = i64::try_from(i128::from(there) + by).map_err(|_| error::overflow())?;
            namespace.write_integer(store, key, sum, ttl, time_to_idle)?;
            let stored = match found {
                None => store.add(&namespace.inner, key, &namespace.entry),
                Some(hit) => store.replace(&namespace.inner, key, hit, &namespace.entry),
            };
            // Where others come first, one of them has counted: all together always go on.
            if stored.map_err(error::host)? {
                call.set_words(5, [sum as u64, initial as u64])?;
                return Ok(Answer::Nothing);
            }
        })
    })
}
