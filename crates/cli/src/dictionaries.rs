//! Dictionaries for reading entries, from files named in the environment.

use crate::failure::Failure;

/// Paths, separated by colons.
pub const VARIABLE: &str = "POLYCACHE_DICTIONARIES";

/// The dictionaries' bytes, if there are any.
pub fn read() -> Result<Option<Vec<Vec<u8>>>, Failure> {
    let Some(paths) = std::env::var_os(VARIABLE).filter(|paths| !paths.is_empty()) else {
        return Ok(None);
    };
    let read = |path: std::path::PathBuf| {
        std::fs::read(&path)
            .map_err(|error| Failure::Usage(format!("{VARIABLE}: {}: {error}", path.display())))
    };
    std::env::split_paths(&paths)
        .map(read)
        .collect::<Result<_, _>>()
        .map(Some)
}
