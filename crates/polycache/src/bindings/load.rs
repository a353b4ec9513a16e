//! One caller's load of a key, step by step.

use crate::cache::{reading, Read, Write};
use crate::conditional::writing_value;
use crate::observe::{self, Answer};
use crate::origin::Origin;
use crate::scratch::Scratch;
use crate::tier::{AtKey, TierLoad};
use crate::{Cache, Error, StoreErrors, Ttl, Value};
use polycache_host::Token;
use polycache_operations::{Bounds, Done, Event, Step};
use std::time::{Duration, Instant};

/// One caller's load of a key. It begins with [`Bindings::loading`](super::Bindings::loading), goes on with [`Bindings::step`](super::Bindings::step), and ends with
/// [`Bindings::fill`](super::Bindings::fill) or [`Bindings::abandon`](super::Bindings::abandon), or with what `step` answers.
#[derive(Debug)]
pub struct Loading {
    /// Begun at the first step, which knows the key.
    machine: Option<TierLoad>,
    bounds: Bounds,
    began: Instant,
    /// The time that its caller waited for others before it began.
    waited: Duration,
    /// No step was taken. The first is taken at once, because asking for the time costs as much as it does.
    is_new: bool,
}

/// What the caller of a load is to do next.
#[derive(Debug)]
pub enum LoadStep<R> {
    /// Nothing: the value is there. Holds what the closure made of it, and where it was found.
    Hit(R, Origin),
    /// Run the loader; then fill or abandon.
    Load,
    /// Wait so long, then step again.
    Wait(Duration),
    /// Nothing: the caller gets [`Error::WaitTimeout`].
    TimedOut,
}

/// What became of a loaded value; its caller gets it in any case.
#[derive(Debug)]
pub enum Filled {
    /// It is stored.
    Stored,
    /// It is not stored, and nothing is wrong: the key was set, deleted or cleared meanwhile, another load filled it,
    /// or there was no room for a lease.
    Refused,
    /// It could not be stored: report it.
    Unstored(Error),
}

impl Loading {
    /// The right to fill; none while no loader runs, or if it runs without a lease.
    #[must_use]
    pub fn fence(&self) -> Option<Token> {
        self.machine.as_ref()?.fence().copied()
    }

    /// When it began.
    #[must_use]
    pub fn began(&self) -> Instant {
        self.began
    }

    fn now(&mut self) -> Duration {
        if std::mem::take(&mut self.is_new) {
            return self.waited;
        }
        self.waited + self.began.elapsed()
    }
}

// The functions of [`Bindings`](super::Bindings) that are about loads.

pub(super) fn begin(cache: &Cache, waited: Duration) -> Loading {
    let bounds = Bounds {
        wait_timeout: cache.settings().wait_timeout,
    };
    Loading {
        machine: None,
        bounds,
        began: Instant::now(),
        waited,
        is_new: true,
    }
}

