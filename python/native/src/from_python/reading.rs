//! Values that are read before they are used, for loads and copies: code of users may run while a value is read.

use super::Reader;
use crate::types::Types;
use crate::{errors, to_python};
use polycache::{Serializer, Value};
use polycache_entry::{encode, EntryOptions};
use pyo3::prelude::*;
use std::cell::Cell;

/// A value that was read, with what it borrows from.
pub struct Reading<'py> {
    /// Not longer than the owners.
    value: Value<'static>,
    serializer: Serializer,
    _owners: (Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>),
    /// About how many bytes it takes.
    pub size: usize,
    /// Whether it would come back as something else: a tuple as a list, say.
    pub differs: bool,
    /// Whether it holds values of registered types.
    pub named: bool,
    to_be_tried: bool,
}

/// Reads a value that is to be used later. Errors are those of [`with_value`].
pub fn read<'py>(
    object: &Bound<'py, PyAny>,
    serializer: Serializer,
    types: Option<&Types>,
) -> PyResult<Reading<'py>> {
    let mut reader = Reader::with(types);
    let value = reader.value(object, 0);
    if let Some(refusal) = reader.refusal {
        return Err(refusal.into_error(object.py(), value, serializer));
    }
    Ok(Reading {
        value,
        serializer,
        _owners: (object.clone(), reader.kept),
        size: reader.size,
        differs: reader.differs,
        named: reader.named,
        to_be_tried: reader.to_be_tried,
    })
}

impl<'py> Reading<'py> {
    pub fn value(&self) -> &Value<'_> {
        &self.value
    }

    /// For a value that is not going to be written: it is refused all the same if it could not be.
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        if !self.to_be_tried {
            return Ok(());
        }
        let options = EntryOptions {
            serializer: self.serializer,
            ..EntryOptions::default()
        };
        let tried = encode(&self.value, &options, &mut Vec::new());
        tried
            .map(|_| ())
            .map_err(|error| errors::raise(py, error.into()))
    }

    /// The object that a reader would make of it, with `Named` in it.
    pub fn into_object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python::object(py, self.value, &Cell::new(false))
    }
}
