//! The command `polycache`: looks into a cache directory and changes it.
//!
//! It is a library so that every language's package can ship the same command inside the native
//! library that it has anyway; `main.rs` is the program for those who install it with cargo.

mod arguments;
mod commands;
mod dictionaries;
mod encryption;
mod failure;
mod human;
mod json;
mod key;
mod namespace;
mod open;
mod output;
mod pattern;
mod show;
mod text;
mod time;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use output::Output;
use std::ffi::OsString;

/// What a command that ran to its end has to say by its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// 0.
    Done,
    /// 1: the key is not there, something is damaged, the user said no.
    Negative,
}

/// A file that would grow beyond the process's limit (`ulimit -f`) is an error then, and not the end.
fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: ignoring a signal installs no handler.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN)
    };
}

/// Runs the command with the process' standard streams and gives its exit code.
///
/// `arguments` are those of the command line, the program's name first. Nothing here ends the
/// process, which ignores SIGXFSZ from now on. The caller leaves SIGINT at its default, so that Ctrl-C ends a command that waits for
/// input, and SIGPIPE ignored, so that a reader that has enough is no failure.
pub fn run<I>(arguments: I) -> u8
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    ignore_file_size_signal();
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let arguments = match Arguments::try_parse_from(&arguments) {
        Ok(arguments) => arguments,
        // Help and the version are "errors" with code 0.
        Err(error) if error.exit_code() == 0 => {
            let _ = error.print();
            return 0;
        }
        Err(error) => {
            let options = arguments.iter().take_while(|argument| *argument != "--");
            let json = options.into_iter().any(|argument| argument == "--json");
            failure::report_arguments(&error, json);
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let json = arguments.json;
    let mut output = Output::new(json);
    let result = dispatch(&arguments, &mut output).and_then(|outcome| {
        output.flush()?;
        Ok(outcome)
    });
    match result {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Negative) => 1,
        // Whoever reads the output has enough of it, like `head`.
        Err(failure) if failure.is_broken_pipe() => 0,
        Err(failure) => {
            failure.report(json);
            failure.exit_code()
        }
    }
}

fn dispatch(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Get(get) => commands::get::run(arguments, get, output),
        Command::Set(set) => commands::set::run(arguments, set, output),
        Command::Delete(delete) => commands::delete::run(arguments, delete, output),
        Command::Keys(keys) => commands::keys::run(arguments, keys, output),
        Command::Stats => commands::stats::run(arguments, output),
        Command::Check => commands::check::run(arguments, output),
        Command::Clear(clear) => commands::clear::run(arguments, clear, output),
        Command::Completions(completions) => commands::completions::run(completions, output),
        Command::Man(man) => commands::man::run(man, output),
        Command::TrainDictionary(train) => commands::train_dictionary::run(train, output),
    }
}
