//! Durations: text like "5m", seconds, or a timedelta.

use crate::classes::{self, Classes};
use crate::errors;
use crate::expires_at::{self, Lifetime};
use polycache::Ttl;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};
use pyo3::Borrowed;
use std::time::Duration;

/// The argument `ttl`, and `expires_at` in its place, as they were given; to be read after the key, because the first
/// wrong argument is reported.
#[derive(Clone, Copy, Default)]
pub struct TtlArgument<'a, 'py> {
    ttl: Option<Borrowed<'a, 'py, PyAny>>,
    expires_at: Option<Borrowed<'a, 'py, PyAny>>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for TtlArgument<'a, 'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(TtlArgument {
            ttl: Some(object),
            expires_at: None,
        })
    }
}

impl<'a, 'py> TtlArgument<'a, 'py> {
    pub fn of(ttl: &'a Bound<'py, PyAny>) -> TtlArgument<'a, 'py> {
        TtlArgument {
            ttl: Some(ttl.as_borrowed()),
            expires_at: None,
        }
    }

    /// The same with a time in its place, if one is given.
    #[inline]
    pub fn or(self, expires_at: Option<&'a Bound<'py, PyAny>>) -> TtlArgument<'a, 'py> {
        TtlArgument {
            ttl: self.ttl,
            expires_at: expires_at.map(Bound::as_borrowed),
        }
    }

    /// Both as they were given, or as their defaults.
    pub fn objects(
        self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let ttl = match self.ttl {
            Some(ttl) => ttl.to_owned(),
            None => classes::missing(py)?.clone(),
        };
        Ok((ttl, self.expires_at.map(|time| time.to_owned())))
    }

    /// None is "never"; `MISSING` or nothing is the cache's own.
    #[inline]
    pub fn read(self) -> PyResult<Ttl> {
        match (self.ttl, self.expires_at) {
            (None, None) => Ok(Ttl::Default),
            (Some(object), None) => given(&object),
            (ttl, Some(time)) => either(ttl, &time),
        }
    }
}

/// The time that entries expire at, where no time to live is given as well.
#[cold]
fn either(ttl: Option<Borrowed<'_, '_, PyAny>>, time: &Bound<'_, PyAny>) -> PyResult<Ttl> {
    let py = time.py();
    match ttl {
        Some(ttl) if !ttl.is(classes::missing(py)?) => Err(errors::invalid_argument(
            py,
            "ttl and expires_at are both given: an entry has one of them",
        )),
        _ => expires_at::read(time),
    }
}

fn given(object: &Bound<'_, PyAny>) -> PyResult<Ttl> {
    let py = object.py();
    if object.is_none() {
        return Ok(Ttl::Forever);
    }
    if object.is(classes::missing(py)?) {
        return Ok(Ttl::Default);
    }
    if object.is_exact_instance_of::<Lifetime>() {
        return object.cast::<Lifetime>()?.get().read(py);
    }
    let ttl = Ttl::For(extract(object)?);
    ttl.check()
        .map_err(|error| errors::raise(py, error.into()))?;
    Ok(ttl)
}

/// A duration that is not negative.
pub fn extract(object: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let py = object.py();
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str().map_err(|_| not_a_duration(object))?;
        return polycache::duration::parse(text).map_err(|error| errors::raise(py, error));
    }
    if let Some(seconds) = seconds(object) {
        return match seconds {
            Seconds::Whole(seconds) => Ok(Duration::from_secs(seconds)),
            Seconds::Parts(seconds) => {
                Duration::try_from_secs_f64(seconds).map_err(|_| no_length(object))
            }
            Seconds::OutOfRange => Err(no_length(object)),
        };
    }
    if object.is_instance(Classes::get(py)?.timedelta.bind(py))? {
        return timedelta(object)?.ok_or_else(|| no_length(object));
    }
    Err(not_a_duration(object))
}

/// A number of seconds.
enum Seconds {
    Whole(u64),
    Parts(f64),
    OutOfRange,
}

/// None of what is not a number. Takes any class of numbers, like numpy's; no bool.
fn seconds(object: &Bound<'_, PyAny>) -> Option<Seconds> {
    if object.is_instance_of::<PyBool>() {
        return None;
    }
    if let Ok(seconds) = object.cast::<PyFloat>() {
        return Some(Seconds::Parts(seconds.value()));
    }
    if let Ok(seconds) = object.extract::<u64>() {
        return Some(Seconds::Whole(seconds));
    }
    if object.is_instance_of::<PyInt>() {
        return Some(Seconds::OutOfRange);
    }
    let is_number = object.hasattr("__float__").unwrap_or(false);
    let seconds = is_number.then(|| object.extract::<f64>().ok()).flatten();
    seconds.map(Seconds::Parts)
}

/// Whether a lifetime is 0 or less, which is allowed when a callable returns it.
pub fn expires_at_once(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if seconds(object).is_some() {
        return object.le(0);
    }
    let timedelta = Classes::get(object.py())?.timedelta.bind(object.py());
    if object.is_instance(timedelta)? {
        return object.le(timedelta.call0()?);
    }
    Ok(false)
}

/// None when it is negative: a negative timedelta has negative days.
fn timedelta(object: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    let days: i64 = object.getattr("days")?.extract()?;
    let seconds: u64 = object.getattr("seconds")?.extract()?;
    let microseconds: u32 = object.getattr("microseconds")?.extract()?;
    Ok(u64::try_from(days)
        .ok()
        .map(|days| Duration::new(days * 86_400 + seconds, microseconds * 1000)))
}

/// For a value of a right type: below 0, infinite, NaN, or beyond what a clock counts.
#[cold]
fn no_length(object: &Bound<'_, PyAny>) -> PyErr {
    errors::invalid_argument(
        object.py(),
        &format!(
            "{} is not a length of time: it must be longer than 0 and at most 2^48 - 1 ms; leave it out, or \
             write None, for entries that do not expire",
            errors::represent(object)
        ),
    )
}

#[cold]
fn not_a_duration(object: &Bound<'_, PyAny>) -> PyErr {
    errors::invalid_argument(
        object.py(),
        &format!(
            "{} is not a duration: write text like \"5m\", seconds as a number, or a timedelta",
            errors::represent(object)
        ),
    )
}
