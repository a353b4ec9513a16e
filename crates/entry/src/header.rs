//! The header: the few facts a reader needs before it decodes the payload.

mod idle;
mod tags;
mod validity;

pub use idle::{has_time_to_idle, is_due, kept_until, times_of, Idle};
pub use tags::{Tag, Tags, TagsIter};
pub use validity::{created, expires, is_valid_at, CLOCK_TOLERANCE_MS};

use crate::encryption::{NONCE_LEN, TAG_LEN};
use crate::{CompressorId, EntryOptions, Error, Serializer};
use std::ops::Range;

/// Bytes before the payload of a plain entry.
pub const HEADER_LEN: usize = 24;
/// The first byte of every entry: never used by MessagePack, never valid in UTF-8.
pub const MAGIC: u8 = 0xC1;
/// The version of the format that this crate writes and reads.
pub const VERSION: u8 = 1;
/// The latest time `created` and `expires` can hold (48 bits), in milliseconds since 1970.
pub const MAX_TIME_MS: u64 = (1 << 48) - 1;

const FRESH_UNTIL: u16 = 1;
const LENGTH: u16 = 2;
const TAGS: u16 = 4;
const ENCRYPTION: u16 = 8;
const TIME_TO_IDLE: u16 = 16;

/// Bytes of the field ENCRYPTION: the key's id and the nonce.
const ENCRYPTION_LEN: usize = 4 + NONCE_LEN;

/// Range of the nonce in the `header` of an encrypted entry: only TIME_TO_IDLE may follow it.
pub(crate) fn nonce_at(header: &[u8]) -> Range<usize> {
    let behind = usize::from(has_time_to_idle(header)) * idle::FIELD_LEN;
    let end = header.len() - behind;
    end - NONCE_LEN..end
}

/// Whether a reader checks the checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Check it: the bytes come from a network or a disk.
    Checksum,
    /// Do not check it: the bytes come from a block of the host tier that is known to be undamaged.
    /// Every other check is still made.
    Trusted,
}

/// The header of an entry that was read. Times are milliseconds since 1970-01-01T00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// The serializer of the payload.
    pub serializer: Serializer,
    /// The compressor of the payload.
    pub compressor: CompressorId,
    /// When the entry was written.
    pub created: u64,
    /// When it expires; 0 means never. With a time to idle: when it expires unless it is prolonged.
    pub expires: u64,
    /// The time to idle, for an entry that has one.
    pub idle: Option<Idle>,
    /// Until when it is served without a refresh; absent: as long as it is valid.
    pub fresh_until: Option<u64>,
    /// Bytes of the payload before compression; present exactly when it is compressed.
    pub length: Option<u64>,
    /// The tags the entry was written with, each with its generation at that time.
    pub tags: Tags<'a>,
    /// The id of the key that encrypts the payload; absent for a plain payload.
    pub encryption_key: Option<u32>,
    /// Bytes before the payload.
    pub header_len: usize,
}

