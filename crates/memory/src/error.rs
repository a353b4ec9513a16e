//! What can go wrong (`spec/errors.md`).

use std::fmt;
use std::sync::Arc;

/// An error of the memory tier.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// An option or argument is out of range.
    InvalidArgument(String),
    /// The entry weighs more than the whole cache allows. The key's old value is gone.
    EntryTooLarge {
        /// The entry's weight in bytes.
        size: u64,
        /// The weight in bytes that all entries together may have.
        limit: u64,
    },
    /// The caller waited `wait_timeout` for another caller's load.
    WaitTimeout,
    /// The loader failed; its own error is the source, and says whether a retry may help.
    LoaderFailed(Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A loader's own error; every caller that joined the load gets the same one.
    pub(crate) fn of_loader(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::LoaderFailed(error.into().into())
    }

    /// The error's code, as in `spec/errors.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidArgument(_) => "invalid_argument",
            Error::EntryTooLarge { .. } => "entry_too_large",
            Error::WaitTimeout => "wait_timeout",
            Error::LoaderFailed(_) => "loader_failed",
        }
    }

    /// True when the same call may succeed later without a change by the caller.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Error::InvalidArgument(_) | Error::EntryTooLarge { .. } => false,
            Error::WaitTimeout => true,
            Error::LoaderFailed(source) => Error::may_pass(&**source),
        }
    }

    /// Whether a loader's error may be temporary: the answer of the error, or of the first of its
    /// sources that is of a known type. Known are this crate's errors, and the operating system's of
    /// timeouts and connections. For all others a retry is not promised.
    #[doc(hidden)]
    #[must_use]
    pub fn may_pass(error: &(dyn std::error::Error + 'static)) -> bool {
        use std::io::ErrorKind;
        if let Some(ours) = error.downcast_ref::<Error>() {
            return ours.retryable();
        }
        if let Some(system) = error.downcast_ref::<std::io::Error>() {
            return matches!(
                system.kind(),
                ErrorKind::Interrupted
                    | ErrorKind::WouldBlock
                    | ErrorKind::TimedOut
                    | ErrorKind::ConnectionRefused
                    | ErrorKind::ConnectionReset
                    | ErrorKind::ConnectionAborted
                    | ErrorKind::NotConnected
                    | ErrorKind::BrokenPipe
                    | ErrorKind::HostUnreachable
                    | ErrorKind::NetworkUnreachable
                    | ErrorKind::NetworkDown
                    | ErrorKind::ResourceBusy
            );
        }
        error.source().is_some_and(Error::may_pass)
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
            Error::WaitTimeout => f.write_str(
                "another caller has been loading this key for longer than wait_timeout; try again later",
            ),
            Error::LoaderFailed(source) => write!(f, "the loader failed: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::LoaderFailed(source) => Some(&**source),
            _ => None,
        }
    }
}
