//! `echo '{"quick": true}' | hit-ratio` prints an object a line: what one policy made of one trace.
//! `run.py` makes rows of them.

use polycache_bench_hit_ratio::plan::workloads;
use polycache_bench_hit_ratio::policy::{Subject, SUBJECTS};
use polycache_bench_hit_ratio::{simulation, Error};
use serde::Deserialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// What to simulate. Names that are left out mean all.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Request {
    /// A subset that takes under a minute.
    quick: bool,
    /// Traces of each generated workload.
    seeds: u64,
    /// Folder of recorded traces.
    traces: Option<PathBuf>,
    /// Only workloads with one of these in their names.
    workloads: Vec<String>,
    /// Only these policies.
    subjects: Vec<String>,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            quick: false,
            seeds: 10,
            traces: None,
            workloads: Vec::new(),
            subjects: Vec::new(),
        }
    }
}

fn main() -> Result<(), Error> {
    let request: Request = serde_json::from_reader(io::stdin())?;
    let mut chosen = workloads(request.quick, request.seeds, request.traces.as_deref())?;
    chosen.retain(|one| is_asked(&request.workloads, |part| one.name.contains(part)));
    let subjects: Vec<&Subject> = SUBJECTS
        .iter()
        .filter(|one| is_asked(&request.subjects, |name| one.name == name))
        .collect();
    simulation::run(&chosen, &subjects, &|outcome| {
        let line = serde_json::to_string(&outcome).expect("an outcome is JSON");
        // A reader that has gone away has no use for the rest.
        writeln!(io::stdout(), "{line}").unwrap_or_else(|_| std::process::exit(1));
    })
}

fn is_asked(names: &[String], matches: impl Fn(&str) -> bool) -> bool {
    names.is_empty() || names.iter().any(|name| matches(name))
}
