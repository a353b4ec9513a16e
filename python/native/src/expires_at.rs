//! The time that an entry expires at: an aware `datetime`, in place of a time to live.

use crate::classes::Classes;
use crate::duration::TtlArgument;
use crate::errors;
use polycache::Ttl;
use pyo3::prelude::*;
use std::time::{Duration, SystemTime};

/// What `get_or_set` and the functions that it calls hand on as their `ttl` where `expires_at` was given. It is read where
/// a `ttl` is: the first wrong argument is the one that is reported.
#[pyclass(frozen, module = "polycache._native")]
pub struct Lifetime {
    ttl: Py<PyAny>,
    expires_at: Py<PyAny>,
}

#[pymethods]
impl Lifetime {
    #[new]
    fn new(ttl: Py<PyAny>, expires_at: Py<PyAny>) -> Lifetime {
        Lifetime { ttl, expires_at }
    }
}

impl Lifetime {
    pub fn read(&self, py: Python<'_>) -> PyResult<Ttl> {
        let ttl = TtlArgument::of(self.ttl.bind(py));
        ttl.or(Some(self.expires_at.bind(py))).read()
    }
}

/// Raises `InvalidArgument` for what is not a `datetime` with a time zone.
pub fn read(object: &Bound<'_, PyAny>) -> PyResult<Ttl> {
    let py = object.py();
    let classes = Classes::get(py)?;
    let is_time = object.is_instance(classes.datetime.bind(py))?;
    if !is_time || object.call_method0("utcoffset")?.is_none() {
        return Err(not_a_time(object));
    }
    let since_1970 = object.sub(classes.epoch.bind(py))?;
    let days: i64 = since_1970.getattr("days")?.extract()?;
    let seconds: i64 = since_1970.getattr("seconds")?.extract()?;
    let microseconds: u32 = since_1970.getattr("microseconds")?.extract()?;
    // Before 1970 every time has passed alike.
    let time = u64::try_from(days * 86_400 + seconds).map_or(SystemTime::UNIX_EPOCH, |seconds| {
        SystemTime::UNIX_EPOCH + Duration::new(seconds, microseconds * 1000)
    });
    Ok(Ttl::Until(time))
}

#[cold]
fn not_a_time(object: &Bound<'_, PyAny>) -> PyErr {
    let shown = errors::represent(object);
    let what = format!(
        "expires_at is a datetime with a time zone, like datetime.now(UTC) + timedelta(minutes=5), not {shown}"
    );
    errors::invalid_argument(object.py(), &what)
}
