//! `cache.get(key)` and `cache[key]` of `polycache.Cache` as a C extension would have them: a hit of the memory tier
//! takes less time than what pyo3 puts around a method, and one of the host tier not much more. No correct call goes
//! through the ordinary method, which costs more than all the rest.

use crate::cache::Cache;
use crate::errors;
use crate::exit::attached;
use crate::handle::Quick;
use crate::memory::fast::{by_method, extended, given, native, slot};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::{c_void, CStr};
use std::ptr::null_mut;

/// The methods that stand in front of the native class' own.
pub fn methods() -> Vec<ffi::PyMethodDef> {
    vec![ffi::PyMethodDef {
        ml_name: c"get".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer {
            PyCFunctionFastWithKeywords: get,
        },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: c"get($self, /, key, default=None)\n--\n\n\
            The value of the key, or `default` when there is none.\n\n\
            Lists, dicts and sets are each caller's own, unless the memory tier was told to share them.\n\
            A stored None is a value: with `default=polycache.MISSING` it can be told apart from a\n\
            miss. Raises `MalformedEntry`, `UnsupportedSerializer` and their like for an entry that cannot\n\
            be read; `set` and `delete` get rid of it."
            .as_ptr(),
    }]
}

/// The class that `polycache.Cache` extends: the native one with these in front.
pub fn class<'py>(module: &Bound<'py, PyModule>) -> PyResult<Bound<'py, PyType>> {
    let base = module.py().get_type::<Cache>();
    let name = c"polycache._native.QuickCache";
    let subscript = subscript as ffi::binaryfunc as *mut c_void;
    let slots = vec![slot(ffi::Py_mp_subscript, subscript)];
    extended(module, &base, name, methods(), slots)
}

/// `cache[key]`.
///
/// # Safety
/// Called by the interpreter in an attached thread, with an instance of the class and an object.
unsafe extern "C" fn subscript(
    slf: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as above.
    unsafe {
        let found = native::<Cache>(&slf).quick(key);
        if let Quick::Value(value) = found {
            return value;
        }
        attached(|py| {
            let key = Bound::from_borrowed_ptr(py, key);
            let read = found.read(&key);
            given(
                py,
                read.and_then(|value| value.ok_or_else(|| errors::no_key(&key))),
            )
        })
    }
}

/// # Safety
/// Called by the interpreter in an attached thread, with an instance of the class, so many arguments by
/// place, and behind them those that are named in a tuple, if there is one.
unsafe extern "C" fn get(
    slf: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as above; what `asked` gives are arguments.
    unsafe {
        let Some(Asked { key, default }) = asked(arguments, count, names) else {
            return refused(slf, arguments, count, names);
        };
        let found = native::<Cache>(&slf).quick(key);
        if let Quick::Value(value) = found {
            return value;
        }
        attached(|py| {
            let key = Bound::from_borrowed_ptr(py, key);
            let default = Bound::from_borrowed_ptr_or_opt(py, default);
            given(py, found.read_or(&key, default))
        })
    }
}

/// What a call of `get` gives.
struct Asked {
    key: *mut ffi::PyObject,
    /// Null when it is left out.
    default: *mut ffi::PyObject,
}

/// The arguments of a call, if they are those of `get`.
///
/// # Safety
/// Of arguments as they are given to a method with `METH_KEYWORDS`, in an attached thread.
#[inline(always)]
unsafe fn asked(
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> Option<Asked> {
    // SAFETY: only so many arguments are looked at.
    unsafe {
        if !names.is_null() {
            return asked_by_name(arguments, count, names);
        }
        match count {
            1 => Some(Asked {
                key: *arguments,
                default: null_mut(),
            }),
            2 => Some(Asked {
                key: *arguments,
                default: *arguments.add(1),
            }),
            _ => None,
        }
    }
}

/// The same of a call that names some of them.
///
/// # Safety
/// As [`asked`], with names.
unsafe fn asked_by_name(
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> Option<Asked> {
    if count > 2 {
        return None;
    }
    let count = count as usize;
    let mut places = [null_mut(); 2];
    // SAFETY: there are so many by place, and behind them one for each name, which are text.
    unsafe {
        for (place, argument) in places.iter_mut().enumerate().take(count) {
            *argument = *arguments.add(place);
        }
        for index in 0..ffi::PyTuple_Size(names) {
            let name = ffi::PyTuple_GetItem(names, index);
            let is = |text: &CStr| ffi::PyUnicode_CompareWithASCIIString(name, text.as_ptr()) == 0;
            let place = [c"key", c"default"].into_iter().position(is)?;
            if !places[place].is_null() {
                return None;
            }
            places[place] = *arguments.add(count + index as usize);
        }
    }
    let [key, default] = places;
    (!key.is_null()).then_some(Asked { key, default })
}

/// The error that the ordinary method has for such arguments.
///
/// # Safety
/// As [`get`].
#[cold]
#[inline(never)]
unsafe fn refused(
    slf: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    attached(|py| unsafe {
        let base = py.get_type::<Cache>();
        given(py, by_method(&base, "get", slf, arguments, count, names))
    })
}
