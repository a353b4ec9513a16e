//! Atomic operations (`spec/semantics.md`), which `polycache.Cache` calls: writes on a condition, the two halves of an
//! update, and counting.

use crate::cache::Cache;
use crate::duration::TtlArgument;
use crate::tiers::{Condition, Counting, Found};
use crate::{classes, errors, key};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

/// What an update found at a key; only that is changed.
#[pyclass(frozen, name = "Found", module = "polycache._native")]
pub struct FoundByUpdate(Found);

/// Stores a value only where the key has no entry.
#[pyfunction]
pub fn add(
    cache: &Bound<'_, Cache>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    ttl: TtlArgument<'_, '_>,
) -> PyResult<bool> {
    let tiers = cache.get().tiers();
    tiers.set_if(key, value, ttl, Condition::IsAbsent)
}

/// Stores a value only where the key has an entry.
#[pyfunction]
pub fn replace(
    cache: &Bound<'_, Cache>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    ttl: TtlArgument<'_, '_>,
) -> PyResult<bool> {
    let tiers = cache.get().tiers();
    tiers.set_if(key, value, ttl, Condition::IsEntry)
}

/// Stores a value only where the key's entry has this version.
#[pyfunction]
pub fn compare_and_set(
    cache: &Bound<'_, Cache>,
    key: &Bound<'_, PyAny>,
    version: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    ttl: TtlArgument<'_, '_>,
) -> PyResult<bool> {
    key::bytes(key)?;
    let tiers = cache.get().tiers();
    let wanted = "the version of an entry: an int from 0 to 2**64 - 1";
    let condition = Condition::HasVersion(integer("version", version, wanted)?);
    tiers.set_if(key, value, ttl, condition)
}

/// The first half of an update: the key's value, or MISSING, and what `set_found` and `delete_found` are to change.
#[pyfunction]
pub fn find_to_update<'py>(
    cache: &Bound<'py, Cache>,
    key: &Bound<'py, PyAny>,
    ttl: TtlArgument<'_, '_>,
) -> PyResult<(Bound<'py, PyAny>, FoundByUpdate)> {
    let py = cache.py();
    key::bytes(key)?;
    ttl.read()?;
    let (value, found) = cache.get().tiers().find_to_update(key)?;
    let value = match value {
        Some(value) => value,
        None => classes::missing(py)?.clone(),
    };
    Ok((value, FoundByUpdate(found)))
}

/// Stores a value if the key is still as it was found. Without a `ttl` an entry keeps its own.
#[pyfunction]
pub fn set_found(
    cache: &Bound<'_, Cache>,
    key: &Bound<'_, PyAny>,
    found: &Bound<'_, FoundByUpdate>,
    value: &Bound<'_, PyAny>,
    ttl: TtlArgument<'_, '_>,
) -> PyResult<bool> {
    let tiers = cache.get().tiers();
    tiers.set_found(key, &found.get().0, value, ttl)
}

/// Deletes the key if it is still as it was found.
#[pyfunction]
pub fn delete_found(
    cache: &Bound<'_, Cache>,
    key: &Bound<'_, PyAny>,
    found: &Bound<'_, FoundByUpdate>,
) -> PyResult<bool> {
    cache.get().tiers().delete_found(key, &found.get().0)
}

/// Adds to the key's integer, or subtracts from it where it counts `down`, and gives the sum.
#[pyfunction]
pub fn count(
    cache: &Bound<'_, Cache>,
    key: &Bound<'_, PyAny>,
    by: &Bound<'_, PyAny>,
    down: bool,
    initial: &Bound<'_, PyAny>,
    ttl: TtlArgument<'_, '_>,
) -> PyResult<i64> {
    key::bytes(key)?;
    let wanted = "an int from -2**63 to 2**63 - 1";
    let counting = Counting {
        by: integer("by", by, wanted)?,
        down,
        initial: integer("initial", initial, wanted)?,
    };
    cache.get().tiers().count(key, counting, ttl)
}

/// An argument that is an integer of 64 bits; no bool. Raises `InvalidArgument`.
fn integer<'a, 'py, I: FromPyObject<'a, 'py>>(
    name: &str,
    object: &'a Bound<'py, PyAny>,
    wanted: &str,
) -> PyResult<I> {
    let is_integer = object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>();
    let read = is_integer.then(|| object.extract::<I>().ok()).flatten();
    read.ok_or_else(|| {
        let shown = errors::represent(object);
        errors::invalid_argument(object.py(), &format!("{name} is {wanted}, not {shown}"))
    })
}
