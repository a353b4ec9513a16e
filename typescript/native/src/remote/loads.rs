//! Loads and locks, step by step. A load is a handle: the thread of its step has it meanwhile, and JavaScript takes the
//! next step when it has the answer of the last.

use super::ask::{ask, boolean, bytes, nothing, number, on_key};
use super::reads::joined;
use super::writes::Written;
use super::{milliseconds, with};
use crate::call::{answer, Answer};
use crate::{mailbox, workers};
use napi::bindgen_prelude::{External, ToNapiValue};
use napi::sys;
use polycache::bindings::{Bindings, Filled, LoadStep, Loading, LockStep, Payloads, Token};
use polycache::Cache;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::Duration;

/// What steps answer instead of bytes; as those of a directory.
mod code {
    /// Run the loader; or, another has the lock.
    pub const LOAD: f64 = -2.0;
    /// Others loaded, or had the lock, as long as the caller waits.
    pub const TIMED_OUT: f64 = -3.0;
    /// Wait: the microseconds are subtracted from this.
    pub const WAIT: f64 = -4.0;
}

/// A load that JavaScript has.
struct Held {
    loading: Mutex<Loading>,
    /// Where it is, from its first step until it is over.
    at: Mutex<Option<(Cache, Vec<u8>)>>,
}

type Load = Arc<Held>;

/// Where nobody has it any more, others need not wait until it is too old.
impl Drop for Held {
    fn drop(&mut self) {
        let Some((cache, key)) = self.at().take() else {
            return;
        };
        let over = cache.loading_after(Duration::ZERO);
        let mut loading = std::mem::replace(&mut *self.loading(), over);
        // Not on this thread: a server is told.
        workers::run(move || cache.abandon(&key, &mut loading));
    }
}

/// The loads of an isolate. Not every engine drops what JavaScript had when a worker thread is ended.
struct Loads(Vec<Weak<Held>>);

impl Drop for Loads {
    fn drop(&mut self) {
        for load in self.0.drain(..).filter_map(|load| load.upgrade()) {
            load.give_up();
        }
    }
}

thread_local! {
    static LOADS: RefCell<Loads> = const { RefCell::new(Loads(Vec::new())) };
}

/// The isolate ends.
pub(crate) fn end_all() {
    // A thread-local that is gone has done it.
    let _ = LOADS.try_with(|all| all.replace(Loads(Vec::new())));
}

impl Held {
    fn begin(cache: &Cache) -> Load {
        let load = Arc::new(Held {
            loading: Mutex::new(cache.loading_after(Duration::ZERO)),
            at: Mutex::default(),
        });
        LOADS.with_borrow_mut(|Loads(all)| {
            if all.len() == all.capacity() {
                all.retain(|one| one.strong_count() > 0);
            }
            all.push(Arc::downgrade(&load));
        });
        load
    }

    fn give_up(self: Arc<Held>) {
        let at = self.at().take();
        if let Some((cache, key)) = at {
            // A thread may be in a step of it.
            workers::run(move || cache.abandon(&key, &mut self.loading()));
        }
    }

    fn loading(&self) -> MutexGuard<'_, Loading> {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self) -> MutexGuard<'_, Option<(Cache, Vec<u8>)>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before a step.
    fn go_on(&self, cache: &Cache, key: &[u8]) -> MutexGuard<'_, Loading> {
        self.at()
            .get_or_insert_with(|| (cache.clone(), key.to_vec()));
        self.loading()
    }

    /// Before its end.
    fn finish(&self) -> MutexGuard<'_, Loading> {
        *self.at() = None;
        self.loading()
    }
}

fn wait(left: Duration) -> mailbox::Answer {
    number(code::WAIT - left.as_micros() as f64)
}

/// `loadBegin(cache)`, at once: a load of one key.
pub(super) unsafe extern "C" fn begin(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<1>(env, info, |call| {
        with(call.integer(0)?, |cache| {
            let load = Held::begin(cache);
            // SAFETY: the environment is the one that the engine is in.
            let made = unsafe { External::to_napi_value(env, External::new(load)) };
            made.map(Answer::Made)
        })
    })
}

