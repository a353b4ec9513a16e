//! What can go wrong in the host tier (`spec/errors.md`).

use std::fmt;
use std::io;

/// The reason of a failed write to a file that would exceed this process's file size limit.
pub(crate) const TOO_LARGE: &str =
    "this process may not make files that large; raise its file size limit \
     (`ulimit -f`), or choose a smaller limit for the cache";

/// An error of the host tier. `code()` names its row in `spec/errors.md`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An option is out of range.
    InvalidArgument(String),
    /// Key and entry take more than a quarter of the directory's blocks, or the key alone more than one block.
    EntryTooLarge {
        /// Bytes that the record would take.
        size: u64,
        /// Bytes a record may take in this directory.
        limit: u64,
    },
    /// The bytes given to `put` or `fill` do not begin with an entry header.
    MalformedEntry(&'static str),
    /// The disk is full and there is nothing to recycle, or live processes are writing every block.
    NoSpace(&'static str),
    /// The directory's layout is newer than this build.
    UnsupportedVersion(u64),
    /// The directory holds no cache, and the mode ([`crate::Mode`]) does not allow creating one.
    NoCache(String),
    /// The directory holds no undamaged cache, and the mode does not allow creating one.
    Damaged(String),
    /// The file system does not share memory between processes, or cannot keep a file its space.
    UnsupportedFilesystem(String),
    /// The directory, or what it holds, is not the cache's own: another user's, or another program's.
    ForeignDirectory(String),
    /// The cache can only be read: it was opened for that, or this process may not write to its files.
    ReadOnly(String),
    /// 4095 handles are open on the directory.
    TooManyParticipants,
    /// The host tier does not run on this platform.
    UnsupportedPlatform(&'static str),
    /// The store was closed.
    Closed,
    /// The operating system failed.
    Io {
        /// The action that failed, with the path.
        action: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// The error's code, as in `spec/errors.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidArgument(_) => "invalid_argument",
            Error::EntryTooLarge { .. } => "entry_too_large",
            Error::MalformedEntry(_) => "malformed_entry",
            Error::NoSpace(_) => "no_space",
            Error::UnsupportedVersion(_) => "unsupported_version",
            Error::NoCache(_) => "no_cache",
            Error::Damaged(_) => "damaged",
            Error::UnsupportedFilesystem(_) => "unsupported_filesystem",
            Error::ForeignDirectory(_) => "foreign_directory",
            Error::ReadOnly(_) => "read_only",
            Error::TooManyParticipants => "too_many_participants",
            Error::UnsupportedPlatform(_) => "unsupported_platform",
            Error::Closed => "closed",
            Error::Io { .. } => "io",
        }
    }

    /// True when the same call may succeed later without a change by the caller.
    #[must_use]
    pub fn retryable(&self) -> bool {
        matches!(
            self,
            Error::NoSpace(_) | Error::TooManyParticipants | Error::Io { .. }
        )
    }

    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let action = action.into();
        move |source| Error::Io { action, source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidArgument(what)
            | Error::NoCache(what)
            | Error::Damaged(what)
            | Error::ReadOnly(what) => f.write_str(what),
            Error::EntryTooLarge { size, limit } => write!(
                f,
                "key and entry take {size} bytes and a record may take {limit}; \
                 raise the cache's byte limit (a record may take a quarter of it) or store less"
            ),
            Error::MalformedEntry(what) => write!(f, "not an entry: {what}"),
            Error::NoSpace(what) => write!(f, "no space: {what}"),
            Error::UnsupportedVersion(version) => write!(
                f,
                "the directory has layout version {version}, newer than this build; upgrade polycache"
            ),
            Error::UnsupportedFilesystem(why) => {
                write!(f, "{why}; use a local directory or /dev/shm")
            }
            Error::ForeignDirectory(what) => {
                write!(f, "{what}; choose a directory of your own")
            }
            Error::TooManyParticipants => {
                f.write_str("4095 handles are open on this directory; close some")
            }
            Error::UnsupportedPlatform(what) => {
                write!(
                    f,
                    "{what}; leave out `path`, and the cache is in this process's memory"
                )
            }
            Error::Closed => f.write_str("the cache was closed"),
            Error::Io { action, source } => write!(f, "{action}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
