//! Many seeds; together they cover everything that can happen.

use polycache_simulation::history::{Answer, Note, Outcome, Right};
use polycache_simulation::{many, run, Run};

/// To replay one that fails: `make simulate SEED=n`.
#[test]
fn every_seed_keeps_the_promises() {
    let summary = many(0, SEEDS, true);
    assert_eq!(summary.failed, 0, "{}", summary.stories.join("\n"));
    assert_eq!(summary.ran, SEEDS);
}

/// About half a minute on two cores.
const SEEDS: u64 = 40_000;

/// A simulation in which something never happens proves nothing about it.
#[test]
fn the_seeds_meet_everything() {
    let runs: Vec<Run> = (0..1200).map(run).collect();
    let noted = |wanted: fn(&Note) -> bool| {
        let lines = runs.iter().flat_map(|run| &run.history.lines);
        lines.filter(|line| wanted(&line.note)).count()
    };
    let ended = |right: Right, outcome: Outcome| {
        let loads = runs.iter().flat_map(|run| &run.history.loads);
        loads
            .filter(|load| load.right == right && load.outcome == outcome)
            .count()
    };
    let met = [
        ("kills", noted(|note| *note == Note::Killed)),
        ("stops", noted(|note| *note == Note::Stopped)),
        ("waking", noted(|note| *note == Note::GoesOn)),
        ("full disks", noted(|note| *note == Note::DiskFull(true))),
        ("failed sets", noted(|note| *note == Note::Failed)),
        ("clears of the root", noted(|note| *note == Note::Clears(0))),
        ("nested clears", noted(|note| *note == Note::Clears(2))),
        (
            "time-outs",
            noted(|note| *note == Note::Answered(Answer::TimedOut)),
        ),
        (
            "cancelled",
            noted(|note| *note == Note::Answered(Answer::Cancelled)),
        ),
        (
            "joined values",
            noted(|note| matches!(note, Note::Answered(Answer::Joined(_)))),
        ),
        (
            "hits of large values",
            runs.iter()
                .flat_map(|run| run.history.hits.iter().map(move |hit| (run, hit)))
                .filter(|(run, hit)| run.is_large(hit.serial))
                .count(),
        ),
        ("hits", noted(|note| matches!(note, Note::Hit(_)))),
        ("takes", noted(|note| matches!(note, Note::Took(_)))),
        ("touches", noted(|note| matches!(note, Note::Touched(_)))),
        ("filled", ended(Right::Lease, Outcome::Filled)),
        ("refused", ended(Right::Lease, Outcome::Refused)),
        ("filled beside", ended(Right::Beside, Outcome::Filled)),
        ("refused beside", ended(Right::Beside, Outcome::Refused)),
        ("failed beside", ended(Right::Beside, Outcome::Failed)),
        (
            "loads without a lease",
            noted(|note| matches!(note, Note::Bypasses(_))),
        ),
        ("killed loaders", ended(Right::Lease, Outcome::Killed)),
        ("unstored", ended(Right::Lease, Outcome::Unstored)),
    ];
    for (what, times) in met {
        assert!(times >= 10, "{what}: {times} times");
    }
    let evicted = |run: &&Run| run.history.misses.iter().any(|miss| miss.evicted > 0);
    assert!(runs.iter().filter(evicted).count() >= 10);
}