/// `loadStep(…, load, waited)`: bytes for a hit, else a number that says what to do.
pub(super) unsafe extern "C" fn step(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<6>(env, info, |call| {
        let load = call.external::<Load>(4)?.clone();
        let waited = milliseconds(call.number(5)?);
        let as_answer = |step| match step {
            LoadStep::Hit(value, _) => bytes(Some(value)),
            LoadStep::Load => number(code::LOAD),
            LoadStep::Wait(left) => wait(left),
            LoadStep::TimedOut => number(code::TIMED_OUT),
        };
        on_key(call, as_answer, move |cache, key| {
            let step = cache.step_payload(key, &mut load.go_on(cache, key), waited, joined);
            if !matches!(step, Ok(LoadStep::Load | LoadStep::Wait(_))) {
                drop(load.finish());
            }
            step
        })
    })
}

/// `loadFill(…, payload, measured, ttl, load)`: whether it was stored; an error says why it could not be.
pub(super) unsafe extern "C" fn fill(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<8>(env, info, |call| {
        let written = Written::of(call)?;
        let is_large = written.is_large();
        let load = call.external::<Load>(7)?.clone();
        on_key(call, boolean, move |cache, key| {
            let payload = written.payload();
            match cache.fill_payload(key, &mut load.finish(), payload, written.lifetime())? {
                Filled::Stored => Ok(true),
                Filled::Refused => Ok(false),
                Filled::Unstored(error) => Err(error),
            }
        })
        .map(|job| job.on_thread_if(is_large))
    })
}

/// `loadEnd(…, load)`: ends a load that brings nothing.
pub(super) unsafe extern "C" fn end(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<5>(env, info, |call| {
        let load = call.external::<Load>(4)?.clone();
        on_key(call, nothing, move |cache, key| {
            cache.abandon(key, &mut load.finish());
            Ok(())
        })
    })
}

/// `loadOpen(cache, load, own)`, at once: whether others may join a load between two steps; with 1 for `own` whether its own loader
/// would.
pub(super) unsafe extern "C" fn open(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<3>(env, info, |call| {
        let load = call.external::<Load>(1)?;
        let own = call.integer(2)? == 1;
        with(call.integer(0)?, |cache| {
            let loading = match load.loading.try_lock() {
                Ok(loading) => loading,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return Ok(Answer::Boolean(false)),
            };
            let is_open = match own {
                true => cache.is_open_to_itself(&loading),
                false => cache.is_open(&loading),
            };
            Ok(Answer::Boolean(is_open))
        })
    })
}

/// `lockStep(…, wait, waited)`: the lock's words for a caller that has it, else a number that says what to do.
pub(super) unsafe extern "C" fn lock(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<6>(env, info, |call| {
        let longest = milliseconds(call.number(4)?);
        let waited = milliseconds(call.number(5)?);
        let as_answer = |step| match step {
            LockStep::Acquired(Token {
                slot, word, born, ..
            }) => {
                let words = [slot, word, born].map(u64::to_le_bytes);
                bytes(Some(words.concat()))
            }
            LockStep::Refused => number(code::TIMED_OUT),
            LockStep::Wait(left) => wait(left),
        };
        on_key(call, as_answer, move |cache, key| {
            cache.lock_step(key, &cache.locking_after(longest, waited))
        })
    })
}

/// `unlock(…, words)`: gives a lock back.
pub(super) unsafe extern "C" fn unlock(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<5>(env, info, |call| {
        let [slot, word, born] = call.words(4)?;
        on_key(call, nothing, move |cache, key| {
            let beside = false;
            Bindings::unlock(
                cache,
                key,
                Token {
                    slot,
                    word,
                    born,
                    beside,
                },
            );
            Ok(())
        })
    })
}

/// `locked(…)`: whether somebody has it.
pub(super) unsafe extern "C" fn locked(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    ask::<4>(env, info, |call| on_key(call, boolean, Bindings::is_locked))
}
