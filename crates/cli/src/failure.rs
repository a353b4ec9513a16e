//! Errors that end a command, and its exit code.

use crate::text::{self, SafeJson};
use polycache::Error;
use serde::Serialize;
use serde_json::json;
use std::fmt;
use std::io::{self, ErrorKind, Write};

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong in a way that clap cannot see.
    Usage(String),
    /// The cache returned an error.
    Cache(Error),
    /// The server of `serve` could not be started.
    Serve(polycache_serve::Error),
    /// Standard input or output failed.
    Io(io::Error),
}

impl Failure {
    /// True when the reader of the output has closed it.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::Io(error) if error.kind() == ErrorKind::BrokenPipe)
    }

    /// The process's exit code, 2 or more.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Serve(polycache_serve::Error::InvalidArgument(_)) => 2,
            Failure::Cache(Error::NoCache(_)) => 3,
            Failure::Cache(
                Error::InvalidArgument(_) | Error::InvalidKey(_) | Error::UnsupportedValue { .. },
            ) => 2,
            Failure::Cache(_) | Failure::Serve(_) | Failure::Io(_) => 4,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Failure::Usage(_) | Failure::Serve(polycache_serve::Error::InvalidArgument(_)) => {
                "invalid_argument"
            }
            Failure::Cache(error) => error.code(),
            Failure::Serve(_) | Failure::Io(_) => "io",
        }
    }

    fn retryable(&self) -> bool {
        matches!(self, Failure::Cache(error) if error.retryable())
    }

    /// Prints it on standard error.
    pub fn report(&self, json: bool) {
        let message = self.to_string();
        if json {
            report_json(self.code(), &message, self.retryable());
        } else {
            say(&format!("polycache: {}", text::line(&message)));
        }
    }
}

/// Prints what clap found wrong with the command line.
pub fn report_arguments(error: &clap::Error, json: bool) {
    let whole = error.render().to_string();
    if !json {
        return say(text::block(&whole).trim_end());
    }
    use clap::error::ErrorKind;
    let message = match error.kind() {
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a command is missing; `polycache --help` lists them"
        }
        // Without the usage and the hint at --help, which are for people.
        _ => {
            let whole = whole.strip_prefix("error: ").unwrap_or(&whole);
            whole.split("\n\nUsage:").next().unwrap_or(whole)
        }
    };
    let message = message.split("\n\nFor more information").next();
    report_json(
        "invalid_argument",
        message.unwrap_or_default().trim_end(),
        false,
    );
}

fn report_json(code: &str, message: &str, retryable: bool) {
    let error = json!({"error": {"code": code, "message": message, "retryable": retryable}});
    let mut line = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut line, SafeJson);
    // Writing JSON to memory does not fail.
    let _ = error.serialize(&mut serializer);
    say(&String::from_utf8_lossy(&line));
}

fn say(line: &str) {
    // If standard error is closed, the message has no reader.
    let _ = writeln!(io::stderr(), "{line}");
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) => f.write_str(what),
            Failure::Cache(error @ Error::NoCache(_)) => write!(
                f,
                "{error}; `polycache set` creates one, and so does a program that opens it"
            ),
            Failure::Cache(error) => error.fmt(f),
            Failure::Serve(error) => error.fmt(f),
            Failure::Io(error) => error.fmt(f),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Cache(error)
    }
}

impl From<polycache_serve::Error> for Failure {
    fn from(error: polycache_serve::Error) -> Failure {
        match error {
            polycache_serve::Error::Cache(error) => Failure::Cache(error),
            other => Failure::Serve(other),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}
