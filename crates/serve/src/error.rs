//! Why a server could not be started.

use std::fmt;
use std::io;
use std::net::SocketAddr;

/// Why a server could not be started.
#[derive(Debug)]
pub enum Error {
    /// An option cannot be; the text says what would do.
    InvalidArgument(String),
    /// The address cannot be listened at.
    Listen(SocketAddr, io::Error),
    /// The operating system failed.
    Io(io::Error),
    /// The cache failed.
    Cache(polycache::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidArgument(why) => f.write_str(why),
            Error::Listen(address, error) => write!(f, "cannot listen at {address}: {error}"),
            Error::Io(error) => error.fmt(f),
            Error::Cache(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(error)
    }
}

impl From<polycache::Error> for Error {
    fn from(error: polycache::Error) -> Error {
        Error::Cache(error)
    }
}
