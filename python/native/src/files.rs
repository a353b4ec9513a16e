//! Values that are written and read piece by piece, for `polycache/files/`.

use crate::cache::Cache;
use crate::duration::TtlArgument;
use crate::{classes, errors, key};
use polycache::bindings::{Files, NewFile, ValueFile};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::fs::File;

/// A store's file by its descriptor, and its name where it has one.
type Made = (i32, Option<String>);

/// Checks the arguments of a write, and begins one: in a file by its descriptor and name, or None where a value is in
/// memory as a whole; where in the file the value begins, most bytes that its entry has room for, and `max_value`.
#[pyfunction]
pub fn begin_file(
    cache: &Bound<'_, Cache>,
    key: &Bound<'_, PyAny>,
    ttl: TtlArgument<'_, '_>,
) -> PyResult<(Option<Made>, u64, u64, u64)> {
    let py = cache.py();
    let bytes = key::bytes(key)?;
    let ttl = ttl.read()?;
    cache.get().check_open(py)?;
    let Some(handle) = cache.get().handle() else {
        return Ok((None, 0, u64::MAX, u64::MAX));
    };
    handle.read_clock(py)?;
    let begun = handle.cache.begin_file(bytes, ttl);
    let begun = begun.map_err(|error| errors::raise(py, error))?;
    let file = begun.file.map(|file| (file.descriptor, file.name));
    Ok((file, begun.offset, begun.max_in_entry, begun.max_value))
}

/// Stores what was written in a file: `length` bytes with this CRC-32.
#[pyfunction]
pub fn put_file(
    cache: &Bound<'_, Cache>,
    key: &Bound<'_, PyAny>,
    file: Made,
    crc: u32,
    length: u64,
    ttl: TtlArgument<'_, '_>,
) -> PyResult<()> {
    let py = cache.py();
    let bytes = key::bytes(key)?;
    let ttl = ttl.read()?;
    let Some(handle) = cache.get().handle() else {
        return Ok(());
    };
    handle.read_clock(py)?;
    let (descriptor, name) = file;
    let file = NewFile { descriptor, name };
    let put = py.detach(|| handle.cache.put_file(bytes, &file, crc, length, ttl));
    put.map_err(|error| errors::raise(py, error))
}

/// The key's value as a file: a descriptor, where the value begins, its length and its serializer; KeyError for a miss.
/// None where it is to be read as a whole.
#[pyfunction]
pub fn open_file(
    cache: &Bound<'_, Cache>,
    key: &Bound<'_, PyAny>,
) -> PyResult<Option<(i32, u64, u64, &'static str)>> {
    let py = cache.py();
    let bytes = key::bytes(key)?;
    let Some(handle) = cache.get().handle() else {
        return Ok(None);
    };
    handle.read_clock(py)?;
    let opened = py.detach(|| handle.cache.open_file(bytes));
    match opened.map_err(|error| errors::raise(py, error))? {
        None => Err(errors::no_key(key)),
        Some(ValueFile::Whole) => Ok(None),
        Some(ValueFile::Plain {
            file,
            offset,
            len,
            serializer,
        }) => Ok(Some((descriptor_of(file)?, offset, len, serializer.name()))),
    }
}

/// Stores what can be read of a value that was refused, if it is a file.
#[cold]
pub fn set_by_reading<'py>(
    cache: &Bound<'py, Cache>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
    ttl: TtlArgument<'_, 'py>,
    refused: PyErr,
) -> PyResult<()> {
    static STORED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = cache.py();
    let is_refused = errors::code(py, &refused).as_deref() == Some("unsupported_value");
    if !is_refused || !value.hasattr("read")? {
        return Err(refused);
    }
    let (ttl, expires_at) = ttl.objects(py)?;
    let store = classes::imported(py, &STORED, "polycache.files", "store_file")?;
    store.call1((cache, key, value, ttl, expires_at)).map(drop)
}

/// The file of a descriptor, which is the caller's.
#[cfg(unix)]
pub fn owned(descriptor: i32) -> PyResult<File> {
    use std::os::fd::FromRawFd;
    if descriptor < 0 {
        let what = "a store's open_file gives the descriptor of an open file, or None";
        return Err(pyo3::exceptions::PyValueError::new_err(what));
    }
    // SAFETY: the store opened it for this call and gives it away.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

#[cfg(unix)]
fn descriptor_of(file: File) -> PyResult<i32> {
    use std::os::fd::IntoRawFd;
    Ok(file.into_raw_fd())
}

/// Directories need Linux, so there is no store elsewhere.
#[cfg(not(unix))]
pub fn owned(_: i32) -> PyResult<File> {
    Err(pyo3::exceptions::PyNotImplementedError::new_err(
        "descriptors",
    ))
}

#[cfg(not(unix))]
fn descriptor_of(_: File) -> PyResult<i32> {
    Err(pyo3::exceptions::PyNotImplementedError::new_err(
        "descriptors",
    ))
}
