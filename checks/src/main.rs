//! `make check-coherence`, `make torture` and `make check-remote`: processes of every language on one
//! cache, every operation logged, and a judge over the logs. See README.md.

mod coherence;
mod history;
mod judge;
mod languages;
mod log;
mod lost;
mod namespaces;
mod outcome;
mod process;
mod progress;
mod reached;
mod remote;
mod run;
mod spans;
mod story;
#[cfg(test)]
mod tests;
mod torture;
mod value;
mod worker;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Coherence of the host tier and of the remote tier, checked from outside.
#[derive(Parser)]
#[command(name = "polycache-checks", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Workers of every language read and write; then their logs are judged
    Coherence(coherence::Options),
    /// The same while workers are killed and stopped at random
    Torture(torture::Options),
    /// Two hosts and a server: reads are never further behind than they may be
    Remote(remote::Options),
    /// Judges the logs of an earlier run again, without the eviction counters
    Judge {
        /// The folder `logs` that a failed run left
        logs: PathBuf,
    },
    /// The Rust worker; started by the others
    Worker(worker::Options),
    /// The Rust part of the matrix; started by `remote`
    Matrix(remote::matrix_worker::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Coherence(options) => coherence::run(&options),
        Command::Torture(options) => torture::run(&options),
        Command::Remote(options) => remote::run(&options),
        Command::Judge { logs } => judge_again(&logs),
        Command::Worker(options) => worker::run(&options).map(|()| true),
        Command::Matrix(options) => remote::matrix_worker::run(&options).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("polycache-checks: {error}");
            ExitCode::FAILURE
        }
    }
}

fn judge_again(logs: &std::path::Path) -> outcome::Fallible<bool> {
    let logs = log::read_all(logs)?;
    let judged = judge::judge(&logs);
    let mut outcome = outcome::Outcome::default();
    outcome.judged(&logs, &judged, None);
    Ok(outcome.finish())
}
