//! Writes. A payload is a Uint8Array, its measured length (`src/entry/weight.ts`), and how long the entry lives.

use super::ask::{ask, boolean, bytes, lifetime, nothing, number, object, on_cache, on_key, Job};
use super::reads::Place;
use crate::call::Call;
use crate::mailbox::Answer;
use crate::statistics::NamespaceUsage;
use crate::tasks::CheckReport;
use napi::{sys, Result};
use polycache::bindings::{Bindings, Payloads};
use polycache::{Cache, Ttl, Version};
use std::ptr;

/// Bytes of a payload that holds up an event loop.
pub(super) const LARGE: usize = 64 * 1024;

/// The payload of a call, on its way to where it is written.
pub(super) struct Written {
    payload: std::result::Result<Vec<u8>, u64>,
    pub ttl: f64,
}

impl Written {
    pub fn of<const N: usize>(call: &Call<N>) -> Result<Written> {
        Ok(Written {
            payload: call.payload(4)?.map(<[u8]>::to_vec),
            ttl: call.number(6)?,
        })
    }

    pub fn payload(&self) -> polycache::bindings::Payload<'_> {
        self.payload.as_deref().map_err(|weight| *weight)
    }

    pub fn lifetime(&self) -> Ttl {
        lifetime(self.ttl)
    }

    /// Whether it takes long to compress it, and to copy it to a socket.
    pub fn is_large(&self) -> bool {
        self.payload
            .as_ref()
            .is_ok_and(|payload| payload.len() > LARGE)
    }
}

/// `set(…, payload, measured, ttl)`
pub(super) unsafe extern "C" fn set(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<7>(env, info, |call| {
        let written = Written::of(call)?;
        let is_large = written.is_large();
        on_key(call, nothing, move |cache, key| {
            cache.set_payload(key, written.payload(), written.lifetime())
        })
        .map(|job| job.on_thread_if(is_large))
    })
}

/// `add(…, payload, measured, ttl)`: whether it was stored.
pub(super) unsafe extern "C" fn add(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<7>(env, info, |call| {
        let written = Written::of(call)?;
        let is_large = written.is_large();
        on_key(call, boolean, move |cache, key| {
            cache.add_payload(key, written.payload(), written.lifetime())
        })
        .map(|job| job.on_thread_if(is_large))
    })
}

/// `replace(…, payload, measured, ttl)`: whether it was stored.
pub(super) unsafe extern "C" fn replace(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<7>(env, info, |call| replace_version(call, None))
}

/// `compareAndSet(…, payload, measured, ttl, version)`: whether it was stored.
pub(super) unsafe extern "C" fn compare_and_set(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<8>(env, info, |call| {
        let [version] = call.words(7)?;
        replace_version(call, Some(version.into()))
    })
}

fn replace_version<const N: usize>(call: &Call<N>, version: Option<Version>) -> Result<Job> {
    let written = Written::of(call)?;
    let is_large = written.is_large();
    on_key(call, boolean, move |cache, key| {
        cache.replace_payload(key, version, written.payload(), written.lifetime())
    })
    .map(|job| job.on_thread_if(is_large))
}

/// `setUpdated(…, payload, measured, ttl, found)`: whether it was stored. Without a number for `ttl` an entry keeps its own.
pub(super) unsafe extern "C" fn set_updated(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<8>(env, info, |call| {
        let written = Written::of(call)?;
        let is_large = written.is_large();
        let place = call.external::<Place>(7)?.clone();
        on_key(call, boolean, move |cache, key| {
            let ttl = (!written.ttl.is_nan()).then(|| written.lifetime());
            cache.set_updated_payload(key, &place, written.payload(), ttl)
        })
        .map(|job| job.on_thread_if(is_large))
    })
}

/// `deleteUpdated(…, found)`: whether it was deleted, or stood at a key without an entry.
pub(super) unsafe extern "C" fn delete_updated(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<5>(env, info, |call| {
        let place = call.external::<Place>(4)?.clone();
        on_key(call, boolean, move |cache, key| {
            cache.delete_updated(key, &place)
        })
    })
}

/// `delete(…)`: whether there was an entry.
pub(super) unsafe extern "C" fn delete(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| {
        on_key(call, boolean, |cache, key| cache.delete(key))
    })
}

/// `deletePrefix(…)`: how many entries it deleted.
pub(super) unsafe extern "C" fn delete_prefix(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| {
        on_key(call, number, |cache, prefix| {
            cache.delete_prefix(prefix).map(|deleted| deleted as f64)
        })
        .map(Job::on_thread)
    })
}

/// `touch(…, ttl)`: whether there is an entry.
pub(super) unsafe extern "C" fn touch(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<5>(env, info, |call| {
        let ttl = lifetime(call.number(4)?);
        on_key(call, boolean, move |cache, key| cache.touch(key, ttl))
    })
}

/// `increment(…, ttl, integers, subtracts)`: the sum in eight bytes, little-endian. `integers` are what is added, and what a key
/// without an entry counts as.
pub(super) unsafe extern "C" fn increment(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<7>(env, info, |call| {
        let ttl = lifetime(call.number(4)?);
        let [by, initial] = call.words(5)?.map(|word: u64| word as i64);
        let subtracts = call.integer(6)? == 1;
        on_key(call, bytes, move |cache, key| {
            let sum = match subtracts {
                true => cache.decrement_with_ttl(key, by, initial, ttl)?,
                false => cache.increment_with_ttl(key, by, initial, ttl)?,
            };
            Ok(Some(sum.to_le_bytes().to_vec()))
        })
    })
}

/// `clear(cache)`
pub(super) unsafe extern "C" fn clear(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<1>(env, info, |call| {
        on_cache(call, nothing, polycache::Cache::clear)
    })
}

/// `flush(cache)`
pub(super) unsafe extern "C" fn flush(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<1>(env, info, |call| {
        on_cache(call, nothing, polycache::Cache::flush).map(Job::on_thread)
    })
}

/// `check(cache)`: what it found.
pub(super) unsafe extern "C" fn check(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<1>(env, info, |call| {
        on_cache(call, object, |cache| {
            let report = cache.check()?;
            Ok(CheckReport {
                whole: report.whole as f64,
                damaged: report.damaged,
                leases: report.leases as f64,
            })
        })
        .map(Job::on_thread)
    })
}

/// `usage(cache, most)`: a list, or `null` without a directory.
pub(super) unsafe extern "C" fn usage(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<2>(env, info, |call| {
        let most = call.integer(1)? as usize;
        on_cache(call, object, move |cache| {
            let all = cache.usage(most)?;
            Ok(all.map(|all| {
                all.into_iter()
                    .map(NamespaceUsage::from)
                    .collect::<Vec<_>>()
            }))
        })
        .map(Job::on_thread)
    })
}

/// Asked for on the thread whose sockets they are, which then asks what to do next.
fn sockets_closed(cache: Cache) -> Answer {
    Answer::Made(Box::new(move |_| {
        cache.leave_fibers();
        // `undefined`
        Ok(ptr::null_mut())
    }))
}

/// `close(cache)`: closes the handle, with all of its namespaces.
pub(super) unsafe extern "C" fn close(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<1>(env, info, |call| {
        on_cache(call, sockets_closed, |cache| {
            cache.close();
            Ok(cache.clone())
        })
        .map(Job::on_thread)
    })
}
