//! No read returns a value older than an acknowledged write, delete or clear.
//!
//! For one key the host is a register: every value is written once, so its history is linearizable iff
//! the *zones* of its values are compatible (Gibbons and Korach, "Testing shared memories", 1997). A
//! value's zone lies between the first end and the last start of the operations that wrote and read it.
//! If the end comes first, the value was there all that time: no other value may be, and no value that
//! was written and superseded may lie within. Deletes and clears are values that are never read. A take
//! reads a value and deletes it; a touch reads one, and writes nothing that its readers could tell apart.
//!
//! A loaded value stands for the source as its loader found it: its zone starts when the lease was
//! granted, or, for callers that joined, when the loader began. The zone contains every later caller
//! that was given the value, and may not contain a write.

use super::View;
use crate::history::{Answer, Outcome, Serial};
use crate::Violation;
use std::collections::BTreeMap;

/// From the first end to the last start of the operations on a value.
#[derive(Clone, Copy, Debug)]
struct Zone {
    serial: Option<Serial>,
    first_end: u64,
    last_start: u64,
}

impl Zone {
    fn extend(&mut self, start: u64, end: u64) {
        self.first_end = self.first_end.min(end);
        self.last_start = self.last_start.max(start);
    }

    /// The value was there from the one to the other.
    fn is_forward(&self) -> bool {
        self.first_end < self.last_start
    }
}

pub fn judge(view: View<'_>, key: usize, found: &mut Vec<Violation>) {
    let stored = stored(view, key, found);
    let (forward, points): (Vec<Zone>, Vec<Zone>) = stored.into_iter().partition(Zone::is_forward);
    let mut forward = forward;
    forward.sort_by_key(|zone| zone.first_end);
    for pair in forward.windows(2) {
        if pair[1].first_end < pair[0].last_start {
            found.push(violation(
                key,
                format!(
                    "{} and {} stood at the same time",
                    name(&pair[0]),
                    name(&pair[1])
                ),
                &pair[0],
                &pair[1],
            ));
        }
    }
    for point in &points {
        let within = forward
            .iter()
            .find(|zone| zone.first_end < point.last_start && point.first_end < zone.last_start);
        if let Some(zone) = within {
            found.push(violation(
                key,
                format!(
                    "{} was read after {}, which superseded it",
                    name(zone),
                    name(point)
                ),
                zone,
                point,
            ));
        }
    }
    let of_writes: Vec<Zone> = forward
        .iter()
        .chain(&points)
        .filter(|zone| !is_loaded(view, zone))
        .copied()
        .collect();
    for loaded in loaded(view, key) {
        let later = of_writes.iter().find(|zone| {
            let (from, to) = if zone.is_forward() {
                (zone.first_end, zone.last_start)
            } else {
                (zone.last_start, zone.first_end)
            };
            if zone.is_forward() {
                loaded.first_end.max(from) < loaded.last_start.min(to)
            } else {
                loaded.first_end < from && to < loaded.last_start
            }
        });
        if let Some(zone) = later {
            found.push(violation(
                key,
                format!(
                    "the loaded {} was given out after {}",
                    name(&loaded),
                    name(zone)
                ),
                &loaded,
                zone,
            ));
        }
    }
}

fn is_loaded(view: View<'_>, zone: &Zone) -> bool {
    let of = |serial| view.history.loads.iter().any(|load| load.value == serial);
    zone.serial.is_some_and(of)
}

/// The zones of the host's values: of sets, deletes, clears and fills, with the hits.
fn stored(view: View<'_>, key: usize, found: &mut Vec<Violation>) -> Vec<Zone> {
    let history = view.history;
    let mut values: BTreeMap<Serial, Zone> = BTreeMap::new();
    let mut zones = Vec::new();
    let zone = |serial, start, end| Zone {
        serial,
        first_end: end,
        last_start: start,
    };
    for write in &history.writes {
        if !write.touches(view.scenario, key) {
            continue;
        }
        match write.what {
            crate::history::Written::Set(_, serial) if !write.failed => {
                values.insert(serial, zone(Some(serial), write.start, write.end));
            }
            _ => zones.push(zone(None, write.start, write.end)),
        }
    }
    for (_, load) in view.loads(key) {
        let end = match load.outcome {
            Outcome::Filled => load.ended,
            _ => u64::MAX,
        };
        values.insert(load.value, zone(Some(load.value), load.ending, end));
    }
    for hit in history.hits.iter().filter(|hit| hit.key == key) {
        match values.get_mut(&hit.serial) {
            Some(zone) => zone.extend(hit.start, hit.end),
            None => found.push(Violation {
                rule: "register",
                what: format!("v{} was read, whose set had failed", hit.serial),
                key: Some(key),
                lines: (hit.start, hit.end),
            }),
        }
    }
    for (number, load) in view.loads(key) {
        let refused = !matches!(
            load.outcome,
            Outcome::Filled | Outcome::Killed | Outcome::Running
        );
        let read = history.hits.iter().find(|hit| hit.serial == load.value);
        if let Some(hit) = read.filter(|_| refused) {
            found.push(Violation {
                rule: "register",
                what: format!("v{} was read, but load {number} was not stored", load.value),
                key: Some(key),
                lines: (load.born, hit.end),
            });
        }
    }
    zones.extend(
        values
            .into_values()
            .filter(|zone| zone.first_end != u64::MAX),
    );
    zones
}

/// The zones of loaded values: from the lease to the last hit, and from the start of the loader to the
/// last call that joined. (A call that joins between lease and loader gets a value that is loaded
/// afterwards.)
fn loaded(view: View<'_>, key: usize) -> Vec<Zone> {
    let mut hit: BTreeMap<Serial, Zone> = BTreeMap::new();
    let mut joined: BTreeMap<Serial, Zone> = BTreeMap::new();
    for (_, load) in view.loads(key) {
        let from = |first_end| Zone {
            serial: Some(load.value),
            first_end,
            last_start: 0,
        };
        hit.insert(load.value, from(load.born));
        joined.insert(load.value, from(load.ran));
    }
    for read in view.history.hits.iter().filter(|hit| hit.key == key) {
        if let Some(zone) = hit.get_mut(&read.serial) {
            zone.last_start = zone.last_start.max(read.start);
        }
    }
    for call in view.history.calls.iter().filter(|call| call.key == key) {
        let Some(Answer::Joined(serial)) = call.answer.map(|answered| answered.answer) else {
            continue;
        };
        if let Some(zone) = joined.get_mut(&serial) {
            zone.last_start = zone.last_start.max(call.start);
        }
    }
    hit.into_values()
        .chain(joined.into_values())
        .filter(Zone::is_forward)
        .collect()
}

fn name(zone: &Zone) -> String {
    let (from, to) = (
        zone.first_end.min(zone.last_start),
        zone.first_end.max(zone.last_start),
    );
    match zone.serial {
        Some(serial) => format!("v{serial} ({from} to {to})"),
        None => format!("a delete, take, clear or failed set ({from} to {to})"),
    }
}

fn violation(key: usize, what: String, one: &Zone, other: &Zone) -> Violation {
    let ends = [
        one.first_end,
        one.last_start,
        other.first_end,
        other.last_start,
    ];
    Violation {
        rule: "register",
        what: format!("key {key}: {what}"),
        key: Some(key),
        lines: (
            ends.into_iter().min().unwrap_or(0),
            ends.into_iter().max().unwrap_or(0),
        ),
    }
}
