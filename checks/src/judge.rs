//! Judges whether a history is coherent.
//!
//! A value *certainly stood* from the first end of an operation that stored or returned it until the
//! last begin of a read that returned it. A loaded value had to win over every write that came after the
//! begin of its load, so its span begins there. Within the span the key can have held nothing else:
//!
//! - two values' spans do not overlap,
//! - no other value was written and superseded, and no delete or clear took place, entirely within it,
//! - no miss lies entirely within the time from its being stored until its last read.
//!
//! For values without loads these are the zones of Gibbons and Korach ("Testing shared memories", 1997),
//! with evictions allowed between them. They include the promise of `spec/host.md`: a read that begins
//! after a write was acknowledged never returns an older value. For the other misses see `lost`.

use crate::history::{History, Interval, KeyHistory, Value};
use crate::log::{Log, Record};
use crate::lost::needed_evictions;
use crate::spans::{Span, Spans};
use crate::value::{name, Serial};

/// What was violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value was read after a later write of its key had been acknowledged.
    Stale,
    /// A value was read after a delete that began while it was there had been acknowledged.
    Undeleted,
    /// A value was read after a clear that began while it was there had been acknowledged.
    Uncleared,
    /// A value was absent for a time and then there again.
    Vanished,
    /// A read returned a value that was never written.
    Foreign,
    /// A read of a host returned an older value than the host had written or read.
    Backwards,
}

/// One violation, with the data that its story needs.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The rule.
    pub kind: Kind,
    /// The key.
    pub key: u8,
    /// The rule with its values; the story adds the times.
    pub what: String,
    /// The values concerned.
    pub serials: Vec<Serial>,
    /// When it happened.
    pub at: Interval,
}

/// The verdict.
pub struct Judged {
    /// What was judged.
    pub history: History,
    /// In the order of keys.
    pub violations: Vec<Violation>,
    /// The least number of evictions that must have taken place: more than the counters report means
    /// that entries were lost.
    pub needed_evictions: u64,
}

impl Judged {
    /// Violations of these kinds.
    pub fn of<'a>(&'a self, kinds: &'a [Kind]) -> impl Iterator<Item = &'a Violation> + 'a {
        self.violations
            .iter()
            .filter(move |violation| kinds.contains(&violation.kind))
    }
}

/// Judges the logs of all workers.
pub fn judge(logs: &[Log]) -> Judged {
    let history = History::of(logs);
    let mut violations = foreign(&history.foreign);
    let mut needed = 0;
    for (number, key) in &history.keys {
        Key {
            number: *number,
            history: key,
        }
        .judge(&mut violations);
        needed += needed_evictions(key);
    }
    Judged {
        history,
        violations,
        needed_evictions: needed,
    }
}

/// Reads of what no value of the key is.
pub fn foreign(reads: &[(u16, Record)]) -> Vec<Violation> {
    let found = |(worker, record): &(u16, Record)| Violation {
        kind: Kind::Foreign,
        key: record.key,
        what: format!("worker {worker} read no value of the key: see logs/{worker}.*.out"),
        serials: Vec::new(),
        at: Interval::of(*record),
    };
    reads.iter().map(found).collect()
}

/// A value that was read, the first time by a read that ended then, before its write began.
pub fn read_too_early(
    key: u8,
    serial: Serial,
    begun: Option<u64>,
    first: u64,
) -> Option<Violation> {
    let written = begun.is_some_and(|begun| begun <= first);
    (!written).then(|| Violation {
        kind: Kind::Foreign,
        key,
        what: format!("{} was read before it was written", name(serial)),
        serials: vec![serial],
        at: Interval {
            begin: first,
            end: first,
        },
    })
}

struct Key<'a> {
    number: u8,
    history: &'a KeyHistory,
}

impl Key<'_> {
    fn judge(&self, violations: &mut Vec<Violation>) {
        self.unwritten(violations);
        let spans = self.spans(Value::made_by);
        for (earlier, later) in spans.overlaps() {
            let (begin, end) = (later.start, earlier.end.min(later.end));
            violations.push(Violation {
                kind: Kind::Stale,
                key: self.number,
                what: format!(
                    "{} was still read though {} was there since before that read began, \
                     and {1} was read again",
                    name(earlier.serial),
                    name(later.serial)
                ),
                serials: vec![earlier.serial, later.serial],
                at: Interval { begin, end },
            });
        }
        self.superseded(&spans, violations);
        self.unremoved(&spans, violations);
        self.vanished(violations);
    }

    /// The spans of all values that were read after they were there.
    fn spans(&self, start: impl Fn(&Value) -> u64) -> Spans {
        let spans = self
            .standing()
            .map(|(serial, value)| Span {
                start: start(value),
                end: value.valid_until(),
                serial,
            })
            .filter(|span| span.start < span.end);
        Spans::new(spans.collect())
    }

    fn standing(&self) -> impl Iterator<Item = (Serial, &Value)> {
        self.history
            .values
            .iter()
            .map(|(serial, value)| (*serial, value))
            .filter(|(_, value)| value.stood())
    }

    fn unwritten(&self, violations: &mut Vec<Violation>) {
        for (serial, value) in &self.history.values {
            if value.last_read.is_some() {
                let found = read_too_early(self.number, *serial, value.begun, value.first_read);
                violations.extend(found);
            }
        }
    }

    /// Values that came and went while another value certainly stood.
    fn superseded(&self, spans: &Spans, violations: &mut Vec<Violation>) {
        for (serial, value) in self.standing() {
            // It stood at some moment of this time.
            let (begin, end) = (value.valid_until(), value.stored_by());
            if begin > end {
                continue;
            }
            if let Some(span) = spans.around(begin, end) {
                violations.push(Violation {
                    kind: Kind::Stale,
                    key: self.number,
                    what: format!(
                        "{} was read after {} had superseded it",
                        name(span.serial),
                        name(serial)
                    ),
                    serials: vec![span.serial, serial],
                    at: Interval {
                        begin,
                        end: span.end,
                    },
                });
            }
        }
    }

    fn unremoved(&self, spans: &Spans, violations: &mut Vec<Violation>) {
        for removal in &self.history.removals {
            let Interval { begin, end } = removal.at;
            let Some(span) = spans.around(begin, end).filter(|_| removal.acknowledged) else {
                continue;
            };
            let (kind, what) = match removal.cleared {
                true => (Kind::Uncleared, "clear"),
                false => (Kind::Undeleted, "delete"),
            };
            violations.push(Violation {
                kind,
                key: self.number,
                what: format!(
                    "{} was read after a {what} that began when it was there",
                    name(span.serial)
                ),
                serials: vec![span.serial],
                at: Interval {
                    begin,
                    end: span.end,
                },
            });
        }
    }

    fn vanished(&self, violations: &mut Vec<Violation>) {
        let spans = self.spans(Value::stored_by);
        for miss in &self.history.misses {
            if let Some(span) = spans.around(miss.begin, miss.end) {
                violations.push(Violation {
                    kind: Kind::Vanished,
                    key: self.number,
                    what: format!(
                        "a miss between two sightings of {}; evicted, it could not come back",
                        name(span.serial)
                    ),
                    serials: vec![span.serial],
                    at: Interval {
                        begin: miss.begin,
                        end: span.end,
                    },
                });
            }
        }
    }
}
