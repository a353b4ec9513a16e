//! Whether two keys are equal, told without running code of users where possible; otherwise noted, to be asked when no
//! lock is held. The head of `memory` says why.
//!
//! Code of users that runs *within* an operation of the engine (a listener, `__del__` of what left) may begin its own
//! operations on this thread. It does so only after the outer one has found its key or is free of doubt, and no longer
//! needs its notes.

use super::object::Object;
use super::slots;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::addr_of_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two objects that only code of users can compare.
struct Pair {
    stored: Object,
    asked: Object,
    /// Python's verdict, once it was asked.
    equal: Option<bool>,
}

/// Threads whose `DOUBT` is set. There is usually none. Then no thread needs to look at its own, which in a library
/// that is loaded late is a call. A thread that is among them sees itself.
static DOUBTING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether a pair without a verdict was met.
    static DOUBT: Cell<bool> = const { Cell::new(false) };
    /// Never dropped with its thread, which has no interpreter then: the operation that met it releases what is noted.
    static PAIRS: ManuallyDrop<RefCell<Vec<Pair>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// True when the operation under way met keys that it could not compare.
#[inline]
pub fn in_doubt() -> bool {
    DOUBTING.load(Ordering::Relaxed) > 0 && doubts()
}

// A call of its own: compilers fetch what is a thread's before they know that it is wanted.
#[cold]
#[inline(never)]
fn doubts() -> bool {
    DOUBT.get()
}

/// Says whether this thread is in doubt; returns whether it was.
fn set_doubt(doubt: bool) -> bool {
    let before = DOUBT.replace(doubt);
    match (before, doubt) {
        (false, true) => DOUBTING.fetch_add(1, Ordering::Relaxed),
        (true, false) => DOUBTING.fetch_sub(1, Ordering::Relaxed),
        _ => 0,
    };
    before
}

/// Lets go of what was noted, by an operation that found its key in spite of it.
#[cold]
pub fn forget() {
    set_doubt(false);
    drop(PAIRS.with(|pairs| pairs.take()));
}

/// Runs an operation of the engine until it is free of doubt, or has found its key in spite of it.
/// Raises what `__eq__` raises.
#[inline]
pub fn settled<R>(
    py: Python<'_>,
    mut operation: impl FnMut() -> R,
    found: impl Fn(&R) -> bool,
) -> PyResult<R> {
    let result = operation();
    if !in_doubt() {
        return Ok(result);
    }
    settle(py, result, operation, found)
}

#[cold]
fn settle<R>(
    py: Python<'_>,
    mut result: R,
    mut operation: impl FnMut() -> R,
    found: impl Fn(&R) -> bool,
) -> PyResult<R> {
    loop {
        // Taken out, because the comparison below may run operations on this thread.
        let mut pairs = PAIRS.with(|pairs| pairs.take());
        if !set_doubt(false) || found(&result) {
            return Ok(result);
        }
        for pair in &mut pairs {
            if pair.equal.is_none() {
                pair.equal = Some(compare(py, pair)?);
            }
        }
        PAIRS.with(|noted| noted.replace(pairs));
        result = operation();
    }
}

fn compare(py: Python<'_>, pair: &Pair) -> PyResult<bool> {
    // SAFETY: both are alive, and the thread is attached.
    let equal = unsafe {
        ffi::PyObject_RichCompareBool(pair.stored.as_ptr(), pair.asked.as_ptr(), ffi::Py_EQ)
    };
    match equal {
        -1 => Err(PyErr::fetch(py)),
        equal => Ok(equal == 1),
    }
}

/// Whether two objects of one hash are equal, called under a lock: false, and noted, when only code of
/// users can tell.
#[inline(never)]
pub fn noted(stored: &Object, asked: &Object) -> bool {
    let (left, right) = (stored.as_ptr(), asked.as_ptr());
    // SAFETY: both are alive, and the thread is attached; the functions called are the types' own.
    let told = unsafe {
        let class = ffi::Py_TYPE(left);
        if class != ffi::Py_TYPE(right) {
            plainly(left, right, 0)
        } else if class == addr_of_mut!(ffi::PyUnicode_Type) {
            // Most keys are of these two: asked for without a look at what else they could be.
            verdict(ffi::PyUnicode_RichCompare(left, right, ffi::Py_EQ))
        } else if class == addr_of_mut!(ffi::PyLong_Type) {
            verdict(slots::same_int(left, right))
        } else {
            plainly(left, right, 0)
        }
    };
    told.unwrap_or_else(|| noted_or_known(stored, asked))
}

#[cold]
fn noted_or_known(stored: &Object, asked: &Object) -> bool {
    PAIRS.with(|pairs| {
        let mut pairs = pairs.borrow_mut();
        let same = |pair: &&Pair| {
            pair.stored.as_ptr() == stored.as_ptr() && pair.asked.as_ptr() == asked.as_ptr()
        };
        if let Some(pair) = pairs.iter().find(same) {
            if let Some(equal) = pair.equal {
                return equal;
            }
        } else {
            pairs.push(Pair {
                stored: stored.clone(),
                asked: asked.clone(),
                equal: None,
            });
        }
        set_doubt(true);
        false
    })
}

