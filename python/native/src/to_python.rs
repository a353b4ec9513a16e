//! Values as Python objects: the type map of `spec/entry.md`, read.

use crate::classes::Classes;
use crate::named::Named;
use polycache::Value;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyString};
use std::cell::Cell;

/// The object that a value becomes. Values of registered types become `Named`, and `named` is set then: no
/// code of users runs here.
#[inline]
pub fn object<'py>(
    py: Python<'py>,
    value: Value<'_>,
    named: &Cell<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Text(text) => Ok(PyString::new(py, &text).into_any()),
        Value::Bytes(bytes) => Ok(PyBytes::new(py, &bytes).into_any()),
        other => compound(py, other, named),
    }
}

/// Kept out of line, so that text and bytes are built where they are read.
#[inline(never)]
fn compound<'py>(
    py: Python<'py>,
    value: Value<'_>,
    named: &Cell<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Value::Int(value) => match i64::try_from(value) {
            Ok(value) => PyInt::new(py, value).into_any(),
            Err(_) => PyInt::new(py, value).into_any(),
        },
        Value::BigInt(text) => py.get_type::<PyInt>().call1((text.as_ref(),))?,
        Value::Float(value) => PyFloat::new(py, value).into_any(),
        Value::Text(text) => PyString::new(py, &text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, &bytes).into_any(),
        Value::List(values) => {
            let elements = values.into_iter().map(|value| Element(value, named));
            PyList::new(py, elements)?.into_any()
        }
        Value::Set(values) => {
            let elements = values.into_iter().map(|value| Element(value, named));
            PySet::new(py, elements)?.into_any()
        }
        Value::Map(pairs) => {
            let dict = PyDict::new(py);
            for (key, value) in pairs {
                dict.set_item(PyString::new(py, &key), object(py, value, named)?)?;
            }
            dict.into_any()
        }
        Value::Timestamp { seconds, nanos } => datetime(py, seconds, nanos)?,
        Value::Decimal(text) => Classes::get(py)?.decimal.bind(py).call1((text.as_ref(),))?,
        Value::Uuid(bytes) => {
            let number = u128::from_be_bytes(bytes);
            let arguments = PyDict::new(py);
            arguments.set_item("int", number)?;
            Classes::get(py)?.uuid.bind(py).call((), Some(&arguments))?
        }
        Value::Named(held) => {
            named.set(true);
            let name = PyString::new(py, &held.name).into_any().unbind();
            let value = object(py, held.value, named)?.unbind();
            Bound::new(py, Named { name, value })?.into_any()
        }
    })
}

/// A value inside a list or set.
struct Element<'a, 'n>(Value<'a>, &'n Cell<bool>);

impl<'py> IntoPyObject<'py> for Element<'_, '_> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, self.0, self.1)
    }
}

/// An aware datetime in UTC; what lies below a microsecond is cut off.
fn datetime(py: Python<'_>, seconds: i64, nanos: u32) -> PyResult<Bound<'_, PyAny>> {
    let classes = Classes::get(py)?;
    let since_epoch = classes
        .timedelta
        .bind(py)
        .call1((0, seconds, nanos / 1000))?;
    classes.epoch.bind(py).add(since_epoch)
}
