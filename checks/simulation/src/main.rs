//! `make simulate`: many seeds on all cores, or one with its whole log.

use polycache_simulation::{many, many_remote, run};
use std::process::ExitCode;
use std::time::Instant;

const HELP: &str = "polycache-simulation [--remote] SEEDS [FIRST]   runs so many seeds
polycache-simulation [--remote] --seed SEED     runs one, and prints its whole log

--remote: several hosts and a simulated Redis, not one host alone";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let remote = arguments.first().is_some_and(|first| first == "--remote");
    if remote {
        arguments.remove(0);
    }
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse().ok());
    let passed = match (arguments.first().map(String::as_str), number(0), number(1)) {
        (Some("--seed"), _, Some(seed)) if remote => one_remote(seed),
        (Some("--seed"), _, Some(seed)) => one(seed),
        (Some(_), Some(seeds), first) => all(remote, first.unwrap_or(0), seeds),
        _ => {
            println!("{HELP}");
            false
        }
    };
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn one(seed: u64) -> bool {
    let run = run(seed);
    print!("{}", run.story(true));
    let (lines, hash) = (run.history.lines.len(), run.history.hash());
    println!("{lines} lines, hash {hash:016x}");
    run.violations.is_empty()
}

fn one_remote(seed: u64) -> bool {
    let run = polycache_simulation::remote::run(seed, true);
    println!("{:#?}", run.scenario);
    for line in &run.log {
        println!("{line}");
    }
    println!("{:?}", run.met);
    for violation in &run.violations {
        println!("VIOLATION {violation}");
    }
    run.violations.is_empty()
}

fn all(remote: bool, first: u64, seeds: u64) -> bool {
    let began = Instant::now();
    let summary = match remote {
        true => many_remote(first, seeds, false),
        false => many(first, seeds, false),
    };
    for story in summary.stories.iter().take(5) {
        println!("{story}");
    }
    let rate = summary.ran as f64 / began.elapsed().as_secs_f64();
    println!("{} seeds, {rate:.0} a second", summary.ran);
    let passed = summary.ran - summary.failed;
    println!("{passed} passed, {} failed, 0 skipped", summary.failed);
    summary.failed == 0
}
