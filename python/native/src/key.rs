//! Keys: text stands for its UTF-8 bytes.

use crate::errors;
use polycache::Error;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The key's bytes, which lie in the object itself: a `str` keeps its UTF-8 form.
#[inline]
pub fn bytes<'a>(key: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    if let Ok(text) = key.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(text.as_bytes()),
            Err(_) => Err(refused(key)),
        };
    }
    match key.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes()),
        Err(_) => Err(refused(key)),
    }
}

/// A key as loads and memory keep it: exact text, or bytes where they are not UTF-8, so that text and its bytes are
/// one key. Raises `InvalidKey`.
#[inline]
pub fn named<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let bytes = bytes(given)?;
    if given.is_exact_instance_of::<PyString>() {
        return Ok(given.clone());
    }
    Ok(object(given.py(), bytes))
}

#[cold]
fn refused(key: &Bound<'_, PyAny>) -> PyErr {
    let what = if key.is_instance_of::<PyString>() {
        "a key holds a lone surrogate, so it has no UTF-8 form: pass it as bytes".into()
    } else {
        format!("a key is str or bytes, not {}", errors::class_of(key))
    };
    errors::raise(key.py(), Error::InvalidKey(what))
}

/// A key that was stored: text where it is UTF-8.
pub fn object<'py>(py: Python<'py>, key: &[u8]) -> Bound<'py, PyAny> {
    match std::str::from_utf8(key) {
        Ok(text) => PyString::new(py, text).into_any(),
        Err(_) => PyBytes::new(py, key).into_any(),
    }
}

/// True for what would be a single key where several are expected: iterating text by accident
/// would ask for each of its characters.
pub fn is_single(keys: &Bound<'_, PyAny>) -> bool {
    // SAFETY: both are plain checks of the object's type.
    unsafe { ffi::PyUnicode_Check(keys.as_ptr()) != 0 || ffi::PyBytes_Check(keys.as_ptr()) != 0 }
}
