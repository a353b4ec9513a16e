//! `make simulate`: many seeds on all cores, or one with its whole log.

use polycache_simulation::{many, run};
use std::process::ExitCode;
use std::time::Instant;

const HELP: &str = "polycache-simulation SEEDS [FIRST]   runs so many seeds
polycache-simulation --seed SEED     runs one, and prints its whole log";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse().ok());
    let passed = match (arguments.first().map(String::as_str), number(0), number(1)) {
        (Some("--seed"), _, Some(seed)) => one(seed),
        (Some(_), Some(seeds), first) => all(first.unwrap_or(0), seeds),
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

fn all(first: u64, seeds: u64) -> bool {
    let began = Instant::now();
    let summary = many(first, seeds, false);
    for story in summary.stories.iter().take(5) {
        println!("{story}");
    }
    let rate = summary.ran as f64 / began.elapsed().as_secs_f64();
    println!("{} seeds, {rate:.0} a second", summary.ran);
    let passed = summary.ran - summary.failed;
    println!("{passed} passed, {} failed, 0 skipped", summary.failed);
    summary.failed == 0
}
