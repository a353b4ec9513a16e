//! Entries without a cache, for the tests that share `spec/vectors` with the other languages.

use crate::encryption;
use crate::error::{invalid, OrRaise};
use crate::facts::compressor_name;
use crate::from_ruby::with_value;
use crate::key::{key, text};
use crate::options;
use crate::to_ruby::{no_types, to_ruby};
use magnus::scan_args::scan_args;
use magnus::{function, prelude::*, Error, RArray, RHash, RModule, RString, Ruby, Value};
use polycache_entry::{
    decode_payload, decode_value, decrypt_payload, encode, Compressor, Dictionaries, Encryption,
    EntryOptions, Limits, Tag, Verify,
};

/// The keys that are given, or none for nil.
fn keys_of(ruby: &Ruby, value: Value) -> Result<Option<Encryption>, Error> {
    if value.is_nil() {
        return Ok(None);
    }
    let keys = Encryption::new(encryption::keys(ruby, value)?);
    keys.map(Some)
        .map_err(polycache::Error::from)
        .or_raise(ruby)
}

/// What an entry holds: its value and the facts of its header; decrypted for `full_key` where there
/// are keys. Dictionaries may be nil, and the most bytes of a value be left out.
fn decode(ruby: &Ruby, arguments: &[Value]) -> Result<RHash, Error> {
    let arguments = scan_args::<_, _, (), (), (), ()>(arguments)?;
    let (entry, keys, full_key, dictionaries): (RString, Value, RString, Value) =
        arguments.required;
    let (max_value,): (Option<u64>,) = arguments.optional;
    let keys = keys_of(ruby, keys)?;
    // SAFETY: copied at once.
    let (mut entry, full_key) =
        unsafe { (entry.as_slice().to_vec(), full_key.as_slice().to_vec()) };
    let mut limits = max_value.map_or_else(Limits::default, Limits::of);
    if !dictionaries.is_nil() {
        let list = options::dictionaries(ruby, dictionaries)?;
        let dictionaries = Dictionaries::new(list, Compressor::Smart);
        limits.dictionaries = Some(
            dictionaries
                .map_err(polycache::Error::from)
                .or_raise(ruby)?,
        );
    }
    let mut scratch = Vec::new();
    let decoded = match &keys {
        None => decode_payload(&entry, Verify::Checksum, &limits, &mut scratch),
        Some(keys) => {
            let keys = keys.of(&full_key, b"");
            decrypt_payload(&mut entry, Verify::Checksum, &limits, keys, &mut scratch)
        }
    };
    let (header, payload) = decoded.map_err(polycache::Error::from).or_raise(ruby)?;
    let value = decode_value(header.serializer, payload, &limits)
        .map_err(polycache::Error::from)
        .or_raise(ruby)?;
    let tags = ruby.ary_new();
    for tag in header.tags.iter() {
        tags.push((tag.name, tag.generation))?;
    }
    let hash = ruby.hash_new();
    hash.aset(ruby.sym_new("value"), to_ruby(ruby, &value)?)?;
    hash.aset(ruby.sym_new("serializer"), header.serializer.name())?;
    hash.aset(
        ruby.sym_new("compressor"),
        compressor_name(header.compressor),
    )?;
    hash.aset(ruby.sym_new("created"), header.created)?;
    hash.aset(ruby.sym_new("expires"), header.expires)?;
    hash.aset(ruby.sym_new("fresh_until"), header.fresh_until)?;
    hash.aset(ruby.sym_new("tags"), tags)?;
    Ok(hash)
}

/// The entry that holds `value`, with the facts of `header`, encrypted for its `full_key` where there
/// are keys in it. Its `max_value` may be left out.
fn encode_entry(ruby: &Ruby, value: Value, header: RHash) -> Result<RString, Error> {
    let fact = |name: &str| -> Result<Value, Error> { header.fetch(ruby.sym_new(name)) };
    let number = |name: &str| -> Result<u64, Error> { u64::try_convert(fact(name)?) };
    let tags: Vec<(String, u64)> = RArray::try_convert(fact("tags")?)?.to_vec()?;
    let tags: Vec<Tag<'_>> = tags
        .iter()
        .map(|(name, generation)| Tag {
            name,
            generation: *generation,
        })
        .collect();
    let keys = keys_of(ruby, fact("encryption")?)?;
    let full_key = RString::try_convert(fact("full_key")?)?;
    // SAFETY: copied at once.
    let full_key = unsafe { full_key.as_slice() }.to_vec();
    let options = EntryOptions {
        serializer: polycache::serializer::parse(&text(ruby, "serializer", fact("serializer")?)?)
            .or_raise(ruby)?,
        compressor: polycache::compressor::parse(&text(ruby, "compressor", fact("compressor")?)?)
            .or_raise(ruby)?,
        created: number("created")?,
        expires: number("expires")?,
        fresh_until: Option::<u64>::try_convert(fact("fresh_until")?)?,
        tags: &tags,
        encryption: keys.as_ref().map(|keys| keys.of(&full_key, b"")),
        max_length: header
            .lookup::<_, Option<u64>>(ruby.sym_new("max_value"))?
            .unwrap_or(Limits::default().max_length),
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    let types = no_types(ruby)?;
    with_value(ruby, types, value, |value| {
        encode(value, &options, &mut entry)
    })?
    .map_err(polycache::Error::from)
    .or_raise(ruby)?;
    Ok(ruby.str_from_slice(&entry))
}

/// The full key that is stored for `name` within the namespace `parts`.
fn full_key(ruby: &Ruby, parts: RArray, name: Value) -> Result<RString, Error> {
    let parts = parts
        .into_iter()
        .map(|part| text(ruby, "a namespace's part", part))
        .collect::<Result<Vec<_>, _>>()?;
    let mut full = polycache_host::keys::prefix(&parts)
        .map_err(polycache::Error::from)
        .or_raise(ruby)?;
    full.extend_from_slice(&key(ruby, name)?);
    Ok(ruby.str_from_slice(&full))
}

/// The hash of a full key in a directory with this seed, 8 bytes.
fn key_hash(ruby: &Ruby, seed: RString, key: RString) -> Result<u64, Error> {
    // SAFETY: nothing happens while the bytes are in use.
    let (seed, key) = unsafe { (seed.as_slice(), key.as_slice()) };
    let seed: [u8; 8] = seed
        .try_into()
        .map_err(|_| invalid(ruby, "a seed has 8 bytes"))?;
    Ok(polycache_host::hash::key_hash(u64::from_le_bytes(seed), key).as_u64())
}

/// Defines the functions.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("decode_entry", function!(decode, -1))?;
    native.define_singleton_method("encode_entry", function!(encode_entry, 2))?;
    native.define_singleton_method("full_key", function!(full_key, 2))?;
    native.define_singleton_method("key_hash", function!(key_hash, 2))
}
