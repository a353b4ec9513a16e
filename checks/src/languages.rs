//! The languages that take part, and how a worker of each is started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A language with a worker program in `checks/workers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// This very program.
    Rust,
    /// By Node.
    #[value(name = "typescript")]
    TypeScript,
    /// By Python.
    Python,
    /// By Ruby.
    Ruby,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 4] = [
        Language::Rust,
        Language::TypeScript,
        Language::Python,
        Language::Ruby,
    ];

    /// Its name in log names and reports.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::TypeScript => "typescript",
            Language::Python => "python",
            Language::Ruby => "ruby",
        }
    }

    /// Its workers' share of a run's reads, chosen so that all languages end at about the same time.
    pub fn share(self) -> u64 {
        match self {
            Language::Rust => 5,
            Language::TypeScript => 3,
            Language::Python | Language::Ruby => 1,
        }
    }

    /// Why its workers cannot run here; `None` when they can.
    pub fn missing(self) -> Option<String> {
        let (program, extension) = match self {
            Language::Rust => return None,
            Language::TypeScript => ("node", "typescript/native/polycache.node"),
            Language::Python => ("python", "python/src/polycache/_native.abi3.so"),
            Language::Ruby => ("ruby", "ruby/lib/polycache/polycache.so"),
        };
        if !repository().join(extension).exists() {
            return Some(format!("{extension} was not built"));
        }
        let started = Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match started {
            Ok(status) if status.success() => None,
            _ => Some(format!("there is no {program} here")),
        }
    }

    /// Why its workers cannot reach servers called `name`; `None` when they can. Nothing is asked of the servers.
    pub fn cannot_reach(self, name: &str) -> Option<String> {
        let folder = std::env::temp_dir().join(format!("polycache-probe-{}", std::process::id()));
        let started = self.matrix().and_then(|mut command| {
            let command = command.arg(&folder).args([name, self.name()]);
            command.stdin(Stdio::null()).output()
        });
        // Whether it was made is of no interest.
        let _ = std::fs::remove_dir_all(folder);
        match started {
            Ok(ended) if ended.status.success() => None,
            Ok(ended) => {
                let said = String::from_utf8_lossy(&ended.stderr);
                let lines = said.lines().map(str::trim);
                let told = lines.rev().find(|line| line.contains("rror"));
                Some(told.unwrap_or("it ended without a word").to_owned())
            }
            Err(error) => Some(error.to_string()),
        }
    }

    /// The command that starts a worker, without the worker's arguments.
    pub fn command(self) -> std::io::Result<Command> {
        self.program("worker")
    }

    /// The command that starts this language's part of the matrix of `make check-remote`.
    pub fn matrix(self) -> std::io::Result<Command> {
        self.program("matrix")
    }

    fn program(self, name: &str) -> std::io::Result<Command> {
        let script = |ending: &str| {
            let workers = repository().join("checks/workers");
            workers.join(format!("{name}.{ending}"))
        };
        Ok(match self {
            Language::Rust => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg(name);
                command
            }
            Language::TypeScript => {
                let mut command = Command::new("node");
                command.arg("--disable-warning=ExperimentalWarning");
                command.arg(script("ts"));
                command
            }
            Language::Python => {
                let mut command = Command::new("python");
                command.env("PYTHONPATH", repository().join("python/src"));
                command.args(["-X", "faulthandler"]);
                command.arg(script("py"));
                command
            }
            Language::Ruby => {
                let mut command = Command::new("ruby");
                command.arg("-I").arg(repository().join("ruby/lib"));
                command.arg(script("rb"));
                command
            }
        })
    }
}

/// Where this program was compiled from.
fn repository() -> PathBuf {
    let checks = Path::new(env!("CARGO_MANIFEST_DIR"));
    checks.parent().unwrap_or(checks).to_owned()
}
