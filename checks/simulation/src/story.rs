//! A run as text.

use crate::history::{Line, Note, Who};
use crate::{Run, Violation};
use std::fmt::Write;

/// Lines before the end of a violation that are shown.
const SHOWN: usize = 60;

pub fn tell(run: &Run, whole: bool) -> String {
    let mut out = String::new();
    let scenario = &run.scenario;
    if whole {
        let _ = writeln!(out, "{scenario:#?}");
    }
    for violation in run.violations.iter().take(5) {
        let _ = writeln!(out, "seed {}: {}: {}", scenario.seed, violation.rule, violation.what);
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

fn lines(run: &Run, wanted: impl Fn(u64, &Line) -> bool, most: usize, out: &mut String) {
    let chosen: Vec<(usize, &Line)> = run
        .history
        .lines
        .iter()
        .enumerate()
        .filter(|(at, line)| wanted(*at as u64, line))
        .collect();
    for (at, line) in &chosen[chosen.len().saturating_sub(most)..] {
        let who = match line.who {
            Some(Who { process, caller }) => format!("p{process}.c{caller}"),
            None => "world".into(),
        };
        let key = line.key.map_or(String::new(), |key| format!("k{key}"));
        let time = line.time as f64 / 1e6;
        let _ = writeln!(out, "{at:>7} {time:>12.4} ms  {who:<7} {key:<4} {:?}", line.note);
    }
}
