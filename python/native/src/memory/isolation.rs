//! Copies of values, so that no caller sees what another changes: in a `Cache` without a directory, which
//! gives what one with a directory would. Values of registered types are `Named` until they are handed out.

use crate::from_python::Reading;
use crate::named::{is_class, Named};
use crate::types::{Failed, Types};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet};
use std::ptr;

/// The copy to be stored: the object that a directory would give back. Text, bytes and numbers are
/// kept themselves. Raises `UnsupportedValue` for what is outside the type map.
pub fn copy_in<'py>(
    value: &Bound<'py, PyAny>,
    reading: Reading<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    reading.check(value.py())?;
    if is_constant(value) {
        Ok(value.clone())
    } else {
        reading.into_object(value.py())
    }
}

/// True of what is kept itself.
#[inline]
pub fn is_constant(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object lives, and the thread is attached.
    unsafe { is_constant_raw(value.as_ptr()) }
}

/// The same: text, bytes, numbers and None, of these very classes.
///
/// # Safety
/// Of an object, in an attached thread.
#[inline(always)]
pub unsafe fn is_constant_raw(value: *mut ffi::PyObject) -> bool {
    // SAFETY: as the caller promises; classes are only compared.
    unsafe {
        let class = ffi::Py_TYPE(value);
        class == &raw mut ffi::PyUnicode_Type
            || class == &raw mut ffi::PyLong_Type
            || class == &raw mut ffi::PyBytes_Type
            || class == &raw mut ffi::PyFloat_Type
            || class == &raw mut ffi::PyBool_Type
            || value == ffi::Py_None()
    }
}

/// The reader's own copy of what `copy_in` made. Lists, dicts and sets are copied, and what cannot be changed is
/// shared. A `Named` whose type is among `types` becomes its object. Values are at most as deep as the type map allows.
/// Raises `WrongType`, and what passes through `decode`.
#[inline]
pub fn copy_out<'py>(
    value: Bound<'py, PyAny>,
    types: Option<&Types>,
) -> PyResult<Bound<'py, PyAny>> {
    if changes(&value) {
        let copied = Copier { types, anew: true }.part(&value);
        copied.map_err(|failed| failed.into_error(value.py()))
    } else {
        Ok(value)
    }
}

/// The same of a value that is the caller's own.
#[cold]
pub fn decoded<'py>(value: Bound<'py, PyAny>, types: &Types) -> PyResult<Bound<'py, PyAny>> {
    let copier = Copier {
        types: Some(types),
        anew: false,
    };
    if !changes(&value) {
        return Ok(value);
    }
    let made = copier.part(&value);
    made.map_err(|failed| failed.into_error(value.py()))
}

#[inline(always)]
fn changes(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object lives; its class is only compared.
    is_changing(unsafe { ffi::Py_TYPE(value.as_ptr()) })
}

#[inline(always)]
fn is_changing(class: *mut ffi::PyTypeObject) -> bool {
    class == &raw mut ffi::PyDict_Type
        || class == &raw mut ffi::PyList_Type
        || class == &raw mut ffi::PySet_Type
        || is_class(class)
}

/// Those parts of a dict, with their keys: listed before code of users runs.
fn parts_that_change<'py>(
    dict: &Bound<'py, PyDict>,
) -> Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = dict.py();
    let mut parts = Vec::new();
    let mut place = 0;
    let (mut key, mut part) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the pointers are valid for the call, and the objects that it lends are owned before anything else
    // happens to the dict.
    unsafe {
        while ffi::PyDict_Next(dict.as_ptr(), &mut place, &mut key, &mut part) != 0 {
            if is_changing(ffi::Py_TYPE(part)) {
                parts.push((
                    Bound::from_borrowed_ptr(py, key),
                    Bound::from_borrowed_ptr(py, part),
                ));
            }
        }
    }
    parts
}

struct Copier<'a> {
    types: Option<&'a Types>,
    /// Lists, dicts and sets are copied; otherwise they are changed in place.
    anew: bool,
}

impl Copier<'_> {
    /// Of a dict, list, set or `Named`.
    fn part<'py>(&self, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Box<Failed>> {
        if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.dict(dict)
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            self.list(list)
        } else if let Ok(named) = value.cast_exact::<Named>() {
            self.named(named)
        } else if self.anew {
            // A set: what is in it has a hash, and does not change.
            let set = value.cast_exact::<PySet>().map_err(PyErr::from)?;
            Ok(PySet::new(value.py(), set.iter())?.into_any())
        } else {
            Ok(value.clone())
        }
    }

    fn dict<'py>(&self, dict: &Bound<'py, PyDict>) -> Result<Bound<'py, PyAny>, Box<Failed>> {
        let made = if self.anew {
            dict.copy()?
        } else {
            dict.clone()
        };
        for (key, part) in parts_that_change(dict) {
            let part = self.part(&part).map_err(|failed| failed.at_key(&key))?;
            made.set_item(key, part)?;
        }
        Ok(made.into_any())
    }

    fn list<'py>(&self, list: &Bound<'py, PyList>) -> Result<Bound<'py, PyAny>, Box<Failed>> {
        let made = if self.anew {
            list.get_slice(0, list.len())
        } else {
            list.clone()
        };
        let py = list.py();
        for index in 0..list.len() {
            // SAFETY: the list lives, and what it lends is owned before anything else happens.
            let part = unsafe {
                let part = ffi::PyList_GetItem(list.as_ptr(), index as ffi::Py_ssize_t);
                if part.is_null() {
                    // Code of users has made it shorter.
                    return Err(PyErr::fetch(py).into());
                }
                if !is_changing(ffi::Py_TYPE(part)) {
                    continue;
                }
                Bound::from_borrowed_ptr(py, part)
            };
            let part = self.part(&part).map_err(|failed| failed.at_index(index))?;
            made.set_item(index, part)?;
        }
        Ok(made.into_any())
    }

    fn named<'py>(&self, named: &Bound<'py, Named>) -> Result<Bound<'py, PyAny>, Box<Failed>> {
        let py = named.py();
        let Named { name, value } = named.get();
        let (name, value) = (name.bind(py), value.bind(py));
        let value = if changes(value) {
            self.part(value)?
        } else {
            value.clone()
        };
        match self.types.and_then(|types| types.named(name)) {
            Some(class) => class.decode(value),
            None => {
                let (name, value) = (name.clone().unbind(), value.unbind());
                Ok(Bound::new(py, Named { name, value })?.into_any())
            }
        }
    }
}
