//! Cached reads (`spec/reads.md`): what stands on this host, and what may be kept. The reads themselves are sent by the
//! program's own client.
//!
//! A read is named by bytes that begin with the keys: how many in two bytes, little-endian, then each behind its length in
//! four. Behind them stand the command and the shape of its reply.

use super::ask::{ask, boolean, on_cache};
use super::NativeRemote;
use crate::call::{answer, Answer, Call};
use crate::error;
use crate::slab::Slab;
use napi::bindgen_prelude::{External, ToNapiValue, Uint8Array};
use napi::{sys, Result};
use napi_derive::napi;
use polycache::bindings::remote::{CachedReads, ReadBegun, ReadOrigin, ReadTicket, Uncached};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// One hit in so many tells the near tier that the reply is in use; a power of two.
const LOOKS: u64 = 16;
/// Numbers that a tier can have: so many replies it may be told to keep.
const MOST: usize = 1 << 24;
/// What `readNear` answers for a read without a reply that may be served, and `readBegin` when there is one after all.
const NONE: f64 = -1.0;

/// The cached reads of a handle, with where the replies of its memory tier were found.
struct Numbered {
    reads: Arc<CachedReads>,
    origins: Vec<Option<ReadOrigin>>,
    last: Option<ReadOrigin>,
    hits: u64,
}

thread_local! {
    static READS: RefCell<Slab<Numbered>> = const { RefCell::new(Slab::new()) };
}

#[inline]
fn with<R>(number: u32, f: impl FnOnce(&mut Numbered) -> Result<R>) -> Result<R> {
    READS.with_borrow_mut(|all| match all.get(number) {
        Some(numbered) => f(numbered),
        None => Err(error::invalid("no such reads")),
    })
}

/// The cached reads of a cache with a server, for the callbacks, which take its number.
#[napi]
pub struct NativeReads {
    number: u32,
}

#[napi]
impl NativeReads {
    /// Those of keys with these prefixes.
    #[napi(factory)]
    pub fn open(remote: &NativeRemote, prefixes: Vec<Uint8Array>) -> Result<NativeReads> {
        let prefixes = prefixes.iter().map(|prefix| prefix.to_vec()).collect();
        let reads = CachedReads::new(&remote.cache, prefixes).map_err(error::cache)?;
        let numbered = Numbered {
            reads: Arc::new(reads),
            origins: Vec::new(),
            last: None,
            hits: 0,
        };
        Ok(NativeReads {
            number: READS.with_borrow_mut(|all| all.add(numbered)),
        })
    }

    /// The number for the callbacks.
    #[napi(getter)]
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for NativeReads {
    fn drop(&mut self) {
        let number = self.number;
        let _ = READS.try_with(|all| all.borrow_mut().remove(number));
    }
}

/// The keys of a read, by its name.
fn keys_of(name: &[u8]) -> Option<Vec<&[u8]>> {
    let (count, mut rest) = name.split_first_chunk()?;
    let mut keys = Vec::with_capacity(usize::from(u16::from_le_bytes(*count)));
    for _ in 0..u16::from_le_bytes(*count) {
        let (length, behind) = rest.split_first_chunk()?;
        let (key, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        keys.push(key);
        rest = behind;
    }
    Some(keys)
}

/// Calls `f` with the name of a read and its keys.
fn on_read<const N: usize, R>(
    call: &Call<N>,
    f: impl FnOnce(&mut Numbered, &[u8], &[&[u8]]) -> Result<R>,
) -> Result<R> {
    let name = call.range(1, call.integer(2)? as usize, call.integer(3)? as usize)?;
    let keys = keys_of(name).ok_or_else(|| error::invalid("that names no read"))?;
    with(call.integer(0)?, |numbered| f(numbered, name, &keys))
}

/// `readKnow(cache, reads)`: asks the server who it is, unless that is known; whether it answers.
pub(super) unsafe extern "C" fn know(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<2>(env, info, |call| {
        let reads = with(call.integer(1)?, |numbered| Ok(numbered.reads.clone()))?;
        on_cache(call, boolean, move |_| Ok(reads.know()))
    })
}

/// `readIsKnown(reads)`: whether that is known.
pub(super) unsafe extern "C" fn is_known(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<1>(env, info, |call| {
        with(call.integer(0)?, |numbered| {
            Ok(Answer::Boolean(numbered.reads.is_known()))
        })
    })
}

/// `readStands(reads, number)`: whether the reply that the memory tier keeps by this number may be served again.
pub(super) unsafe extern "C" fn stands(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        let number = call.integer(1)? as usize;
        with(call.integer(0)?, |numbered| {
            let Some(Some(origin)) = numbered.origins.get(number) else {
                return Ok(Answer::Boolean(false));
            };
            if !numbered.reads.stands(origin) {
                return Ok(Answer::Boolean(false));
            }
            numbered.hits += 1;
            if numbered.hits % LOOKS == 0 {
                numbered.reads.mark_visited(origin);
            }
            Ok(Answer::Boolean(true))
        })
    })
}

