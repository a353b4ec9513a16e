//! How a server tells the controller that it listens (`lib/ready.mjs`).

use serde::Serialize;
use std::collections::BTreeMap;

/// Its members are in this order, by which the controller knows the line.
#[derive(Serialize)]
pub struct Ready {
    pub port: u16,
    /// The route that is measured.
    pub path: &'static str,
    pub reads: Reads,
    /// Of what it is made of.
    pub versions: BTreeMap<&'static str, &'static str>,
    /// What its rows have to say.
    pub notes: Vec<&'static str>,
}

/// How often a server reads the stream from Redis; the controller counts.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Reads {
    #[serde(rename = "each request")]
    EachRequest,
    #[serde(rename = "after a change")]
    AfterAChange,
    #[serde(rename = "never")]
    Never,
}

/// What it was compiled with.
const LOCK: &str = include_str!("../../../../Cargo.lock");

/// The versions of crates.
pub fn versions<const N: usize>(names: [&'static str; N]) -> BTreeMap<&'static str, &'static str> {
    let version = |name| {
        let (_, package) = LOCK.split_once(&format!("name = \"{name}\"\nversion = \""))?;
        Some((name, package.split_once('"')?.0))
    };
    names.into_iter().filter_map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_begins_with_the_port_and_has_versions() {
        let ready = Ready {
            port: 41234,
            path: "/",
            reads: Reads::AfterAChange,
            versions: versions(["axum", "redis"]),
            notes: vec![],
        };
        let line = serde_json::to_string(&ready).unwrap();
        assert!(line.starts_with("{\"port\":41234,"), "{line}");
        assert!(line.contains("\"after a change\""), "{line}");
        assert!(ready.versions["axum"].starts_with("0.8."));
        assert!(ready.versions["redis"].starts_with("1."));
    }
}
