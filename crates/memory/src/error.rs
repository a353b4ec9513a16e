//! What can go wrong (`spec/errors.md`).

use std::fmt;

/// An error of the memory tier.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An option or argument is out of range.
    InvalidArgument(String),
    /// The entry weighs more than the whole cache may. The key's old value is gone.
    EntryTooLarge {
        /// The bytes that it weighs.
        size: u64,
        /// The bytes that all entries together may weigh.
        limit: u64,
    },
    /// The loader failed; its own error is the source.
    LoaderFailed(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// The error's code, as in `spec/errors.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidArgument(_) => "invalid_argument",
            Error::EntryTooLarge { .. } => "entry_too_large",
            Error::LoaderFailed(_) => "loader_failed",
        }
    }

    /// True when the same call may succeed later without a change by the caller.
    #[must_use]
    pub fn retryable(&self) -> bool {
        matches!(self, Error::LoaderFailed(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidArgument(what) => f.write_str(what),
            Error::EntryTooLarge { size, limit } => write!(
                f,
                "the entry weighs {size} bytes, and all entries together may weigh {limit}: \
                 raise max_bytes, or keep something smaller"
            ),
            Error::LoaderFailed(source) => write!(f, "the loader failed: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::LoaderFailed(source) => Some(&**source),
            Error::InvalidArgument(_) | Error::EntryTooLarge { .. } => None,
        }
    }
}