/// `readKeep(reads, number)`: the memory tier keeps by this number what `readNear` found last.
pub(super) unsafe extern "C" fn keep(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        let number = call.integer(1)? as usize;
        if number >= MOST {
            return Err(error::invalid("no memory tier has so many entries"));
        }
        with(call.integer(0)?, |numbered| {
            if number >= numbered.origins.len() {
                numbered.origins.resize(number + 1, None);
            }
            numbered.origins[number].clone_from(&numbered.last);
            Ok(Answer::Nothing)
        })
    })
}

/// `readNear(reads, name, from, to, out)`: the length of the reply, which is in `out` when it has that room; -1 where none
/// may be served.
pub(super) unsafe extern "C" fn near(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<5>(env, info, |call| {
        let mut reply = Vec::new();
        let found = on_read(call, |numbered, name, keys| {
            numbered.last = numbered.reads.near(name, keys, &mut reply);
            Ok(numbered.last.is_some())
        })?;
        if !found {
            return Ok(Answer::Number(NONE));
        }
        call.fill_bytes(4, &reply)?;
        Ok(Answer::Number(reply.len() as f64))
    })
}

/// A read that was begun, until it ends.
type Pending = RefCell<Option<ReadTicket>>;

/// `readBegin(reads, name, from, to, waited, out)`: what ends the read, or a number: begin again in so many milliseconds;
/// -1: look again. `out` gets why the reply will not be kept (0: it will be), the length of the key that is to be asked by
/// GETEX, and the key.
pub(super) unsafe extern "C" fn begin(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<6>(env, info, |call| {
        let waited = Duration::try_from_secs_f64(call.number(4)? / 1000.0).unwrap_or_default();
        let begun = on_read(call, |numbered, name, keys| {
            Ok(numbered.reads.begin(name, keys, waited))
        })?;
        let ticket = match begun {
            ReadBegun::There => return Ok(Answer::Number(NONE)),
            ReadBegun::Wait(ms) => return Ok(Answer::Number(ms.max(0.0))),
            ReadBegun::Ask(ticket) => *ticket,
        };
        let mut out = vec![match ticket.why() {
            None => 0,
            Some(Uncached::Deaf) => 1,
            Some(Uncached::NotHeard) => 2,
            Some(Uncached::Busy) => 3,
        }];
        let key = ticket.asks.as_deref().unwrap_or_default();
        out.extend_from_slice(&(key.len() as u32).to_le_bytes());
        out.extend_from_slice(key);
        call.fill_bytes(5, &out)?;
        let pending: Pending = RefCell::new(Some(ticket));
        // SAFETY: the environment is the one that the engine is in.
        let made = unsafe { External::to_napi_value(env, External::new(pending))? };
        Ok(Answer::Made(made))
    })
}

fn take(call: &Call<9>, place: usize) -> Result<ReadTicket> {
    let pending = call.external::<Pending>(place)?;
    let taken = pending.borrow_mut().take();
    taken.ok_or_else(|| error::invalid("the read has ended"))
}

/// `readEnd(reads, name, from, to, pending, answer, reply, length, expires)`: the read ended with a reply of that length;
/// 0: one that is not to be kept, -1: none. `answer` is what GETEX found; nothing if it is empty. Whether it is kept.
pub(super) unsafe extern "C" fn end(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<9>(env, info, |call| {
        let ticket = take(call, 4)?;
        let length = call.number(7)?;
        let found = call.bytes(5)?;
        let found = (!found.is_empty()).then_some(found);
        let reply = call.bytes(6)?;
        let expires = call.number(8)?;
        on_read(call, |numbered, name, keys| {
            let reads = &numbered.reads;
            if length < 0.0 {
                reads.fail(name, keys, ticket);
                return Ok(Answer::Boolean(false));
            }
            let reply = reply.get(..length as usize).unwrap_or_default();
            let reply = (!reply.is_empty()).then_some((reply, expires as u64));
            let is_kept = reads.fill(name, keys, ticket, found, reply);
            Ok(Answer::Boolean(is_kept))
        })
    })
}

/// `readForget(reads, name, from, to)`: what this host keeps of reads of these keys is read anew.
pub(super) unsafe extern "C" fn forget(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<4>(env, info, |call| {
        on_read(call, |numbered, _, keys| {
            keys.iter().for_each(|key| numbered.reads.forget(key));
            Ok(Answer::Nothing)
        })
    })
}
