//! What `top` shows, as lines of text.

use super::sample::Change;
use crate::commands::{stats, usage};
use crate::human::{bar, count, ratio, size};
use crate::text;
use polycache::{MachineStats, ProcessStats, Usage};
use std::path::Path;

/// Lines of a pipe between two heads.
pub const LINES_BELOW_A_HEAD: u64 = 20;
/// The head above the lines of a pipe.
pub const HEAD: &str =
    "    hits/s  misses/s    ratio    sets/s   loads/s evicted/s expired/s       space      entries";

/// A line for pipes.
pub fn line(change: &Change) -> String {
    let Change { machine, now, .. } = change;
    let per_second = |count| rate(change.rate(count));
    format!(
        "{:>10}{:>10}{:>9}{:>10}{:>10}{:>10}{:>10}{:>12}{:>13}",
        per_second(machine.hits),
        per_second(machine.misses),
        ratio(machine.hits, machine.misses),
        per_second(machine.writes),
        per_second(machine.loads),
        per_second(evicted(machine)),
        per_second(machine.expired),
        size(now.machine.bytes),
        count(now.machine.entries),
    )
}

/// The lines of the screen, without colours.
pub fn lines(path: &Path, change: &Change, namespaces: &[Usage], height: usize) -> Vec<String> {
    painted(path, change, namespaces, height, str::to_owned)
}

/// The lines of the screen, at most `height`, with heads as `head` paints them.
pub fn painted(
    path: &Path,
    change: &Change,
    namespaces: &[Usage],
    height: usize,
    head: impl Fn(&str) -> String,
) -> Vec<String> {
    let Change { machine, now, .. } = change;
    let all = &now.machine;
    let mut lines = vec![
        format!("{}  made {} ago", text::path(path), stats::ago(all.since)),
        format!(
            "{} of {}  {}  {} entries",
            size(all.bytes),
            size(all.limit),
            bar(all.bytes, all.limit),
            count(all.entries)
        ),
        String::new(),
        head(&columns(
            "",
            [
                "hits", "memory", "misses", "ratio", "sets", "deletes", "loads", "failed",
            ],
        )),
        columns(
            "per second",
            counts(machine, |number| rate(change.rate(number))),
        ),
        columns("in all", counts(all, short)),
        String::new(),
        head(&columns(
            "removed",
            ["by age", "by conflict", "by failed write", "expired"],
        )),
        columns(
            "per second",
            removed(machine, |number| rate(change.rate(number))),
        ),
        columns("in all", removed(all, short)),
    ];
    // Each list gets half of what is left, or what the other one leaves.
    let left = height.saturating_sub(lines.len() + 4);
    let for_namespaces = namespaces.len().min(left.div_ceil(2));
    let for_processes = change.processes.len().min(left - for_namespaces);
    let for_namespaces = namespaces.len().min(left - for_processes);
    if !change.processes.is_empty() {
        lines.push(String::new());
        let title = format!("processes ({})", change.processes.len());
        lines.push(head(&columns(
            &title,
            [
                "hits/s", "memory", "miss/s", "ratio", "sets/s", "loads/s", "handles", "open",
            ],
        )));
        let mut processes: Vec<_> = change.processes.iter().collect();
        processes.sort_by_key(|one| std::cmp::Reverse(one.hits.saturating_add(one.misses)));
        lines.extend(
            processes
                .into_iter()
                .take(for_processes)
                .map(|one| process(change, one)),
        );
    }
    if !namespaces.is_empty() {
        lines.push(String::new());
        lines.push(head(&format!(
            "{:>10}  {:>12}  namespace",
            "space", "entries"
        )));
        lines.extend(namespaces.iter().take(for_namespaces).map(usage::line));
    }
    lines.truncate(height);
    lines
}

