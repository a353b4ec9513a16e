//! One caller of `get_or_set` whose key was not there: it joins the load of another caller of the process, or steps the
//! machine of `polycache-operations`. Threads and futures share it; each has its own way to wait.

#[cfg(feature = "tokio")]
use crate::async_cache::Bytes;
use crate::observe::{self, Answer};
use crate::origin::Origin;
use crate::scratch::Scratch;
use crate::tier::{AtKey, Object, TierLoad};
use crate::{Cache, Error, StoreErrors, Ttl};
use polycache_entry::EntryOptions;
use polycache_host::Token;
use polycache_operations::{Bounds, Done, Event, Flights, Joined, Landed, Leader, Part, Step};
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
    /// Appends the value's entry.
    fn write(
        &self,
        value: &T,
        options: &EntryOptions<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), polycache_entry::Error>;
    /// The value as tiers of objects keep it.
    fn object(&self, value: &T) -> Option<Object>;
}

/// The same for futures over a remote tier, where another thread asks the server.
#[cfg(feature = "tokio")]
pub(crate) trait NearView<T>: View<T> {
    /// The value, if this process or a copy on this host has it, and nothing is to be sent.
    fn find_near(&self, key: &[u8]) -> Result<Option<T>, Error>;
    /// The value of what another thread read, and its place, if it has one.
    fn read_bytes(&self, key: &[u8], bytes: &Bytes, origin: Option<Origin>) -> Result<T, Error>;
}

impl<V: Cached> Cached for &V {
    fn cache(&self) -> &Cache {
        (*self).cache()
    }
}

impl<T, V: View<T>> View<T> for &V {
    #[inline]
    fn find(&self, key: &[u8]) -> Result<Option<T>, Error> {
        (*self).find(key)
    }

    fn read_entry(
        &self,
        key: &[u8],
        entry: &mut Scratch,
        origin: Option<Origin>,
    ) -> Result<T, Error> {
        (*self).read_entry(key, entry, origin)
    }

    fn write(
        &self,
        value: &T,
        options: &EntryOptions<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), polycache_entry::Error> {
        (*self).write(value, options, out)
    }

    fn object(&self, value: &T) -> Option<Object> {
        (*self).object(value)
    }
}

/// Time on a clock that is never set, for all loads of the process.
pub(crate) fn since_start(now: Instant) -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    now.saturating_duration_since(*START.get_or_init(Instant::now))
}

/// One caller whose key was not there. It owns its view and its key where another thread takes its steps.
pub(crate) struct Caller<V: Cached, K: AsRef<[u8]>> {
    view: V,
    key: K,
    ttl: Ttl,
    /// The thread that runs its loader, by number; 0 is a future, which any thread may run.
    runner: u64,
    began: Duration,
    state: State,
}

enum State {
    /// It did not look for the key yet.
    #[cfg_attr(not(feature = "tokio"), allow(dead_code))]
    Finds,
    Begins,
    Joined(Joined<Arc<[u8]>, Error, Token>),
    Leads(Leader<Vec<u8>, Arc<[u8]>, Error, Token>, TierLoad),
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

impl<V: Cached, K: AsRef<[u8]>> Caller<V, K> {
    pub fn new(view: V, key: K, ttl: Ttl, runner: u64, now: Duration) -> Caller<V, K> {
        Caller {
            view,
            key,
            ttl,
            runner,
            began: now,
            state: State::Begins,
        }
    }

    /// One that first looks for its key.
    #[cfg(feature = "tokio")]
    pub fn finding(view: V, key: K, ttl: Ttl, now: Duration) -> Caller<V, K> {
        let mut caller = Caller::new(view, key, ttl, 0, now);
        caller.state = State::Finds;
        caller
    }

