//! Judges whether two hosts kept the promise of `spec/remote.md`.
//!
//! For each value of a key, the *end* is the earliest moment by which a later write or removal of the key was
//! certainly executed: it began after the value was certainly there, and was acknowledged, or its value was read.
//!
//! - **Bound**: no read that begins later than `max_staleness` after the end returns the value.
//! - **Host**: the same without `max_staleness` where the host itself did the later write, or read what it wrote.
//! - **Lost**, in a run without trouble: no miss while a value was certainly there.
//!
//! A failover may lose writes that were acknowledged: those of its time show nothing. Times are those of one clock,
//! and a process that is stopped or waits for the processor only makes the judge milder, never wrong.

use super::history::{By, History, KeyHistory, Value, HOSTS};
use crate::history::Interval;
use crate::judge::{foreign, read_too_early, Kind, Violation};
use crate::value::{name, Serial};

/// The verdict.
pub struct Judged {
    /// In the order of keys.
    pub violations: Vec<Violation>,
    /// For each value that was superseded.
    pub delays: Vec<Delay>,
}

/// From a write until the last begin of a read, by whatever host, that returned what it superseded.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    /// When the write was acknowledged.
    pub since: u64,
    /// Nanoseconds; 0 when there was no such read.
    pub took: u64,
}

/// Judges all keys.
pub fn judge(history: &History) -> Judged {
    let mut judged = Judged {
        violations: foreign(&history.foreign),
        delays: Vec::new(),
    };
    for (number, key) in &history.keys {
        Key {
            number: *number,
            key,
            history,
        }
        .judge(&mut judged);
    }
    judged
}

/// What shows that earlier values are over.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    /// It began then.
    begun: u64,
    /// By then it was certainly executed.
    by: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Write(Serial),
    Removal(By),
}

/// Evidence by its begin, with the earliest of all that began at the same time or later.
struct Line {
    sorted: Vec<Evidence>,
    earliest: Vec<usize>,
}

impl Line {
    fn new(mut sorted: Vec<Evidence>) -> Line {
        sorted.sort_unstable_by_key(|one| one.begun);
        let mut earliest = vec![0; sorted.len()];
        for at in (0..sorted.len()).rev() {
            earliest[at] = match earliest.get(at + 1) {
                Some(after) if sorted[*after].by < sorted[at].by => *after,
                _ => at,
            };
        }
        Line { sorted, earliest }
    }

    /// Of what began after a moment, that which was executed first for certain.
    fn after(&self, moment: u64) -> Option<Evidence> {
        let place = self.sorted.partition_point(|one| one.begun <= moment);
        Some(self.sorted[*self.earliest.get(place)?])
    }
}

struct Key<'a> {
    number: u8,
    key: &'a KeyHistory,
    history: &'a History,
}

