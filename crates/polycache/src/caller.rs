//! One caller of `get_or_set` whose key was not there: it joins the load of another caller of the process, or steps the
//! machine of `polycache-operations`. Threads and futures share it; each has its own way to wait.

use crate::observe::{self, Answer};
use crate::origin::Origin;
use crate::scratch::Scratch;
use crate::tier::{AtKey, Object, TierLoad};
use crate::{Cache, Error, StoreErrors, Ttl};
use polycache_entry::{encode_typed, EntryOptions};
use polycache_host::Token;
use polycache_operations::{Bounds, Done, Event, Flights, Joined, Landed, Leader, Part, Step};
use serde::Serialize;
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// The loads of a handle's callers: those that join are given the entry, and decode it themselves.
pub(crate) type AllFlights = Flights<Vec<u8>, Arc<[u8]>, Error, Token>;

/// What stands on a cache.
pub(crate) trait Cached {
    fn cache(&self) -> &Cache;
}

/// What a load makes of entries: a cache's own values, or those of a view with objects of its own.
pub(crate) trait View<T>: Cached {
    /// The value, if it is there; a miss is not counted.
    fn find(&self, key: &[u8]) -> Result<Option<T>, Error>;
    /// The value of the given entry, and its place, if it has one.
    fn read_entry(
        &self,
        key: &[u8],
        entry: &mut Scratch,
        origin: Option<Origin>,
    ) -> Result<T, Error>;
    /// The value as tiers of objects keep it.
    fn object(&self, value: &T) -> Option<Object>;
}

/// Time on a clock that is never set, for all loads of the process.
pub(crate) fn since_start(now: Instant) -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    now.saturating_duration_since(*START.get_or_init(Instant::now))
}

/// One caller whose key was not there.
pub(crate) struct Caller<'a, V: Cached> {
    view: &'a V,
    key: &'a [u8],
    ttl: Ttl,
    /// The thread that runs its loader, by number; 0 is a future, which any thread may run.
    runner: u64,
    began: Duration,
    state: State<'a>,
}

enum State<'a> {
    Begins,
    Joined(Joined<Arc<[u8]>, Error, Token>),
    Leads(Leader<'a, Vec<u8>, Arc<[u8]>, Error, Token>, TierLoad),
    /// It loads only for itself.
    Unshared,
}

/// What a caller is to do next.
pub(crate) enum Next<T> {
    /// Nothing: this is the value.
    Value(T),
    /// Run the loader; then [`Caller::loaded`] or [`Caller::failed`].
    Load,
    /// Ask again after so long, or when the waker is called.
    Wait(Duration),
    /// Nothing for a caller of many keys: another one's loader left the key out. A caller of one key asks again.
    Absent,
}

