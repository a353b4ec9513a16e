//! `make simulate`: many seeds on all cores, or one with its whole log.

use polycache_simulation::run;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

const HELP: &str = "polycache-simulation SEEDS [FIRST]   runs so many seeds
polycache-simulation --seed SEED     runs one, and prints its whole log";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse().ok());
    match (arguments.first().map(String::as_str), number(0), number(1)) {
        (Some("--seed"), _, Some(seed)) => one(seed),
        (Some(_), Some(seeds), first) => many(first.unwrap_or(0), seeds),
        _ => {
            println!("{HELP}");
            ExitCode::FAILURE
        }
    }
}

fn one(seed: u64) -> ExitCode {
    let run = run(seed);
    print!("{}", run.story(true));
    println!(
        "{} lines, hash {:016x}",
        run.history.lines.len(),
        run.history.hash()
    );
    if run.violations.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn many(first: u64, seeds: u64) -> ExitCode {
    let (next, failed) = (AtomicU64::new(first), AtomicU64::new(0));
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + seeds {
                        return;
                    }
                    let run = run(seed);
                    if !run.violations.is_empty() {
                        failed.fetch_add(1, Ordering::Relaxed);
                        println!("{}", run.story(false));
                        stop.store(std::env::var_os("GO_ON").is_none(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let ran = next.load(Ordering::Relaxed).min(first + seeds) - first;
    let failed = failed.load(Ordering::Relaxed);
    let rate = ran as f64 / began.elapsed().as_secs_f64();
    println!("{ran} seeds, {rate:.0} a second");
    println!("{} passed, {failed} failed, 0 skipped", ran - failed);
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
