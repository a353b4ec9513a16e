//! Versions of what is measured, as the lock file has them.

const LOCK: &str = include_str!("../Cargo.lock");

/// The newest version of that name in the lock file.
pub fn locked(name: &str) -> (String, String) {
    let header = format!("name = \"{name}\"\nversion = \"");
    let version = LOCK
        .rsplit_once(&header)
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version);
    (name.to_owned(), version.to_owned())
}

/// Polycache's.
pub fn ours() -> (String, String) {
    locked("polycache")
}
