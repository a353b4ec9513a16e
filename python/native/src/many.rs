//! What methods on several keys are given, checked.

use crate::{errors, key};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyMapping};

/// The keys, one by one.
///
/// # Errors
/// `InvalidArgument` for a single key, whose letters are not meant, and for what is no list.
pub fn keys<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    if key::is_single(keys) {
        return Err(errors::invalid_argument(
            keys.py(),
            "several keys are wanted, like a list of them, not a single one",
        ));
    }
    keys.try_iter().map_err(|error| not_a_list(keys, error))
}

/// The error for what cannot be gone through; one of its own `__iter__` stays.
#[cold]
fn not_a_list(keys: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = keys.py();
    if !error.is_instance_of::<PyTypeError>(py) || keys.hasattr("__iter__").unwrap_or(true) {
        return error;
    }
    let class = errors::class_of(keys);
    errors::invalid_argument(py, &format!("several keys are a list of them, not {class}"))
}

/// The keys in a list, for callers that go through them more than once. Raises as [`keys`].
pub fn listed<'py>(several: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(several.py());
    for key in keys(several)? {
        list.append(key?)?;
    }
    Ok(list)
}

/// A key and its value.
pub type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The keys and values that `set_many` is given, in their order.
///
/// # Errors
/// `InvalidArgument` for what is not a mapping.
pub fn pairs<'py>(
    entries: &Bound<'py, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<Pair<'py>>>> {
    let Ok(entries) = entries.cast::<PyMapping>() else {
        let class = errors::class_of(entries);
        let what = format!("set_many takes a mapping of keys to values, not {class}");
        return Err(errors::invalid_argument(entries.py(), &what));
    };
    let items = entries.items()?.into_iter();
    Ok(items.map(|entry| entry.extract::<Pair<'py>>()))
}
