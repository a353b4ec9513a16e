//! `polycache.Cache.get` as a C extension would write it, for hits of the memory tier, which take less
//! time than what pyo3 puts around a method. Everything else goes on to the methods of `Cache`.

use crate::cache::{Cache, Quick};
use crate::exit::attached;
use crate::memory::fast::{by_method, extended, given, native};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

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

/// The class that `polycache.Cache` extends: the native one with this `get` in front.
pub fn class<'py>(module: &Bound<'py, PyModule>) -> PyResult<Bound<'py, PyType>> {
    let base = module.py().get_type::<Cache>();
    let name = c"polycache._native.QuickCache";
    extended(module, &base, name, methods(), Vec::new())
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
    // SAFETY: as above; only so many arguments are looked at.
    unsafe {
        let plain = names.is_null() && (count == 1 || count == 2);
        let found = if plain {
            native::<Cache>(&slf).quick(*arguments)
        } else {
            Quick::Unknown
        };
        if let Quick::Value(value) = found {
            return value;
        }
        attached(|py| {
            if plain && !matches!(found, Quick::Unknown) {
                let key = Bound::from_borrowed_ptr(py, *arguments);
                let default = (count == 2).then(|| Bound::from_borrowed_ptr(py, *arguments.add(1)));
                return given(py, found.read_or(&key, default));
            }
            let base = py.get_type::<Cache>();
            given(py, by_method(&base, "get", slf, arguments, count, names))
        })
    }
}
