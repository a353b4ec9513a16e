//! Errors: `polycache.errors` has the classes, one for each code of `spec/errors.md`.

use crate::classes;
use polycache::Error;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

static FROM_CODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn from_code(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    classes::imported(py, &FROM_CODE, "polycache.errors", "from_code")
}

/// Finds the class of exceptions, while imports still work: not at the interpreter's end.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    from_code(py).map(|_| ())
}

/// The exception for an error of the engine.
#[cold]
pub fn raise(py: Python<'_>, error: Error) -> PyErr {
    let text = error.to_string();
    raise_as(py, &error, &text)
}

/// The same, in other words.
#[cold]
pub fn raise_as(py: Python<'_>, error: &Error, text: &str) -> PyErr {
    let facts = PyDict::new(py);
    let told = match error {
        Error::UnsupportedValue { path, .. } | Error::WrongType { path, .. } => {
            facts.set_item("path", path)
        }
        Error::EntryTooLarge { size, limit } | Error::ValueTooLarge { size, limit } => facts
            .set_item("size", size)
            .and_then(|()| facts.set_item("limit", limit)),
        _ => Ok(()),
    };
    let build = || -> PyResult<PyErr> {
        told?;
        let exception = from_code(py)?.call((error.code(), text), Some(&facts))?;
        Ok(PyErr::from_value(exception))
    };
    build().unwrap_or_else(|failure| failure)
}

/// The code of one of our exceptions.
#[cold]
pub fn code(py: Python<'_>, error: &PyErr) -> Option<String> {
    error.value(py).getattr("code").ok()?.extract().ok()
}

#[cold]
pub fn invalid_argument(py: Python<'_>, what: &str) -> PyErr {
    raise(py, Error::InvalidArgument(what.into()))
}

/// The KeyError of a key that has no entry.
#[cold]
pub fn no_key(key: &Bound<'_, PyAny>) -> PyErr {
    // In a tuple: a key that is a tuple must not be taken for several arguments.
    PyKeyError::new_err((key.clone().unbind(),))
}

/// `object` for a message: short, and never an error of its own.
#[cold]
pub fn represent(object: &Bound<'_, PyAny>) -> String {
    const SHOWN: usize = 60;
    let Ok(text) = object.repr() else {
        return class_of(object);
    };
    let text = text.to_string_lossy();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

/// `module.Class` of an object, for a message.
#[cold]
pub fn class_of(object: &Bound<'_, PyAny>) -> String {
    object
        .get_type()
        .fully_qualified_name()
        .map_or_else(|_| "?".into(), |name| name.to_string_lossy().into_owned())
}
