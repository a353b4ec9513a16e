//! The command `polycache`, which `exe/polycache` runs.

use magnus::{function, prelude::*, Error, RArray, RModule, RString, TryConvert};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Runs the command with these arguments, the program's name first, and gives its exit code. It
/// keeps Ruby's lock: the program has nothing else to do.
///
/// # Errors
/// `TypeError` for what is not a String.
fn cli(arguments: RArray) -> Result<u8, Error> {
    let arguments = arguments
        .into_iter()
        .map(|argument| {
            let argument = RString::try_convert(argument)?;
            // SAFETY: the bytes are copied at once.
            let bytes = unsafe { argument.as_slice() }.to_vec();
            Ok(OsString::from_vec(bytes))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    Ok(polycache_cli::run(arguments))
}

/// Defines the function.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("cli", function!(cli, 1))
}
