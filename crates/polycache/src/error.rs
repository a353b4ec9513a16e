//! Every error of the package: the rows of `spec/errors.md`.

use std::fmt;
use std::sync::Arc;

/// What can go wrong; [`Error::code`] is the same in every language.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// An option or argument is out of range.
    InvalidArgument(String),
    /// The key is neither text nor bytes, or text without a UTF-8 form. Rust's types rule it out;
    /// the packages of other languages report it.
    InvalidKey(String),
    /// The value is not in the serializer's row of the type map.
    UnsupportedValue {
        /// The path to the culprit: `$` is the value itself, `$.user.tags[3]` a part of it.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The value that was read is not of the type asked for.
    WrongType {
        /// The path to the culprit, as above.
        path: String,
        /// What is there, and what was expected.
        reason: String,
    },
    /// The integer, or the sum, does not fit 64 bits with a sign; nothing was stored.
    IntegerOverflow(String),
    /// Key and entry do not fit one block, or weigh more than the whole memory tier may; the key's old
    /// value is gone.
    EntryTooLarge {
        /// Bytes that they take.
        size: u64,
        /// Bytes that they may take.
        limit: u64,
    },
    /// A value has more uncompressed bytes than `max_value` allows, or too many values in it.
    ValueTooLarge {
        /// Its bytes; or what its values count for, as far as they were counted.
        size: u64,
        /// Bytes that it may have.
        limit: u64,
    },
    /// The bytes are not an entry, or its payload does not decode.
    MalformedEntry(String),
    /// The entry's checksum is wrong.
    ChecksumMismatch(String),
    /// The entry format or the directory's layout is newer than this build.
    UnsupportedVersion(String),
    /// A flag that this build does not know.
    UnsupportedFlags(String),
    /// A serializer that is unknown, or that this language cannot decode.
    UnsupportedSerializer(String),
    /// A compressor that is unknown, or that this build lacks.
    UnsupportedCompressor(String),
    /// The entry is compressed with a dictionary that the cache is not configured with.
    UnknownDictionary(String),
    /// The entry is plain, and the cache is configured with `encryption`.
    NotEncrypted(String),
    /// The entry is encrypted under a key that the cache is not configured with.
    UnknownEncryptionKey(String),
    /// The entry was changed or moved, or its key is another one under the same id.
    DecryptionFailed(String),
    /// The disk is full with nothing to recycle, or live processes write every block; the key's old
    /// value is gone.
    NoSpace(String),
    /// The directory holds no cache. Only a mode that creates none gives this error, as the command `polycache` does.
    NoCache(String),
    /// The directory holds a damaged or partial cache; given as above.
    Damaged(String),
    /// A file system on which memory is not shared, or btrfs, where a full disk would end processes.
    UnsupportedFilesystem(String),
    /// The directory, or what it holds, is another user's or another program's.
    ForeignDirectory(String),
    /// The cache can only be read: this process may not write to its files.
    ReadOnly(String),
    /// 4095 handles are open on the directory.
    TooManyParticipants(String),
    /// The host tier does not run here.
    UnsupportedPlatform(String),
    /// The cache was closed.
    Closed,
    /// The operating system failed.
    Io(String),
    /// The Redis or Valkey of the cache did not answer within the option `timeout`, or refused the command; what a write
    /// was to do may have been done all the same.
    RemoteUnavailable(String),
    /// The caller waited for the loads of others for `wait_timeout`, and none brought the value.
    WaitTimeout,
    /// Others changed the key each time that an update of it was tried; nothing was stored.
    Conflict,
    /// The reply of a command cannot be cached; the message says why. Send it by the client itself.
    UncacheableRead(String),
    /// What the client, or the server, answered to a cached read: the source.
    #[cfg(feature = "reads")]
    ReadFailed(Arc<redis::RedisError>),
    /// The loader failed; its own error is the source, and says whether a retry may help.
    LoaderFailed(Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// True of errors that a load gives its caller whatever becomes of the value: they come from the program, not from
    /// the data or the disk.
    pub(crate) fn is_of_program(&self) -> bool {
        matches!(self, Error::Closed | Error::InvalidArgument(_))
    }

    /// A loader's own error; callers that joined the load get the same.
    pub(crate) fn of_loader(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::LoaderFailed(error.into().into())
    }

    /// The stable name of this error, the same in every language.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidArgument(_) => "invalid_argument",
            Error::InvalidKey(_) => "invalid_key",
            Error::UnsupportedValue { .. } => "unsupported_value",
            Error::WrongType { .. } => "wrong_type",
            Error::IntegerOverflow(_) => "integer_overflow",
            Error::EntryTooLarge { .. } => "entry_too_large",
            Error::ValueTooLarge { .. } => "value_too_large",
            Error::MalformedEntry(_) => "malformed_entry",
            Error::ChecksumMismatch(_) => "checksum_mismatch",
            Error::UnsupportedVersion(_) => "unsupported_version",
            Error::UnsupportedFlags(_) => "unsupported_flags",
            Error::UnsupportedSerializer(_) => "unsupported_serializer",
            Error::UnsupportedCompressor(_) => "unsupported_compressor",
            Error::UnknownDictionary(_) => "unknown_dictionary",
            Error::NotEncrypted(_) => "not_encrypted",
            Error::UnknownEncryptionKey(_) => "unknown_encryption_key",
            Error::DecryptionFailed(_) => "decryption_failed",
            Error::NoSpace(_) => "no_space",
            Error::NoCache(_) => "no_cache",
            Error::Damaged(_) => "damaged",
            Error::UnsupportedFilesystem(_) => "unsupported_filesystem",
            Error::ForeignDirectory(_) => "foreign_directory",
            Error::ReadOnly(_) => "read_only",
            Error::TooManyParticipants(_) => "too_many_participants",
            Error::UnsupportedPlatform(_) => "unsupported_platform",
            Error::Closed => "closed",
            Error::Io(_) => "io",
            Error::RemoteUnavailable(_) => "remote_unavailable",
            Error::WaitTimeout => "wait_timeout",
            Error::Conflict => "conflict",
            Error::UncacheableRead(_) => "uncacheable_read",
            #[cfg(feature = "reads")]
            Error::ReadFailed(_) => "read_failed",
            Error::LoaderFailed(_) => "loader_failed",
        }
    }

    /// True when the same call may succeed later without a change by the caller.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Error::NoSpace(_)
            | Error::TooManyParticipants(_)
            | Error::Io(_)
            | Error::RemoteUnavailable(_)
            | Error::WaitTimeout
            | Error::Conflict => true,
            Error::LoaderFailed(source) => loader_may_pass(&**source),
            #[cfg(feature = "reads")]
            Error::ReadFailed(source) => crate::reads::may_pass(source),
            _ => false,
        }
    }

    /// The path to the culprit within a value that is refused or of the wrong type.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Error::UnsupportedValue { path, .. } | Error::WrongType { path, .. } => Some(path),
            _ => None,
        }
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Error {
        Error::InvalidArgument(what.into())
    }
}

