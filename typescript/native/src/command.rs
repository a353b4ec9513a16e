//! The command `polycache`, which `bin/polycache.cjs` hands over to, and what version this is.

use napi_derive::napi;

/// Runs the command with the process' standard streams and gives its exit code. `arguments` are those of the command line, the program's name first.
///
/// Node leaves SIGINT at its default while nothing listens to it, and ignores SIGPIPE: what the command asks for.
#[napi]
pub fn cli(arguments: Vec<String>) -> u32 {
    u32::from(polycache_cli::run(arguments))
}

/// The version of the npm packages, which JavaScript compares with its own: the two belong together.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
