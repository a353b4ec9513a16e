//! Why a value is refused, and where its culprit stands.

use crate::classes::Classes;
use crate::errors;
use crate::types::is_ordinary;
use polycache::{Error, Serializer, Value};
use polycache_entry::{encode, EntryOptions};
use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};
use std::borrow::Cow;

/// Why a value is refused.
pub struct Refusal {
    pub reason: Cow<'static, str>,
    /// What an `encode` raised.
    pub cause: Option<PyErr>,
}

impl Refusal {
    /// The error, for a culprit that is the last leaf of `value`.
    #[cold]
    pub fn into_error(self, py: Python<'_>, value: Value<'_>, serializer: Serializer) -> PyErr {
        let Refusal { reason, cause } = self;
        if let Some(cause) = cause {
            if !is_ordinary(py, &cause) {
                return cause;
            }
            let error = errors::raise(py, locate(value, reason, serializer));
            error.set_cause(py, Some(cause));
            return error;
        }
        errors::raise(py, locate(value, reason, serializer))
    }
}

/// The class of the type map that the object's class is derived from.
#[cold]
pub fn base_of(object: &Bound<'_, PyAny>) -> Option<&'static str> {
    let py = object.py();
    let bases = [
        (object.is_instance_of::<PyString>(), "str"),
        (object.is_instance_of::<PyInt>(), "int"),
        (object.is_instance_of::<PyFloat>(), "float"),
        (object.is_instance_of::<PyDict>(), "dict"),
        (object.is_instance_of::<PyList>(), "list"),
        (object.is_instance_of::<PyTuple>(), "tuple"),
        (object.is_instance_of::<PyBytes>(), "bytes"),
        (object.is_instance_of::<PyByteArray>(), "bytearray"),
        (object.is_instance_of::<PySet>(), "set"),
        (object.is_instance_of::<PyFrozenSet>(), "frozenset"),
    ];
    let builtin = bases.iter().find(|(derived, _)| *derived);
    if let Some((_, name)) = builtin {
        return Some(name);
    }
    let classes = Classes::get(py).ok()?;
    [
        (&classes.datetime, "datetime"),
        (&classes.decimal, "Decimal"),
        (&classes.uuid, "UUID"),
    ]
    .into_iter()
    .find(|(class, _)| object.is_instance(class.bind(py)).unwrap_or(false))
    .map(|(_, name)| name)
}

/// The error for a culprit that is the last leaf of `value`, unless the serializer refuses something
/// that comes before it. Writing what there is tells the path.
#[cold]
fn locate(mut value: Value<'_>, reason: Cow<'static, str>, serializer: Serializer) -> Error {
    let options = EntryOptions {
        serializer,
        ..EntryOptions::default()
    };
    let mut path = "$".to_owned();
    if matches!(
        value,
        Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Named(_)
    ) {
        if let Err(earlier) = encode(&value, &options, &mut Vec::new()) {
            return earlier.into();
        }
        spoil_last_leaf(&mut value);
        if let Err(polycache_entry::Error::UnsupportedValue { path: found, .. }) =
            encode(&value, &options, &mut Vec::new())
        {
            path = found;
        }
    }
    Error::UnsupportedValue {
        path,
        reason: reason.into_owned(),
    }
}

/// Puts a value that no serializer writes in the place of the last leaf.
fn spoil_last_leaf(value: &mut Value<'_>) {
    let last = match value {
        Value::List(values) | Value::Set(values) => values.last_mut(),
        Value::Map(pairs) => pairs.last_mut().map(|(_, value)| value),
        Value::Named(named) => Some(&mut named.value),
        _ => None,
    };
    match last {
        Some(last) => spoil_last_leaf(last),
        None => *value = Value::Int(i128::MAX),
    }
}
