//! Arguments of a memoized function as the key of its result, and a look for that: what
//! `python/src/polycache/memory_memoize.py` does at each call.

use super::cache::{Hit, MemoryCache};
use super::equality;
use super::fast;
use crate::classes;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};
use std::ptr::null_mut;

/// A function all of whose parameters can be given by position.
#[pyclass(frozen, subclass, module = "polycache._native")]
pub struct Arguments {
    cache: Py<MemoryCache>,
    /// What its keys begin with, which tells them from those of other functions.
    mark: Py<PyAny>,
    /// The parameters' names; None where one can't be given by its name.
    names: Py<PyTuple>,
    /// Of the last parameters.
    defaults: Py<PyTuple>,
    /// Whether the arguments' types are part of the key.
    typed: bool,
    missing: Py<PyAny>,
}

#[pymethods]
impl Arguments {
    #[new]
    fn new(
        py: Python<'_>,
        cache: Py<MemoryCache>,
        mark: Py<PyAny>,
        names: Py<PyTuple>,
        defaults: Py<PyTuple>,
        typed: bool,
    ) -> PyResult<Arguments> {
        Ok(Arguments {
            cache,
            mark,
            names,
            defaults,
            typed,
            missing: classes::missing(py)?.clone().unbind(),
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.cache)?;
        visit.call(&self.mark)?;
        visit.call(&self.names)?;
        visit.call(&self.defaults)
    }
}

impl Arguments {
    /// The mark, all arguments in order, defaults included, and their types if it is typed. Null, with no
    /// exception, when the arguments do not fit, or with one when there is no memory.
    ///
    /// # Safety
    /// Of a tuple and a dict, in an attached thread.
    unsafe fn key(
        &self,
        args: *mut ffi::PyObject,
        kwargs: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject {
        // SAFETY: as the caller promises; places are within the tuples. References that are lent are used
        // while what lends them is unchanged; `SetItem` takes over one that was counted for it.
        unsafe {
            let (names, defaults) = (self.names.as_ptr(), self.defaults.as_ptr());
            let all = ffi::PyTuple_Size(names);
            let given = ffi::PyTuple_Size(args);
            let without_default = all - ffi::PyTuple_Size(defaults);
            let mut named = ffi::PyDict_Size(kwargs);
            if given + named > all {
                return null_mut();
            }
            let types = if self.typed { all } else { 0 };
            let key = ffi::PyTuple_New(1 + all + types);
            if key.is_null() {
                return key;
            }
            put(key, 0, self.mark.as_ptr());
            for place in 0..all {
                let mut value = null_mut();
                if place < given {
                    value = ffi::PyTuple_GetItem(args, place);
                } else if named > 0 {
                    value =
                        ffi::PyDict_GetItemWithError(kwargs, ffi::PyTuple_GetItem(names, place));
                    named -= ffi::Py_ssize_t::from(!value.is_null());
                }
                if value.is_null() && place >= without_default && ffi::PyErr_Occurred().is_null() {
                    value = ffi::PyTuple_GetItem(defaults, place - without_default);
                }
                if value.is_null() {
                    ffi::Py_DECREF(key);
                    return null_mut();
                }
                put(key, 1 + place, value);
                if self.typed {
                    put(key, 1 + all + place, ffi::Py_TYPE(value).cast());
                }
            }
            // One is left without a parameter, or it was given by position, too.
            if named > 0 {
                ffi::Py_DECREF(key);
                return null_mut();
            }
            key
        }
    }
}

/// # Safety
/// Of a new tuple, a place in it and an object, in an attached thread.
#[inline(always)]
unsafe fn put(tuple: *mut ffi::PyObject, place: ffi::Py_ssize_t, object: *mut ffi::PyObject) {
    // SAFETY: as the caller promises.
    unsafe {
        ffi::Py_INCREF(object);
        ffi::PyTuple_SetItem(tuple, place, object);
    }
}

/// The class with `find` and `key`, which take a tuple of positional arguments and a dict of named ones.
pub fn class<'py>(module: &Bound<'py, PyModule>) -> PyResult<Bound<'py, PyType>> {
    let method =
        |name: &'static std::ffi::CStr, code, doc: &'static std::ffi::CStr| ffi::PyMethodDef {
            ml_name: name.as_ptr(),
            ml_meth: ffi::PyMethodDefPointer {
                PyCFunctionFast: code,
            },
            ml_flags: ffi::METH_FASTCALL,
            ml_doc: doc.as_ptr(),
        };
    let methods = vec![
        method(
            c"find",
            find,
            c"find($self, args, kwargs, /)\n--\n\n\
                The result for these arguments, if that is told quickly; else MISSING, which is not a miss.",
        ),
        method(
            c"key",
            key,
            c"key($self, args, kwargs, /)\n--\n\nThe key for these arguments; None when they do not fit.",
        ),
    ];
    let base = module.py().get_type::<Arguments>();
    fast::extended(
        module,
        &base,
        c"polycache._native.QuickArguments",
        methods,
        Vec::new(),
    )
}

/// # Safety
/// Called by the interpreter in an attached thread, with an instance of the class and so many arguments.
unsafe extern "C" fn find(
    slf: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: as above; the key is this function's own, until it is let go of at the end.
    unsafe {
        let (slf, key) = match key_of(&slf, arguments, count) {
            Ok((slf, key)) if !key.is_null() => (slf, key),
            Ok((slf, _)) if ffi::PyErr_Occurred().is_null() => {
                return fast::counted(slf.missing.as_ptr())
            }
            _ => return null_mut(),
        };
        let found = match slf.cache.get().hit(key) {
            Hit::Value(value) => value,
            Hit::Copied(value) => fast::copied(value),
            Hit::Raised => null_mut(),
            Hit::Miss => {
                // It is asked for again before the function is called.
                slf.cache.get().uncount_miss();
                fast::counted(slf.missing.as_ptr())
            }
            Hit::Unknown(_) => {
                // Python code runs before it is asked for again.
                equality::forget();
                fast::counted(slf.missing.as_ptr())
            }
        };
        ffi::Py_DECREF(key);
        found
    }
}

/// # Safety
/// As [`find`].
unsafe extern "C" fn key(
    slf: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: as above.
    unsafe {
        match key_of(&slf, arguments, count) {
            Ok((_, key)) if !key.is_null() => key,
            Ok(_) if ffi::PyErr_Occurred().is_null() => fast::counted(ffi::Py_None()),
            _ => null_mut(),
        }
    }
}

/// The instance and the key of the arguments; an error was raised for anything but a tuple and a dict.
///
/// # Safety
/// As [`find`].
#[inline(always)]
unsafe fn key_of(
    slf: &*mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> Result<(&Arguments, *mut ffi::PyObject), ()> {
    // SAFETY: as the caller promises; only so many arguments are looked at.
    unsafe {
        let slf: &Arguments = fast::native(slf);
        if count == 2 {
            let (args, kwargs) = (*arguments, *arguments.add(1));
            if ffi::PyTuple_Check(args) != 0 && ffi::PyDict_Check(kwargs) != 0 {
                return Ok((slf, slf.key(args, kwargs)));
            }
        }
        let what = c"a tuple and a dict of arguments are wanted";
        ffi::PyErr_SetString(ffi::PyExc_TypeError, what.as_ptr());
        Err(())
    }
}
