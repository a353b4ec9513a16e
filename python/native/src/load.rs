//! A caller's part in a load: its own, or one that it joined. What `polycache.loading` drives.

use crate::classes;
use crate::duration::TtlArgument;
use crate::errors;
use crate::flight::Flight;
use crate::flights::Flights;
use crate::machine::Step;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A load under way.
#[pyclass(frozen, weakref, module = "polycache._native")]
pub struct Load {
    flights: Arc<Flights>,
    flight: Arc<Flight>,
    /// True for the caller that loads.
    #[pyo3(get)]
    mine: bool,
    /// Its caller has ended it, or has taken its answer.
    done: AtomicBool,
}

impl Load {
    pub fn new(flights: Arc<Flights>, (flight, mine): (Arc<Flight>, bool)) -> Load {
        Load {
            flights,
            flight,
            mine,
            done: AtomicBool::new(false),
        }
    }

    /// Those under way, to be looked at.
    pub fn all(flights: &Arc<Flights>) -> Vec<Load> {
        let looked_at = |flight| Load {
            flights: flights.clone(),
            flight,
            mine: false,
            done: AtomicBool::new(true),
        };
        flights.all().into_iter().map(looked_at).collect()
    }

    fn finish(&self) -> bool {
        !self.done.swap(true, Ordering::SeqCst)
    }
}

/// An interrupt can come between the beginning of a load and the `try` that would end it, and a coroutine may
/// be let go of.
impl Drop for Load {
    fn drop(&mut self) {
        if !self.finish() {
            return;
        }
        if self.mine {
            crate::exit::attached(|py| self.flights.end(py, &self.flight, None));
        } else {
            self.flight.leave();
        }
    }
}

#[pymethods]
impl Load {
    /// What the caller is to do next: None to run the loader, seconds to wait, or the value in a tuple. Raises
    /// `WaitTimeout`, and what `get` raises.
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let step = self.flights.step(py, &self.flight).inspect_err(|error| {
            // Callers that joined have a bound of their own.
            let is_late = errors::code(py, error).as_deref() == Some("wait_timeout");
            if is_late && self.finish() {
                self.flights.end(py, &self.flight, None);
            }
        })?;
        Ok(match step {
            Step::Load => py.None().into_bound(py),
            Step::Wait(time) => time.as_secs_f64().into_pyobject(py)?.into_any(),
            Step::Hit(value, _) => {
                if self.finish() {
                    self.flights.end(py, &self.flight, None);
                }
                PyTuple::new(py, [value])?.into_any()
            }
        })
    }

    /// Stores the loaded value, gives it to callers that joined, and returns what the caller gets.
    ///
    /// Raises what `set` raises for the time to live, for a closed cache, and with `store_errors="raise"`.
    fn fill<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        ttl: TtlArgument<'_, '_>,
        reports: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = self.flights.land(&self.flight, value, ttl, reports)?;
        self.finish();
        Ok(value)
    }

    /// The loader failed; callers that joined get its error.
    fn fail(&self, py: Python<'_>, error: &Bound<'_, PyAny>) {
        if self.finish() {
            self.flights.end(py, &self.flight, Some(error));
        }
    }

    /// The caller is gone; one of callers that joined loads.
    fn abandon(&self, py: Python<'_>) {
        if self.finish() {
            self.flights.end(py, &self.flight, None);
        }
    }

    /// The loader of many keys left this one out: other callers of many keys take it as absent, too.
    fn leave_out(&self, py: Python<'_>) {
        if self.finish() {
            self.flights.leave_out(py, &self.flight);
        }
    }

    /// True while callers that joined wait for it; False when it is over, or they are to look for the key.
    #[getter]
    fn is_waited_for(&self) -> bool {
        self.flight.is_waited_for()
    }

    /// True when its loader of many keys left the key out. To be asked before `answer`.
    #[getter]
    fn is_absent(&self) -> bool {
        self.flight.is_absent()
    }

    /// Has `wake` called when the load is over; False when it is.
    fn wake(&self, wake: Py<PyAny>) -> bool {
        self.flight.wake(wake)
    }

    /// Takes `wake` back.
    fn let_sleep(&self, wake: &Bound<'_, PyAny>) {
        self.flight.let_sleep(wake);
    }

    /// The value, for a caller that joined; MISSING if there is none yet, or never will be. Raises the loader's error.
    fn answer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.flight.is_finished() && self.finish() {
            if let Some(value) = self.flight.answer(py, self.flights.types())? {
                return Ok(value);
            }
        }
        Ok(classes::missing(py)?.clone())
    }

    /// Seconds after which callers that joined look whether to load beside it.
    #[getter]
    fn patience(&self) -> f64 {
        self.flight.patience().as_secs_f64()
    }

    /// True when the caller, a task or None for a thread, runs this load itself.
    fn is_run_by(&self, caller: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.flight.owner.is(caller)
    }

    /// True when the load could not go on while the caller waits for it.
    fn is_blocked_by(&self, caller: &Bound<'_, PyAny>) -> bool {
        self.flight.owner.is_blocked_by(caller)
    }

    /// True when the load runs in an event loop, and not in this one.
    fn is_elsewhere(&self, event_loop: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.flight.owner.is_elsewhere(event_loop.py(), event_loop)
    }

    /// Lists that code of these loads waits for this one; True when this one waits for any of them in turn. Of
    /// those in a circle the last one sees it, because each lists itself before it looks.
    fn await_by(&self, loads: Vec<Py<Load>>) -> bool {
        let of = |load: &Py<Load>| load.get().flight.clone();
        let waiting: Vec<_> = loads
            .iter()
            .map(of)
            .filter(|one| !one.is_finished())
            .collect();
        for one in &waiting {
            one.awaited().push(self.flight.clone());
        }
        let mut seen: Vec<Arc<Flight>> = Vec::new();
        let mut ahead = vec![self.flight.clone()];
        while let Some(one) = ahead.pop() {
            if waiting.iter().any(|other| Arc::ptr_eq(other, &one)) {
                return true;
            }
            if !seen.iter().any(|other| Arc::ptr_eq(other, &one)) {
                ahead.extend(one.awaited().iter().cloned());
                seen.push(one);
            }
        }
        false
    }

    /// Takes that back.
    fn await_no_more(&self, loads: Vec<Py<Load>>) {
        for load in loads {
            let mut awaited = load.get().flight.awaited();
            let place = awaited
                .iter()
                .position(|one| Arc::ptr_eq(one, &self.flight));
            let gone = place.map(|place| awaited.swap_remove(place));
            drop(awaited);
            drop(gone);
        }
    }

    /// Its key.
    #[getter]
    fn key(&self, py: Python<'_>) -> Py<PyAny> {
        self.flight.key.clone_ref(py)
    }

    /// How many callers wait for it.
    #[getter]
    fn waiting(&self) -> usize {
        self.flight.waiting()
    }
}
