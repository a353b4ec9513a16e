//! `polycache.Named`: a value under the name of a type (`spec/entry.md`, "Registered types").

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value under the name of a type that this program has not registered.
///
/// Reads give it where the option `types` has no such name. When it is set it is written as it was
/// read, so that nothing is lost. `name` is text of 1 to 255 bytes in UTF-8, and `value` is any value
/// of the type map; both are checked when it is set (`UnsupportedValue`).
#[pyclass(frozen, module = "polycache")]
pub struct Named {
    /// The type's name.
    #[pyo3(get)]
    pub name: Py<PyAny>,
    /// What its `encode` made of the object: usually a dict of the fields.
    #[pyo3(get)]
    pub value: Py<PyAny>,
}

static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// Finds the class, for [`is_class`].
pub fn prepare(py: Python<'_>) {
    CLASS.store(py.get_type::<Named>().as_type_ptr(), Ordering::Relaxed);
}

/// True of the class itself. Asked of every part of a copied value, so it is only a comparison.
#[inline(always)]
pub fn is_class(class: *mut ffi::PyTypeObject) -> bool {
    class == CLASS.load(Ordering::Relaxed)
}

impl Named {
    fn both<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [&self.name, &self.value])
    }
}

#[pymethods]
impl Named {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    fn places() -> (&'static str, &'static str) {
        ("name", "value")
    }

    #[new]
    fn new(name: Py<PyAny>, value: Py<PyAny>) -> Named {
        Named { name, value }
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match other.cast_exact::<Named>() {
            // As a tuple of both would: a part is equal to itself.
            Ok(other) => self
                .both(py)?
                .rich_compare(other.get().both(py)?, pyo3::basic::CompareOp::Eq),
            Err(_) => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.both(py)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (name, value) = (self.name.bind(py).repr()?, self.value.bind(py).repr()?);
        Ok(format!("polycache.Named({name}, {value})"))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        Ok((py.get_type::<Named>(), self.both(py)?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.name)?;
        visit.call(&self.value)
    }
}