impl Key<'_> {
    fn judge(&self, judged: &mut Judged) {
        self.unwritten(&mut judged.violations);
        let all = self.line(|_, value| value.stored_by(), |_| true);
        let own: Vec<Line> = (0..HOSTS)
            .map(|host| {
                self.line(
                    |serial, value| value.known_by(host, serial),
                    |by| by == Some(host),
                )
            })
            .collect();
        for (serial, value) in &self.key.values {
            let Some(made) = value.made_by() else {
                continue;
            };
            if let Some(end) = all.after(made) {
                let last = value.seen.iter().filter_map(|seen| seen.last).max();
                judged.delays.push(Delay {
                    since: end.by,
                    took: last.unwrap_or(0).saturating_sub(end.by),
                });
            }
            for (host, seen) in value.seen.iter().enumerate() {
                let Some(last) = seen.last else {
                    continue;
                };
                if let Some(end) = all.after(made) {
                    if last > end.by + self.history.bound {
                        let kind = kind(end.what);
                        let late = last - end.by;
                        judged
                            .violations
                            .push(self.violation(kind, *serial, host, end, last, late));
                    }
                }
                if let Some(end) = own[host].after(made).filter(|end| last > end.by) {
                    let late = last - end.by;
                    judged.violations.push(self.violation(
                        Kind::Backwards,
                        *serial,
                        host,
                        end,
                        last,
                        late,
                    ));
                }
            }
        }
        if self.history.troubles.is_empty() {
            self.lost(&mut judged.violations);
        }
    }

    fn line(
        &self,
        by: impl Fn(Serial, &Value) -> Option<u64>,
        removed: impl Fn(Option<usize>) -> bool,
    ) -> Line {
        let writes = self.key.values.iter().filter_map(|(serial, value)| {
            Some(Evidence {
                begun: value.begun?,
                by: by(*serial, value)?,
                what: What::Write(*serial),
            })
        });
        let removals = self.key.removals.iter().filter(|one| removed(one.host));
        let removals = removals.map(|one| Evidence {
            begun: one.at.begin,
            by: one.at.end,
            what: What::Removal(one.by),
        });
        let stands = |one: &Evidence| {
            let mut losses = self.history.losses.iter();
            !losses.any(|loss| one.begun <= loss.end && one.by >= loss.begin)
        };
        Line::new(writes.chain(removals).filter(stands).collect())
    }

    fn violation(
        &self,
        kind: Kind,
        serial: Serial,
        host: usize,
        end: Evidence,
        last: u64,
        late: u64,
    ) -> Violation {
        let (what, mut serials) = match end.what {
            What::Write(later) => (name(later), vec![later]),
            What::Removal(By::Delete) => ("a delete".into(), Vec::new()),
            What::Removal(By::Clear) => ("a clear".into(), Vec::new()),
            What::Removal(By::Flush) => ("a flush".into(), Vec::new()),
        };
        serials.push(serial);
        let late = late as f64 / 1e6;
        let of = match kind {
            Kind::Backwards => ", which this host knew of",
            _ => "",
        };
        Violation {
            kind,
            key: self.number,
            what: format!(
                "{} was read on host {host} {late:.3} ms after {what}{of}",
                name(serial)
            ),
            serials,
            at: Interval {
                begin: end.begun,
                end: last,
            },
        }
    }

    fn unwritten(&self, violations: &mut Vec<Violation>) {
        for (serial, value) in &self.key.values {
            let reads = value.seen.iter().map(|seen| seen.first);
            if let Some(first) = reads.min().filter(|first| *first < u64::MAX) {
                violations.extend(read_too_early(self.number, *serial, value.begun, first));
            }
        }
        for read in &self.key.malformed {
            if !self.key.garbage.iter().any(|begun| *begun <= read.end) {
                violations.push(Violation {
                    kind: Kind::Foreign,
                    key: self.number,
                    what: "garbage was read, and nobody had written any".into(),
                    serials: Vec::new(),
                    at: *read,
                });
            }
        }
    }

    /// Misses of a value that was there: nothing was begun since its set, and all that was begun before it was over.
    /// A clear counts as later than a set that began within the bound after it.
    fn lost(&self, violations: &mut Vec<Violation>) {
        let key = self.key;
        let mut begins: Vec<u64> = key.begun_removals.clone();
        begins.extend(key.values.values().filter_map(|value| value.begun));
        begins.sort_unstable();
        let mut sets: Vec<(u64, u64, Serial)> = key
            .values
            .iter()
            .filter_map(|(serial, value)| Some((value.begun?, value.ended?, *serial)))
            .collect();
        sets.sort_unstable();
        for (miss, host) in &key.misses {
            let place = sets.partition_point(|set| set.0 < miss.begin);
            let Some((begun, ended, serial)) = place.checked_sub(1).map(|at| sets[at]) else {
                continue;
            };
            let until = |moment: u64| begins.partition_point(|begin| *begin <= moment);
            if ended >= miss.begin || until(miss.end) > until(begun) {
                continue;
            }
            let overlaps = |begin: u64, end: u64| begin < begun && end > begun;
            let mut writes = key.values.values();
            let mut removals = key.removals.iter();
            let doubtful = writes
                .any(|value| overlaps(value.begun.unwrap_or(0), value.over.unwrap_or(u64::MAX)))
                || removals.any(|one| {
                    let late = match one.by {
                        By::Clear => self.history.bound,
                        _ => 0,
                    };
                    overlaps(one.at.begin, one.at.end + late)
                });
            if !doubtful {
                violations.push(Violation {
                    kind: Kind::Vanished,
                    key: self.number,
                    what: format!(
                        "a miss on host {host}, though {} was there and nothing followed it",
                        name(serial)
                    ),
                    serials: vec![serial],
                    at: *miss,
                });
            }
        }
    }
}

fn kind(what: What) -> Kind {
    match what {
        What::Write(_) => Kind::Stale,
        What::Removal(By::Delete) => Kind::Undeleted,
        What::Removal(By::Clear | By::Flush) => Kind::Uncleared,
    }
}
