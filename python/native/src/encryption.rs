//! The option `encryption`: a list of keys, each `{"id": int, "key": bytes}`.

use crate::errors;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyTuple};

/// Ids and keys; the keys' bytes stay Python's.
pub type Keys<'py> = Vec<(u32, KeyBytes<'py>)>;

/// The bytes of one key.
pub struct KeyBytes<'py>(Bound<'py, PyBytes>);

impl AsRef<[u8]> for KeyBytes<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Reads the option. An error does not show what is wrong, because it may be a key.
///
/// # Errors
/// `InvalidArgument`.
pub fn keys<'py>(value: &Bound<'py, PyAny>) -> PyResult<Keys<'py>> {
    if !value.is_instance_of::<PyList>() && !value.is_instance_of::<PyTuple>() {
        return Err(wrong(value));
    }
    value.try_iter()?.map(|one| key(&one?)).collect()
}

fn key<'py>(one: &Bound<'py, PyAny>) -> PyResult<(u32, KeyBytes<'py>)> {
    let Ok(fields) = one.cast::<PyDict>() else {
        return Err(wrong(one));
    };
    let (Some(id), Some(key), 2) = (
        fields.get_item("id")?,
        fields.get_item("key")?,
        fields.len(),
    ) else {
        return Err(wrong(one));
    };
    let is_number = id.is_instance_of::<PyInt>() && !id.is_instance_of::<PyBool>();
    match (id.extract::<u32>(), key.cast_into::<PyBytes>()) {
        (Ok(id), Ok(key)) if is_number => Ok((id, KeyBytes(key))),
        _ => Err(wrong(one)),
    }
}

#[cold]
fn wrong(value: &Bound<'_, PyAny>) -> PyErr {
    errors::invalid_argument(
        value.py(),
        "encryption is a list of {\"id\": number, \"key\": bytes}: ids are 0 to 4294967295, keys 32 bytes",
    )
}
