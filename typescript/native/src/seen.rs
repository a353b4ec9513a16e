//! Reading without use, and changing just the entry that was read.

use crate::call::{answer, Answer};
use crate::error;
use crate::operations::{code, hand_out, on};
use napi::sys;
use polycache_entry::{Header, Verify};
use polycache_host::Hit;

/// What `peek` says of an entry: slot, word and epoch, by which `remove` and `exchange` know it; when it was created
/// and expires, 0 for never; its bytes; its compressor, 0 for none; when its time to live ends, 0 for never; its time to
/// idle, 0 for none; and room for its version, which `version` fills.
pub(crate) const WORDS: usize = 10;
/// The place of the time to idle.
pub(crate) const TIME_TO_IDLE: usize = 8;

/// `peek(namespace, key, from, to, out, seen)`: like `get`, but it is not a use of the entry. `seen` gets
/// what the entry says.
pub(crate) unsafe extern "C" fn peek(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<6>(env, info, |call| {
        on(call, |namespace, store, key| {
            namespace.empty();
            let found = store.peek(&namespace.inner, key, &mut namespace.entry);
            let Some(Hit { slot, word, epoch }) = found.map_err(error::host)? else {
                return Ok(Answer::Number(code::MISS));
            };
            let header = Header::parse(&namespace.entry, Verify::Trusted).map_err(error::entry)?;
            let (ends, time_to_idle) = polycache_entry::times_of(&namespace.entry);
            let words: [u64; WORDS] = [
                slot,
                word,
                epoch,
                header.created,
                header.expires,
                namespace.entry.len() as u64,
                header.compressor as u64,
                ends,
                time_to_idle,
                0,
            ];
            call.set_words(5, words)?;
            hand_out(call, 4, namespace, key)
        })
    })
}

/// `version(namespace, key, from, to, seen)`: adds the version of the entry that `peek` saw; false if it is gone.
pub(crate) unsafe extern "C" fn version(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<5>(env, info, |call| {
        let mut words = call.words::<WORDS>(4)?;
        let [slot, word, epoch, ..] = words;
        on(call, |namespace, store, key| {
            let version = store.version(&namespace.inner, key, Hit { slot, word, epoch });
            let Some(version) = version.map_err(error::host)? else {
                return Ok(Answer::Boolean(false));
            };
            words[WORDS - 1] = version;
            call.set_words(4, words)?;
            Ok(Answer::Boolean(true))
        })
    })
}

/// `remove(namespace, key, from, to, seen)`: deletes just the entry that `peek` saw; false if it is gone.
pub(crate) unsafe extern "C" fn remove(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<5>(env, info, |call| {
        let [slot, word, epoch, ..] = call.words::<WORDS>(4)?;
        on(call, |namespace, store, key| {
            let removed = store.remove(&namespace.inner, key, Hit { slot, word, epoch });
            removed.map(Answer::Boolean).map_err(error::host)
        })
    })
}

/// `invalidate_loads(namespace, key, from, to)`: invalidates the loads under way of a key that has no entry; false when it
/// has one by now.
pub(crate) unsafe extern "C" fn invalidate_loads(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<4>(env, info, |call| {
        on(call, |namespace, store, key| {
            let invalidated = store.invalidate_loads(&namespace.inner, key);
            invalidated.map(Answer::Boolean).map_err(error::host)
        })
    })
}

/// `touch(namespace, key, from, to, ttl)`: has the key's entry live for `ttl`, as `put` takes it, from now on; false
/// when there is none.
pub(crate) unsafe extern "C" fn touch(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<5>(env, info, |call| {
        let ttl = call.number(4)?;
        on(call, |namespace, store, key| {
            loop {
                namespace.empty();
                let found = store.peek(&namespace.inner, key, &mut namespace.entry);
                let Some(hit) = found.map_err(error::host)? else {
                    return Ok(Answer::Boolean(false));
                };
                let later = namespace.renewed(store, key, ttl)?;
                // Else the key was changed meanwhile, and what that left is looked at.
                let replaced = store.replace(&namespace.inner, key, hit, &later);
                if replaced.map_err(error::host)? {
                    return Ok(Answer::Boolean(true));
                }
            }
        })
    })
}