impl<'a, V: Cached> Caller<'a, V> {
    pub fn new(view: &'a V, key: &'a [u8], ttl: Ttl, runner: u64, now: Duration) -> Caller<'a, V> {
        Caller {
            view,
            key,
            ttl,
            runner,
            began: now,
            state: State::Begins,
        }
    }

    /// `waker` is asked for when the caller is to wait for another one.
    pub fn next<T>(&mut self, waker: impl Fn() -> Waker, now: Duration) -> Result<Next<T>, Error>
    where
        V: View<T>,
    {
        let cache = self.view.cache();
        let settings = cache.settings();
        let deadline = self.began + settings.wait_timeout;
        loop {
            match &mut self.state {
                State::Unshared => return Ok(Next::Load),
                State::Begins => self.take_part(now),
                State::Joined(joined) => {
                    if self.runner != 0 && joined.is_run_by(self.runner) {
                        return Err(Error::invalid("the loader of a key asks for the same key"));
                    }
                    match joined.poll(&waker()) {
                        Poll::Ready(Landed::Value(entry)) => return self.joined(&entry),
                        Poll::Ready(Landed::Failed(error)) => {
                            cache.tier().count_joined(false);
                            observe::read(cache, self.key, Answer::Miss);
                            return Err(error);
                        }
                        Poll::Ready(Landed::Unshared) => {
                            cache.tier().count_joined(false);
                            observe::read(cache, self.key, Answer::Miss);
                            self.state = State::Unshared;
                        }
                        Poll::Ready(Landed::Absent) => {
                            self.state = State::Begins;
                            return Ok(Next::Absent);
                        }
                        Poll::Ready(Landed::Nothing) => self.state = State::Begins,
                        Poll::Pending => {
                            if now >= deadline {
                                cache.tier().count_wait_timeout();
                                return Err(Error::WaitTimeout);
                            }
                            let until = joined.patience(now, settings.lease_timeout).min(deadline);
                            if until > now {
                                return Ok(Next::Wait(until - now));
                            }
                            self.state = State::Begins;
                        }
                    }
                    if matches!(self.state, State::Begins) {
                        if let Some(value) = self.view.find(self.key)? {
                            return Ok(Next::Value(value));
                        }
                    }
                }
                State::Leads(..) => return self.lead(now),
            }
        }
    }

    /// Whether it waits for a load of its process.
    pub fn follows(&self) -> bool {
        matches!(self.state, State::Joined(_))
    }

    /// Takes off time in which its caller did something other than wait.
    pub fn did_not_wait(&mut self, time: Duration) {
        self.began += time;
    }

    fn take_part(&mut self, now: Duration) {
        let cache = self.view.cache();
        let full_key = [cache.tier().prefix(), self.key].concat();
        let key = self.key;
        let part = cache.flights().take_part(
            full_key,
            self.runner,
            now,
            cache.settings().lease_timeout,
            |token, age| {
                let is_young = cache.tier().joins_within().is_none_or(|most| age <= most);
                is_young && cache.tier().is_leased(key, *token)
            },
        );
        self.state = match part {
            Part::Joins(joined) => State::Joined(joined),
            Part::Leads(leader) => {
                let wait_timeout = cache.settings().wait_timeout;
                let bounds = Bounds { wait_timeout };
                let load = cache.tier().begin_load(key, bounds, self.began);
                State::Leads(leader, load)
            }
        };
    }

    /// Takes the next step of a load of its own.
    fn lead<T>(&mut self, now: Duration) -> Result<Next<T>, Error>
    where
        V: View<T>,
    {
        let State::Leads(leader, machine) = &mut self.state else {
            return Ok(Next::Load);
        };
        let cache = self.view.cache();
        let mut scratch = Scratch::take();
        let mut at = AtKey::new(cache.tier(), self.key, &mut scratch.entry);
        let step = machine.step(&mut at, Event::Woken, now)?;
        let place = at.place;
        let next = match step {
            Step::Load => {
                observe::read(cache, self.key, Answer::Miss);
                leader.loads(machine.fence().copied(), now);
                Ok(Next::Load)
            }
            Step::Wait { until, .. } => Ok(Next::Wait(until.saturating_sub(now))),
            Step::Done(Done::Hit) => {
                observe::read(cache, self.key, cache.tier().answer());
                let origin = place.map(|place| Origin::of(place, &scratch.entry));
                let value = self.view.read_entry(self.key, &mut scratch, origin);
                if value.is_ok() {
                    cache.prolong(self.key, &scratch.entry);
                }
                self.end(Landed::Nothing, true);
                value.map(Next::Value)
            }
            Step::Done(_) => {
                cache.tier().count_wait_timeout();
                Err(Error::WaitTimeout)
            }
        };
        scratch.keep();
        next
    }

    /// The value of another caller's load.
    fn joined<T>(&mut self, entry: &[u8]) -> Result<Next<T>, Error>
    where
        V: View<T>,
    {
        let cache = self.view.cache();
        cache.tier().count_joined(true);
        observe::read(cache, self.key, Answer::Memory);
        let mut scratch = Scratch::take();
        scratch.entry.extend_from_slice(entry);
        let value = self.view.read_entry(self.key, &mut scratch, None);
        scratch.keep();
        value.map(Next::Value)
    }

    /// Stores what the loader returned; its caller gets that in any case, unless errors are to be raised.
    pub fn loaded<T: Serialize>(&mut self, value: T) -> Result<T, Error>
    where
        V: View<T>,
    {
        let cache = self.view.cache();
        let mut scratch = Scratch::take();
        let write =
            |options: &EntryOptions<'_>, out: &mut Vec<u8>| encode_typed(&value, options, out);
        let written = cache.write(self.key, write, self.ttl, &mut scratch.entry);
        let is_encoded = written.is_ok();
        let filled = match written {
            Ok(()) => self.fill(&scratch.entry, self.view.object(&value)),
            Err(error) => {
                self.cancel();
                Err(error)
            }
        };
        let bytes = scratch.entry.len();
        let entry: Option<Arc<[u8]>> =
            (is_encoded && self.is_joined()).then(|| scratch.entry.as_slice().into());
        scratch.keep();
        // Those that joined after that look find the value where it is stored, or begin anew.
        let landed = match entry {
            Some(entry) => Landed::Value(entry),
            None if is_encoded => Landed::Nothing,
            None => Landed::Unshared,
        };
        match filled {
            Ok(stored) => {
                match stored {
                    true => observe::stored(cache, self.key, bytes, Ok(())),
                    false => observe::invalidated(cache, self.key),
                }
                self.end(landed, stored);
            }
            Err(error) => {
                observe::stored(cache, self.key, bytes, Err(&error));
                if !error.is_of_program() {
                    cache.tier().count_unstored();
                }
                if error.is_of_program() || cache.settings().store_errors == StoreErrors::Raise {
                    self.end(Landed::Failed(error.clone()), false);
                    return Err(error);
                }
                self.end(landed, false);
            }
        }
        Ok(value)
    }

    fn fill(&mut self, entry: &[u8], object: Option<Object>) -> Result<bool, Error> {
        let State::Leads(_, machine) = &mut self.state else {
            return Ok(false);
        };
        let mut unused = Vec::new();
        let mut at = AtKey::new(self.view.cache().tier(), self.key, &mut unused);
        at.object = object;
        let step = machine.step(&mut at, Event::Loaded(entry), self.began)?;
        Ok(step == Step::Done(Done::Filled))
    }

    /// Tells those that joined of the loader's error, which is the caller's too.
    pub fn failed(&mut self, error: Error) -> Error {
        self.cancel();
        self.end(Landed::Failed(error.clone()), false);
        error
    }

    /// Tells the callers that joined that the loader of many keys left this one out.
    pub fn left_out(&mut self) {
        self.cancel();
        self.end(Landed::Absent, false);
    }

    /// Counts that there is no value, as another's loader of many keys said.
    pub fn count_miss(&mut self) {
        let cache = self.view.cache();
        cache.tier().count_joined(false);
        observe::read(cache, self.key, Answer::Miss);
    }

    fn is_joined(&self) -> bool {
        matches!(&self.state, State::Leads(leader, _) if leader.is_joined())
    }

    /// Gives the lease back, if there is one.
    fn cancel(&mut self) {
        if let State::Leads(_, machine) = &mut self.state {
            let mut unused = Vec::new();
            let mut at = AtKey::new(self.view.cache().tier(), self.key, &mut unused);
            // Nothing is asked of the tiers that could fail.
            let _ = machine.step(&mut at, Event::Cancelled, self.began);
        }
    }

    fn end(&mut self, landed: Landed<Arc<[u8]>, Error>, stored: bool) {
        if let State::Leads(leader, _) = std::mem::replace(&mut self.state, State::Unshared) {
            leader.lands(landed, stored);
        }
    }
}

/// A caller that fails, panics or is dropped leaves the key to those that joined, or to the next.
impl<V: Cached> Drop for Caller<'_, V> {
    fn drop(&mut self) {
        self.cancel();
    }
}
