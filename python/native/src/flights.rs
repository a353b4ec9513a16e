//! The loads under way in this process, of one handle: which caller joins which (`spec/semantics.md`, "Joining").
//!
//! No lock is held over Python code: keys are compared, and objects released, outside.

use crate::byte_store;
use crate::duration::TtlArgument;
use crate::errors;
use crate::flight::{lock, Flight, Rules};
use crate::from_python::read as read_value;
use crate::machine::{Bounds, Copies, Filled, Loaded, Machine, Outcome, Step};
use crate::memory::{copy_in, copy_out};
use crate::own::Owner;
use crate::types::{is_ordinary, Types};
use polycache::Serializer;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The parts of a namespace.
pub type Namespace = Arc<[String]>;

/// The loads under way of a handle.
pub struct Flights {
    pub bounds: Bounds,
    copies: Copies,
    /// How values are read that are to be written; None where objects are kept themselves.
    reads: Option<Reads>,
    rules: Rules,
    /// Of those that are listed.
    count: AtomicUsize,
    table: Mutex<Table>,
    /// Codes of errors that were reported.
    reported: Mutex<HashSet<String>>,
    pub unstored: AtomicU64,
    pub wait_timeouts: AtomicU64,
    /// Of a `MemoryCache`; other tiers count theirs.
    pub invalidated_loads: AtomicU64,
}

#[derive(Default)]
struct Table {
    /// Moves with each change, so that keys can be compared without the lock.
    version: u64,
    /// By the hashes of their keys, in the order in which they began.
    flights: HashMap<u64, Vec<Arc<Flight>>>,
}

/// How values are read that are to be written.
pub struct Reads {
    pub serializer: Serializer,
    pub types: Option<Types>,
}

impl Flights {
    /// `listed_is_leased` is for caches without a host tier, where the list is the lease.
    pub fn new(
        bounds: Bounds,
        copies: Copies,
        reads: Option<Reads>,
        listed_is_leased: bool,
    ) -> Arc<Flights> {
        Arc::new(Flights {
            bounds,
            copies,
            reads,
            rules: Rules {
                lease_timeout: bounds.lease_timeout,
                listed_is_leased,
            },
            count: AtomicUsize::new(0),
            table: Mutex::default(),
            reported: Mutex::default(),
            unstored: AtomicU64::new(0),
            wait_timeouts: AtomicU64::new(0),
            invalidated_loads: AtomicU64::new(0),
        })
    }

    /// The types that the program has registered.
    #[inline]
    pub fn types(&self) -> Option<&Types> {
        self.reads.as_ref()?.types.as_ref()
    }

    /// The registered types, for the garbage collector: only what a single cache owns can be a cycle's part.
    pub fn traverse(self: &Arc<Self>, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.types() {
            Some(types) if Arc::strong_count(self) == 1 => types.traverse(visit),
            _ => Ok(()),
        }
    }

    /// The newest load of the key if it is open, or one that begins: then true.
    pub fn join_or_begin(
        &self,
        key: &Bound<'_, PyAny>,
        (namespace, hash): (&Namespace, u64),
        owner: Owner,
        machine: impl FnOnce(Arc<AtomicBool>) -> Box<dyn Machine>,
    ) -> PyResult<(Arc<Flight>, bool)> {
        let py = key.py();
        let mut begin = Some((owner, machine));
        let mut mine = None;
        loop {
            let (version, listed) = self.listed(hash);
            let mut newest = None;
            let mut dead = Vec::new();
            for flight in listed {
                if flight.owner.is_gone(py)? {
                    dead.push(flight);
                } else if flight.is_of(key, namespace)? {
                    newest = Some(flight);
                }
            }
            let joins = |flight: &Arc<Flight>| {
                let of_owner = begin.as_ref().map(|(owner, _)| owner);
                flight.is_open() || of_owner.is_some_and(|owner| flight.asks_for_itself(owner))
            };
            if let Some(newest) = newest.filter(joins) {
                if newest.join() {
                    return Ok((newest, false));
                }
            }
            let flight = mine.get_or_insert_with(|| {
                let (owner, machine) = begin.take().expect("it begins once");
                let place = (namespace.clone(), hash);
                let rules = self.rules;
                Arc::new(Flight::new(
                    key.clone().unbind(),
                    place,
                    owner,
                    rules,
                    machine,
                ))
            });
            if self.list(version, flight, &dead) {
                for flight in dead {
                    flight.abandon(py);
                }
                return Ok((flight.clone(), true));
            }
        }
    }

    fn listed(&self, hash: u64) -> (u64, Vec<Arc<Flight>>) {
        let table = lock(&self.table);
        let flights = table.flights.get(&hash).cloned().unwrap_or_default();
        (table.version, flights)
    }

    /// Lists a flight in the place of dead ones, if nothing has changed.
    fn list(&self, version: u64, flight: &Arc<Flight>, dead: &[Arc<Flight>]) -> bool {
        let mut table = lock(&self.table);
        if table.version != version {
            return false;
        }
        table.version += 1;
        let listed = table.flights.entry(flight.hash).or_default();
        listed.retain(|one| !dead.iter().any(|dead| Arc::ptr_eq(dead, one)));
        listed.push(flight.clone());
        self.count.fetch_add(1, Ordering::SeqCst);
        self.count.fetch_sub(dead.len(), Ordering::SeqCst);
        true
    }

