//! No acknowledged write is lost, except those that the eviction counters report.
//!
//! A miss after a set, with no removal of the key in between, proves an eviction between the start of
//! the set and the end of the miss: the counters must have grown. Proofs for one key whose times do not
//! overlap prove as many evictions, and so do proofs for different keys.

use super::View;
use crate::history::Outcome;
use crate::Violation;

pub fn judge(view: View<'_>, found: &mut Vec<Violation>) {
    let mut proven = 0;
    let mut last = 0;
    for key in 0..view.scenario.keys.len() {
        let mut until = 0;
        for proof in proofs(view, key, found) {
            if proof.0 >= until {
                proven += 1;
                until = proof.1;
            }
        }
    }
    for miss in &view.history.misses {
        last = last.max(miss.evicted);
    }
    if proven > last {
        found.push(Violation {
            rule: "lost",
            what: format!("{proven} entries were evicted, and {last} counted"),
            key: None,
            lines: (0, view.history.lines.len() as u64),
        });
    }
}

/// Times in which an entry of the key was evicted, ordered by their ends.
fn proofs(view: View<'_>, key: usize, found: &mut Vec<Violation>) -> Vec<(u64, u64)> {
    let history = view.history;
    let sets = history
        .writes
        .iter()
        .filter(|write| write.touches(view.scenario, key) && write.value().is_some())
        .map(|write| (write.start, write.end, write.evicted));
    let fills = view
        .loads(key)
        .filter(|(_, load)| load.outcome == Outcome::Filled)
        .map(|(_, load)| (load.ending, load.ended, load.evicted));
    let stored: Vec<(u64, u64, u64)> = sets.chain(fills).collect();
    let removals: Vec<(u64, u64)> = history
        .writes
        .iter()
        .filter(|write| {
            // A set that never ended may have failed.
            let removes = write.value().is_none() || write.end == u64::MAX;
            removes && !write.found_nothing() && write.touches(view.scenario, key)
        })
        .map(|write| (write.start, write.end))
        .collect();
    let mut proofs = Vec::new();
    for miss in history.misses.iter().filter(|miss| miss.key == key) {
        let before = stored.iter().filter(|(_, end, _)| *end < miss.start);
        let Some((start, _, evicted)) = before.max_by_key(|(start, _, _)| *start) else {
            continue;
        };
        if removals
            .iter()
            .any(|(from, to)| *from < miss.end && *to > *start)
        {
            continue;
        }
        proofs.push((*start, miss.end));
        if miss.evicted <= *evicted {
            found.push(Violation {
                rule: "lost",
                what: format!(
                    "key {key}: the value stored at line {start} is gone, and nothing was evicted"
                ),
                key: Some(key),
                lines: (*start, miss.end),
            });
        }
    }
    proofs
}
