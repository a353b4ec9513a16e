//! Atomic operations of a `polycache.Cache` without a directory (`spec/semantics.md`). What fails has changed nothing.

use super::options::raise;
use super::tier::{add, Key, MemoryTier, Stored};
use crate::errors;
use crate::tiers::Counting;
use polycache::Error;
use polycache_memory::Ttl;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use std::cell::Cell;

impl MemoryTier {
    /// Stores a value if `admits` says so of the entry that a read would serve, under the engine's lock.
    pub fn put_if(
        &self,
        name: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        ttl: Ttl,
        admits: impl Fn(Option<&Stored>) -> bool,
    ) -> PyResult<bool> {
        let py = name.py();
        let mut stored = self.made(name, value)?;
        self.begin(py)?;
        let shared = &self.shared;
        let ttl = shared.living(&mut stored, ttl);
        let asked = Key::asked(name, self.number())?;
        self.fits(py, &stored)?;
        // What is stored wins over loads that began before; what is not leaves them alone.
        let admit = |key: &Key, stands: Option<&Stored>| {
            let admitted = admits(stands.filter(|stands| shared.serves(stands)));
            if admitted {
                shared.flights.invalidate(&self.parts, key.hash);
            }
            admitted
        };
        let refused = shared.engine.set_if((*asked).clone(), stored, ttl, admit);
        let is_stored = refused.map_err(|error| raise(py, error))?.is_none();
        if is_stored {
            add(&shared.counts.writes);
        }
        Ok(is_stored)
    }

    /// The key's value and what is stored, without a use of it.
    pub fn find_seen<'py>(
        &self,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, Option<Stored>)> {
        let py = name.py();
        self.begin(py)?;
        let seen = self.seen(&*Key::asked(name, self.number())?);
        let object = seen.as_ref().map(|seen| seen.object.clone());
        let value = object.map(|object| self.hand_out(object.into_bound(py)));
        Ok((value.transpose()?, seen))
    }

    /// Stores a value in the place of what was seen, or of nothing; false if the key was changed since. Without a `ttl` an
    /// entry keeps its own.
    pub fn exchange(
        &self,
        name: &Bound<'_, PyAny>,
        seen: Option<&Stored>,
        value: &Bound<'_, PyAny>,
        ttl: Ttl,
    ) -> PyResult<bool> {
        match seen {
            None => self.put_if(name, value, ttl, |stands| stands.is_none()),
            Some(seen) if ttl == Ttl::Default => self.exchange_in_time(name, seen, value),
            Some(seen) => self.put_if(name, value, ttl, |stands| {
                stands.is_some_and(|stands| stands.is(seen))
            }),
        }
    }

    /// The same with the time that the entry has left.
    fn exchange_in_time(
        &self,
        name: &Bound<'_, PyAny>,
        seen: &Stored,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let py = name.py();
        let mut new = self.made(name, value)?;
        self.begin(py)?;
        let shared = &self.shared;
        if seen.created > 0 {
            new.created = shared.now();
        }
        let asked = Key::asked(name, self.number())?;
        self.fits(py, &new)?;
        let is_stored = Cell::new(false);
        let change = |stands: &mut Stored| {
            is_stored.set(stands.is(seen) && shared.serves(stands));
            if is_stored.get() {
                *stands = new.clone();
            }
        };
        let entry = shared.engine.entry((*asked).clone());
        let stands = entry.and_modify(change).or_nothing();
        let stands = stands.map_err(|error| raise(py, error))?;
        let is_stored = is_stored.get() && stands.is_some();
        if is_stored {
            shared.flights.invalidate(&self.parts, asked.hash);
            add(&shared.counts.writes);
        }
        Ok(is_stored)
    }

    /// Deletes what was seen, and invalidates loads of the key; false if the key was changed since.
    pub fn delete_seen(&self, name: &Bound<'_, PyAny>, seen: Option<&Stored>) -> PyResult<bool> {
        self.begin(name.py())?;
        let asked = Key::asked(name, self.number())?;
        let Some(seen) = seen else {
            if self.seen(&asked).is_some() {
                return Ok(false);
            }
            self.shared.flights.invalidate(&self.parts, asked.hash);
            return Ok(true);
        };
        let stands = self.seen(&asked).is_some_and(|stands| stands.is(seen));
        let is_deleted = stands && self.remove_seen(&asked, seen);
        if is_deleted {
            add(&self.shared.counts.deletes);
        }
        Ok(is_deleted)
    }

    /// Adds to the key's integer, or subtracts from it, and gives the sum.
    pub fn sum(&self, name: &Bound<'_, PyAny>, counting: Counting, ttl: Ttl) -> PyResult<i64> {
        let py = name.py();
        let Counting { by, down, initial } = counting;
        let by = i128::from(by) * if down { -1 } else { 1 };
        loop {
            self.begin(py)?;
            let seen = self.seen(&*Key::asked(name, self.number())?);
            let (there, ttl) = match &seen {
                Some(seen) => (integer(&seen.object.clone().into_bound(py))?, Ttl::Default),
                None => (initial, ttl),
            };
            let sum = i64::try_from(i128::from(there) + by).map_err(|_| overflow(py))?;
            let value = PyInt::new(py, sum).into_any();
            // Where others come first, one of them has counted: all together always go on.
            if self.exchange(name, seen.as_ref(), &value, ttl)? {
                return Ok(sum);
            }
        }
    }

    /// Before anything is changed.
    fn fits(&self, py: Python<'_>, stored: &Stored) -> PyResult<()> {
        let size = stored.size;
        match self.shared.max_bytes {
            Some(limit) if size > limit => {
                Err(errors::raise(py, Error::EntryTooLarge { size, limit }))
            }
            _ => Ok(()),
        }
    }
}

/// The integer, for one of 64 bits.
fn integer(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = value.py();
    if !value.is_exact_instance_of::<PyInt>() {
        let error = Error::WrongType {
            path: "$".into(),
            reason: "only an integer can be counted up and down".into(),
        };
        return Err(errors::raise(py, error));
    }
    value.extract().map_err(|_| overflow(py))
}

#[cold]
fn overflow(py: Python<'_>) -> PyErr {
    let what =
        "the integer would not fit 64 bits with a sign (-2^63 to 2^63 - 1); nothing was stored";
    errors::raise(py, Error::IntegerOverflow(what.into()))
}
