//! Bytes that objects take, by an estimate.

use crate::classes::imported;
use crate::named::Named;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple};
use std::collections::HashSet;

/// An entry without its key and value: its places in table, slab and queues.
pub const ENTRY: u64 = 112;
/// An object's head, and its share of allocation.
const HEAD: u64 = 64;
/// Objects that are gone through at most: a value may reach the whole program.
const MOST: usize = 100_000;

static GETSIZEOF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// What text and bytes take, without asking Python.
pub fn flat(object: &Bound<'_, PyAny>) -> Option<u64> {
    if let Ok(text) = object.cast_exact::<PyString>() {
        // SAFETY: of a string, in an attached thread.
        let length = unsafe { ffi::PyUnicode_GetLength(text.as_ptr()) };
        return Some(HEAD + length.unsigned_abs() as u64);
    }
    let bytes = object.cast_exact::<PyBytes>().ok()?;
    Some(HEAD + bytes.as_bytes().len() as u64)
}

/// Bytes of an object and, where it is one of Python's own containers, of what it holds: what
/// `sys.getsizeof` says of each, every object counted once. Raises what a `__sizeof__` raises.
pub fn estimate(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    let py = object.py();
    let getsizeof = imported(py, &GETSIZEOF, "sys", "getsizeof")?;
    let mut seen = HashSet::new();
    // Alive while their addresses count.
    let mut counted = Vec::new();
    let mut waiting = vec![object.clone()];
    let mut bytes = 0_u64;
    while let Some(object) = waiting.pop() {
        if counted.len() == MOST || !seen.insert(object.as_ptr()) {
            continue;
        }
        // Before the size is asked for, which may be code of users.
        parts(&object, &mut waiting)?;
        bytes = bytes.saturating_add(getsizeof.call1((&object,))?.extract::<u64>()?);
        counted.push(object);
    }
    Ok(bytes)
}

/// Lists what a container holds.
fn parts<'py>(object: &Bound<'py, PyAny>, waiting: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
    // Of these very types: going through them runs no code of users.
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        for (key, value) in dict {
            waiting.extend([key, value]);
        }
    } else if let Ok(named) = object.cast_exact::<Named>() {
        let Named { name, value } = named.get();
        waiting.extend([
            name.bind(named.py()).clone(),
            value.bind(named.py()).clone(),
        ]);
    } else if object.is_exact_instance_of::<PyList>()
        || object.is_exact_instance_of::<PyTuple>()
        || object.is_exact_instance_of::<PySet>()
        || object.is_exact_instance_of::<PyFrozenSet>()
    {
        for part in object.try_iter()? {
            waiting.push(part?);
        }
    }
    Ok(())
}