impl<'a> Header<'a> {
    /// Reads the header of `entry`, which is a whole entry: steps 1 to 5 of "Reading" in
    /// `spec/entry.md`. Allocates nothing.
    ///
    /// # Errors
    /// In this order: [`Error::MalformedEntry`], [`Error::UnsupportedVersion`],
    /// [`Error::ChecksumMismatch`], [`Error::UnsupportedFlags`],
    /// [`Error::UnsupportedSerializer`], [`Error::UnsupportedCompressor`],
    /// [`Error::MalformedEntry`].
    pub fn parse(entry: &'a [u8], verify: Verify) -> Result<Self, Error> {
        let Some((fixed, rest)) = entry.split_first_chunk::<HEADER_LEN>() else {
            return Err(Error::malformed("shorter than 24 bytes"));
        };
        let [magic, version, serializer, compressor, ..] = *fixed;
        if magic != MAGIC {
            return Err(Error::malformed("the first byte is not 0xC1"));
        }
        if version != VERSION {
            return Err(Error::UnsupportedVersion { version });
        }
        if verify == Verify::Checksum && u32_at(fixed, 4) != checksum(entry) {
            return Err(Error::ChecksumMismatch);
        }
        let flags = u16_at(fixed, 14);
        if flags & !(FRESH_UNTIL | LENGTH | TAGS | ENCRYPTION | TIME_TO_IDLE) != 0 {
            return Err(Error::UnsupportedFlags { flags });
        }
        let serializer = Serializer::from_id(serializer)?;
        let compressor = CompressorId::from_id(compressor)?;
        let header_len = usize::from(u16_at(fixed, 22));
        let Some(mut fields) = header_len
            .checked_sub(HEADER_LEN)
            .and_then(|len| rest.get(..len))
        else {
            return Err(Error::malformed("header_len lies outside the entry"));
        };
        let mut fresh_until = None;
        let mut length = None;
        let mut tags = Tags::EMPTY;
        let mut encryption_key = None;
        if flags & FRESH_UNTIL != 0 {
            fresh_until = Some(take_u64(&mut fields)?);
        }
        if flags & LENGTH != 0 {
            length = Some(take_u64(&mut fields)?);
        }
        if flags & TAGS != 0 {
            tags = Tags::take(&mut fields)?;
        }
        if flags & ENCRYPTION != 0 {
            encryption_key = Some(u32::from_le_bytes(take(&mut fields)?));
            take::<NONCE_LEN>(&mut fields)?;
        }
        let (created, expires) = (time_at(fixed, 8), time_at(fixed, 16));
        let mut idle = None;
        if flags & TIME_TO_IDLE != 0 {
            idle = Some(Idle::take(&mut fields, expires)?);
        }
        if !fields.is_empty() {
            return Err(Error::malformed("header_len is larger than the fields"));
        }
        if length.is_some() != (compressor != CompressorId::None) {
            return Err(Error::malformed(
                "LENGTH must be present exactly when the payload is compressed",
            ));
        }
        if encryption_key.is_some() && entry.len() - header_len < TAG_LEN {
            return Err(Error::malformed(
                "an encrypted payload has at least the 16 bytes of its tag",
            ));
        }
        Ok(Header {
            serializer,
            compressor,
            created,
            expires,
            idle,
            fresh_until,
            length,
            tags,
            encryption_key,
            header_len,
        })
    }

    /// The payload as `entry`, which this header belongs to, stores it: possibly encrypted and
    /// compressed, without the tag of an encrypted one.
    pub fn stored<'e>(&self, entry: &'e [u8]) -> &'e [u8] {
        let tag = self.encryption_key.map_or(0, |_| TAG_LEN);
        &entry[self.header_len..entry.len() - tag]
    }

    /// Bytes of the uncompressed payload, as the `entry` declares them.
    pub fn payload_len(&self, entry: &[u8]) -> u64 {
        self.length
            .unwrap_or_else(|| self.stored(entry).len() as u64)
    }
}

/// The serializer and payload of an entry without fields and compressor; `None` for every other entry,
/// and for bytes that are not an entry.
#[inline]
pub(crate) fn plain(entry: &[u8]) -> Option<(Serializer, &[u8])> {
    let (fixed, payload) = entry.split_first_chunk::<HEADER_LEN>()?;
    let plain = fixed[0] == MAGIC
        && fixed[1] == VERSION
        && fixed[3] == CompressorId::None as u8
        && u16_at(fixed, 14) == 0
        && usize::from(u16_at(fixed, 22)) == HEADER_LEN;
    let serializer = Serializer::from_id(fixed[2]).ok()?;
    plain.then_some((serializer, payload))
}

