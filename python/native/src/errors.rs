//! Errors: `polycache.errors` has the classes, one for each code of `spec/errors.md`.

use crate::byte_store::is_foreign;
use crate::classes;
use polycache::Error;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::cell::Cell;

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
    let raised = raise_as(py, &error, &text);
    // A store's own exception is the cause; one that is no error of the store is its caller's.
    match OF_STORE.take() {
        Some((_, cause)) if is_foreign(py, &cause) => cause,
        Some((told, cause)) if told == text => {
            raised.set_cause(py, Some(cause));
            raised
        }
        _ => raised,
    }
}

thread_local! {
    /// What a store raised last in this thread, and the text of the error that was made of it.
    static OF_STORE: Cell<Option<(String, PyErr)>> = const { Cell::new(None) };
}

/// The engine's error for an exception that a store raised.
#[cold]
pub fn of_store(py: Python<'_>, error: PyErr) -> Error {
    let value = error.value(py);
    let text = match value.str().map(|text| text.to_string()) {
        Ok(text) if !text.is_empty() => text,
        _ => class_of(value),
    };
    let text = match code(py, &error) {
        Some(_) => text,
        None => format!("the store failed: {}: {text}", class_of(value)),
    };
    let number = value
        .getattr("errno")
        .and_then(|number| number.extract::<i32>());
    let made = match (code(py, &error).as_deref(), number) {
        (Some("no_space"), _) => Error::NoSpace(text.clone()),
        (Some("read_only"), _) => Error::ReadOnly(text.clone()),
        (Some("invalid_argument"), _) => Error::InvalidArgument(text.clone()),
        (Some("foreign_directory"), _) => Error::ForeignDirectory(text.clone()),
        (Some("too_many_participants"), _) => Error::TooManyParticipants(text.clone()),
        // ENOSPC, EDQUOT, EFBIG.
        (None, Ok(28 | 122 | 27)) => Error::NoSpace(text.clone()),
        _ => Error::Io(text.clone()),
    };
    // An interrupt is not forgotten for an error of what was to be put right after it.
    let kept = OF_STORE.take().filter(|(_, before)| is_foreign(py, before));
    OF_STORE.set(Some(kept.unwrap_or((text, error))));
    made
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