    /// `waker` is asked for when the caller is to wait for another one.
    pub fn next<T>(&mut self, waker: impl Fn() -> Waker, now: Duration) -> Result<Next<T>, Error>
    where
        V: View<T>,
    {
        let settings = self.view.cache().settings();
        let (wait_timeout, lease_timeout) = (settings.wait_timeout, settings.lease_timeout);
        let deadline = self.began + wait_timeout;
        loop {
            match &mut self.state {
                State::Unshared => return Ok(Next::Load),
                State::Finds => {
                    if let Some(value) = self.view.find(self.key.as_ref())? {
                        return Ok(Next::Value(value));
                    }
                    self.state = State::Begins;
                }
                State::Begins => self.take_part(now),
                State::Joined(joined) => {
                    if self.runner != 0 && joined.is_run_by(self.runner) {
                        return Err(Error::invalid("the loader of a key asks for the same key"));
                    }
                    match joined.poll(&waker()) {
                        Poll::Ready(Landed::Value(entry)) => return self.joined(&entry),
                        Poll::Ready(Landed::Failed(error)) => {
                            self.count_miss();
                            return Err(error);
                        }
                        Poll::Ready(Landed::Unshared) => {
                            self.count_miss();
                            self.state = State::Unshared;
                        }
                        Poll::Ready(Landed::Absent) => {
                            self.state = State::Begins;
                            return Ok(Next::Absent);
                        }
                        Poll::Ready(Landed::Nothing) => self.state = State::Begins,
                        Poll::Pending => {
                            if now >= deadline {
                                self.view.cache().tier().count_wait_timeout();
                                return Err(Error::WaitTimeout);
                            }
                            let until = joined.patience(now, lease_timeout).min(deadline);
                            if until > now {
                                return Ok(Next::Wait(until - now));
                            }
                            self.state = State::Begins;
                        }
                    }
                    if matches!(self.state, State::Begins) {
                        if let Some(value) = self.view.find(self.key.as_ref())? {
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
        let key = self.key.as_ref();
        let full_key = [cache.tier().prefix(), key].concat();
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
        let mut at = AtKey::new(cache.tier(), self.key.as_ref(), &mut scratch.entry);
        let step = machine.step(&mut at, Event::Woken, now)?;
        let place = at.place;
        let next = match step {
            Step::Load => {
                observe::read(cache, self.key.as_ref(), Answer::Miss);
                leader.loads(machine.fence().copied(), now);
                Ok(Next::Load)
            }
            Step::Wait { until, .. } => Ok(Next::Wait(until.saturating_sub(now))),
            Step::Done(Done::Hit) => {
                observe::read(cache, self.key.as_ref(), cache.tier().answer());
                let origin = place.map(|place| Origin::of(place, &scratch.entry));
                let value = self
                    .view
                    .read_entry(self.key.as_ref(), &mut scratch, origin);
                if value.is_ok() {
                    cache.prolong(self.key.as_ref(), &scratch.entry);
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
        observe::read(cache, self.key.as_ref(), Answer::Memory);
        let mut scratch = Scratch::take();
        scratch.entry.extend_from_slice(entry);
        let value = self.view.read_entry(self.key.as_ref(), &mut scratch, None);
        scratch.keep();
        value.map(Next::Value)
    }

    /// Stores what the loader returned; its caller gets that in any case, unless errors are to be raised.
    pub fn loaded<T>(&mut self, value: T) -> Result<T, Error>
    where
        V: View<T>,
    {
        let view = &self.view;
        let mut scratch = Scratch::take();
        let write =
            |options: &EntryOptions<'_>, out: &mut Vec<u8>| view.write(&value, options, out);
        let written = view
            .cache()
            .write(self.key.as_ref(), write, self.ttl, &mut scratch.entry);
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
                    true => observe::stored(self.view.cache(), self.key.as_ref(), bytes, Ok(())),
                    false => observe::invalidated(self.view.cache(), self.key.as_ref()),
                }
                self.end(landed, stored);
            }
            Err(error) => {
                observe::stored(self.view.cache(), self.key.as_ref(), bytes, Err(&error));
                let cache = self.view.cache();
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
        let mut at = AtKey::new(self.view.cache().tier(), self.key.as_ref(), &mut unused);
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
        observe::read(cache, self.key.as_ref(), Answer::Miss);
    }

    fn is_joined(&self) -> bool {
        matches!(&self.state, State::Leads(leader, _) if leader.is_joined())
    }

    /// Gives the lease back, if there is one.
    fn cancel(&mut self) {
        if let State::Leads(_, machine) = &mut self.state {
            let mut unused = Vec::new();
            let mut at = AtKey::new(self.view.cache().tier(), self.key.as_ref(), &mut unused);
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
impl<V: Cached, K: AsRef<[u8]>> Drop for Caller<V, K> {
    fn drop(&mut self) {
        self.cancel();
    }
}
