//! Several keys in one call, and in one round trip to each server. A list arrives as bytes, each part behind its length in four bytes, little-endian.

use super::ask::{ask, bytes, lifetime, nothing, number, on_cache};
use super::reads::joined;
use super::writes::LARGE;
use crate::call::Call;
use napi::sys;
use polycache::bindings::{Bindings, Payloads};
use polycache::{Cache, Error};

/// Keys with their entries.
type Written = Vec<(Vec<u8>, Vec<u8>)>;

/// What stands for the length of a key's value that is missing.
const MISSING: u32 = u32::MAX;

/// The list of the call.
fn list<const N: usize>(call: &Call<N>) -> napi::Result<Vec<u8>> {
    let list = call.range(1, 0, call.integer(2)? as usize)?;
    Ok(list.to_vec())
}

/// The parts of a list.
fn parts(list: &[u8]) -> Vec<&[u8]> {
    let mut rest = list;
    let mut parts = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk() {
        let length = u32::from_le_bytes(*length) as usize;
        let Some((part, behind)) = behind.split_at_checked(length) else {
            break;
        };
        parts.push(part);
        rest = behind;
    }
    parts
}

/// `getMany(cache, keys, length)`: for each key the length of what `get` would give, and that; 2^32 - 1 is a miss.
pub(super) unsafe extern "C" fn get(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<3>(env, info, |call| {
        let keys = list(call)?;
        on_cache(call, bytes, move |cache| {
            let mut out = Vec::new();
            for value in cache.get_payloads(&parts(&keys), joined)? {
                let length = value.as_ref().map_or(MISSING, |value| value.len() as u32);
                out.extend_from_slice(&length.to_le_bytes());
                out.extend_from_slice(&value.unwrap_or_default());
            }
            Ok(Some(out))
        })
    })
}

/// `setMany(cache, entries, length, numbers)`: for each entry key and payload, and in `numbers` the weight of one that is too heavy
/// (else 0) and how long it lives. Up to the first that cannot be written.
pub(super) unsafe extern "C" fn set(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| {
        let entries = list(call)?;
        let numbers = call.numbers(3)?.to_vec();
        let is_large = entries.len() > LARGE;
        on_cache(call, nothing, move |cache| {
            let (written, refused) = written(cache, &parts(&entries), &numbers);
            cache.store_entries(&written).and(refused)
        })
        .map(|job| job.on_thread_if(is_large))
    })
}

/// Keys with the entries of their payloads, up to the first that cannot be written, and why it cannot.
fn written(cache: &Cache, entries: &[&[u8]], numbers: &[f64]) -> (Written, Result<(), Error>) {
    let mut written = Vec::with_capacity(entries.len() / 2);
    for (entry, numbers) in entries.chunks_exact(2).zip(numbers.chunks_exact(2)) {
        let ([key, payload], [weight, ttl]) = (entry, numbers) else {
            break;
        };
        let payload = match *weight as u64 {
            0 => Ok(*payload),
            weight => Err(weight),
        };
        match cache.entry_of_payload(key, payload, lifetime(*ttl)) {
            Ok(entry) => written.push((key.to_vec(), entry)),
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

/// `deleteMany(cache, keys, length)`: how many had an entry.
pub(super) unsafe extern "C" fn delete(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<3>(env, info, |call| {
        let keys = list(call)?;
        on_cache(call, number, move |cache| {
            Ok(cache.delete_many(parts(&keys))? as f64)
        })
    })
}