/// A title, and columns that fill a line of 79 characters. There is a space before each, however long it is.
fn columns<T: AsRef<str>, const N: usize>(title: &str, columns: [T; N]) -> String {
    let width = 64 / N - 1;
    let mut line = format!("{title:<15}");
    for column in columns {
        line.push_str(&format!(" {:>width$}", column.as_ref()));
    }
    line
}

fn counts(of: &MachineStats, show: impl Fn(u64) -> String) -> [String; 8] {
    [
        show(of.hits),
        show(of.memory_hits),
        show(of.misses),
        ratio(of.hits, of.misses),
        show(of.writes),
        show(of.deletes),
        show(of.loads),
        show(of.failed_loads),
    ]
}

fn removed(of: &MachineStats, show: impl Fn(u64) -> String) -> [String; 4] {
    [
        show(of.evicted_by_age),
        show(of.evicted_by_conflict),
        show(of.evicted_by_failed_put),
        show(of.expired),
    ]
}

fn process(change: &Change, of: &ProcessStats) -> String {
    let per_second = |count| rate(change.rate(count));
    columns(
        &format!("{:>8}", of.pid),
        [
            per_second(of.hits),
            per_second(of.memory_hits),
            per_second(of.misses),
            ratio(of.hits, of.misses),
            per_second(of.writes),
            per_second(of.loads),
            count(of.handles),
            stats::ago(of.since),
        ],
    )
}

fn evicted(of: &MachineStats) -> u64 {
    of.evicted_by_age
        .saturating_add(of.evicted_by_conflict)
        .saturating_add(of.evicted_by_failed_put)
}

/// A rate, with a digit after the point while it is small.
fn rate(number: f64) -> String {
    if number > 0.0 && number < 10.0 {
        format!("{number:.1}")
    } else {
        short(number.round() as u64)
    }
}

/// A count in at most seven characters.
fn short(number: u64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")];
    match UNITS.iter().find(|(unit, _)| number as f64 >= *unit) {
        Some((unit, letter)) => format!("{:.2}{letter}", number as f64 / unit),
        None => count(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::top::sample::Sample;

    #[test]
    fn small_rates_have_a_digit_after_the_point() {
        let rates = [0.0, 0.04, 0.25, 9.96, 12.4, 1_234_567.8].map(rate);
        assert_eq!(rates, ["0", "0.0", "0.2", "10.0", "12", "1.23M"]);
    }

    #[test]
    fn large_counts_are_short() {
        let counts = [999_999, 1_000_000, 123_456_789, 5_000_000_000].map(short);
        assert_eq!(counts, ["999,999", "1.00M", "123.46M", "5.00G"]);
    }

    #[test]
    fn columns_stand_below_each_other() {
        let head = columns("removed", ["a", "b", "c", "d", "e", "f", "g", "h"]);
        let line = columns("x", ["1", "2", "3", "4", "5", "6", "7", "8"]);
        assert_eq!((head.len(), head.find('h')), (line.len(), line.find('8')));
        assert_eq!(head.len(), 15 + 8 * 8);
        assert_eq!(columns("x", ["1", "2", "3", "4"]).len(), head.len());
    }

    #[test]
    fn no_two_columns_touch() {
        let sample = Sample {
            at: std::time::Instant::now(),
            machine: MachineStats {
                processes: vec![ProcessStats::default()],
                ..MachineStats::default()
            },
            stats: polycache::Stats::default(),
        };
        let change = Change::between(&sample, sample.clone());
        let shown = lines(Path::new("/cache"), &change, &[], usize::MAX);
        for head in shown
            .iter()
            .filter(|line| line.contains("by age") || line.contains("/s"))
        {
            let (title, columns) = head.split_at(15);
            let width = if title.starts_with("removed") { 16 } else { 8 };
            for column in columns.as_bytes().chunks(width) {
                assert!(column.len() == width && column[0] == b' ', "{head}");
            }
        }
        assert!(columns("4711", ["9", "364d 23h"]).ends_with(" 364d 23h"));
    }
}
