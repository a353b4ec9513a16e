//! A run as text.

use crate::history::{Line, Note, Who};
use crate::{Run, Violation};
use std::fmt::Write;

/// Number of lines shown before the end of a violation.
const SHOWN: usize = 60;

pub fn tell(run: &Run, whole: bool) -> String {
    let mut out = String::new();
    let scenario = &run.scenario;
    if whole {
        let _ = writeln!(out, "{scenario:#?}");
    }
    for violation in run.violations.iter().take(5) {
        let _ = writeln!(
            out,
            "seed {}: {}: {}",
            scenario.seed, violation.rule, violation.what
        );
    }
    match run.violations.first() {
        _ if whole => lines(run, |_, _| true, usize::MAX, &mut out),
        Some(violation) => around(run, violation, &mut out),
        None => {}
    }
    out
}

fn around(run: &Run, violation: &Violation, out: &mut String) {
    let of_key = |line: &Line| match (violation.key, line.key, line.note) {
        (None, _, _) => true,
        (Some(key), Some(of), _) => key == of,
        (Some(key), None, Note::Clears(namespace)) => run.scenario.is_cleared(namespace, key),
        (Some(_), None, _) => true,
    };
    let last = violation.lines.1;
    lines(run, |at, line| at <= last && of_key(line), SHOWN, out);
}

/// A waiting caller looks repeatedly: of looks that find the same, only the last is shown.
fn without_repetitions<'a>(all: &[(usize, &'a Line)]) -> Vec<(usize, &'a Line)> {
    let is_look = |line: &Line| matches!(line.note, Note::Asks | Note::Busy(..));
    let repeats = |place: usize| {
        let (_, line) = all[place];
        let mut later = all[place + 1..]
            .iter()
            .filter(|(_, other)| other.who == line.who);
        is_look(line)
            && later.next().is_some_and(|(_, next)| is_look(next))
            && later.next().is_some_and(|(_, next)| next.note == line.note)
    };
    (0..all.len())
        .filter(|place| !repeats(*place))
        .map(|place| all[place])
        .collect()
}

fn lines(run: &Run, wanted: impl Fn(u64, &Line) -> bool, most: usize, out: &mut String) {
    let chosen: Vec<(usize, &Line)> = run
        .history
        .lines
        .iter()
        .enumerate()
        .filter(|(at, line)| wanted(*at as u64, line))
        .collect();
    let chosen = without_repetitions(&chosen);
    for (at, line) in &chosen[chosen.len().saturating_sub(most)..] {
        let who = match line.who {
            Some(Who { process, caller }) => format!("p{process}.c{caller}"),
            None => "world".into(),
        };
        let key = line.key.map_or(String::new(), |key| format!("k{key}"));
        let time = line.time as f64 / 1e6;
        let _ = writeln!(
            out,
            "{at:>7} {time:>12.4} ms  {who:<7} {key:<4} {:?}",
            line.note
        );
    }
}
