//! An entry under other times: what a touch writes, and a read that prolongs.

use crate::encryption::TAG_LEN;
use crate::header::{seal, set_times};
use crate::{is_due, EntryEncryption, Error, Header, Verify};

/// Appends `entry` to `out` with other times, in milliseconds since 1970: when it was written, and when its time to live
/// ends, 0 for never. A time to idle begins anew. Everything else stays as it is, and the payload is not decoded. After
/// an error `out` is as it was.
///
/// A header's times are part of what encryption protects. So an encrypted entry is decrypted, and encrypted anew,
/// under the first of the keys and with a new nonce.
///
/// ```
/// use polycache_entry::{encode, renewed, EntryOptions, Header, Value, Verify};
///
/// let mut entry = Vec::new();
/// encode(&Value::from("hello"), &EntryOptions::default(), &mut entry)?;
/// let mut later = Vec::new();
/// renewed(&entry, 1_700_000_000_000, 1_700_000_060_000, None, &mut later)?;
/// let header = Header::parse(&later, Verify::Checksum)?;
/// assert_eq!((header.created, header.expires), (1_700_000_000_000, 1_700_000_060_000));
/// assert_eq!(header.stored(&later), Header::parse(&entry, Verify::Checksum)?.stored(&entry));
/// # Ok::<(), polycache_entry::Error>(())
/// ```
///
/// # Errors
/// Those of [`Header::parse`], but for `ChecksumMismatch`; [`Error::InvalidArgument`] for a time that is 2^48 or more.
/// Of a reader with keys: [`Error::NotEncrypted`], [`Error::UnknownEncryptionKey`], [`Error::DecryptionFailed`],
/// [`Error::Io`] where the system has no random bytes. Of one without: [`Error::UnknownEncryptionKey`] for an encrypted
/// entry.
pub fn renewed(
    entry: &[u8],
    created: u64,
    ends: u64,
    encryption: Option<EntryEncryption<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let header = Header::parse(entry, Verify::Trusted)?;
    with_times(entry, &header, [created, ends], encryption, out)
}

/// As [`renewed`], for a read at `now_ms`: the time to idle begins anew, and the end of the time to live stays. False, and
/// nothing is appended, for an entry that is not [due](crate::is_due).
///
/// # Errors
/// Those of [`renewed`].
pub fn prolonged(
    entry: &[u8],
    now_ms: u64,
    encryption: Option<EntryEncryption<'_>>,
    out: &mut Vec<u8>,
) -> Result<bool, Error> {
    let header = Header::parse(entry, Verify::Trusted)?;
    let Some(idle) = header.idle.filter(|_| is_due(entry, now_ms)) else {
        return Ok(false);
    };
    with_times(entry, &header, [now_ms, idle.ends], encryption, out)?;
    Ok(true)
}

/// `times` are when it is written, and when its time to live ends.
fn with_times(
    entry: &[u8],
    header: &Header<'_>,
    times: [u64; 2],
    encryption: Option<EntryEncryption<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let start = out.len();
    let renewed = match (encryption, header.encryption_key) {
        (None, Some(id)) => Err(Error::UnknownEncryptionKey { id }),
        (None, None) => {
            out.extend_from_slice(entry);
            set_times(&mut out[start..], header, times)
        }
        (Some(encryption), _) => encrypted_anew(entry, header, times, &encryption, start, out),
    };
    match renewed {
        Ok(()) => seal(&mut out[start..]),
        Err(_) => out.truncate(start),
    }
    renewed
}

fn encrypted_anew(
    entry: &[u8],
    header: &Header<'_>,
    times: [u64; 2],
    encryption: &EntryEncryption<'_>,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    out.extend_from_slice(entry);
    encryption.decrypt(header, &mut out[start..])?;
    out.truncate(start + entry.len() - TAG_LEN);
    set_times(&mut out[start..], header, times)?;
    encryption.encrypt(out, start)
}
