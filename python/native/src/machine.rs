//! What a load asks of the tiers, whichever they are.

use crate::duration::TtlArgument;
use crate::errors;
use crate::from_python::Reading;
use crate::memory::{copy, copy_out};
use crate::types::Types;
use polycache::StoreErrors;
use pyo3::prelude::*;
use std::time::Duration;

/// What one caller's load of a key asks of the tiers; no lock of the loads is held meanwhile.
pub trait Machine: Send {
    /// Says what to do next. Raises `WaitTimeout`, and what reads raise.
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Step<'py>>;
    /// Stores what was loaded, unless a set, delete, clear or another load came first. The load is over.
    fn fill<'py>(
        &mut self,
        loaded: Loaded<'_, 'py>,
        ttl: TtlArgument<'_, '_>,
    ) -> PyResult<Filled<'py>>;
    /// Ends the load without a value; does nothing if it has ended.
    fn abandon(&mut self);
    /// False once a set, delete or clear came, or a value was stored, or when it runs without a lease.
    fn is_open(&self) -> bool;
    /// Whether a caller that is the loader itself joins it, and is told so, though it is too old for others.
    fn is_open_to_itself(&self) -> bool {
        false
    }
}

/// What the caller of a load is to do next.
pub enum Step<'py> {
    /// Nothing: here is the value, and whether it holds `Named`, as in [`Filled`].
    Hit(Bound<'py, PyAny>, bool),
    Load,
    Wait(Duration),
}

/// What a loader returned.
pub struct Loaded<'a, 'py> {
    pub value: &'a Bound<'py, PyAny>,
    /// Read, where it is to be written or copied.
    pub read: Option<PyResult<Reading<'py>>>,
}

/// What became of a loaded value.
pub struct Filled<'py> {
    /// As a reader would get it.
    pub value: Bound<'py, PyAny>,
    /// It holds `Named` for values of registered types: each caller's own is made of it without a lock.
    pub named: bool,
    pub outcome: Outcome,
}

pub enum Outcome {
    Stored,
    Refused,
    /// To be reported.
    Unstored(PyErr),
}

/// How long things may take, and what becomes of values that cannot be stored.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub lease_timeout: Duration,
    pub wait_timeout: Duration,
    pub store_errors: StoreErrors,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            lease_timeout: Duration::from_secs(30),
            wait_timeout: Duration::from_secs(60),
            store_errors: StoreErrors::Report,
        }
    }
}

/// What each of callers that joined a load is given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// The object itself.
    None,
    /// A copy of what the type map has.
    TypeMap,
    /// What `copy.deepcopy` makes.
    Deep,
}

impl Copies {
    /// With the objects of registered types, if they are given.
    pub fn of<'py>(
        self,
        value: Bound<'py, PyAny>,
        types: Option<&Types>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Copies::None => Ok(value),
            Copies::TypeMap => copy_out(value, types),
            Copies::Deep => copy(value),
        }
    }
}

/// The error of a loaded value that is to be handed over all the same; raises every other.
pub fn unstorable(py: Python<'_>, error: PyErr, store_errors: StoreErrors) -> PyResult<PyErr> {
    const CODES: [&str; 5] = [
        "unsupported_value",
        "entry_too_large",
        "value_too_large",
        "no_space",
        "io",
    ];
    let code = errors::code(py, &error);
    let is_one = code.is_some_and(|code| CODES.contains(&code.as_str()));
    match store_errors {
        StoreErrors::Report if is_one => Ok(error),
        StoreErrors::Report | StoreErrors::Raise => Err(error),
    }
}
