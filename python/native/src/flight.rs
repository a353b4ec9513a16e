//! One load under way in this process, and callers that joined it.

use crate::duration::TtlArgument;
use crate::flights::Namespace;
use crate::machine::{Copies, Filled, Loaded, Machine, Step};
use crate::own::Owner;
use crate::types::Types;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The settings of all loads of a handle.
#[derive(Clone, Copy)]
pub struct Rules {
    pub lease_timeout: Duration,
    /// The process' own list of loads is the lease.
    pub listed_is_leased: bool,
}

/// One load under way.
pub struct Flight {
    pub key: Py<PyAny>,
    pub hash: u64,
    pub namespace: Namespace,
    pub owner: Owner,
    rules: Rules,
    /// A set, delete or clear came, or a value was stored: where the process' own list is the lease.
    invalidated: Arc<AtomicBool>,
    /// Locked only by the caller that loads, also while other threads run; others only try.
    machine: Mutex<Box<dyn Machine>>,
    state: Mutex<State>,
    /// Other loads that code of this one waits for.
    awaited: Mutex<Vec<Arc<Flight>>>,
}

#[derive(Default)]
struct State {
    /// When its loader began; until then it waits for another process.
    since: Option<Instant>,
    /// Its machine is being asked, which over a remote tier takes a round trip; or it answered with a hit.
    asks: bool,
    /// A caller joined meanwhile: what the machine finds may be older than what that caller must see.
    joined_late: bool,
    over: bool,
    /// Another load of the key was stored.
    nudged: bool,
    /// Callers that joined and have not taken its answer.
    joined: usize,
    answer: Option<Answer>,
    /// Wake callers that wait.
    waiting: Vec<Py<PyAny>>,
}

impl State {
    fn is_waited_for(&self) -> bool {
        !self.over && !self.nudged
    }
}

/// What callers that joined get; without one they look again.
enum Answer {
    Value(Py<PyAny>, Copies),
    /// An exception, and its traceback, to which each caller that raises it would add.
    Error(Py<PyAny>, Py<PyAny>),
    /// The loader of many keys left this one out: callers that want it alone look again.
    Absent,
}

impl Answer {
    fn clone_ref(&self, py: Python<'_>) -> Answer {
        match self {
            Answer::Value(value, copies) => Answer::Value(value.clone_ref(py), *copies),
            Answer::Error(error, from) => Answer::Error(error.clone_ref(py), from.clone_ref(py)),
            Answer::Absent => Answer::Absent,
        }
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Flight {
    /// One that is about to ask its machine.
    pub fn new(
        key: Py<PyAny>,
        (namespace, hash): (Namespace, u64),
        owner: Owner,
        rules: Rules,
        machine: impl FnOnce(Arc<AtomicBool>) -> Box<dyn Machine>,
    ) -> Flight {
        let invalidated = Arc::new(AtomicBool::new(false));
        Flight {
            key,
            hash,
            namespace,
            owner,
            rules,
            machine: Mutex::new(machine(invalidated.clone())),
            invalidated,
            state: Mutex::default(),
            awaited: Mutex::default(),
        }
    }

    /// A write came: where the process' own list is the lease, its value is not stored.
    pub fn invalidate(&self) {
        self.invalidated.store(true, Ordering::SeqCst);
    }

    /// Whether callers that come now may join.
    pub fn is_open(&self) -> bool {
        let asks = {
            let state = lock(&self.state);
            let is_old = |since: Instant| since.elapsed() >= self.rules.lease_timeout;
            if state.over || state.since.is_some_and(is_old) {
                return false;
            }
            state.asks
        };
        if self.invalidated.load(Ordering::SeqCst) {
            return false;
        }
        match self.machine.try_lock() {
            Ok(machine) => machine.is_open(),
            // It is being asked for: whoever loads begins later than a caller that comes now.
            Err(_) if asks => true,
            // Its value is being stored. Where the list is the lease, nothing invalidated it; a lease of the
            // host's may just have ended: a caller that comes now asks for one itself.
            Err(_) => self.rules.listed_is_leased,
        }
    }

    /// Whether its own loader asks for its key.
    pub fn asks_for_itself(&self, owner: &Owner) -> bool {
        self.owner.is_same(owner)
            && !lock(&self.state).over
            && self
                .machine
                .try_lock()
                .is_ok_and(|machine| machine.is_open_to_itself())
    }

    /// False when it ended just now.
    pub fn join(&self) -> bool {
        let mut state = lock(&self.state);
        state.joined += usize::from(!state.over);
        state.joined_late |= state.asks;
        !state.over
    }

    /// Lists what is to be called then; false when it is over, or callers that wait are to look for the key.
    pub fn wake(&self, wake: Py<PyAny>) -> bool {
        let mut state = lock(&self.state);
        let waits = state.is_waited_for();
        if waits {
            state.waiting.push(wake);
        }
        waits
    }

    /// False when it is over, or callers that wait are to look for the key.
    pub fn is_waited_for(&self) -> bool {
        lock(&self.state).is_waited_for()
    }

    /// Whether a loader of many keys left this one out, as callers that joined are told.
    pub fn is_absent(&self) -> bool {
        matches!(lock(&self.state).answer, Some(Answer::Absent))
    }

    /// Another load was stored. If this one ran beside it, callers that wait look for the key. (One that waits
    /// itself is about to look, and others may still be joined: those are of other keys.)
    pub fn nudge(&self, py: Python<'_>) {
        if lock(&self.state).since.is_none() || self.is_open() {
            return;
        }
        lock(&self.state).nudged = true;
        self.wake_all(py);
    }

    fn wake_all(&self, py: Python<'_>) {
        let woken = std::mem::take(&mut lock(&self.state).waiting);
        for wake in woken {
            if let Err(error) = wake.bind(py).call0() {
                error.write_unraisable(py, None);
            }
        }
    }

    /// Takes a callback off that list.
    pub fn let_sleep(&self, wake: &Bound<'_, PyAny>) {
        let mut state = lock(&self.state);
        let place = state.waiting.iter().position(|one| one.is(wake));
        let gone = place.map(|place| state.waiting.swap_remove(place));
        drop(state);
        drop(gone);
    }

    /// Callers that wait for it.
    pub fn waiting(&self) -> usize {
        lock(&self.state).waiting.len()
    }

    /// How long callers that joined wait for it: until another may load beside it.
    pub fn patience(&self) -> Duration {
        let since = lock(&self.state).since;
        let age = since.map_or(Duration::ZERO, |since| since.elapsed());
        self.rules.lease_timeout.saturating_sub(age)
    }

    pub fn awaited(&self) -> MutexGuard<'_, Vec<Arc<Flight>>> {
        lock(&self.awaited)
    }

    pub fn is_finished(&self) -> bool {
        lock(&self.state).over
    }

    /// What a caller that joined gets; it takes it once. None while there is nothing.
    pub fn answer<'py>(
        &self,
        py: Python<'py>,
        types: Option<&Types>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (answer, last) = {
            let mut state = lock(&self.state);
            if !state.over {
                return Ok(None);
            }
            state.joined = state.joined.saturating_sub(1);
            let answer = state.answer.as_ref().map(|answer| answer.clone_ref(py));
            let last = if state.joined == 0 {
                state.answer.take()
            } else {
                None
            };
            (answer, last)
        };
        drop(last);
        match answer {
            None | Some(Answer::Absent) => Ok(None),
            Some(Answer::Value(value, copies)) => copies.of(value.into_bound(py), types).map(Some),
            Some(Answer::Error(error, from)) => {
                let error = error.into_bound(py);
                error.setattr("__traceback__", from)?;
                Err(PyErr::from_value(error))
            }
        }
    }

