//! Replies of redis-py as JSON (`spec/reads.md`, "As JSON").

use polycache::bindings::remote::json::{
    write_bytes, write_double, write_integer, write_list, write_text, write_text_with_surrogates,
    Members,
};
use pyo3::exceptions::{PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};
use std::borrow::Cow;

/// How deep replies may be.
const DEPTH: usize = 500;

/// A reply as JSON: lists, tuples and dicts as the client has them, bytes as UTF-8 text in which the replacement character
/// stands for what is none. A set, which has no order, is a list in the order of its texts, so that all processes make the
/// same of it.
///
/// Raises TypeError for what no reply holds.
#[pyfunction]
pub fn reply_json<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let mut out = Vec::new();
    write(value, DEPTH, &mut out)?;
    Ok(PyBytes::new(value.py(), &out))
}

fn write(value: &Bound<'_, PyAny>, depth: usize, out: &mut Vec<u8>) -> PyResult<()> {
    if depth == 0 {
        return Err(PyRecursionError::new_err("a reply is nested too deeply"));
    }
    let part = |part: Bound<'_, PyAny>, out: &mut Vec<u8>| write(&part, depth - 1, out);
    if let Ok(text) = value.cast::<PyString>() {
        return text_of(text, out);
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        write_bytes(bytes.as_bytes(), out);
    } else if value.is_none() {
        out.extend_from_slice(b"null");
    } else if let Ok(list) = value.cast::<PyList>() {
        return write_list(list.iter(), out, part);
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        return write_list(tuple.iter(), out, part);
    } else if let Ok(pairs) = value.cast::<PyDict>() {
        return object(pairs, depth, out);
    } else if let Ok(yes) = value.cast::<PyBool>() {
        out.extend_from_slice(if yes.is_true() { b"true" } else { b"false" });
    } else if let Ok(integer) = value.cast::<PyInt>() {
        match integer.extract::<i64>() {
            Ok(integer) => write_integer(integer, out),
            Err(_) => text_of(&integer.str()?, out)?,
        }
    } else if let Ok(float) = value.cast::<PyFloat>() {
        write_double(float.value(), out);
    } else if let Ok(set) = value.cast::<PySet>() {
        return sorted(set.iter(), depth, out);
    } else if let Ok(set) = value.cast::<PyFrozenSet>() {
        return sorted(set.iter(), depth, out);
    } else {
        let class = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a reply has no {class}")));
    }
    Ok(())
}

fn text_of(text: &Bound<'_, PyString>, out: &mut Vec<u8>) -> PyResult<()> {
    match text.to_str() {
        Ok(text) => write_text(text, out),
        // Surrogates that stand alone, of a client with `encoding_errors="surrogateescape"`.
        Err(_) => {
            let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
            write_text_with_surrogates(bytes.cast::<PyBytes>()?.as_bytes(), out);
        }
    }
    Ok(())
}

fn object(pairs: &Bound<'_, PyDict>, depth: usize, out: &mut Vec<u8>) -> PyResult<()> {
    let pairs: Vec<_> = pairs.iter().collect();
    let mut members = Members::default();
    for (name, value) in &pairs {
        members.add(name_of(name, depth)?, value);
    }
    members.write(out, |value, out| write(value, depth - 1, out))
}

fn name_of<'a>(name: &'a Bound<'_, PyAny>, depth: usize) -> PyResult<Cow<'a, str>> {
    if let Some(text) = name
        .cast::<PyString>()
        .ok()
        .and_then(|text| text.to_str().ok())
    {
        return Ok(text.into());
    }
    if let Ok(bytes) = name.cast::<PyBytes>() {
        return Ok(String::from_utf8_lossy(bytes.as_bytes()));
    }
    if let Ok(text) = name.cast::<PyString>() {
        return Ok(text.to_string_lossy().into_owned().into());
    }
    let mut json = Vec::new();
    write(name, depth - 1, &mut json)?;
    Ok(String::from_utf8_lossy(&json).into_owned().into())
}

fn sorted<'py>(
    values: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    let mut texts = Vec::new();
    for value in values {
        let mut text = Vec::new();
        write(&value, depth - 1, &mut text)?;
        texts.push(text);
    }
    // UTF-8 is in the order of its characters.
    texts.sort();
    write_list(texts, out, |text, out| {
        out.extend_from_slice(&text);
        Ok(())
    })
}
