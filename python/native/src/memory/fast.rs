//! `cache[key]` and `cache.get(key)` as a C extension would write them: a hit is a hash, a look into the
//! shard and a reference. What pyo3 puts around every method takes longer than that. Everything else (a
//! miss of `cache[key]`, keys in doubt, clocks, copies, errors) goes on to the methods of `MemoryCache`.

use super::cache::{missing, Hit, MemoryCache};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::Borrowed;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

/// The class that `polycache.MemoryCache` extends: the native one with these two in front.
pub fn class<'py>(module: &Bound<'py, PyModule>) -> PyResult<Bound<'py, PyType>> {
    let py = module.py();
    let methods = [
        ffi::PyMethodDef {
            ml_name: c"get".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer {
                PyCFunctionFast: get,
            },
            ml_flags: ffi::METH_FASTCALL,
            ml_doc: c"get($self, key, default=None, /)\n--\n\n\
                The key's value, or `default` when there is none."
                .as_ptr(),
        },
        ffi::PyMethodDef::zeroed(),
    ];
    // Types keep them for ever, and this one is never freed.
    let methods = Box::leak(Box::new(methods));
    let mut slots = [
        slot(
            ffi::Py_mp_subscript,
            subscript as ffi::binaryfunc as *mut c_void,
        ),
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(0, null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"polycache._native.QuickMemoryCache".as_ptr(),
        // As the base has it.
        basicsize: 0,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as c_uint,
        slots: slots.as_mut_ptr(),
    };
    let base = py.get_type::<MemoryCache>();
    // SAFETY: the specification is complete, and copied but for the methods, which live for ever; the
    // slots have the signatures that their numbers ask for.
    let class = unsafe {
        let class = ffi::PyType_FromModuleAndSpec(module.as_ptr(), &mut spec, base.as_ptr());
        Bound::from_owned_ptr_or_err(py, class)?
    };
    Ok(class.cast_into::<PyType>()?)
}

fn slot(slot: c_int, pfunc: *mut c_void) -> ffi::PyType_Slot {
    ffi::PyType_Slot { slot, pfunc }
}

/// # Safety
/// Called by the interpreter in an attached thread, with an instance of the class and an object.
unsafe extern "C" fn subscript(
    slf: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as above.
    unsafe {
        match cache(&slf).hit(key) {
            Hit::Value(value) => value,
            Hit::Raised => null_mut(),
            other => Python::attach(|py| {
                let slf = Bound::from_borrowed_ptr(py, slf);
                let slf = slf.cast_unchecked::<MemoryCache>();
                let key = Bound::from_borrowed_ptr(py, key);
                given(
                    py,
                    match other {
                        Hit::Miss => missing(slf, &key),
                        _ => MemoryCache::__getitem__(slf, &key),
                    },
                )
            }),
        }
    }
}

/// # Safety
/// Called by the interpreter in an attached thread, with an instance of the class and so many arguments.
unsafe extern "C" fn get(
    slf: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: as above.
    unsafe {
        let default = match count {
            1 => ffi::Py_None(),
            2 => *arguments.add(1),
            _ => {
                let what = c"get takes a key and at most a default";
                ffi::PyErr_SetString(ffi::PyExc_TypeError, what.as_ptr());
                return null_mut();
            }
        };
        let key = *arguments;
        match cache(&slf).hit(key) {
            Hit::Value(value) => value,
            Hit::Raised => null_mut(),
            Hit::Miss => {
                ffi::Py_INCREF(default);
                default
            }
            Hit::Unknown(cache) => Python::attach(|py| {
                let key = Bound::from_borrowed_ptr(py, key);
                let default = Bound::from_borrowed_ptr(py, default);
                given(py, cache.get(py, &key, Some(default)))
            }),
        }
    }
}

/// # Safety
/// Of an instance of the class, in an attached thread, for as long as the caller has it.
unsafe fn cache(slf: &*mut ffi::PyObject) -> &MemoryCache {
    // SAFETY: as the caller promises; a borrowed reference has no other use of the token.
    unsafe {
        let slf = Borrowed::from_ptr(Python::assume_attached(), *slf);
        let cache: *const MemoryCache = slf.cast_unchecked::<MemoryCache>().get();
        &*cache
    }
}

/// What a method gave, as the interpreter wants it.
fn given(py: Python<'_>, result: PyResult<Bound<'_, PyAny>>) -> *mut ffi::PyObject {
    match result {
        Ok(object) => object.into_ptr(),
        Err(error) => {
            error.restore(py);
            null_mut()
        }
    }
}
