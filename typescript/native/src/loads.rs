//! Loads and locks, step by step: the machines of `polycache-operations` over the host tier, as plain
//! callbacks that `src/host/load.ts` and `src/host/namespace.ts` drive. A load has a number; times are
//! milliseconds.

use crate::call::{answer, Answer};
use crate::error;
use crate::operations::{hand_out_used, on};
use crate::registry;
use crate::slab::Slab;
use napi::bindgen_prelude::Result;
use napi::sys;
use polycache_host::{AtKey, Store, Token};
use polycache_operations::{
    Acquire, Acquiring, Bounds, Done, Event, Holder, Lease, Leases, Load, Step,
};
use std::cell::RefCell;
use std::time::Duration;

/// What `load_step` and `lock_step` answer instead of a payload's length.
mod code {
    /// Run the loader; or, the caller has the lock.
    pub const LOAD: f64 = -2.0;
    /// Others loaded, or had the lock, as long as the caller waits.
    pub const TIMED_OUT: f64 = -3.0;
    /// Wait: the microseconds are subtracted from this.
    pub const WAIT: f64 = -4.0;
}

/// What `load_fill` answers.
mod filled {
    /// A set, delete or clear came in between, or another load was stored before.
    pub const REFUSED: f64 = 0.0;
    /// It is stored.
    pub const STORED: f64 = 1.0;
    /// There was no room for a lease.
    pub const BYPASSED: f64 = 2.0;
}

thread_local! {
    static LOADS: RefCell<Slab<Load<Token>>> = const { RefCell::new(Slab::new()) };
}

fn with_load<R>(number: u32, f: impl FnOnce(&mut Load<Token>) -> Result<R>) -> Result<R> {
    LOADS.with_borrow_mut(|all| match all.get(number) {
        Some(load) => f(load),
        None => Err(error::invalid("no such load")),
    })
}

/// Takes a load out: it is over.
fn remove(number: u32) -> Result<Load<Token>> {
    let removed = LOADS.with_borrow_mut(|all| all.remove(number));
    removed.ok_or_else(|| error::invalid("no such load"))
}

fn milliseconds(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}

fn wait(left: Duration) -> Answer {
    Answer::Number(code::WAIT - left.as_micros() as f64)
}

/// A key for a caller that does not wait, if `beside`: it stops the thread on which another's loader runs.
struct Hurried<'a> {
    at: AtKey<'a>,
    beside: bool,
}

impl Leases for Hurried<'_> {
    type Fence = Token;
    type Error = polycache_host::Error;

    fn lease(&mut self) -> std::result::Result<Lease<Token>, Self::Error> {
        Ok(match self.at.lease()? {
            Lease::Busy { holder, overdue } => Lease::Busy {
                holder,
                overdue: overdue || self.beside,
            },
            other => other,
        })
    }

    fn beside(&mut self, holder: Holder) -> std::result::Result<Option<Token>, Self::Error> {
        self.at.beside(holder)
    }

    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        self.at.has_inherited(from, holder)
    }

    fn fill(&mut self, fence: Token, entry: &[u8]) -> std::result::Result<bool, Self::Error> {
        self.at.fill(fence, entry)
    }

    fn release(&mut self, fence: Token) {
        self.at.release(fence);
    }
}

/// `load_begin(wait_timeout)`: the number of a new load. It ends by `load_fill` or `load_end`.
pub(crate) unsafe extern "C" fn begin(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<1>(env, info, |call| {
        let wait_timeout = milliseconds(call.number(0)?);
        let load = Load::new(Bounds { wait_timeout }, Duration::ZERO);
        let number = LOADS.with_borrow_mut(|all| all.add(load));
        Ok(Answer::Number(f64::from(number)))
    })
}

/// `load_step(namespace, key, from, to, out, load, waited, beside)`: reads like `get`, or says what to do:
/// `LOAD`, `TIMED_OUT`, or to wait. `waited` is how long the caller has waited for others; with 1 for `beside`
/// another's load is not waited for, as if it were overdue.
pub(crate) unsafe extern "C" fn step(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<8>(env, info, |call| {
        let (number, now) = (call.integer(5)?, milliseconds(call.number(6)?));
        let beside = call.integer(7)? == 1;
        on(call, |namespace, store, key| {
            namespace.empty();
            let at = AtKey::new(store, &namespace.inner, key, &mut namespace.entry);
            let mut at = Hurried { at, beside };
            let step = with_load(number, |load| {
                load.step(&mut at, Event::Woken, now).map_err(error::host)
            })?;
            Ok(match step {
                Step::Done(Done::Hit) => return hand_out_used(call, 4, namespace, store, key),
                Step::Load => Answer::Number(code::LOAD),
                Step::Wait { until, .. } => wait(until.saturating_sub(now)),
                Step::Done(_) => Answer::Number(code::TIMED_OUT),
            })
        })
    })
}