/// Whether a loader's error may pass by itself. Our errors say so; the memory tier knows of others.
fn loader_may_pass(source: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(source), |error| error.source());
    match causes.find_map(|error| error.downcast_ref::<Error>()) {
        Some(ours) => ours.retryable(),
        None => polycache_memory::Error::may_pass(source),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnsupportedValue { path, reason } => {
                write!(f, "cannot store the value at {path}: {reason}")
            }
            Error::WrongType { path, reason } => {
                write!(
                    f,
                    "the value at {path} is not of the type asked for: {reason}"
                )
            }
            Error::EntryTooLarge { size, limit } => write!(
                f,
                "key and entry take {size} bytes and may take {limit}: store less, or raise max_bytes (for the \
                 memory tier alone) or limit (for a directory, where an entry may take a quarter of it)"
            ),
            Error::ValueTooLarge { size, limit } => {
                let (size, limit) = (*size, *limit);
                polycache_entry::Error::ValueTooLarge { size, limit }.fmt(f)
            }
            Error::Closed => f.write_str("the cache was closed; open another"),
            Error::WaitTimeout => f.write_str(
                "other callers have been loading this key for longer than wait_timeout; try again later",
            ),
            Error::Conflict => f.write_str(
                "others changed this key each time that the update was tried; try again later, or update it less often",
            ),
            Error::LoaderFailed(source) => write!(f, "the loader failed: {source}"),
            #[cfg(feature = "reads")]
            Error::ReadFailed(source) => source.fmt(f),
            Error::InvalidArgument(what)
            | Error::UncacheableRead(what)
            | Error::IntegerOverflow(what)
            | Error::InvalidKey(what)
            | Error::MalformedEntry(what)
            | Error::ChecksumMismatch(what)
            | Error::UnsupportedVersion(what)
            | Error::UnsupportedFlags(what)
            | Error::UnsupportedSerializer(what)
            | Error::UnsupportedCompressor(what)
            | Error::UnknownDictionary(what)
            | Error::NotEncrypted(what)
            | Error::UnknownEncryptionKey(what)
            | Error::DecryptionFailed(what)
            | Error::NoSpace(what)
            | Error::NoCache(what)
            | Error::Damaged(what)
            | Error::UnsupportedFilesystem(what)
            | Error::ForeignDirectory(what)
            | Error::ReadOnly(what)
            | Error::TooManyParticipants(what)
            | Error::UnsupportedPlatform(what)
            | Error::RemoteUnavailable(what)
            | Error::Io(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::LoaderFailed(source) => Some(&**source),
            #[cfg(feature = "reads")]
            Error::ReadFailed(source) => Some(&**source),
            _ => None,
        }
    }
}

