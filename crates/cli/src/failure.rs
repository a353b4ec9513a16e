//! What ends a command early, and its exit code.

use polycache::Error;
use serde_json::json;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong in a way that clap cannot see.
    Usage(String),
    /// There is no cache in the directory.
    NoCache(PathBuf),
    /// The cache says no.
    Cache(Error),
    /// Standard input or output failed.
    Io(io::Error),
}

impl Failure {
    /// For a directory without a cache.
    pub fn no_cache(path: &Path) -> Failure {
        Failure::NoCache(path.to_owned())
    }

    /// True when the reader of the output went away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::Io(error) if error.kind() == ErrorKind::BrokenPipe)
    }

    /// The process's exit code, 2 or more.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::NoCache(_) => 3,
            Failure::Cache(
                Error::InvalidArgument(_) | Error::InvalidKey(_) | Error::UnsupportedValue { .. },
            ) => 2,
            Failure::Cache(_) | Failure::Io(_) => 4,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Failure::Usage(_) => "invalid_argument",
            Failure::NoCache(_) => "no_cache",
            Failure::Cache(error) => error.code(),
            Failure::Io(_) => "io",
        }
    }

    fn retryable(&self) -> bool {
        matches!(self, Failure::Cache(error) if error.retryable())
    }

    /// Says it on standard error.
    pub fn report(&self, json: bool) {
        let line = if json {
            let message = self.to_string();
            json!({"error": {"code": self.code(), "message": message, "retryable": self.retryable()}})
                .to_string()
        } else {
            format!("polycache: {self}")
        };
        // Where standard error is gone nobody is left to tell.
        let _ = writeln!(io::stderr(), "{line}");
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) => f.write_str(what),
            Failure::NoCache(path) => write!(
                f,
                "there is no cache in {}; `polycache set` makes one, and so does every program that opens it",
                path.display()
            ),
            Failure::Cache(error) => error.fmt(f),
            Failure::Io(error) => error.fmt(f),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Cache(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}
