//! The loads of one process: which caller joins which load, and which callers are told the result.
//!
//! Nothing here waits or knows the time. Drivers wait in their own way, by a [`Waker`]: for threads one
//! that unparks, for futures the executor's, for the simulation its own.

use std::collections::hash_map::{Entry, HashMap};
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

/// The result of a load, for the callers that joined it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landed<V, E> {
    /// The value.
    Value(V),
    /// Its loader's error.
    Failed(E),
    /// A value that only its loader's caller can have: each of the other callers runs its own loader.
    Unshared,
    /// The loader of many keys left this one out: for others who load many keys there is no value
    /// either. Each caller that wants this key alone looks it up and begins anew.
    Absent,
    /// Nothing: its caller is gone, or another load was stored. The callers that joined look up the key
    /// and begin anew.
    Nothing,
}

/// A load of one key in one process.
#[derive(Debug)]
struct Flight<V, E, F> {
    /// Since when its loader has been running, and by which fence; `None` where it runs without a lease.
    loading: OnceLock<(Duration, Option<F>)>,
    /// The caller that runs it, by a number of the driver's.
    runner: u64,
    over: AtomicBool,
    outcome: OnceLock<Landed<V, E>>,
    /// How often another load of the key was stored meanwhile.
    stored: AtomicU64,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    wakers: Vec<(u64, Waker)>,
    next: u64,
}

/// The loads of a process, by key. A clone is the same.
#[derive(Debug)]
pub struct Flights<K, V, E, F> {
    running: Arc<Mutex<Running<K, V, E, F>>>,
}

impl<K, V, E, F> Clone for Flights<K, V, E, F> {
    fn clone(&self) -> Self {
        Flights {
            running: self.running.clone(),
        }
    }
}

type Running<K, V, E, F> = HashMap<K, Vec<Arc<Flight<V, E, F>>>>;

/// What a caller that missed must do.
#[derive(Debug)]
pub enum Part<K: Eq + Hash + Clone, V: Clone, E: Clone, F> {
    /// Wait for an open load.
    Joins(Joined<V, E, F>),
    /// Drive its own load, which others may join.
    Leads(Leader<K, V, E, F>),
}

impl<K, V, E, F> Default for Flights<K, V, E, F> {
    fn default() -> Self {
        Flights {
            running: Arc::default(),
        }
    }
}

impl<K: Eq + Hash + Clone, V: Clone, E: Clone, F> Flights<K, V, E, F> {
    /// Joins the newest load of the key while it is open, else begins one. A load is open while it waits
    /// for another process, and while its loader has been running for less than `lease_timeout` by a
    /// fence that `stands`: it is told the fence, and how long the loader has been running, or nothing of that
    /// if it is this very caller's. `runner` is the caller that would run the loader: see [`Joined::is_run_by`].
    pub fn take_part(
        &self,
        key: K,
        runner: u64,
        now: Duration,
        lease_timeout: Duration,
        stands: impl Fn(&F, Duration) -> bool,
    ) -> Part<K, V, E, F> {
        let mut running = lock(&self.running);
        let flights = running.entry(key.clone()).or_default();
        let newest = flights.last();
        let is_open = |flight: &&Arc<Flight<V, E, F>>| {
            flight.is_open(now, lease_timeout, |fence, age| {
                // A loader that asks for its own key is told so, however old it is.
                let is_own = runner != 0 && flight.runner == runner;
                stands(fence, if is_own { Duration::ZERO } else { age })
            })
        };
        if let Some(flight) = newest.filter(is_open) {
            return Part::Joins(Joined {
                flight: flight.clone(),
                seen: flight.stored.load(Ordering::Acquire),
                number: None,
            });
        }
        let flight = Arc::new(Flight {
            loading: OnceLock::new(),
            runner,
            over: AtomicBool::new(false),
            outcome: OnceLock::new(),
            stored: AtomicU64::new(0),
            waiting: Mutex::default(),
        });
        flights.push(flight.clone());
        drop(running);
        Part::Leads(Leader {
            flights: self.clone(),
            key,
            flight,
            landed: false,
        })
    }

    /// Number of loads in progress.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.running).values().map(Vec::len).sum()
    }
}

impl<V: Clone, E: Clone, F> Flight<V, E, F> {
    fn is_open(
        &self,
        now: Duration,
        lease_timeout: Duration,
        stands: impl Fn(&F, Duration) -> bool,
    ) -> bool {
        if self.over.load(Ordering::Acquire) {
            return false;
        }
        match self.loading.get() {
            None => true,
            // Without a lease nothing would show that the key was set or deleted since.
            Some((_, None)) => false,
            Some((since, Some(fence))) => {
                let age = now.saturating_sub(*since);
                age < lease_timeout && stands(fence, age)
            }
        }
    }