impl From<polycache_entry::Error> for Error {
    #[cold]
    fn from(error: polycache_entry::Error) -> Error {
        use polycache_entry::Error as Entry;
        let text = error.to_string();
        match error {
            Entry::InvalidArgument { .. } => Error::InvalidArgument(text),
            Entry::UnsupportedValue { path, reason } => Error::UnsupportedValue {
                path,
                reason: reason.into_owned(),
            },
            Entry::WrongType { path, reason } => Error::WrongType {
                path,
                reason: reason.into_owned(),
            },
            Entry::ValueTooLarge { size, limit } => Error::ValueTooLarge { size, limit },
            Entry::ChecksumMismatch => Error::ChecksumMismatch(text),
            Entry::UnsupportedVersion { .. } => Error::UnsupportedVersion(text),
            Entry::UnsupportedFlags { .. } => Error::UnsupportedFlags(text),
            Entry::UnsupportedSerializer { .. } => Error::UnsupportedSerializer(text),
            Entry::UnsupportedCompressor { .. } => Error::UnsupportedCompressor(text),
            Entry::UnknownDictionary { .. } => Error::UnknownDictionary(text),
            Entry::NotEncrypted => Error::NotEncrypted(text),
            Entry::UnknownEncryptionKey { .. } => Error::UnknownEncryptionKey(text),
            Entry::DecryptionFailed { .. } => Error::DecryptionFailed(text),
            Entry::Io { .. } => Error::Io(text),
            // An error that a later version of the format adds concerns its bytes.
            _ => Error::MalformedEntry(text),
        }
    }
}

impl From<polycache_host::Error> for Error {
    #[cold]
    fn from(error: polycache_host::Error) -> Error {
        use polycache_host::Error as Host;
        let text = error.to_string();
        match error {
            Host::InvalidArgument(_) => Error::InvalidArgument(text),
            Host::EntryTooLarge { size, limit } => Error::EntryTooLarge { size, limit },
            Host::MalformedEntry(_) => Error::MalformedEntry(text),
            Host::NoSpace(_) => Error::NoSpace(text),
            Host::UnsupportedVersion(_) => Error::UnsupportedVersion(text),
            Host::NoCache(_) => Error::NoCache(text),
            Host::Damaged(_) => Error::Damaged(text),
            Host::UnsupportedFilesystem(_) => Error::UnsupportedFilesystem(text),
            Host::ForeignDirectory(_) => Error::ForeignDirectory(text),
            Host::ReadOnly(_) => Error::ReadOnly(text),
            Host::TooManyParticipants => Error::TooManyParticipants(text),
            Host::UnsupportedPlatform(_) => Error::UnsupportedPlatform(text),
            Host::Closed => Error::Closed,
            // The rest is what the operating system answers.
            _ => Error::Io(text),
        }
    }
}

impl From<polycache_memory::Error> for Error {
    #[cold]
    fn from(error: polycache_memory::Error) -> Error {
        use polycache_memory::Error as Memory;
        match error {
            Memory::EntryTooLarge { size, limit } => Error::EntryTooLarge { size, limit },
            Memory::LoaderFailed(source) => Error::LoaderFailed(source),
            Memory::WaitTimeout => Error::WaitTimeout,
            // An error that a later version adds concerns its arguments.
            other => Error::InvalidArgument(other.to_string()),
        }
    }
}
