//! Versions of the crates that are measured.

/// The crate's version in the lock file this was built with.
pub fn locked(name: &str) -> String {
    let lock = include_str!("../Cargo.lock");
    let head = format!("name = \"{name}\"\nversion = \"");
    let version = lock
        .split_once(&head)
        .and_then(|(_, rest)| rest.split('"').next());
    version.unwrap_or("unknown").to_owned()
}
