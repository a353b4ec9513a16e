//! The command `polycache`: looks into a cache directory and changes it.
//!
//! It is a library so that every language's package can ship the same command inside its native library;
//! `main.rs` is the program for users that install it with cargo.

mod arguments;
mod commands;
mod dictionaries;
mod encryption;
mod failure;
mod human;
mod key;
mod namespace;
mod open;
mod output;
mod pattern;
mod show;
mod text;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use output::Output;
use polycache_json as json;
use std::ffi::OsString;

/// The result of a command that ran to its end, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// 0.
    Done,
    /// 1: the key is missing, something is damaged, or the user said no.
    Negative,
}

/// Makes a write beyond the process's file size limit (`ulimit -f`) an error instead of the end.
fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: ignoring a signal installs no handler, so no code can run in a signal context.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN)
    };
}

/// Runs the command with the process's standard streams and returns its exit code.
///
/// `arguments` are those of the command line, the program's name first. Nothing here ends the process,
/// which ignores SIGXFSZ from now on. The caller leaves SIGINT at its default, so that Ctrl-C ends a
/// command that waits for input, and SIGPIPE ignored, so that a reader that has enough is not a failure.
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
        // The reader of the output has enough, like `head`.
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
        Command::Top(top) => commands::top::run(arguments, top, output),
        Command::Usage(usage) => commands::usage::run(arguments, usage, output),
        Command::Check => commands::check::run(arguments, output),
        Command::Clear(clear) => commands::clear::run(arguments, clear, output),
        Command::Serve(serve) => commands::serve::run(arguments, serve, output),
        Command::Completions(completions) => commands::completions::run(completions, output),
        Command::Man(man) => commands::man::run(man, output),
        Command::TrainDictionary(train) => commands::train_dictionary::run(train, output),
    }
}