/// How deep tuples in tuples are looked into.
const DEEPEST: u32 = 4;

/// Whether two objects are equal, if that is told by identity or the code of built-in types tier.
///
/// # Safety
/// Both are objects, and the thread is attached.
#[inline(never)]
unsafe fn plainly(left: *mut ffi::PyObject, right: *mut ffi::PyObject, depth: u32) -> Option<bool> {
    if left == right {
        return Some(true);
    }
    // SAFETY: as the caller promises; the functions called here are the types' own.
    unsafe {
        let (left_kind, right_kind) = (kind(left)?, kind(right)?);
        if left_kind != right_kind {
            return Some(false);
        }
        match left_kind {
            Kind::Text => verdict(ffi::PyUnicode_RichCompare(left, right, ffi::Py_EQ)),
            Kind::Bytes => Some(bytes(left) == bytes(right)),
            Kind::Number => Some(ffi::PyObject_RichCompareBool(left, right, ffi::Py_EQ) == 1),
            Kind::Identity => Some(false),
            Kind::Tuple => tuples(left, right, depth),
        }
    }
}

/// What `==` gave; None when it failed, to be asked once more where it can be raised.
///
/// # Safety
/// Of a reference that is the caller's, or null with an exception, in an attached thread.
#[inline]
unsafe fn verdict(given: *mut ffi::PyObject) -> Option<bool> {
    // SAFETY: as the caller promises. Neither True nor False ever ends.
    unsafe {
        if given.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        ffi::Py_DECREF(given);
        Some(given == ffi::Py_True())
    }
}

/// # Safety
/// As [`plainly`], of two tuples.
unsafe fn tuples(left: *mut ffi::PyObject, right: *mut ffi::PyObject, depth: u32) -> Option<bool> {
    if depth == DEEPEST {
        return None;
    }
    // SAFETY: both are tuples, which do not change, and the places are inside.
    unsafe {
        let length = ffi::PyTuple_Size(left);
        if length != ffi::PyTuple_Size(right) {
            return Some(false);
        }
        let mut all = Some(true);
        for place in 0..length {
            let (one, other) = (
                ffi::PyTuple_GetItem(left, place),
                ffi::PyTuple_GetItem(right, place),
            );
            match plainly(one, other, depth + 1) {
                Some(true) => {}
                // Whatever the rest is. Python would have compared those before it; they cannot change the result.
                Some(false) => return Some(false),
                None => all = None,
            }
        }
        all
    }
}

/// # Safety
/// Of a `bytes` that lives as long as it is looked at.
unsafe fn bytes<'a>(object: *mut ffi::PyObject) -> &'a [u8] {
    // SAFETY: as the caller promises.
    unsafe {
        let start = ffi::PyBytes_AsString(object).cast::<u8>();
        std::slice::from_raw_parts(start, ffi::PyBytes_Size(object) as usize)
    }
}

/// Types whose objects are compared by code that is known; those of different kinds are not equal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Bytes,
    /// `int`, `bool`, `float` and `complex`, which compare with each other.
    Number,
    Tuple,
    /// Objects without an `__eq__`, None among them, equal to themselves tier.
    Identity,
}

/// # Safety
/// Of an object, in an attached thread.
unsafe fn kind(object: *mut ffi::PyObject) -> Option<Kind> {
    // SAFETY: types are objects that live as long as their instances; built-in ones for ever.
    unsafe {
        let class = ffi::Py_TYPE(object);
        if class == addr_of_mut!(ffi::PyUnicode_Type) {
            return Some(Kind::Text);
        }
        if class == addr_of_mut!(ffi::PyLong_Type)
            || class == addr_of_mut!(ffi::PyFloat_Type)
            || class == addr_of_mut!(ffi::PyBool_Type)
            || class == addr_of_mut!(ffi::PyComplex_Type)
        {
            return Some(Kind::Number);
        }
        if class == addr_of_mut!(ffi::PyBytes_Type) {
            return Some(Kind::Bytes);
        }
        if class == addr_of_mut!(ffi::PyTuple_Type) {
            return Some(Kind::Tuple);
        }
        let compares = comparison(class);
        let by_identity = compares == comparison(addr_of_mut!(ffi::PyBaseObject_Type));
        (by_identity || compares.is_null()).then_some(Kind::Identity)
    }
}

/// What implements `==` of a type.
///
/// # Safety
/// Of a type, in an attached thread.
unsafe fn comparison(class: *mut ffi::PyTypeObject) -> *mut c_void {
    // SAFETY: any type may be asked since Python 3.10.
    unsafe { ffi::PyType_GetSlot(class, ffi::Py_tp_richcompare) }
}
