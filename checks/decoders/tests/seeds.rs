//! The checks with seeds, with changed seeds, and with what fuzzing has found.

use polycache_check_decoders::{mutations, seeds, Check, CHECKS};
use std::{fs, path::Path};

/// Changed seeds a check.
const CHANGED: usize = 50_000;

fn run(name: &str) {
    let (_, check): (_, Check) = *CHECKS.iter().find(|(one, _)| *one == name).unwrap();
    let seeds = seeds::of(name);
    assert!(!seeds.is_empty());
    for seed in &seeds {
        check(seed);
    }
    check(b"");
    mutations::each(&seeds, CHANGED, check);
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