pub(super) fn step<R>(
    cache: &Cache,
    key: &[u8],
    loading: &mut Loading,
    f: impl FnOnce(Value<'_>) -> R,
) -> Result<LoadStep<R>, Error> {
    let now = loading.now();
    step_by(cache, key, loading, now, reading(f))
}

/// As [`step`], `now` after its caller began to wait.
pub(super) fn step_by<R>(
    cache: &Cache,
    key: &[u8],
    loading: &mut Loading,
    now: Duration,
    read: impl Read<R>,
) -> Result<LoadStep<R>, Error> {
    let mut scratch = Scratch::take();
    let mut at = AtKey::new(cache.tier(), key, &mut scratch.entry);
    let bounds = loading.bounds;
    let machine = loading
        .machine
        .get_or_insert_with(|| cache.tier().begin_load(key, bounds, Duration::ZERO));
    let step = machine.step(&mut at, Event::Woken, now)?;
    let place = at.place;
    let answer = match step {
        Step::Done(Done::Hit) => {
            observe::read(cache, key, cache.tier().answer());
            let origin = Origin::of(place.expect("a hit has a place"), &scratch.entry);
            let value = cache.read_used(key, &mut scratch, read);
            value.map(|value| LoadStep::Hit(value, origin))
        }
        Step::Load => {
            observe::read(cache, key, Answer::Miss);
            Ok(LoadStep::Load)
        }
        Step::Wait { until, .. } => Ok(LoadStep::Wait(until.saturating_sub(now))),
        Step::Done(_) => {
            cache.tier().count_wait_timeout();
            Ok(LoadStep::TimedOut)
        }
    };
    scratch.keep();
    answer
}

pub(super) fn fill(
    cache: &Cache,
    key: &[u8],
    loading: &mut Loading,
    value: &Value<'_>,
    ttl: Ttl,
) -> Result<Filled, Error> {
    fill_by(cache, key, loading, writing_value(value), ttl)
}

pub(super) fn fill_by(
    cache: &Cache,
    key: &[u8],
    loading: &mut Loading,
    write: impl Write,
    ttl: Ttl,
) -> Result<Filled, Error> {
    let mut scratch = Scratch::take();
    let written = cache.write(key, write, ttl, &mut scratch.entry);
    let filled = match written {
        Ok(()) => fill_entry(cache, key, loading, &scratch.entry),
        Err(error) => {
            abandon(cache, key, loading);
            Err(error)
        }
    };
    let bytes = scratch.entry.len();
    scratch.keep();
    stored(cache, key, bytes, filled)
}

pub(super) fn abandon(cache: &Cache, key: &[u8], loading: &mut Loading) {
    let Some(machine) = &mut loading.machine else {
        return;
    };
    let mut unused = Vec::new();
    let mut at = AtKey::new(cache.tier(), key, &mut unused);
    // Nothing is asked of the tiers that could fail, and nothing depends on the time.
    let _ = machine.step(&mut at, Event::Cancelled, Duration::ZERO);
}

pub(super) fn is_open(cache: &Cache, loading: &Loading) -> bool {
    let Some(machine) = &loading.machine else {
        return true;
    };
    if let Some(open) = machine.is_open_itself(false) {
        return open;
    }
    match machine.fence() {
        // A directory knows by the lease alone.
        Some(fence) => stands_by(cache, b"", *fence),
        None => machine.is_waiting(),
    }
}

pub(super) fn is_open_to_itself(loading: &Loading) -> bool {
    let machine = loading.machine.as_ref();
    let open = machine.and_then(|machine| machine.is_open_itself(true));
    open.unwrap_or(false)
}

pub(super) fn stands_by(cache: &Cache, key: &[u8], fence: Token) -> bool {
    cache.tier().is_leased(key, fence)
}

fn fill_entry(
    cache: &Cache,
    key: &[u8],
    loading: &mut Loading,
    entry: &[u8],
) -> Result<bool, Error> {
    let Some(machine) = &mut loading.machine else {
        return Ok(false);
    };
    let mut unused = Vec::new();
    let mut at = AtKey::new(cache.tier(), key, &mut unused);
    // Nothing depends on the time.
    let step = machine.step(&mut at, Event::Loaded(entry), Duration::ZERO)?;
    Ok(step == Step::Done(Done::Filled))
}

/// What a fill's result means for its caller.
fn stored(
    cache: &Cache,
    key: &[u8],
    bytes: usize,
    filled: Result<bool, Error>,
) -> Result<Filled, Error> {
    match filled {
        Ok(true) => {
            observe::stored(cache, key, bytes, Ok(()));
            Ok(Filled::Stored)
        }
        Ok(false) => {
            observe::invalidated(cache, key);
            Ok(Filled::Refused)
        }
        Err(error) => {
            observe::stored(cache, key, bytes, Err(&error));
            if error.is_of_program() || cache.settings().store_errors == StoreErrors::Raise {
                return Err(error);
            }
            cache.tier().count_unstored();
            Ok(Filled::Unstored(error))
        }
    }
}
