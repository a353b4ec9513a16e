//! Whole entries: header and payload together.

use crate::{header, typed, weight, Compressor, CompressorId, Error, Header, Serializer};
use crate::{Dictionaries, EntryEncryption, Structs, Tag, Value, Verify};
use serde::Serialize;
use std::cell::RefCell;

/// What an entry records about its value, chosen by the writer. Times are milliseconds since
/// 1970-01-01T00:00Z, at most [`MAX_TIME_MS`](crate::MAX_TIME_MS).
#[derive(Clone, Copy, Debug)]
pub struct EntryOptions<'a> {
    /// How the value becomes bytes; MessagePack by default. [`encode_payload`] takes its own argument
    /// and ignores this.
    pub serializer: Serializer,
    /// How [`encode_typed`] writes structs: as maps by default.
    pub structs: Structs,
    /// How the bytes are compressed; not at all by default.
    pub compressor: Compressor,
    /// Dictionaries for zstd, made for this compressor. None by default.
    pub dictionaries: Option<&'a Dictionaries>,
    /// The current time.
    pub created: u64,
    /// When the entry expires; 0, the default, means never. With a time to idle: when it expires at the latest.
    pub expires: u64,
    /// How long the entry stays without a read, in milliseconds; 0, the default, means that reads have no say.
    pub time_to_idle: u64,
    /// Until when it is served without a refresh; by default as long as it is valid.
    pub fresh_until: Option<u64>,
    /// The entry's tags; together they take at most some 65,000 bytes.
    pub tags: &'a [Tag<'a>],
    /// The keys that encrypt the payload after compression; none by default.
    pub encryption: Option<EntryEncryption<'a>>,
    /// Most bytes of the payload before compression, and of its weight, 64 MiB by default: what readers accept
    /// ([`Limits::max_length`]). Without it there could be entries that no reader accepts.
    pub max_length: u64,
    /// Whether the checksum stays 0: for an entry that never leaves this process and is only read with
    /// [`Verify::Trusted`].
    pub unsealed: bool,
}

impl Default for EntryOptions<'_> {
    fn default() -> Self {
        EntryOptions {
            serializer: Serializer::default(),
            structs: Structs::default(),
            compressor: Compressor::default(),
            dictionaries: None,
            created: 0,
            expires: 0,
            time_to_idle: 0,
            fresh_until: None,
            tags: &[],
            encryption: None,
            max_length: DEFAULT_MAX_LENGTH,
            unsealed: false,
        }
    }
}

const DEFAULT_MAX_LENGTH: u64 = 64 * 1024 * 1024;

/// The limits of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of an uncompressed payload, and of its weight, which counts each value in it for 4 bytes
    /// at least (`spec/entry.md` "Weight"; it may be 4 MiB in any case); 64 MiB by default. A decoded
    /// [`Value`] takes at most about 25 times as much memory, usual values about twice.
    pub max_length: u64,
    /// The dictionaries that a compressed payload may need; none by default.
    pub dictionaries: Option<Dictionaries>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits::of(DEFAULT_MAX_LENGTH)
    }
}

impl Limits {
    /// Limits with this [`Limits::max_length`] and no dictionaries.
    #[must_use]
    pub const fn of(max_length: u64) -> Self {
        Limits {
            max_length,
            dictionaries: None,
        }
    }

    /// The most that a value may weigh (`spec/entry.md` "Weight"): [`Limits::max_length`], or 4 MiB where that is
    /// less.
    #[must_use]
    pub const fn max_weight(&self) -> u64 {
        weight::limit(self.max_length)
    }

    pub(crate) fn check(&self, size: u64) -> Result<(), Error> {
        check_length(size, self.max_length)
    }
}

fn check_length(size: u64, limit: u64) -> Result<(), Error> {
    if size > limit {
        return Err(Error::ValueTooLarge { size, limit });
    }
    Ok(())
}

/// A buffer for uncompressed payloads that is larger than this is not kept for the next call.
const KEPT_SCRATCH: usize = 1024 * 1024;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Appends the entry that holds `value` to `out`. If `out` is cleared and reused, the usual value needs
/// no allocation. After an error `out` is unchanged.
///
/// [`Error::UnsupportedValue`] when the value is not in the serializer's row of the type map;
/// [`Error::InvalidArgument`] when an option is out of range; [`Error::ValueTooLarge`] when it exceeds
/// [`EntryOptions::max_length`]; [`Error::Io`] when there is no memory for the compressor.
pub fn encode(
    value: &Value<'_>,
    options: &EntryOptions<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    write_entry(options, out, |out| {
        options.serializer.write(value, options.max_length, out)
    })
}

/// As [`encode`], for any serde type; [`serialize`](crate::serialize) describes the result.
///
/// # Errors
/// As for [`encode`].
pub fn encode_typed<T: Serialize + ?Sized>(
    value: &T,
    options: &EntryOptions<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    write_entry(options, out, |out| {
        let EntryOptions {
            serializer,
            structs,
            max_length,
            ..
        } = *options;
        typed::append(value, serializer, structs, max_length, out)
    })
}

