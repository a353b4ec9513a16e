//! Shared by the command's tests.
#![allow(dead_code)]

use polycache::Cache;
use serde_json::Value as Json;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A cache directory and the command on it.
pub struct Place {
    pub directory: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("cache")
    }

    pub fn open(&self) -> Cache {
        Cache::builder().path(self.path()).build().unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = polycache();
        command.arg("--path").arg(self.path()).args(arguments);
        command
    }

    /// Runs it; standard output must be text.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, b"")
    }

    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that rejects its arguments ends without reading.
        let written = child.stdin.take().unwrap().write_all(input);
        if let Err(error) = written {
            assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        }
        Ran::new(child.wait_with_output().unwrap())
    }

    pub fn json(&self, arguments: &[&str]) -> Json {
        let ran = self.run(&[&["--json"], arguments].concat());
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// The error that a command says with --json, and its exit code.
    pub fn json_error(&self, arguments: &[&str]) -> (Option<i32>, Json) {
        let ran = self.run(&[&["--json"], arguments].concat());
        let error = serde_json::from_str(&ran.error);
        let mut error: Json = error.unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        assert_eq!(ran.out, "");
        (ran.code, error["error"].take())
    }

    /// The lines of `keys`, sorted.
    pub fn keys(&self, arguments: &[&str]) -> Vec<String> {
        let ran = self.run(&[&["keys"], arguments].concat()).ok();
        let mut lines: Vec<_> = ran.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

/// The command, with nothing in its environment that it reads.
pub fn polycache() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polycache"));
    for variable in [
        "POLYCACHE_PATH",
        "POLYCACHE_ENCRYPTION",
        "POLYCACHE_DICTIONARIES",
        "POLYCACHE_REMOTE",
        "POLYCACHE_TOKEN",
        "NO_COLOR",
    ] {
        command.env_remove(variable);
    }
    command
}

#[derive(Debug)]
/// The result of a command.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub error: String,
}

impl Ran {
    pub fn new(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            error: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn ok(self) -> String {
        assert_eq!((self.code, &*self.error), (Some(0), ""), "{self:?}");
        self.out
    }

    /// It ended with `code`, said `what` on standard error and nothing else.
    pub fn failed(self, code: i32, what: &str) {
        assert_eq!((self.code, &*self.out), (Some(code), ""), "{self:?}");
        assert!(self.error.contains(what), "{self:?}");
    }
}