    /// Tells the callers that joined; from here on no caller joins. Only the first call counts.
    fn land(&self, landed: Landed<V, E>) {
        let _ = self.outcome.set(landed);
        self.over.store(true, Ordering::Release);
        let wakers = std::mem::take(&mut lock(&self.waiting).wakers);
        for (_, waker) in wakers {
            waker.wake();
        }
    }

    /// Makes the callers that joined check again how long they may wait.
    fn wake(&self) {
        let wakers: Vec<Waker> = lock(&self.waiting)
            .wakers
            .iter()
            .map(|(_, waker)| waker.clone())
            .collect();
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// A caller's own load. Dropped before it has landed, it tells the callers that joined to begin anew.
#[derive(Debug)]
pub struct Leader<K: Eq + Hash + Clone, V: Clone, E: Clone, F> {
    flights: Flights<K, V, E, F>,
    key: K,
    flight: Arc<Flight<V, E, F>>,
    landed: bool,
}

impl<K: Eq + Hash + Clone, V: Clone, E: Clone, F> Leader<K, V, E, F> {
    /// The loader runs from `now` on, by this fence; `None` means without a lease.
    pub fn loads(&self, fence: Option<F>, now: Duration) {
        let _ = self.flight.loading.set((now, fence));
        self.flight.wake();
    }

    /// True when another caller has joined so far.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        // One reference here, one in the list.
        Arc::strong_count(&self.flight) > 2
    }

    /// The load is over. If it was `stored`, all callers of this process that wait for the key look it
    /// up, whichever load they joined: that load may be superseded by now, and they may have called
    /// after that.
    pub fn lands(mut self, landed: Landed<V, E>, stored: bool) {
        self.end(landed, stored);
    }

    fn end(&mut self, landed: Landed<V, E>, stored: bool) {
        self.landed = true;
        let mut others = Vec::new();
        let mut running = lock(&self.flights.running);
        // The key is looked up only once: every miss pays for it.
        if let Entry::Occupied(mut flights) = running.entry(self.key.clone()) {
            flights
                .get_mut()
                .retain(|one| !Arc::ptr_eq(one, &self.flight));
            if flights.get().is_empty() {
                flights.remove();
            } else if stored {
                others.clone_from(flights.get());
            }
        }
        drop(running);
        for other in others {
            other.stored.fetch_add(1, Ordering::AcqRel);
            other.wake();
        }
        self.flight.land(landed);
    }
}

impl<K: Eq + Hash + Clone, V: Clone, E: Clone, F> Drop for Leader<K, V, E, F> {
    fn drop(&mut self) {
        if !self.landed {
            self.end(Landed::Nothing, false);
        }
    }
}

/// A caller that waits for another caller's load in its process.
#[derive(Debug)]
pub struct Joined<V, E, F> {
    flight: Arc<Flight<V, E, F>>,
    /// The flight's `stored` when it was last seen.
    seen: u64,
    /// The number that its waker is listed under.
    number: Option<u64>,
}

impl<V: Clone, E: Clone, F> Joined<V, E, F> {
    /// The result of the load; until there is one, the waker is called when something changes.
    pub fn poll(&mut self, waker: &Waker) -> Poll<Landed<V, E>> {
        // A waker's `clone` and `drop` may be user code: not under the mutex.
        let waker = waker.clone();
        let mut waiting = lock(&self.flight.waiting);
        if let Some(landed) = self.flight.outcome.get() {
            drop(waiting);
            self.number = None;
            return Poll::Ready(landed.clone());
        }
        let stored = self.flight.stored.load(Ordering::Acquire);
        if stored != self.seen {
            self.seen = stored;
            return Poll::Ready(Landed::Nothing);
        }
        let number = *self.number.get_or_insert(waiting.next);
        waiting.next = waiting.next.max(number + 1);
        let listed = waiting
            .wakers
            .iter_mut()
            .find(|(other, _)| *other == number);
        let old = match listed {
            Some((_, listed)) => Some(std::mem::replace(listed, waker)),
            None => {
                waiting.wakers.push((number, waker));
                None
            }
        };
        drop(waiting);
        drop(old);
        Poll::Pending
    }

    /// How long to wait for this load: at that time the caller takes part anew.
    #[must_use]
    pub fn patience(&self, now: Duration, lease_timeout: Duration) -> Duration {
        let since = self.flight.loading.get().map_or(now, |(since, _)| *since);
        since + lease_timeout
    }

    /// True if this runner drives the load itself: it would wait for itself.
    #[must_use]
    pub fn is_run_by(&self, runner: u64) -> bool {
        self.flight.runner == runner
    }
}

impl<V, E, F> Drop for Joined<V, E, F> {
    fn drop(&mut self) {
        let Some(number) = self.number else {
            return;
        };
        let mut waiting = lock(&self.flight.waiting);
        let place = waiting
            .wakers
            .iter()
            .position(|(other, _)| *other == number);
        let waker = place.map(|place| waiting.wakers.swap_remove(place));
        drop(waiting);
        drop(waker);
    }
}

/// Locks a mutex. Nothing that could panic runs under it, so no change is left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
