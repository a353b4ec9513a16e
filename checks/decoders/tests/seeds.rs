//! Runs the checks with seeds, with changed seeds, and with the findings of fuzzing.

use polycache_check_decoders::{mutations, seeds, Check, CHECKS};
use std::{fs, path::Path};

/// Number of changed seeds per check.
const CHANGED: usize = 50_000;
/// A dictionary is prepared in some 100 µs, and trained in some milliseconds.
const DICTIONARIES: usize = 20_000;
const TRAINED: usize = 500;

fn run(name: &str) {
    run_with(name, CHANGED);
}

fn run_with(name: &str, changed: usize) {
    let (_, check): (_, Check) = *CHECKS.iter().find(|(one, _)| *one == name).unwrap();
    let seeds = seeds::of(name);
    assert!(!seeds.is_empty());
    for seed in &seeds {
        check(seed);
    }
    check(b"");
    mutations::each(&seeds, changed, check);
}

#[test]
fn entries() {
    run("entry");
}

#[test]
fn typed_payloads() {
    run("typed");
}

#[test]
fn headers() {
    run("header");
}

#[test]
fn frames() {
    run("frame");
}

#[test]
fn full_keys() {
    run("keys");
}

#[test]
fn encrypted_entries() {
    run("encrypted");
}

#[test]
fn entries_with_dictionaries() {
    run("with_dictionary");
}

#[test]
fn dictionaries() {
    run_with("dictionary", DICTIONARIES);
}

#[test]
fn samples_for_the_trainer() {
    run_with("trainer", TRAINED);
}

/// Files of `found/<check>/` are inputs that once failed.
#[test]
fn what_fuzzing_found() {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    for (name, check) in CHECKS {
        let Ok(files) = fs::read_dir(found.join(name)) else {
            continue;
        };
        for file in files {
            check(&fs::read(file.unwrap().path()).unwrap());
        }
    }
}
