//! Copies of values, so that nobody sees what another changes: in a `Cache` without a directory, which
//! gives what one with a directory would.

use crate::{from_python, to_python};
use polycache::Serializer;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyString};

/// The copy to be stored: the object that a directory would give back. Text, bytes and numbers are
/// kept themselves. Beside it, whether it is of another type than the value. Raises `UnsupportedValue` for
/// what is outside the type map.
pub fn copy_in<'py>(value: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, bool)> {
    let py = value.py();
    from_python::with_writable_value(value, Serializer::MessagePack, |read, differs| {
        if is_constant(value) {
            Ok((value.clone(), false))
        } else {
            Ok((to_python::object(py, read.clone())?, differs))
        }
    })?
}

fn is_constant(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBool>()
}

/// The reader's own of what `copy_in` made: lists, dicts and sets are copied, and what they hold that
/// cannot be changed is shared. They are as deep as the type map allows, at most.
#[inline]
pub fn copy_out<'py>(value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if changes(&value) {
        copied(&value)
    } else {
        Ok(value)
    }
}

fn changes(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyDict>()
        || value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PySet>()
}

fn copied<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        let copy = dict.copy()?;
        for (key, part) in dict {
            if changes(&part) {
                copy.set_item(key, copied(&part)?)?;
            }
        }
        return Ok(copy.into_any());
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        let copy = list.get_slice(0, list.len());
        for (index, part) in list.iter().enumerate() {
            if changes(&part) {
                copy.set_item(index, copied(&part)?)?;
            }
        }
        return Ok(copy.into_any());
    }
    // A set: what is in it has a hash, and does not change.
    let set = value.cast_exact::<PySet>()?;
    Ok(PySet::new(value.py(), set.iter())?.into_any())
}
