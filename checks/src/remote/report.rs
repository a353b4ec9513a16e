//! What a run showed: a line a rule, and how far reads were behind.

use super::history::{History, Trouble as Made};
use super::judge::{self, Delay};
use super::trouble::Trouble;
use crate::judge::{Kind, Violation};
use crate::languages::Language;
use crate::log::Log;
use crate::outcome::Outcome;
use crate::story;

/// Number of violations whose story is printed.
const STORIES: usize = 3;

/// The part of reads that copies must have answered, in percent; with less, the run was too weak to show anything.
const COPIES: u64 = 20;

/// Judges the logs of a run that was to make so many reads, and these troubles.
pub fn judged(outcome: &mut Outcome, logs: &[Log], reads: u64, plan: &[Trouble]) {
    let history = History::of(logs);
    let judged = judge::judge(&history);
    work(outcome, logs, &history, reads);
    let mut rule = |name: &str, kind: Kind| {
        let found: Vec<&Violation> = judged
            .violations
            .iter()
            .filter(|violation| violation.kind == kind)
            .collect();
        outcome.test(name, found.is_empty(), &format!("{} found", found.len()));
        for violation in found.iter().take(STORIES) {
            story::tell(logs, history.start, violation);
        }
    };
    rule("no stale read beyond the bound", Kind::Stale);
    rule("no delete undone beyond the bound", Kind::Undeleted);
    rule("no clear undone beyond the bound", Kind::Uncleared);
    rule("no host goes back", Kind::Backwards);
    rule("no foreign bytes", Kind::Foreign);
    if plan.is_empty() {
        rule("no write lost", Kind::Vanished);
    } else {
        troubles(outcome, &history, plan);
    }
    delays(&history, &judged.delays);
}

fn work(outcome: &mut Outcome, logs: &[Log], history: &History, reads: u64) {
    let (mut hits, mut writes, mut near, mut answered) = (0, 0, 0, 0);
    let languages = Language::ALL.map(Language::name);
    for name in languages.into_iter().chain(["plain"]) {
        let mine = logs.iter().filter(|log| log.language == name);
        let work: Vec<_> = mine
            .filter_map(|log| history.work.get(&log.worker))
            .collect();
        if work.is_empty() {
            continue;
        }
        let sum = |of: fn(&super::history::Work) -> u64| work.iter().map(|one| of(one)).sum();
        let found: u64 = sum(|one| one.hits);
        let missed: u64 = sum(|one| one.misses);
        let written: u64 = sum(|one| one.writes);
        let unacknowledged: u64 = sum(|one| one.unacknowledged);
        println!(
            "{name:<11}{:>3} workers {found:>9} reads {missed:>8} misses {written:>8} writes {unacknowledged:>6} not answered",
            work.len()
        );
        hits += found;
        writes += written;
        near += sum(|one| one.answered.0);
        let remote: u64 = sum(|one| one.answered.1);
        answered += remote;
    }
    outcome.test(
        "reads and writes",
        hits >= reads && writes * 20 >= hits,
        &format!("{hits} reads found a value, {writes} writes were acknowledged"),
    );
    outcome.test(
        "copies were served",
        near * 100 >= (near + answered) * COPIES && near > 0,
        &format!("{near} reads were answered by copies, {answered} by the server"),
    );
}

fn troubles(outcome: &mut Outcome, history: &History, plan: &[Trouble]) {
    let made = |trouble: &&Trouble| {
        let mut all = history.troubles.iter();
        all.any(|one| one.number == **trouble as u8)
    };
    let left_out: Vec<&str> = plan
        .iter()
        .filter(|trouble| !made(trouble))
        .map(|trouble| trouble.name())
        .collect();
    let seen = match left_out.is_empty() {
        true => format!("{} times, of {} kinds", history.troubles.len(), plan.len()),
        false => format!("not made: {}", left_out.join(", ")),
    };
    outcome.test("trouble", left_out.is_empty(), &seen);
}

/// How long after a write a read still returned what it had superseded.
fn delays(history: &History, delays: &[Delay]) {
    println!("from a write to the last begin of a read of what it superseded, in ms:");
    let mut all: Vec<u64> = delays.iter().map(|delay| delay.took).collect();
    line("all", &mut all);
    for number in 0..=u8::MAX {
        let Some(trouble) = Trouble::of(number) else {
            continue;
        };
        let mut during: Vec<u64> = delays
            .iter()
            .filter(|delay| {
                let mut made = history.troubles.iter();
                made.any(|one| one.number == number && overlaps(one, delay))
            })
            .map(|delay| delay.took)
            .collect();
        line(trouble.name(), &mut during);
    }
}

fn overlaps(made: &Made, delay: &Delay) -> bool {
    made.at.begin <= delay.since + delay.took && made.at.end >= delay.since
}

fn line(name: &str, delays: &mut [u64]) {
    delays.sort_unstable();
    let Some(last) = delays.len().checked_sub(1) else {
        return;
    };
    let ms = |part: f64| delays[(last as f64 * part) as usize] as f64 / 1e6;
    let none = delays.partition_point(|took| *took == 0);
    let late = delays.len() - none;
    // Most writes leave no copy behind: the others alone say how late pushes are.
    let usual = delays.get(none + late / 2).copied().unwrap_or(0) as f64 / 1e6;
    println!(
        "  {name:<36} p50 {:>8.3}  p99 {:>8.3}  max {:>8.3}  ({} writes; after {late} a stale read, p50 {usual:.3})",
        ms(0.5),
        ms(0.99),
        ms(1.0),
        delays.len()
    );
}
