//! The command `polycache`, which `bin/polycache.cjs` hands over to, and what version this is.

use napi_derive::napi;
use std::ffi::OsString;

/// Runs the command with the process' standard streams and gives its exit code. `arguments` are those of the command line, the program's name first.
///
/// Node leaves SIGINT at its default while nothing listens to it, and ignores SIGPIPE: what the command asks for.
#[napi]
pub fn cli(arguments: Vec<String>) -> u32 {
    u32::from(polycache_cli::run(as_given(arguments)))
}

/// The arguments as the process was given them. JavaScript puts U+FFFD for bytes that are not UTF-8, and
/// another key or value would be meant than was written.
fn as_given(arguments: Vec<String>) -> Vec<OsString> {
    let lossy = || arguments.iter().map(OsString::from).collect();
    if !arguments
        .iter()
        .any(|one| one.contains(char::REPLACEMENT_CHARACTER))
    {
        return lossy();
    }
    exact(&arguments).unwrap_or_else(lossy)
}

/// Those of the process that JavaScript shows as these, but for the first, which is not among them.
#[cfg(target_os = "linux")]
fn exact(arguments: &[String]) -> Option<Vec<OsString>> {
    use std::os::unix::ffi::OsStringExt;

    let given = std::fs::read("/proc/self/cmdline").ok()?;
    let given = given.strip_suffix(b"\0")?.split(|byte| *byte == 0);
    let mut given: Vec<_> = given.collect();
    let (name, shown) = arguments.split_first()?;
    let last = given.split_off(given.len().checked_sub(shown.len())?);
    let same = last
        .iter()
        .zip(shown)
        .all(|(bytes, shown)| String::from_utf8_lossy(bytes) == *shown);
    let last = last
        .into_iter()
        .map(|bytes| OsString::from_vec(bytes.to_vec()));
    same.then(|| std::iter::once(OsString::from(name)).chain(last).collect())
}

#[cfg(not(target_os = "linux"))]
fn exact(_: &[String]) -> Option<Vec<OsString>> {
    None
}

/// The version of the npm packages, which JavaScript compares with its own: the two belong together.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
