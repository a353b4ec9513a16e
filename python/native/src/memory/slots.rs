//! Slots of built-in types, called without the way that leads to them: for what a hit does, that is the
//! longer part.

use pyo3::ffi;
use std::ffi::{c_int, c_void};
use std::ptr::{addr_of_mut, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A type's slot, looked up once.
struct Slot(AtomicPtr<c_void>);

impl Slot {
    const fn new() -> Slot {
        Slot(AtomicPtr::new(null_mut()))
    }

    /// # Safety
    /// Of a built-in type that has the slot, in an attached thread.
    #[inline(always)]
    unsafe fn of(&self, class: *mut ffi::PyTypeObject, slot: c_int) -> *mut c_void {
        let known = self.0.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: any type may be asked since Python 3.10.
        let found = unsafe { ffi::PyType_GetSlot(class, slot) };
        self.0.store(found, Ordering::Relaxed);
        found
    }
}

/// `hash()` of an object of `str` itself, which keeps it.
///
/// # Safety
/// Of such an object, in an attached thread.
#[inline(always)]
pub unsafe fn hash_text(text: *mut ffi::PyObject) -> ffi::Py_hash_t {
    static HASH: Slot = Slot::new();
    // SAFETY: as the caller promises; this is what the slot holds.
    unsafe {
        let slot = HASH.of(addr_of_mut!(ffi::PyUnicode_Type), ffi::Py_tp_hash);
        std::mem::transmute::<*mut c_void, ffi::hashfunc>(slot)(text)
    }
}

/// `==` of two objects of `int` itself: True or False.
///
/// # Safety
/// Of such objects, in an attached thread.
#[inline(always)]
pub unsafe fn same_int(left: *mut ffi::PyObject, right: *mut ffi::PyObject) -> *mut ffi::PyObject {
    static COMPARE: Slot = Slot::new();
    // SAFETY: as the caller promises; this is what the slot holds.
    unsafe {
        let slot = COMPARE.of(addr_of_mut!(ffi::PyLong_Type), ffi::Py_tp_richcompare);
        std::mem::transmute::<*mut c_void, ffi::richcmpfunc>(slot)(left, right, ffi::Py_EQ)
    }
}
