//! A reference to a Python object, cloned and dropped as plainly as C code does.

use pyo3::ffi;
use pyo3::prelude::*;
use std::mem::ManuallyDrop;

/// An owned reference. All of its uses are in threads attached to the interpreter, as the head of
/// this module says of the engine, which has no token to prove it.
#[repr(transparent)]
pub struct Object(ManuallyDrop<Py<PyAny>>);

impl Object {
    #[inline]
    pub fn new(object: &Bound<'_, PyAny>) -> Object {
        Object(ManuallyDrop::new(object.clone().unbind()))
    }

    /// The object without a reference of its own: not to be dropped, nor used when `object` is gone.
    #[inline]
    pub fn borrowed(object: &Bound<'_, PyAny>) -> ManuallyDrop<Object> {
        // SAFETY: two of the same reference, of which this one is not dropped.
        let same = unsafe { std::ptr::read(object.as_unbound()) };
        ManuallyDrop::new(Object(ManuallyDrop::new(same)))
    }

    /// The reference itself, taken over: its maker sees to it that it is counted once.
    ///
    /// # Safety
    /// Of an object, in an attached thread.
    #[inline]
    pub unsafe fn from_raw(object: *mut ffi::PyObject) -> Object {
        // SAFETY: as the caller promises; without the first line it would be looked at for null.
        let object = unsafe {
            std::hint::assert_unchecked(!object.is_null());
            Bound::from_owned_ptr(Python::assume_attached(), object)
        };
        Object(ManuallyDrop::new(object.unbind()))
    }

    /// Gives the reference away.
    #[inline]
    pub fn into_raw(self) -> *mut ffi::PyObject {
        ManuallyDrop::new(self).as_ptr()
    }

    #[inline]
    pub fn as_ptr(&self) -> *mut ffi::PyObject {
        self.0.as_ptr()
    }

    /// For the garbage collector.
    #[inline]
    pub fn as_py(&self) -> &Py<PyAny> {
        &self.0
    }

    #[inline]
    pub fn into_bound(self, py: Python<'_>) -> Bound<'_, PyAny> {
        let object = ManuallyDrop::new(self);
        // SAFETY: the reference is owned, and given away.
        unsafe { Bound::from_owned_ptr(py, object.as_ptr()) }
    }
}

impl Clone for Object {
    #[inline]
    fn clone(&self) -> Object {
        // SAFETY: the object lives, `self` being a reference, and the thread is attached. The second
        // copy of the reference is the one that is counted here.
        unsafe {
            ffi::Py_INCREF(self.as_ptr());
            std::ptr::read(self)
        }
    }
}

impl Drop for Object {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the reference is owned; the thread is attached.
        unsafe { ffi::Py_DECREF(self.as_ptr()) };
    }
}