/// Appends the entry whose payload `write` appends.
fn write_entry(
    options: &EntryOptions<'_>,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let Compressor::None = options.compressor else {
        // A thread that is ending has no buffer to reuse.
        let mut payload = SCRATCH.try_with(RefCell::take).unwrap_or_default();
        payload.clear();
        let written = write(&mut payload)
            .and_then(|()| encode_payload(&payload, options.serializer, options, out));
        if payload.capacity() <= KEPT_SCRATCH {
            let _ = SCRATCH.try_with(|kept| kept.replace(payload));
        }
        return written;
    };
    append(options, out, |out| {
        header::write(options.serializer, options, CompressorId::None, None, out)?;
        let start = out.len();
        write(out)?;
        check_length((out.len() - start) as u64, options.max_length)
    })
}

/// Appends the entry that holds `payload`, already written by `serializer`, to `out`. The payload is
/// not checked, not even its weight. After an error `out` is unchanged.
///
/// # Errors
/// [`Error::InvalidArgument`] when an option is out of range; [`Error::ValueTooLarge`] when the payload
/// is longer than [`EntryOptions::max_length`]; [`Error::Io`] when there is no memory for the
/// compressor.
pub fn encode_payload(
    payload: &[u8],
    serializer: Serializer,
    options: &EntryOptions<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    check_length(payload.len() as u64, options.max_length)?;
    append(options, out, |out| {
        let start = out.len();
        if options.compressor != Compressor::None {
            let length = Some(payload.len() as u64);
            header::write(serializer, options, CompressorId::Zstd, length, out)?;
            let written = options
                .compressor
                .compress_with(options.dictionaries, payload, out)?;
            if written == CompressorId::Zstd {
                return Ok(());
            }
            out.truncate(start);
        }
        header::write(serializer, options, CompressorId::None, None, out)?;
        out.extend_from_slice(payload);
        Ok(())
    })
}

/// Appends what `write` writes, encrypted if the options say so, and seals it; appends nothing on
/// failure.
fn append(
    options: &EntryOptions<'_>,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let start = out.len();
    let written = match options.encryption {
        None => write(out),
        Some(encryption) => write(out).and_then(|()| encryption.encrypt(out, start)),
    };
    match written {
        Ok(()) if options.unsealed => {}
        Ok(()) => header::seal(&mut out[start..]),
        Err(_) => out.truncate(start),
    }
    written
}

/// Reads the header of `entry` and returns its payload, uncompressed: steps 1 to 7 of "Reading" in
/// `spec/entry.md`, except decoding the payload, which [`decode_value`] does. The payload is in `entry`,
/// or in `scratch` if it had to be decompressed; nothing else is allocated.
///
/// # Errors
/// Those of [`Header::parse`]; then [`Error::UnknownEncryptionKey`] for an encrypted entry, which
/// [`decrypt_payload`](crate::decrypt_payload) reads; then [`Error::ValueTooLarge`]; then
/// [`Error::MalformedEntry`] and [`Error::UnknownDictionary`].
pub fn decode_payload<'a>(
    entry: &'a [u8],
    verify: Verify,
    limits: &Limits,
    scratch: &'a mut Vec<u8>,
) -> Result<(Header<'a>, &'a [u8]), Error> {
    let header = Header::parse(entry, verify)?;
    if let Some(id) = header.encryption_key {
        return Err(Error::UnknownEncryptionKey { id });
    }
    limits.check(header.payload_len(entry))?;
    decompress(header, header.stored(entry), limits, scratch)
}

/// The payload that `stored` holds, uncompressed.
pub(crate) fn decompress<'a>(
    header: Header<'a>,
    stored: &'a [u8],
    limits: &Limits,
    scratch: &'a mut Vec<u8>,
) -> Result<(Header<'a>, &'a [u8]), Error> {
    let (CompressorId::Zstd, Some(length)) = (header.compressor, header.length) else {
        return Ok((header, stored));
    };
    CompressorId::Zstd.decompress(stored, length, limits, scratch)?;
    Ok((header, scratch))
}

/// As [`decode_payload`] with [`Verify::Trusted`], for a reader that needs only the serializer from the
/// header: most entries are plain, and a few comparisons find their payload.
///
/// # Errors
/// Those of [`decode_payload`], except `ChecksumMismatch`.
#[inline]
pub fn trusted_payload<'a>(
    entry: &'a [u8],
    limits: &Limits,
    scratch: &'a mut Vec<u8>,
) -> Result<(Serializer, &'a [u8]), Error> {
    if let Some(plain) = plain_payload(entry, limits) {
        return Ok(plain);
    }
    let (header, payload) = decode_payload(entry, Verify::Trusted, limits, scratch)?;
    Ok((header.serializer, payload))
}

/// The payload of an entry within the limits whose header says nothing but its times and its serializer, as most do; `None`
/// for every other one, and for bytes that are not an entry. The checksum is not looked at.
#[inline]
pub fn plain_payload<'a>(entry: &'a [u8], limits: &Limits) -> Option<(Serializer, &'a [u8])> {
    header::plain(entry).filter(|(_, payload)| payload.len() as u64 <= limits.max_length)
}

/// The value in a `payload` that [`decode_payload`] returned.
///
/// # Errors
/// [`Error::ValueTooLarge`] when the payload is longer or heavier than the limit; [`Error::MalformedEntry`]
/// when it is not exactly one value of `serializer`; [`Error::UnsupportedSerializer`] for Bincode,
/// which only [`deserialize`](crate::deserialize) reads.
pub fn decode_value<'a>(
    serializer: Serializer,
    payload: &'a [u8],
    limits: &Limits,
) -> Result<Value<'a>, Error> {
    limits.check(payload.len() as u64)?;
    serializer.read(payload, limits.max_length)
}
