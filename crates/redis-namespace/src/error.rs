//! Errors found before anything is sent.

use std::fmt;

use redis::{ErrorKind, RedisError};

/// Why a command was not sent. The names and codes are those of `spec/errors.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A namespace without a name, an invalid number of keys, or a pattern that would mix channels of
    /// two kinds.
    InvalidArgument(String),
    /// The command is unknown, so it is unknown which of its words are keys.
    UnknownCommand(String),
    /// The command touches the whole server, or cannot stay inside a namespace here.
    CommandNotAllowed(String),
    /// The namespace cannot be used with this command.
    InvalidNamespace(String),
}

impl Error {
    /// The stable name of this error, the same in every language.
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidArgument(_) => "invalid_argument",
            Error::UnknownCommand(_) => "unknown_command",
            Error::CommandNotAllowed(_) => "command_not_allowed",
            Error::InvalidNamespace(_) => "invalid_namespace",
        }
    }

    fn message(&self) -> &str {
        match self {
            Error::InvalidArgument(message)
            | Error::UnknownCommand(message)
            | Error::CommandNotAllowed(message)
            | Error::InvalidNamespace(message) => message,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.message())
    }
}

impl std::error::Error for Error {}

/// redis-rs has one error type for its connections: the kind is `Client`, the description our code.
impl From<Error> for RedisError {
    fn from(error: Error) -> Self {
        RedisError::from((ErrorKind::Client, error.code(), error.message().to_owned()))
    }
}
