//! Keys: any hashable object, equal by Python's `==` as far as that can be told under a lock.

use super::equality;
use super::object::Object;
use super::slots;
use pyo3::ffi;
use pyo3::prelude::*;
use std::hash::{Hash, Hasher};
use std::mem::ManuallyDrop;
use std::ptr::addr_of_mut;

/// What tells namespaces of one memory tier apart: a number, or nothing where there are none.
pub trait NamespaceNumber: Copy + Eq {
    /// By an odd number, so that no two numbers are mixed in alike.
    fn mixed(self) -> u64;
}

impl NamespaceNumber for () {
    #[inline(always)]
    fn mixed(self) -> u64 {
        0
    }
}

impl NamespaceNumber for u64 {
    #[inline(always)]
    fn mixed(self) -> u64 {
        self.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// A key with its hash, which may be code of users and is asked for once.
pub struct Key<S = ()> {
    pub object: Object,
    pub hash: u64,
    pub namespace_number: S,
}

impl Key {
    /// The key to look for; None when `__hash__` raised, which is left to be raised.
    ///
    /// # Safety
    /// Of an object that lives as long as the key, in an attached thread.
    #[inline]
    pub unsafe fn asked_raw<'a>(object: *mut ffi::PyObject) -> Option<Asked<'a>> {
        // SAFETY: as the caller promises.
        unsafe {
            let hash = hash_of(object);
            (hash != -1).then(|| Asked {
                key: ManuallyDrop::new(Key {
                    object: Object::from_raw(object),
                    hash: hash as u64,
                    namespace_number: (),
                }),
                lent: std::marker::PhantomData,
            })
        }
    }
}

impl<S: NamespaceNumber> Key<S> {
    /// The key to look for, without a reference of its own. Raises what `__hash__` does.
    #[inline]
    pub fn asked<'a>(object: &'a Bound<'_, PyAny>, namespace_number: S) -> PyResult<Asked<'a, S>> {
        // SAFETY: the object is alive, and the thread attached.
        let hash = unsafe { hash_of(object.as_ptr()) };
        if hash == -1 {
            return Err(PyErr::fetch(object.py()));
        }
        Ok(Asked {
            key: ManuallyDrop::new(Key {
                object: ManuallyDrop::into_inner(Object::borrowed(object)),
                hash: hash as u64,
                namespace_number,
            }),
            lent: std::marker::PhantomData,
        })
    }
}

/// A key's hash, as loads are listed by it. Raises what `__hash__` does.
pub fn hash(key: &Bound<'_, PyAny>) -> PyResult<u64> {
    Ok(Key::asked(key, ())?.hash)
}

/// What `hash()` gives; -1 when it raised.
///
/// # Safety
/// Of an object, in an attached thread.
#[inline(always)]
unsafe fn hash_of(object: *mut ffi::PyObject) -> ffi::Py_hash_t {
    // SAFETY: as the caller promises.
    unsafe {
        // As most keys are.
        if ffi::Py_TYPE(object) == addr_of_mut!(ffi::PyUnicode_Type) {
            return slots::hash_text(object);
        }
        ffi::PyObject_Hash(object)
    }
}

/// A key that lives no longer than the object it was made of.
pub struct Asked<'a, S = ()> {
    key: ManuallyDrop<Key<S>>,
    lent: std::marker::PhantomData<&'a ()>,
}

impl<S> std::ops::Deref for Asked<'_, S> {
    type Target = Key<S>;

    #[inline]
    fn deref(&self) -> &Key<S> {
        &self.key
    }
}

impl<S: NamespaceNumber> Clone for Key<S> {
    #[inline]
    fn clone(&self) -> Key<S> {
        Key {
            object: self.object.clone(),
            hash: self.hash,
            namespace_number: self.namespace_number,
        }
    }
}

impl<S: NamespaceNumber> Hash for Key<S> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash ^ self.namespace_number.mixed());
    }
}

impl<S: NamespaceNumber> PartialEq for Key<S> {
    #[inline]
    fn eq(&self, other: &Key<S>) -> bool {
        if self.hash != other.hash || self.namespace_number != other.namespace_number {
            return false;
        }
        self.object.as_ptr() == other.object.as_ptr()
            || equality::noted(&self.object, &other.object)
    }
}

impl<S: NamespaceNumber> Eq for Key<S> {}