    /// A caller that joined is gone without an answer.
    pub fn leave(&self) {
        let mut state = lock(&self.state);
        state.joined = state.joined.saturating_sub(1);
        let last = if state.joined == 0 {
            state.answer.take()
        } else {
            None
        };
        drop(state);
        drop(last);
    }

    pub fn step<'py>(&self, py: Python<'py>) -> PyResult<Step<'py>> {
        lock(&self.state).asks = true;
        let step = lock(&self.machine).step(py);
        let mut state = lock(&self.state);
        // After a hit until it is settled.
        state.asks = matches!(step, Ok(Step::Hit(..)));
        if matches!(step, Ok(Step::Load)) {
            state.since = Some(Instant::now());
        }
        step
    }

    pub fn fill<'py>(
        &self,
        loaded: Loaded<'_, 'py>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<Filled<'py>> {
        lock(&self.machine).fill(loaded, ttl)
    }

    /// Ends it: callers that joined look again.
    pub fn abandon(&self, py: Python<'_>) {
        self.release();
        self.settle(py, || None);
    }

    /// The loader of many keys left this one out.
    pub fn leave_out(&self, py: Python<'_>) {
        self.release();
        self.settle(py, || Some(Answer::Absent));
    }

    /// The loader failed.
    pub fn fail(&self, py: Python<'_>, error: &Bound<'_, PyAny>) {
        self.release();
        self.settle(py, || {
            let from = error.getattr("__traceback__").ok()?;
            Some(Answer::Error(error.clone().unbind(), from.unbind()))
        });
    }

    /// Gives the lease back, but not in a forked child: it is its parent's.
    fn release(&self) {
        if self.owner.is_in_its_process() {
            lock(&self.machine).abandon();
        }
    }

    /// Callers that joined get a value, of which a copy is kept for them.
    pub fn settle_with(&self, value: &Bound<'_, PyAny>, copies: Copies) {
        self.settle(value.py(), || {
            let kept = copies
                .of(value.clone(), None)
                .unwrap_or_else(|_| value.clone());
            Some(Answer::Value(kept.unbind(), copies))
        });
    }

    /// Ends it for callers that joined, and wakes them. Nothing is kept when no caller joined.
    fn settle(&self, py: Python<'_>, answer: impl FnOnce() -> Option<Answer>) {
        let joined = {
            let mut state = lock(&self.state);
            if state.over {
                return;
            }
            if state.joined == 0 {
                state.over = true;
            }
            state.joined
        };
        if joined > 0 {
            // Made without the lock; a caller that joins meanwhile gets it, too.
            let answer = answer();
            let mut state = lock(&self.state);
            if state.over {
                return;
            }
            state.over = true;
            // A hit that those who came late look for themselves.
            let is_old = state.asks && state.joined_late;
            state.answer = answer.filter(|_| !is_old);
        }
        self.wake_all(py);
    }

    pub fn is_of(&self, key: &Bound<'_, PyAny>, namespace: &Namespace) -> PyResult<bool> {
        let same = Arc::ptr_eq(&self.namespace, namespace) || self.namespace == *namespace;
        let own = self.key.bind(key.py());
        Ok(same && (own.is(key) || own.eq(key)?))
    }
}