    /// Takes a flight off the list; the caller has it still.
    fn unlist(&self, flight: &Arc<Flight>) {
        let mut table = lock(&self.table);
        let Some(listed) = table.flights.get_mut(&flight.hash) else {
            return;
        };
        let before = listed.len();
        listed.retain(|one| !Arc::ptr_eq(one, flight));
        let gone = before - listed.len();
        if listed.is_empty() {
            table.flights.remove(&flight.hash);
        }
        table.version += 1;
        self.count.fetch_sub(gone, Ordering::SeqCst);
    }

    /// What the caller that loads is to do next.
    pub fn step<'py>(&self, py: Python<'py>, flight: &Flight) -> PyResult<Step<'py>> {
        let step = flight.step(py)?;
        let Step::Hit(value, named) = step else {
            return Ok(step);
        };
        flight.settle_with(&value, self.copies_of(named));
        Ok(Step::Hit(self.own(value, named)?, named))
    }

    /// What callers that joined are given of a value, which may hold `Named` for values of registered types.
    fn copies_of(&self, named: bool) -> Copies {
        if named {
            Copies::TypeMap
        } else {
            self.copies
        }
    }

    /// Another value like one that was handed out; that one itself where it has no copies.
    pub fn copy_of<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some(reads) = &self.reads else {
            return Ok(value.clone());
        };
        let read = read_value(value, reads.serializer, reads.types.as_ref());
        match read.and_then(|reading| copy_in(value, reading)) {
            Ok(kept) => copy_out(kept, self.types()),
            Err(_) => Ok(value.clone()),
        }
    }

    /// What the caller that loads is given of it. Code of users: no lock is held.
    fn own<'py>(&self, value: Bound<'py, PyAny>, named: bool) -> PyResult<Bound<'py, PyAny>> {
        if named {
            copy_out(value, self.types())
        } else {
            Ok(value)
        }
    }

    /// Stores what a flight has loaded, and gives it to callers that joined it. If it is stored, callers that wait for
    /// other loads of the key look for it. Gives what the caller gets.
    pub fn land<'py>(
        &self,
        flight: &Arc<Flight>,
        value: &Bound<'py, PyAny>,
        ttl: TtlArgument<'_, '_>,
        reports: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        // Before anything is locked, because `encode` of registered types is code of users.
        let read = self.reads.as_ref();
        let read = read.map(|reads| read_value(value, reads.serializer, reads.types.as_ref()));
        if let Some(Err(error)) = &read {
            if !is_ordinary(py, error) {
                return Err(error.clone_ref(py));
            }
        }
        let Filled {
            value,
            named,
            outcome,
        } = flight.fill(Loaded { value, read }, ttl)?;
        let copies = self.copies_of(named);
        match outcome {
            Outcome::Stored => {
                flight.settle_with(&value, copies);
                self.unlist(flight);
                // Not handed the value: a later write may have come since, and they after that.
                for one in self.listed(flight.hash).1 {
                    one.nudge(py);
                }
                return self.own(value, named);
            }
            Outcome::Refused => flight.settle_with(&value, copies),
            Outcome::Unstored(error) => {
                let lacks = errors::code(py, &error).as_deref() == Some("unsupported_value");
                flight.settle_with(&value, if lacks { Copies::None } else { copies });
                self.unlist(flight);
                if byte_store::is_foreign(py, &error) {
                    return Err(error);
                }
                // What is too large may be no news; what has no copy would never be kept, in silence.
                if reports || lacks {
                    self.report(py, &error);
                }
                return self.own(value, named);
            }
        }
        self.unlist(flight);
        self.own(value, named)
    }

    /// Takes a flight off the list that has ended without a value, or was left.
    pub fn end(&self, py: Python<'_>, flight: &Arc<Flight>, error: Option<&Bound<'_, PyAny>>) {
        match error {
            Some(error) => flight.fail(py, error),
            None => flight.abandon(py),
        }
        self.unlist(flight);
    }

    /// Takes a flight off the list whose key the loader left out.
    pub fn leave_out(&self, py: Python<'_>, flight: &Arc<Flight>) {
        flight.leave_out(py);
        self.unlist(flight);
    }

    /// The first of each code is told to the logger `polycache`.
    fn report(&self, py: Python<'_>, error: &PyErr) {
        let code = errors::code(py, error).unwrap_or_default();
        if !lock(&self.reported).insert(code.clone()) {
            return;
        }
        let told = py
            .import("polycache.unstored")
            .and_then(|module| module.call_method1("report", (code, error.value(py))));
        if let Err(error) = told {
            error.write_unraisable(py, None);
        }
    }

    /// A write of the key wins over its loads, and over those of other keys with that hash, which is no more than a
    /// value that is not stored. Under a lock of the engine.
    #[inline]
    pub fn invalidate(&self, namespace: &Namespace, hash: u64) {
        if !self.any() {
            return;
        }
        let table = lock(&self.table);
        for flight in table.flights.get(&hash).into_iter().flatten() {
            if flight.namespace == *namespace {
                flight.invalidate();
            }
        }
    }

    /// A clear of a namespace wins over the loads in it, and in those nested in it.
    pub fn invalidate_below(&self, namespace: &[String]) {
        for flight in self.all() {
            if flight.namespace.starts_with(namespace) {
                flight.invalidate();
            }
        }
    }

    /// True when there are loads under way.
    #[inline]
    pub fn any(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    /// Loads under way.
    pub fn all(&self) -> Vec<Arc<Flight>> {
        let table = lock(&self.table);
        table.flights.values().flatten().cloned().collect()
    }

    /// Counts a wait that took too long, and gives the error.
    pub fn give_up(&self, py: Python<'_>) -> PyErr {
        self.wait_timeouts.fetch_add(1, Ordering::Relaxed);
        errors::raise(py, polycache::Error::WaitTimeout)
    }
}
