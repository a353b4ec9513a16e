//! `cache[key]`, `cache.get(key)`, `cache[key] = value` and `cache.set(key, value)` as a C extension would have them: a
//! hit is a hash, a look into the shard and a reference. What pyo3 puts around every method takes longer. Everything
//! else (a miss of `cache[key]`, keys in doubt, clocks, copies, errors) goes to the methods of `MemoryCache`.

use super::cache::{copy, missing, Hit, MemoryCache, Put};
use crate::exit::attached;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use pyo3::Borrowed;
use std::ffi::{c_int, c_uint, c_void, CStr};
use std::ptr::null_mut;

/// The methods that stand in front of the native class' own.
fn methods() -> Vec<ffi::PyMethodDef> {
    vec![
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
        ffi::PyMethodDef {
            ml_name: c"set".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer {
                PyCFunctionFastWithKeywords: set,
            },
            ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
            ml_doc: c"set($self, /, key, value, *, ttl=...)\n--\n\n\
                Stores the value, with the cache's own time to live unless `ttl` gives another.\n\n\
                Raises `InvalidArgument`, `UnsupportedValue` and `EntryTooLarge`, which change nothing."
                .as_ptr(),
        },
    ]
}

/// Gives a class that extends one of these fast methods of its own: the interpreter takes its short way to a method
/// only if it belongs to the object's own class, not to a base.
#[pyfunction]
pub fn quickened<'py>(class: Bound<'py, PyType>) -> PyResult<Bound<'py, PyType>> {
    let methods = if class.is_subclass_of::<MemoryCache>()? {
        methods()
    } else if class.is_subclass_of::<crate::cache::Cache>()? {
        crate::fast::methods()
    } else {
        return Err(PyTypeError::new_err("a class of caches is wanted"));
    };
    // Descriptors point to them for ever; classes are decorated once.
    for method in methods.leak() {
        // SAFETY: of a type and a method for its instances, which is named and never freed.
        let (name, descriptor) = unsafe {
            let descriptor = ffi::PyDescr_NewMethod(class.as_type_ptr(), method);
            (
                CStr::from_ptr(method.ml_name).to_string_lossy(),
                Bound::from_owned_ptr_or_err(class.py(), descriptor)?,
            )
        };
        class.setattr(name.as_ref(), descriptor)?;
    }
    Ok(class)
}

/// The class that `polycache.MemoryCache` extends: the native one with these in front.
pub fn class<'py>(module: &Bound<'py, PyModule>) -> PyResult<Bound<'py, PyType>> {
    let slots = vec![
        slot(
            ffi::Py_mp_subscript,
            subscript as ffi::binaryfunc as *mut c_void,
        ),
        slot(
            ffi::Py_mp_ass_subscript,
            assign as ffi::objobjargproc as *mut c_void,
        ),
    ];
    let base = module.py().get_type::<MemoryCache>();
    extended(
        module,
        &base,
        c"polycache._native.QuickMemoryCache",
        methods(),
        slots,
    )
}

/// A class that extends a native one by methods and slots.
pub fn extended<'py>(
    module: &Bound<'py, PyModule>,
    base: &Bound<'py, PyType>,
    name: &'static CStr,
    mut methods: Vec<ffi::PyMethodDef>,
    mut slots: Vec<ffi::PyType_Slot>,
) -> PyResult<Bound<'py, PyType>> {
    methods.push(ffi::PyMethodDef::zeroed());
    // Types keep them for ever, and this one is never freed.
    let methods = methods.leak();
    slots.push(slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()));
    slots.push(slot(0, null_mut()));
    let mut spec = ffi::PyType_Spec {
        name: name.as_ptr(),
        // As the base has it.
        basicsize: 0,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the specification is complete, and copied but for the methods, which live for ever; the
    // slots have the signatures that their numbers ask for.
    let class = unsafe {
        let class = ffi::PyType_FromModuleAndSpec(module.as_ptr(), &mut spec, base.as_ptr());
        Bound::from_owned_ptr_or_err(module.py(), class)?
    };
    Ok(class.cast_into::<PyType>()?)
}

/// A slot of a class, and the function in it.
pub fn slot(slot: c_int, pfunc: *mut c_void) -> ffi::PyType_Slot {
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
        match native::<MemoryCache>(&slf).hit(key) {
            Hit::Value(value) => value,
            Hit::Copied(value) => copied(value),
            Hit::Raised => null_mut(),
            Hit::Miss => subscript_slowly(slf, key, true),
            Hit::Unknown(_) => subscript_slowly(slf, key, false),
        }
    }
}

/// The same of a key that is not there, or for the ordinary method. Separate, because a hit then has few registers
/// to save.
///
/// # Safety
/// As [`subscript`].
#[cold]
#[inline(never)]
unsafe fn subscript_slowly(
    slf: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
    missed: bool,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    attached(|py| unsafe {
        let slf = Bound::from_borrowed_ptr(py, slf);
        let slf = slf.cast_unchecked::<MemoryCache>();
        let key = Bound::from_borrowed_ptr(py, key);
        let found = if missed {
            missing(slf, &key)
        } else {
            MemoryCache::__getitem__(slf, &key)
        };
        given(py, found)
    })
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
        match native::<MemoryCache>(&slf).hit(key) {
            Hit::Value(value) => value,
            Hit::Copied(value) => copied(value),
            Hit::Raised => null_mut(),
            Hit::Miss => counted(default),
            Hit::Unknown(cache) => get_slowly(cache, key, default),
        }
    }
}

