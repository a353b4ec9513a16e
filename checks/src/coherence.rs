//! `make check-coherence`.

use crate::judge::judge;
use crate::languages::Language;
use crate::outcome::{Fallible, Outcome};
use crate::process::Worker;
use crate::progress::Progress;
use crate::run::{Ground, Run, CROWDED, LEASE_TIMEOUTS, ROOMY};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Records that a read produces, including its share of the writes'.
const RECORDS_A_READ: f64 = 125.0 / 75.0;

/// What may be asked of it.
#[derive(clap::Args)]
pub struct Options {
    /// Reads of all workers together
    #[arg(long, default_value_t = 1_000_000)]
    reads: u64,
    /// Languages that take part; those that are missing are named
    #[arg(long, value_delimiter = ',', default_values = Language::ALL.map(Language::name))]
    languages: Vec<Language>,
    /// Workers of each language
    #[arg(long, default_value_t = 2)]
    workers: u64,
    /// Seed of the workers' choices; the order of events is the machine's
    #[arg(long)]
    seed: Option<u64>,
}

/// True when nothing was found.
pub fn run(options: &Options) -> Fallible<bool> {
    let mut outcome = Outcome::default();
    let mut present = Vec::new();
    for language in &options.languages {
        match language.missing() {
            None => present.push(*language),
            Some(why) => outcome.skip(&format!("{} workers", language.name()), &why),
        }
    }
    for ground in [CROWDED, ROOMY] {
        meet(&mut outcome, ground, &present, options)?;
    }
    Ok(outcome.finish())
}

/// Half of the reads, on one ground.
fn meet(
    outcome: &mut Outcome,
    ground: Ground,
    present: &[Language],
    options: &Options,
) -> Fallible<()> {
    let failed = outcome.failed();
    let all = options.reads.div_ceil(2);
    let mut run = Run::new("coherence", ground, options.seed)?;
    let before = run.cache.stats()?;
    let shares: u64 = present.iter().map(|language| language.share()).sum();
    let mut workers = Vec::new();
    for language in present {
        let reads = (all * language.share()).div_ceil(shares * options.workers);
        for _ in 0..options.workers {
            workers.push(run.start(*language, reads, LEASE_TIMEOUTS[1])?);
        }
    }
    let started = Instant::now();
    let in_time = wait(&mut workers, all)?;
    let seconds = started.elapsed().as_secs_f64();
    for language in present {
        finished(outcome, &mut workers, *language)?;
    }
    outcome.test(
        "all ended in time",
        in_time,
        &format!("{seconds:.1} s, {} processes", workers.len()),
    );
    let after = run.cache.stats()?;
    let logs = run.read_logs()?;
    let started = Instant::now();
    let judged = judge(&logs);
    println!("judged in {:.1} s", started.elapsed().as_secs_f64());
    outcome.judged(&logs, &judged, Some((before, after, ground)));
    let report = run.cache.check()?;
    outcome.test(
        "no entry damaged",
        report.damaged.is_empty(),
        &format!("{} whole {}", report.whole, report.damaged.join("; ")),
    );
    run.end(outcome.failed() == failed)
}

/// Waits for all workers; false when some had to be killed.
fn wait(workers: &mut [Worker], reads: u64) -> Fallible<bool> {
    let progress = Progress::new();
    // No machine is that slow: this only bounds a hang.
    let deadline = Instant::now() + Duration::from_secs(120 + reads / 5_000);
    while Instant::now() < deadline {
        let mut running = 0;
        for worker in &mut *workers {
            running += usize::from(worker.ended()?.is_none());
        }
        if running == 0 {
            return Ok(true);
        }
        let logged: u64 = workers.iter().map(Worker::logged).sum();
        let done = (logged as f64 / RECORDS_A_READ / reads as f64).min(1.0);
        progress.show(&format!(
            "coherence: {:3.0} % of {reads} reads, {running} workers",
            done * 100.0
        ));
        sleep(Duration::from_millis(50));
    }
    for worker in workers {
        worker.kill()?;
    }
    Ok(false)
}

/// One test: that all workers of a language came to their end.
pub fn finished(outcome: &mut Outcome, workers: &mut [Worker], language: Language) -> Fallible<()> {
    let mut bad = Vec::new();
    for worker in workers.iter_mut() {
        let ended = worker.ended()?;
        if worker.language == language && !ended.is_some_and(|status| status.success()) {
            bad.push(format!(
                "worker {}: {ended:?}\n          {}",
                worker.number,
                worker.output()
            ));
        }
    }
    let seen = if bad.is_empty() {
        "came to their end".into()
    } else {
        bad.join("\n        ")
    };
    outcome.test(
        &format!("{} workers", language.name()),
        bad.is_empty(),
        &seen,
    );
    Ok(())
}
