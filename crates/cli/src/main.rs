//! The command `polycache`: looks into a cache directory and changes it.

mod arguments;
mod commands;
mod dictionaries;
mod encryption;
mod failure;
mod human;
mod json;
mod key;
mod open;
mod output;
mod show;
mod time;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use output::Output;
use std::process::ExitCode;

/// What a command that ran to its end has to say by its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// 0.
    Done,
    /// 1: the key is not there, something is damaged, the user said no.
    Negative,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let json = arguments.json;
    let mut output = Output::new(json);
    let result = run(&arguments, &mut output).and_then(|outcome| {
        output.flush()?;
        Ok(outcome)
    });
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Negative) => ExitCode::from(1),
        // Whoever reads the output has enough of it, like `head`.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report(json);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Get(get) => commands::get::run(arguments, get, output),
        Command::Set(set) => commands::set::run(arguments, set, output),
        Command::Delete(delete) => commands::delete::run(arguments, delete, output),
        Command::Keys(keys) => commands::keys::run(arguments, keys, output),
        Command::Stats => commands::stats::run(arguments, output),
        Command::Check => commands::check::run(arguments, output),
        Command::Clear(clear) => commands::clear::run(arguments, clear, output),
        Command::TrainDictionary(train) => commands::train_dictionary::run(train, output),
    }
}