/// A copy of a value, for its reader.
///
/// # Safety
/// Of a reference that the caller gives away, in an attached thread.
#[cold]
#[inline(never)]
pub unsafe fn copied(value: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    attached(|py| unsafe { given(py, copy(Bound::from_owned_ptr(py, value))) })
}

/// The same by the ordinary method.
///
/// # Safety
/// As [`get`], of the objects that it was given.
#[cold]
#[inline(never)]
unsafe fn get_slowly(
    cache: &MemoryCache,
    key: *mut ffi::PyObject,
    default: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    attached(|py| unsafe {
        let key = Bound::from_borrowed_ptr(py, key);
        let default = Bound::from_borrowed_ptr(py, default);
        given(py, cache.get(py, &key, Some(default)))
    })
}

/// `cache[key] = value`, and `del cache[key]` without a value.
///
/// # Safety
/// Called by the interpreter in an attached thread, with an instance of the class, an object, and an
/// object or null.
unsafe extern "C" fn assign(
    slf: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        if !value.is_null() {
            match native::<MemoryCache>(&slf).put(key, value) {
                Put::Done => return 0,
                Put::Raised => return -1,
                Put::Unknown => {}
            }
        }
        assign_slowly(slf, key, value)
    }
}

/// The same by the ordinary methods.
///
/// # Safety
/// As [`assign`].
#[cold]
#[inline(never)]
unsafe fn assign_slowly(
    slf: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: as the caller promises.
    attached(|py| unsafe {
        let cache: &MemoryCache = native(&slf);
        let key = Bound::from_borrowed_ptr(py, key);
        let done = match Bound::from_borrowed_ptr_or_opt(py, value) {
            Some(value) => cache.__setitem__(&key, &value),
            None => cache.__delitem__(&key),
        };
        match done {
            Ok(()) => 0,
            Err(error) => {
                error.restore(py);
                -1
            }
        }
    })
}

/// # Safety
/// Called by the interpreter in an attached thread, with an instance of the class, so many arguments by
/// place, and behind them those that are named in a tuple, if there is one.
unsafe extern "C" fn set(
    slf: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as above.
    unsafe {
        if count == 2 && names.is_null() {
            match native::<MemoryCache>(&slf).put(*arguments, *arguments.add(1)) {
                Put::Done => return counted(ffi::Py_None()),
                Put::Raised => return null_mut(),
                Put::Unknown => {}
            }
        }
        set_slowly(slf, arguments, count, names)
    }
}

/// The same by the ordinary method.
///
/// # Safety
/// As [`set`].
#[cold]
#[inline(never)]
unsafe fn set_slowly(
    slf: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    attached(|py| unsafe {
        let base = py.get_type::<MemoryCache>();
        given(py, by_method(&base, "set", slf, arguments, count, names))
    })
}

/// Calls the ordinary method, which knows all ways to give arguments.
///
/// # Safety
/// Of an instance of the class, and arguments as they are given to a method with `METH_KEYWORDS`.
pub unsafe fn by_method<'py>(
    base: &Bound<'py, PyType>,
    name: &str,
    slf: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, count) = (base.py(), count as usize);
    // SAFETY: the caller has it.
    let object = |object| unsafe { Bound::from_borrowed_ptr_or_opt(py, object) };
    // SAFETY: there are so many by place, and behind them one for each name.
    let argument = |place| unsafe { Bound::from_borrowed_ptr(py, *arguments.add(place)) };
    let by_place = object(slf).into_iter().chain((0..count).map(argument));
    let by_place = PyTuple::new(py, by_place.collect::<Vec<_>>())?;
    let by_name = PyDict::new(py);
    if let Some(names) = object(names) {
        for (place, name) in names.try_iter()?.enumerate() {
            by_name.set_item(name?, argument(count + place))?;
        }
    }
    base.getattr(name)?.call(by_place, Some(&by_name))
}

/// The Rust half of an instance.
///
/// # Safety
/// Of an instance of the native class or one that extends it, in an attached thread, for as long as the
/// caller has it.
#[inline(always)]
pub unsafe fn native<T>(slf: &*mut ffi::PyObject) -> &T
where
    T: pyo3::PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync,
{
    // SAFETY: as the caller promises; a borrowed reference has no other use of the token, and looks for
    // null but for the first line.
    unsafe {
        std::hint::assert_unchecked(!slf.is_null());
        let slf = Borrowed::from_ptr(Python::assume_attached(), *slf);
        let native: *const T = slf.cast_unchecked::<T>().get();
        &*native
    }
}

/// One more reference to an object.
///
/// # Safety
/// Of an object, in an attached thread.
#[inline(always)]
pub unsafe fn counted(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    unsafe { ffi::Py_INCREF(object) };
    object
}

/// What a method gave, as the interpreter wants it.
pub fn given(py: Python<'_>, result: PyResult<Bound<'_, PyAny>>) -> *mut ffi::PyObject {
    match result {
        Ok(object) => object.into_ptr(),
        Err(error) => {
            error.restore(py);
            null_mut()
        }
    }
}
