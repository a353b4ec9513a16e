//! One interpreter of a process only: classes are kept in statics, and objects of one interpreter
//! must not reach another. Python 3.12 and later refuse by themselves.

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering};

/// No interpreter has this id.
const NONE: i64 = -1;
static OWNER: AtomicI64 = AtomicI64::new(NONE);

/// Makes the interpreter that imports the extension first its only one.
pub fn claim(py: Python<'_>) -> PyResult<()> {
    // SAFETY: the thread is attached to an interpreter, which both calls ask for.
    let id = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if id < 0 {
        return Err(PyErr::fetch(py));
    }
    match OWNER.compare_exchange(NONE, id, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => Ok(()),
        Err(owner) if owner == id => Ok(()),
        Err(_) => Err(PyImportError::new_err(
            "polycache does not support subinterpreters: import it in the main one only",
        )),
    }
}