/// Appends the header with a checksum of 0; [`seal`] fills that in once the payload follows.
pub(crate) fn write(
    serializer: Serializer,
    options: &EntryOptions<'_>,
    compressor: CompressorId,
    length: Option<u64>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let idle = Idle::of(options)?;
    let expires = idle.map_or(options.expires, |idle| idle.expires(options.created));
    check_times(options.created, expires)?;
    let tags_len = tags::field_len(options.tags)?;
    let mut flags = 0;
    let mut header_len = HEADER_LEN + tags_len;
    if options.fresh_until.is_some() {
        flags |= FRESH_UNTIL;
        header_len += 8;
    }
    if length.is_some() {
        flags |= LENGTH;
        header_len += 8;
    }
    if tags_len != 0 {
        flags |= TAGS;
    }
    if options.encryption.is_some() {
        flags |= ENCRYPTION;
        header_len += ENCRYPTION_LEN;
    }
    if idle.is_some() {
        flags |= TIME_TO_IDLE;
        header_len += idle::FIELD_LEN;
    }
    let Ok(header_len) = u16::try_from(header_len) else {
        return Err(Error::invalid(
            "the tags of an entry may take 65,000 bytes together: use fewer or shorter ones",
        ));
    };
    let mut fixed = [0; HEADER_LEN];
    fixed[0] = MAGIC;
    fixed[1] = VERSION;
    fixed[2] = serializer as u8;
    fixed[3] = compressor as u8;
    // A 48-bit time is written as 64 bits; the two extra bytes are overwritten next.
    fixed[8..16].copy_from_slice(&options.created.to_le_bytes());
    fixed[14..16].copy_from_slice(&flags.to_le_bytes());
    fixed[16..24].copy_from_slice(&expires.to_le_bytes());
    fixed[22..24].copy_from_slice(&header_len.to_le_bytes());
    out.extend_from_slice(&fixed);
    if let Some(fresh_until) = options.fresh_until {
        out.extend_from_slice(&fresh_until.to_le_bytes());
    }
    if let Some(length) = length {
        out.extend_from_slice(&length.to_le_bytes());
    }
    if tags_len != 0 {
        tags::write(options.tags, out);
    }
    if options.encryption.is_some() {
        // Filled in once the payload is there.
        out.extend_from_slice(&[0; ENCRYPTION_LEN]);
    }
    if let Some(idle) = idle {
        out.extend_from_slice(&idle.field());
    }
    Ok(())
}

/// Writes other times into an `entry` of this `header`: when it is written, and when its time to live ends, 0 for never.
/// Its checksum is then to be made anew.
///
/// # Errors
/// [`Error::InvalidArgument`] for a time that is 2^48 or more.
pub(crate) fn set_times(
    entry: &mut [u8],
    header: &Header<'_>,
    [created, ends]: [u64; 2],
) -> Result<(), Error> {
    check_times(created, ends)?;
    let mut expires = ends;
    if let Some(Idle { time, .. }) = header.idle {
        let idle = Idle { time, ends };
        expires = idle.expires(created);
        entry[header.header_len - idle::FIELD_LEN..header.header_len]
            .copy_from_slice(&idle.field());
    }
    entry[8..14].copy_from_slice(&created.to_le_bytes()[..6]);
    entry[16..22].copy_from_slice(&expires.to_le_bytes()[..6]);
    Ok(())
}

fn check_times(created: u64, expires: u64) -> Result<(), Error> {
    if created > MAX_TIME_MS || expires > MAX_TIME_MS {
        return Err(Error::invalid(
            "created and expires are milliseconds since 1970 below 2^48",
        ));
    }
    Ok(())
}

/// Fills in the checksum of the whole `entry`.
pub(crate) fn seal(entry: &mut [u8]) {
    let sum = checksum(entry).to_le_bytes();
    entry[4..8].copy_from_slice(&sum);
}

/// CRC-32 (IEEE 802.3) of everything except the checksum itself. `entry` has at least 8 bytes.
fn checksum(entry: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&entry[..4]);
    hasher.update(&entry[8..]);
    hasher.finalize()
}

fn take<const N: usize>(fields: &mut &[u8]) -> Result<[u8; N], Error> {
    let (taken, rest) = fields
        .split_first_chunk::<N>()
        .ok_or_else(|| Error::malformed("the fields end before header_len says so"))?;
    *fields = rest;
    Ok(*taken)
}

fn take_u64(fields: &mut &[u8]) -> Result<u64, Error> {
    take(fields).map(u64::from_le_bytes)
}

fn u16_at(fixed: &[u8; HEADER_LEN], at: usize) -> u16 {
    u16::from_le_bytes([fixed[at], fixed[at + 1]])
}

fn u32_at(fixed: &[u8; HEADER_LEN], at: usize) -> u32 {
    u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]])
}

/// The 48-bit time at `at`.
fn time_at(fixed: &[u8; HEADER_LEN], at: usize) -> u64 {
    u64::from(u32_at(fixed, at)) | u64::from(u16_at(fixed, at + 4)) << 32
}
