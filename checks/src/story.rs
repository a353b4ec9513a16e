//! The events that led to a violation, from the logs.

use crate::judge::Violation;
use crate::log::{Log, Op, Record};
use crate::namespaces;
use crate::remote::Trouble;
use crate::value::name;

/// Most lines of a story; lines that name the violation's values come first.
const LINES: usize = 24;

/// Prints what happened to the key around the violation.
pub fn tell(logs: &[Log], start: u64, violation: &Violation) {
    println!("        hot-{}: {}", violation.key, violation.what);
    let mut lines: Vec<(bool, &Log, Record)> = Vec::new();
    for log in logs {
        let about = |record: &Record| violation.serials.contains(&record.serial);
        lines.extend(
            log.records()
                .filter(|record| is_about(record, violation.key) && record.end > 0)
                .filter(|record| !matches!(record.op, Op::Finished | Op::Died))
                .filter(|record| about(record) || overlaps(record, violation))
                .map(|record| (about(&record), log, record)),
        );
    }
    let told = lines.len();
    // There may be many sightings of one value: the first and the last suffice.
    lines.sort_by_key(|(about, _, record)| (!about, record.end));
    if lines.len() > LINES {
        lines.drain(LINES / 2..told - LINES / 2);
    }
    lines.sort_by_key(|(_, _, record)| record.begin);
    for (_, log, record) in &lines {
        let time = |at: u64| format!("{:.6}", at.saturating_sub(start) as f64 / 1e6);
        println!(
            "          {:>14} .. {:>14} ms  worker {} ({}) {}",
            time(record.begin),
            time(record.end),
            log.worker,
            log.language,
            deed(record)
        );
    }
    if told > lines.len() {
        println!("          ({} operations more)", told - lines.len());
    }
}

fn is_about(record: &Record, key: u8) -> bool {
    match record.op {
        Op::Clear | Op::ClearDone => namespaces::covers(record.key, key),
        Op::Flush | Op::Loss | Op::Trouble | Op::Unsteady => true,
        _ => record.key == key,
    }
}

fn overlaps(record: &Record, violation: &Violation) -> bool {
    record.begin <= violation.at.end && record.end >= violation.at.begin
}

fn deed(record: &Record) -> String {
    match (record.op, record.serial) {
        (Op::Read, 0) => "missed".into(),
        (Op::Read, serial) => format!("read {}", name(serial)),
        (Op::SetDone, serial) => format!("set {}", name(serial)),
        (Op::LoadDone, serial) => format!("loaded {}", name(serial)),
        (Op::DeleteDone, _) => "deleted".into(),
        (Op::ClearDone, _) => format!("cleared {}", namespaces::name(record.key)),
        (Op::Flush, _) => "emptied the server".into(),
        (Op::Loss, _) => "may have lost writes".into(),
        (Op::Trouble, _) => {
            let trouble = Trouble::of(record.key);
            format!("trouble: {}", trouble.map_or("?", Trouble::name))
        }
        (Op::Foreign, _) => "read something foreign".into(),
        (op, serial) => format!("{op:?} {}", name(serial)),
    }
}
