//! Entries and keys as bytes: for memoized functions, and for the tests that read and write
//! `spec/vectors`.

use crate::types::Types;
use crate::{encryption, errors, from_python, key, options, to_python};
use polycache::Error;
use polycache_entry::{decode_payload, decode_value, decrypt_payload, encode, CompressorId};
use polycache_entry::{Compressor, Dictionaries, Encryption, EntryOptions, Limits, Tag, Verify};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::cell::Cell;

/// The bytes of the entry that holds `value`; times are milliseconds since 1970. With `encryption`
/// it is encrypted, for this full key.
#[allow(clippy::too_many_arguments)] // They are keywords.
#[pyfunction]
#[pyo3(signature = (value, *, serializer = "messagepack", compressor = "none", created = 0, expires = 0, fresh_until = None, tags = Vec::new(), encryption = None, full_key = None, max_value = None))]
pub fn encode_entry<'py>(
    value: &Bound<'py, PyAny>,
    serializer: &str,
    compressor: &str,
    created: u64,
    expires: u64,
    fresh_until: Option<u64>,
    tags: Vec<(String, u64)>,
    encryption: Option<&Bound<'py, PyAny>>,
    full_key: Option<&[u8]>,
    max_value: Option<u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = value.py();
    let raise = |error| errors::raise(py, error);
    let tags: Vec<_> = tags
        .iter()
        .map(|(name, generation)| Tag {
            name,
            generation: *generation,
        })
        .collect();
    let keys = keys_of(encryption)?;
    let options = EntryOptions {
        serializer: polycache::serializer::parse(serializer).map_err(raise)?,
        compressor: polycache::compressor::parse(compressor).map_err(raise)?,
        created,
        expires,
        fresh_until,
        tags: &tags,
        encryption: keys
            .as_ref()
            .map(|keys| keys.of(full_key.unwrap_or_default(), b"")),
        max_length: max_value.unwrap_or(Limits::default().max_length),
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    from_python::with_value(value, options.serializer, None, |value, _| {
        encode(value, &options, &mut entry)
    })?
    .map_err(|error| raise(error.into()))?;
    Ok(PyBytes::new(py, &entry))
}

fn keys_of(encryption: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Encryption>> {
    let Some(value) = encryption else {
        return Ok(None);
    };
    let keys = Encryption::new(encryption::keys(value)?);
    keys.map(Some)
        .map_err(|error| errors::raise(value.py(), error.into()))
}

/// What an entry holds: its value and its header, as a dict.
#[pyfunction]
#[pyo3(signature = (entry, *, encryption = None, full_key = None, dictionaries = None, max_value = None))]
pub fn decode_entry<'py>(
    py: Python<'py>,
    entry: &[u8],
    encryption: Option<&Bound<'py, PyAny>>,
    full_key: Option<&[u8]>,
    dictionaries: Option<&Bound<'py, PyAny>>,
    max_value: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let raise = |error: polycache_entry::Error| errors::raise(py, error.into());
    let mut limits = max_value.map_or_else(Limits::default, Limits::of);
    if let Some(value) = dictionaries {
        let dictionaries = Dictionaries::new(options::dictionaries(value)?, Compressor::Smart);
        limits.dictionaries = Some(dictionaries.map_err(raise)?);
    }
    let mut scratch = Vec::new();
    let keys = keys_of(encryption)?;
    let mut entry = entry.to_vec();
    let (header, payload) = match &keys {
        None => decode_payload(&entry, Verify::Checksum, &limits, &mut scratch),
        Some(keys) => {
            let keys = keys.of(full_key.unwrap_or_default(), b"");
            decrypt_payload(&mut entry, Verify::Checksum, &limits, keys, &mut scratch)
        }
    }
    .map_err(raise)?;
    let value = decode_value(header.serializer, payload, &limits).map_err(raise)?;
    let tags: Vec<_> = header
        .tags
        .iter()
        .map(|tag| (tag.name, tag.generation))
        .collect();
    let decoded = PyDict::new(py);
    let value = to_python::object(py, value, &Cell::new(false))?;
    decoded.set_item("value", value)?;
    decoded.set_item("serializer", header.serializer.name())?;
    decoded.set_item("compressor", compressor_name(header.compressor))?;
    decoded.set_item("created", header.created)?;
    decoded.set_item("expires", header.expires)?;
    decoded.set_item("fresh_until", header.fresh_until)?;
    decoded.set_item("tags", tags)?;
    Ok(decoded)
}

/// The name of what made an entry smaller.
pub fn compressor_name(compressor: CompressorId) -> &'static str {
    match compressor {
        CompressorId::None => "none",
        CompressorId::Zstd => "zstd",
    }
}

/// The MessagePack of arguments: the key under which a memoized function's result is stored.
pub fn encode_arguments<'py>(
    arguments: &Bound<'py, PyAny>,
    types: Option<&Types>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = arguments.py();
    let options = EntryOptions::default();
    let mut entry = Vec::new();
    from_python::with_value(arguments, options.serializer, types, |value, _| {
        encode(value, &options, &mut entry)
    })?
    .map_err(|error| errors::raise(py, error.into()))?;
    Ok(PyBytes::new(py, &entry[polycache_entry::HEADER_LEN..]))
}

/// The full key that is stored for a key in a namespace.
#[pyfunction]
pub fn full_key<'py>(
    py: Python<'py>,
    namespace: Vec<String>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut full = polycache_host::keys::prefix(&namespace)
        .map_err(|error| errors::raise(py, Error::from(error)))?;
    full.extend_from_slice(key::bytes(key)?);
    Ok(PyBytes::new(py, &full))
}

/// The hash of a full key with a directory's seed.
#[pyfunction]
pub fn key_hash(key: &[u8], seed: u64) -> u64 {
    polycache_host::hash::key_hash(seed, key).as_u64()
}
