use std::borrow::Cow;
use std::fmt;

/// Errors of an entry, or of a value to be written into one: the part of `spec/errors.md` that concerns
/// the entry format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An option is out of its range.
    InvalidArgument {
        /// Which option, and its range.
        reason: Cow<'static, str>,
    },
    /// The value, or a part of it, is not in the serializer's row of the type map.
    UnsupportedValue {
        /// Path to the faulty part: `$` is the value itself, `$.user.tags[3]` a part of it.
        path: String,
        /// What is wrong with it, and what to do.
        reason: Cow<'static, str>,
    },
    /// The value, or a part of it, does not have the requested type; see
    /// [`from_value`](crate::from_value).
    WrongType {
        /// Path to the faulty part.
        path: String,
        /// What was found, and what was expected.
        reason: Cow<'static, str>,
    },
    /// The value has more bytes before compression than the reader's or writer's limit, or a greater weight.
    ValueTooLarge {
        /// Bytes of the payload, or of its weight as far as it was counted.
        size: u64,
        /// Bytes that [`Limits::max_length`](crate::Limits::max_length) allows.
        limit: u64,
    },
    /// The bytes are not an entry, or the payload does not decode.
    MalformedEntry {
        /// Which rule of the format is broken.
        reason: Cow<'static, str>,
    },
    /// The checksum in the header does not match the bytes.
    ChecksumMismatch,
    /// This build does not know the format's version.
    UnsupportedVersion {
        /// The version in the entry.
        version: u8,
    },
    /// A flag is set that this build does not know.
    UnsupportedFlags {
        /// All flags in the entry.
        flags: u16,
    },
    /// The serializer is unknown, or known but not decodable here (4, Bincode).
    UnsupportedSerializer {
        /// The id in the entry.
        id: u8,
    },
    /// The compressor is unknown.
    UnsupportedCompressor {
        /// The id in the entry.
        id: u8,
    },
    /// The payload is compressed with a dictionary that the reader does not have.
    UnknownDictionary {
        /// The dictionary's id in the entry.
        id: u32,
    },
    /// The entry is plain, but the reader has keys.
    NotEncrypted,
    /// The entry is encrypted under a key that the reader does not have.
    UnknownEncryptionKey {
        /// The key's id in the entry.
        id: u32,
    },
    /// The entry was changed or moved, or the reader has another key with the same id.
    DecryptionFailed {
        /// The key's id in the entry.
        id: u32,
    },
    /// The operating system failed: no memory for a compressor, no random bytes.
    Io {
        /// What failed.
        reason: Cow<'static, str>,
    },
}

impl Error {
    /// The stable name of this error, the same in every language.
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidArgument { .. } => "invalid_argument",
            Error::UnsupportedValue { .. } => "unsupported_value",
            Error::WrongType { .. } => "wrong_type",
            Error::ValueTooLarge { .. } => "value_too_large",
            Error::MalformedEntry { .. } => "malformed_entry",
            Error::ChecksumMismatch => "checksum_mismatch",
            Error::UnsupportedVersion { .. } => "unsupported_version",
            Error::UnsupportedFlags { .. } => "unsupported_flags",
            Error::UnsupportedSerializer { .. } => "unsupported_serializer",
            Error::UnsupportedCompressor { .. } => "unsupported_compressor",
            Error::UnknownDictionary { .. } => "unknown_dictionary",
            Error::NotEncrypted => "not_encrypted",
            Error::UnknownEncryptionKey { .. } => "unknown_encryption_key",
            Error::DecryptionFailed { .. } => "decryption_failed",
            Error::Io { .. } => "io",
        }
    }

    /// Whether the same call may succeed when it is made again.
    pub fn retryable(&self) -> bool {
        matches!(self, Error::Io { .. })
    }

    pub(crate) fn malformed(reason: impl Into<Cow<'static, str>>) -> Self {
        Error::MalformedEntry {
            reason: reason.into(),
        }
    }

    pub(crate) fn invalid(reason: impl Into<Cow<'static, str>>) -> Self {
        Error::InvalidArgument {
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidArgument { reason } => f.write_str(reason),
            Error::UnsupportedValue { path, reason } => {
                write!(f, "cannot store the value at {path}: {reason}")
            }
            Error::WrongType { path, reason } => {
                write!(f, "the value at {path} is not of the type asked for: {reason}")
            }
            Error::ValueTooLarge { size, limit } => write!(
                f,
                "the value has {size} bytes before compression, where each value in it counts for 4 or more, \
                 and {limit} are the limit: store less, or raise max_value; an entry that is there already can be deleted"
            ),
            Error::MalformedEntry { reason } => {
                write!(f, "not a valid entry: {reason}; delete it and load the value again")
            }
            Error::ChecksumMismatch => f.write_str(
                "the entry is damaged (its checksum is wrong): delete it and load the value again",
            ),
            Error::UnsupportedVersion { version } => write!(
                f,
                "the entry has format version {version}, this build reads {}: upgrade Polycache here",
                crate::VERSION
            ),
            Error::UnsupportedFlags { flags } => write!(
                f,
                "the entry has flags {flags:#06x} that this build does not know: upgrade Polycache here"
            ),
            Error::UnsupportedSerializer { id: 4 } => f.write_str(
                "the entry was written with Bincode, which only typed Rust reads: choose messagepack for values that are shared",
            ),
            Error::UnsupportedSerializer { id } => write!(
                f,
                "the entry was written with serializer {id}, unknown here: upgrade Polycache here"
            ),
            Error::UnsupportedCompressor { id } => write!(
                f,
                "the entry was written with compressor {id}, unknown here: upgrade Polycache here"
            ),
            Error::UnknownDictionary { id } => write!(
                f,
                "the entry is compressed with the dictionary {id}, which this cache does not have: add it to the option dictionaries, or delete the entry"
            ),
            Error::NotEncrypted => f.write_str(
                "the entry is not encrypted, and this cache takes no other: delete it, or clear what was written before encryption was configured",
            ),
            Error::UnknownEncryptionKey { id } => write!(
                f,
                "the entry is encrypted under the key {id}, which this cache does not have: add it to the option encryption, or delete the entry"
            ),
            Error::DecryptionFailed { id } => write!(
                f,
                "the entry does not decrypt under the key {id}: it was changed, belongs to another key of the cache, or another key had that id; delete it"
            ),
            Error::Io { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}
