//! Counting: `increment` and `decrement` of `polycache.MemoryCache`.

use super::cache::MemoryCache;
use super::equality::settled;
use super::key::{Asked, Key};
use super::options::{raise, Stored};
use crate::errors;
use polycache::Error;
use polycache_memory::Ttl;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};
use std::cell::Cell;

/// Only the classes themselves count: adding them runs no code of users.
fn is_number(value: &Bound<'_, PyAny>) -> bool {
    match value.cast_exact::<PyFloat>() {
        Ok(number) => number.value().is_finite(),
        Err(_) => value.is_exact_instance_of::<PyInt>(),
    }
}

/// What is added. Raises `InvalidArgument` unless it is a number.
pub fn number<'a, 'py>(value: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyAny>> {
    if is_number(value) {
        return Ok(value);
    }
    let what = format!(
        "{} is not a number to count with: an int or a finite float is wanted",
        errors::represent(value)
    );
    Err(errors::invalid_argument(value.py(), &what))
}

fn sum<'py>(value: &Bound<'py, PyAny>, by: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if !is_number(value) {
        let error = Error::WrongType {
            path: "$".into(),
            reason: "only an int or a finite float can be counted up and down".into(),
        };
        return Err(errors::raise(py, error));
    }
    match value.add(by) {
        Ok(sum) if is_number(&sum) => Ok(sum),
        Err(error) if !error.is_instance_of::<PyOverflowError>(py) => Err(error),
        _ => Err(errors::invalid_argument(
            py,
            "the sum is too large for a float: nothing is added",
        )),
    }
}

impl MemoryCache {
    /// Adds to the key's number, and gives the sum. Raises `WrongType` and `InvalidArgument`, which change nothing.
    pub fn add<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        by: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        let asked = Key::asked(key, ())?;
        loop {
            self.read_clock(py)?;
            let seen = settled(py, || self.engine.peek(&*asked), Option::is_some)?;
            let sum = match &seen {
                Some(seen) => sum(&seen.object.clone().into_bound(py), by)?,
                None => by.clone(),
            };
            let stored = self.stored(key, &sum)?;
            self.refuse_too_large(py, stored.size())?;
            let done = match seen {
                Some(seen) => self.exchange(py, &asked, &seen, &stored)?,
                None => match self.living(key, &sum, Ttl::Default)? {
                    Some(ttl) => self.write(py, &asked, stored, ttl, |stands| stands.is_none())?,
                    // Its time is over at once.
                    None => true,
                },
            };
            if done {
                return Ok(sum);
            }
        }
    }

    /// Stores a value in the place of the one that was seen, with the time that this one has left; false if that is
    /// gone.
    fn exchange(
        &self,
        py: Python<'_>,
        asked: &Asked<'_>,
        seen: &Stored,
        new: &Stored,
    ) -> PyResult<bool> {
        let done = Cell::new(false);
        let change = |stands: &mut Stored| {
            done.set(stands.object.as_ptr() == seen.object.as_ptr());
            if done.get() {
                *stands = new.clone();
            }
        };
        let modify = || {
            let entry = self.engine.entry((**asked).clone());
            entry.and_modify(change).or_nothing()
        };
        let modified = settled(py, modify, |result| matches!(result, Ok(Some(_))))?;
        self.flights.invalidate(&self.namespace, asked.hash);
        modified.map_err(|error| raise(py, error))?;
        Ok(done.get())
    }
}