/// `load_fill(namespace, key, from, to, payload, measured, ttl, load)`: stores what was loaded. The load
/// is over, also when it is refused with an error.
pub(crate) unsafe extern "C" fn fill(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<8>(env, info, |call| {
        let payload = call.payload(4)?;
        let ttl = call.number(6)?;
        let mut load = remove(call.integer(7)?)?;
        on(call, |namespace, store, key| {
            if let Err(failure) = namespace.write(store, key, payload, ttl) {
                end(&mut load, store, namespace, key, Event::Unstorable);
                return Err(failure);
            }
            let mut unused = Vec::new();
            let mut at = AtKey::new(store, &namespace.inner, key, &mut unused);
            let event = Event::Loaded(&namespace.entry);
            let done = load.step(&mut at, event, Duration::ZERO);
            Ok(Answer::Number(match done.map_err(error::host)? {
                Step::Done(Done::Filled) => filled::STORED,
                Step::Done(Done::Unstored) => filled::BYPASSED,
                _ => filled::REFUSED,
            }))
        })
    })
}

/// `load_end(namespace, load)`: the loader failed, or the caller is gone, or there is nothing to store.
/// The load is over.
pub(crate) unsafe extern "C" fn end_load(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        let mut load = remove(call.integer(1)?)?;
        registry::with(call.integer(0)?, |namespace| {
            // A directory that was closed has no leases of this process any more.
            if let Ok(store) = namespace.handle.store() {
                end(&mut load, &store, namespace, &[], Event::Cancelled);
            }
            Ok(Answer::Nothing)
        })
    })
}

/// Gives the lease back, if the load has one. Nothing is asked of the tiers that could fail.
fn end(
    load: &mut Load<Token>,
    store: &Store,
    namespace: &crate::namespace::Namespace,
    key: &[u8],
    event: Event<'_>,
) {
    let mut unused = Vec::new();
    let mut at = AtKey::new(store, &namespace.inner, key, &mut unused);
    let _ = load.step(&mut at, event, Duration::ZERO);
}

/// `load_open(namespace, load)`: true while others may join: it waits for another's load; or it loads, and the key was
/// not set, deleted, cleared or filled since.
pub(crate) unsafe extern "C" fn open(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        let (fence, is_waiting) = with_load(call.integer(1)?, |load| {
            Ok((load.fence().copied(), load.is_waiting()))
        })?;
        registry::with(call.integer(0)?, |namespace| {
            namespace.handle.with(|store| {
                Ok(Answer::Boolean(match fence {
                    None => is_waiting,
                    Some(fence) => store.may_fill(&namespace.inner, fence),
                }))
            })
        })
    })
}

/// `lock_step(namespace, key, from, to, token, waited, wait)`: asks for the lock of a key's name. `LOAD`:
/// the caller has it, by the words of `token`; `TIMED_OUT`: another has it; or to wait.
pub(crate) unsafe extern "C" fn lock(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<7>(env, info, |call| {
        let now = milliseconds(call.number(5)?);
        let machine = Acquire::new(milliseconds(call.number(6)?), Duration::ZERO);
        on(call, |namespace, store, key| {
            if store.is_read_only() {
                store.check_may_change().map_err(error::host)?;
            }
            let locks = store.locks_of(&namespace.inner);
            let mut unused = Vec::new();
            let mut at = AtKey::new(store, &locks, key, &mut unused);
            Ok(match machine.step(&mut at, now).map_err(error::host)? {
                Acquiring::Acquired(token) => {
                    call.set_words(4, [token.slot, token.word, token.born])?;
                    Answer::Number(code::LOAD)
                }
                Acquiring::Refused => Answer::Number(code::TIMED_OUT),
                Acquiring::Wait(until) => wait(until.saturating_sub(now)),
            })
        })
    })
}

/// `unlock(namespace, token)`: gives a lock back. Does nothing when it is another's by now, or the directory
/// was closed.
pub(crate) unsafe extern "C" fn unlock(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        let [slot, word, born] = call.words(1)?;
        registry::with(call.integer(0)?, |namespace| {
            if let Ok(store) = namespace.handle.store() {
                store.release(Token {
                    slot,
                    word,
                    born,
                    beside: false,
                });
            }
            Ok(Answer::Nothing)
        })
    })
}

/// `locked(namespace, key, from, to)`: true while the lock of a key's name is held.
pub(crate) unsafe extern "C" fn locked(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<4>(env, info, |call| {
        on(call, |namespace, store, key| {
            let locks = store.locks_of(&namespace.inner);
            let is_leased = store.is_leased(&locks, key);
            is_leased.map(Answer::Boolean).map_err(error::host)
        })
    })
}
