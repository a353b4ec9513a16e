//! Whole entries outside a store: what the vectors are read and written with.

use crate::dictionaries::NativeDictionaries;
use crate::encryption::NativeEncryption;
use crate::error;
use napi::bindgen_prelude::{BufferSlice, Env};
use napi::Result;
use napi_derive::napi;
use polycache_entry::{
    decode_payload, decrypt_payload, encode_payload, Compressor, CompressorId, EntryOptions,
    Limits, Serializer, Tag, Verify,
};

/// A tag with its generation, as decimal text.
#[napi(object)]
pub struct EntryTag {
    /// The tag.
    pub name: String,
    /// Its generation when the entry was written.
    pub generation: String,
}

/// What an entry says of its value. Times are milliseconds since 1970.
#[napi(object)]
pub struct EntryHeader {
    /// Id of the serializer.
    pub serializer: u32,
    /// The zstd level to write with, 0 for none or -1 for smart; 3 for a compressed entry that was read.
    pub level: i32,
    /// When it was written.
    pub created: f64,
    /// When it expires; 0 is never.
    pub expires: f64,
    /// Until when it is fresh.
    pub fresh_until: Option<f64>,
    /// Its tags.
    pub tags: Vec<EntryTag>,
}

/// A header with its payload, uncompressed.
#[napi(object)]
pub struct DecodedEntry<'env> {
    /// The header.
    pub header: EntryHeader,
    /// The payload.
    pub payload: BufferSlice<'env>,
}

/// The entry that holds a payload; with `encryption` it is encrypted, for this full key.
#[napi]
pub fn encode_entry<'env>(
    env: &'env Env,
    header: EntryHeader,
    payload: &[u8],
    encryption: Option<&NativeEncryption>,
    full_key: Option<&[u8]>,
) -> Result<BufferSlice<'env>> {
    let serializer = u8::try_from(header.serializer)
        .map_err(|_| error::invalid("no such serializer"))
        .and_then(|id| Serializer::from_id(id).map_err(error::entry))?;
    let tags = header
        .tags
        .iter()
        .map(|tag| {
            Ok(Tag {
                name: &tag.name,
                generation: tag
                    .generation
                    .parse()
                    .map_err(|_| error::invalid("a generation is a number below 2^64"))?,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let options = EntryOptions {
        compressor: compressor_of(header.level),
        created: header.created as u64,
        expires: header.expires as u64,
        fresh_until: header.fresh_until.map(|time| time as u64),
        tags: &tags,
        encryption: encryption.map(|keys| keys.0.of(full_key.unwrap_or_default(), b"")),
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    encode_payload(payload, serializer, &options, &mut entry).map_err(error::entry)?;
    BufferSlice::copy_from(env, entry)
}

/// The compressor for a zstd level, 0 (none) or -1 (smart).
pub(crate) fn compressor_of(level: i32) -> Compressor {
    match level {
        0 => Compressor::None,
        -1 => Compressor::Smart,
        level => Compressor::Zstd { level },
    }
}

/// The header and payload of an entry, whose checksum is verified.
#[napi]
pub fn decode_entry<'env>(
    env: &'env Env,
    entry: &[u8],
    max_value: f64,
    encryption: Option<&NativeEncryption>,
    full_key: Option<&[u8]>,
    dictionaries: Option<&NativeDictionaries>,
) -> Result<DecodedEntry<'env>> {
    let limits = Limits {
        max_length: max_value as u64,
        dictionaries: dictionaries.map(|some| some.0.clone()),
    };
    let mut scratch = Vec::new();
    let mut entry = entry.to_vec();
    let (header, payload) = match encryption {
        None => decode_payload(&entry, Verify::Checksum, &limits, &mut scratch),
        Some(keys) => {
            let keys = keys.0.of(full_key.unwrap_or_default(), b"");
            decrypt_payload(&mut entry, Verify::Checksum, &limits, keys, &mut scratch)
        }
    }
    .map_err(error::entry)?;
    Ok(DecodedEntry {
        header: EntryHeader {
            serializer: header.serializer as u32,
            level: match header.compressor {
                CompressorId::None => 0,
                CompressorId::Zstd => Compressor::DEFAULT_ZSTD_LEVEL,
            },
            created: header.created as f64,
            expires: header.expires as f64,
            fresh_until: header.fresh_until.map(|time| time as f64),
            tags: header
                .tags
                .iter()
                .map(|tag| EntryTag {
                    name: tag.name.to_owned(),
                    generation: tag.generation.to_string(),
                })
                .collect(),
        },
        payload: BufferSlice::copy_from(env, payload)?,
    })
}
