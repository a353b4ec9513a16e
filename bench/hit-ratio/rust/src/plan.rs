//! Which workloads there are, and the cache sizes they are simulated with.

use crate::workload::loops::Loop;
use crate::workload::recorded::{Recorded, ENDING};
use crate::workload::scans::Scans;
use crate::workload::zipf::Zipf;
use crate::workload::{Capacities, Workload};
use crate::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Keys and requests of a generated trace.
const KEYS: usize = 100_000;
const REQUESTS: usize = 1_000_000;
/// Keys of the loop, and how often it is gone through.
const LOOP: usize = 10_000;
const TIMES: usize = 50;

/// Shares of the keys, in thousandths: 0.1 % to 25 %.
const SHARES: [usize; 5] = [1, 10, 50, 100, 250];

/// The ARC paper's own cache sizes for the traces of that name, some of them, so that what it
/// printed can be compared.
const PUBLISHED: &[(&str, &[usize])] = &[
    ("OLTP", &[1000, 2000, 5000, 10_000, 15_000]),
    ("P3", &[2048, 8192, 32_768, 131_072]),
    ("P6", &[2048, 8192, 32_768, 131_072]),
];

/// The workloads; those of `quick` take under a minute, the recorded ones lie in `traces`.
///
/// # Errors
/// When the folder cannot be read or has no traces.
pub fn workloads(quick: bool, seeds: u64, traces: Option<&Path>) -> Result<Vec<Workload>, Error> {
    let mut all = Vec::new();
    for alpha in [0.7, 0.9, 1.1] {
        if !quick || alpha == 0.9 {
            all.push(zipf(alpha, seeds));
        }
    }
    if !quick {
        all.push(scans(0.9, seeds));
    }
    all.push(a_loop());
    if let Some(folder) = traces {
        // The first by name is enough for a look.
        let most = if quick { 1 } else { usize::MAX };
        for path in files(folder)?.into_iter().take(most) {
            let bytes = fs::metadata(&path)?.len();
            all.push(recorded(path, bytes));
        }
    }
    Ok(all)
}

fn law(alpha: f64) -> Zipf {
    Zipf {
        alpha,
        keys: KEYS,
        requests: REQUESTS,
    }
}

fn zipf(alpha: f64, seeds: u64) -> Workload {
    Workload {
        name: format!("zipf {alpha}"),
        note: format!("a seed each round; {KEYS} keys"),
        seeds,
        requests: REQUESTS,
        capacities: Capacities::PerMille(SHARES.to_vec()),
        source: Box::new(law(alpha)),
    }
}

fn scans(alpha: f64, seeds: u64) -> Workload {
    let scans = Scans {
        zipf: law(alpha),
        every: 40_000,
        length: 10_000,
    };
    Workload {
        name: format!("zipf {alpha} with scans"),
        note: format!(
            "a seed each round; {KEYS} keys, and a scan of {} others after every {} requests",
            scans.length, scans.every
        ),
        seeds,
        requests: REQUESTS + REQUESTS / scans.every * scans.length,
        // Those of the undisturbed keys.
        capacities: Capacities::Entries(Capacities::PerMille(SHARES.to_vec()).of(KEYS)),
        source: Box::new(scans),
    }
}

fn a_loop() -> Workload {
    Workload {
        name: "loop".into(),
        note: format!("deterministic, hence 1 round; {LOOP} keys, {TIMES} times"),
        seeds: 1,
        requests: LOOP * TIMES,
        capacities: Capacities::Entries(vec![LOOP / 2, LOOP * 9 / 10, LOOP * 99 / 100, LOOP]),
        source: Box::new(Loop {
            keys: LOOP,
            times: TIMES,
        }),
    }
}

fn recorded(path: PathBuf, bytes: u64) -> Workload {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let name = file.trim_end_matches(ENDING).to_owned();
    let published = PUBLISHED.iter().find(|(known, _)| *known == name);
    Workload {
        note: "a recorded trace, deterministic, hence 1 round".into(),
        seeds: 1,
        // A guess until it is read.
        requests: 3 * bytes as usize,
        capacities: match published {
            Some((_, entries)) => Capacities::Entries(entries.to_vec()),
            None => Capacities::PerMille(SHARES.to_vec()),
        },
        name: format!("trace {name}"),
        source: Box::new(Recorded { path }),
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let listed = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files = Vec::new();
    for file in listed {
        let path = file?.path();
        if path.to_string_lossy().ends_with(ENDING) {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(format!("no *{ENDING} in {}", folder.display()).into());
    }
    Ok(files)
}
