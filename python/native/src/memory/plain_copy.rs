//! The copies that `copy.deepcopy` makes of plain trees, made without it: it takes some twenty times as long.
//!
//! A plain tree is a list, dict, set or tuple of these very classes that holds text, bytes, numbers, None and
//! other plain trees. A tuple that holds constants only is its own copy. Of what is reached twice `deepcopy` makes one
//! copy, and so it does of cycles: hence no other part may have a reference besides that of its container. No other
//! code has what the cache itself stores, so there every reference is one from within.

use super::isolation::is_constant_raw;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyTuple};
use std::ptr;

/// How deep containers in containers are copied; `deepcopy` has its own bound.
const DEEPEST: u32 = 100;

/// The copy of a plain tree; None for anything else. What cannot change is its own copy.
// A function of its own, so that a hit without a copy stays short.
#[inline(never)]
pub fn of<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    container(value, 0)
}

/// A copy of a container; the caller has looked at its references.
fn container<'py>(value: &Bound<'py, PyAny>, depth: u32) -> Option<Bound<'py, PyAny>> {
    if depth == DEEPEST {
        return None;
    }
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        let parts = parts_of_dict(dict)?;
        let made = dict.copy().ok()?;
        for (key, part) in parts {
            made.set_item(key, container(&part, depth + 1)?).ok()?;
        }
        Some(made.into_any())
    } else if let Ok(list) = value.cast_exact::<PyList>() {
        let parts = parts_of_list(list)?;
        let made = list.get_slice(0, list.len());
        for (index, part) in parts {
            made.set_item(index, container(&part, depth + 1)?).ok()?;
        }
        Some(made.into_any())
    } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        self::tuple(tuple, depth)
    } else {
        let set = value.cast_exact::<PySet>().ok()?;
        // SAFETY: the set has it, and the thread is attached.
        let all = set.iter().all(|one| unsafe { is_shared(one.as_ptr(), 0) });
        let copy = intern!(value.py(), "copy");
        all.then(|| set.call_method0(copy).ok()).flatten()
    }
}

fn tuple<'py>(tuple: &Bound<'py, PyTuple>, depth: u32) -> Option<Bound<'py, PyAny>> {
    let mut same = true;
    let mut copies = Vec::new();
    for part in tuple.iter_borrowed() {
        // SAFETY: the tuple has it, and the thread is attached.
        if unsafe { is_shared(part.as_ptr(), 0) } {
            copies.push(part.to_owned());
            continue;
        }
        // SAFETY: as above.
        let copy = if unsafe { is_part(part.as_ptr()) } {
            container(&part.to_owned(), depth + 1)?
        } else {
            return None;
        };
        same &= copy.is(part);
        copies.push(copy);
    }
    if same {
        return Some(tuple.clone().into_any());
    }
    PyTuple::new(tuple.py(), copies).ok().map(Bound::into_any)
}

/// True of what is its own copy: constants, and tuples of those.
///
/// # Safety
/// Of an object, in an attached thread.
#[inline]
unsafe fn is_shared(object: *mut ffi::PyObject, depth: u32) -> bool {
    // SAFETY: as the caller promises.
    unsafe { is_constant_raw(object) || is_tuple_of_shared(object, depth) }
}

/// # Safety
/// As [`is_shared`].
unsafe fn is_tuple_of_shared(object: *mut ffi::PyObject, depth: u32) -> bool {
    // SAFETY: as the caller promises; a tuple does not change, and the places are inside.
    unsafe {
        ffi::Py_TYPE(object) == &raw mut ffi::PyTuple_Type
            && depth < DEEPEST
            && (0..ffi::PyTuple_Size(object))
                .all(|place| is_shared(ffi::PyTuple_GetItem(object, place), depth + 1))
    }
}

/// True of a container that only its own container refers to.
///
/// # Safety
/// Of an object, in an attached thread.
unsafe fn is_part(object: *mut ffi::PyObject) -> bool {
    // SAFETY: as the caller promises; classes are only compared.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let is_container = class == &raw mut ffi::PyDict_Type
            || class == &raw mut ffi::PyList_Type
            || class == &raw mut ffi::PyTuple_Type
            || class == &raw mut ffi::PySet_Type;
        is_container && ffi::Py_REFCNT(object) == 1
    }
}

/// A dict's values that are containers, with their keys: listed before any allocation that can run the garbage
/// collector, because that may run code of users. None when it is not plain.
#[allow(clippy::type_complexity)]
fn parts_of_dict<'py>(
    dict: &Bound<'py, PyDict>,
) -> Option<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let py = dict.py();
    let mut parts = Vec::new();
    let mut place = 0;
    let (mut key, mut part) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the pointers are valid for the call, and the objects that it lends are owned before anything else
    // happens to the dict.
    unsafe {
        while ffi::PyDict_Next(dict.as_ptr(), &mut place, &mut key, &mut part) != 0 {
            if !is_shared(key, 0) {
                return None;
            }
            if is_shared(part, 0) {
                continue;
            }
            if !is_part(part) {
                return None;
            }
            parts.push((
                Bound::from_borrowed_ptr(py, key),
                Bound::from_borrowed_ptr(py, part),
            ));
        }
    }
    Some(parts)
}

/// The same of a list, with their places.
fn parts_of_list<'py>(list: &Bound<'py, PyList>) -> Option<Vec<(usize, Bound<'py, PyAny>)>> {
    let py = list.py();
    let mut parts = Vec::new();
    for index in 0..list.len() {
        // SAFETY: the list lives and the place is in it; what it lends is owned before anything else happens.
        unsafe {
            let part = ffi::PyList_GetItem(list.as_ptr(), index as ffi::Py_ssize_t);
            if is_shared(part, 0) {
                continue;
            }
            if !is_part(part) {
                return None;
            }
            parts.push((index, Bound::from_borrowed_ptr(py, part)));
        }
    }
    Some(parts)
}
