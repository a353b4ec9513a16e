//! The logs of all workers, sorted by key, for the judge.

use crate::log::{Log, Op, Record};
use crate::namespaces;
use crate::run::KEYS;
use crate::value::Serial;
use std::collections::{BTreeMap, HashMap};

/// From its call to its return, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// The operation began after this.
    pub begin: u64,
    /// The operation ended before this.
    pub end: u64,
}

impl Interval {
    /// That of a record.
    pub fn of(record: Record) -> Interval {
        Interval {
            begin: record.begin,
            end: record.end,
        }
    }
}

/// Whether a delete, a clear or an emptied database is about this key.
pub fn is_about(removal: Record, key: u8) -> bool {
    match removal.op {
        Op::Flush => true,
        Op::Clear | Op::ClearDone => namespaces::covers(removal.key, key),
        _ => removal.key == key,
    }
}

/// A value that was written or read.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// When its set, or the load that made it, began; `None` for a value that was never written.
    pub begun: Option<u64>,
    /// A loader made it.
    pub loaded: bool,
    /// When its set was acknowledged or its load's caller continued; `None` if killed before.
    pub ended: Option<u64>,
    /// The first end of a read that returned it, if any.
    pub first_read: u64,
    /// The last begin of such a read.
    pub last_read: Option<u64>,
}

impl Value {
    const UNKNOWN: Value = Value {
        begun: None,
        loaded: false,
        ended: None,
        first_read: u64::MAX,
        last_read: None,
    };

    /// It was certainly in the cache at some time: acknowledged, or read. A loaded value may have been
    /// invalidated, so only a read shows that it was stored.
    pub fn stood(&self) -> bool {
        self.last_read.is_some() || (!self.loaded && self.ended.is_some())
    }

    /// For a value that stood: by then it had been stored.
    pub fn stored_by(&self) -> u64 {
        self.first_read.min(self.ended.unwrap_or(u64::MAX))
    }

    /// For a value that stood: by then it had been made, so a write that began later supersedes it. For
    /// a load that is its begin, because a set or delete during the load wins over it.
    pub fn made_by(&self) -> u64 {
        match self.begun {
            Some(begun) if self.loaded => begun,
            _ => self.stored_by(),
        }
    }

    /// For a value that stood: it had not been superseded before then.
    pub fn valid_until(&self) -> u64 {
        self.begun.max(self.last_read).unwrap_or(0)
    }
}

/// A delete, or a clear of a namespace that holds the key. One that was never acknowledged ends when its
/// worker does.
#[derive(Clone, Copy, Debug)]
pub struct Removal {
    /// From its call to its return or its worker's end.
    pub at: Interval,
    /// It returned.
    pub acknowledged: bool,
    /// It was a clear.
    pub cleared: bool,
}

/// What happened to one key.
#[derive(Default)]
pub struct KeyHistory {
    /// By serial.
    pub values: HashMap<Serial, Value>,
    /// All deletes, and the clears that cover the key.
    pub removals: Vec<Removal>,
    /// All misses.
    pub misses: Vec<Interval>,
    /// All reads that found a value, and all acknowledged sets: the key had a value within each.
    pub sightings: Vec<Interval>,
}

impl KeyHistory {
    fn value(&mut self, serial: Serial) -> &mut Value {
        self.values.entry(serial).or_insert(Value::UNKNOWN)
    }
}

/// Totals of a worker.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Gets, and the reading halves of loads.
    pub reads: u64,
    /// Sets, deletes and loads that were begun.
    pub writes: u64,
    /// Clears that were acknowledged.
    pub clears: u64,
    /// The worker was killed.
    pub killed: bool,
    /// It was killed between a write's begin and its acknowledgement.
    pub killed_in_write: bool,
    /// The worker finished or was killed; otherwise its log is cut off.
    pub ended: bool,
}

/// Everything that happened.
#[derive(Default)]
pub struct History {
    /// By key.
    pub keys: BTreeMap<u8, KeyHistory>,
    /// By worker.
    pub work: BTreeMap<u16, Work>,
    /// Reads of values that were never stored.
    pub foreign: Vec<(u16, Record)>,
    /// The begin of the first operation: time zero of a story.
    pub start: u64,
}

impl History {
    /// Sorts the logs.
    pub fn of(logs: &[Log]) -> History {
        let mut history = History {
            start: u64::MAX,
            ..History::default()
        };
        // A clear is recorded for every key, including keys that were never read or written.
        for key in 0..KEYS {
            history.keys.insert(key, KeyHistory::default());
        }
        for log in logs {
            let work = history.add(log);
            history.work.insert(log.worker, work);
        }
        history
    }

    fn add(&mut self, log: &Log) -> Work {
        let mut work = Work::default();
        // A worker does one thing at a time, so at most one write is open.
        let mut open: Option<Record> = None;
        let mut gone = u64::MAX;
        for record in log.records() {
            self.start = self.start.min(record.begin);
            let at = Interval::of(record);
            if record.op == Op::ClearDone {
                work.clears += 1;
                self.remove(record, at, true);
            }
            let key = self.keys.entry(record.key).or_default();
            match record.op {
                Op::Read => {
                    work.reads += 1;
                    if record.serial == 0 {
                        key.misses.push(at);
                    } else {
                        let value = key.value(record.serial);
                        value.first_read = value.first_read.min(at.end);
                        value.last_read = value.last_read.max(Some(at.begin));
                        key.sightings.push(at);
                    }
                }
                Op::Set | Op::Load => {
                    let value = key.value(record.serial);
                    value.begun = Some(at.begin);
                    value.loaded = record.op == Op::Load;
                }
                Op::SetDone => {
                    key.value(record.serial).ended = Some(at.end);
                    key.sightings.push(at);
                }
                Op::LoadDone => key.value(record.serial).ended = Some(at.end),
                Op::Delete | Op::Clear | Op::ClearDone => {}
                Op::DeleteDone => key.removals.push(Removal {
                    at,
                    acknowledged: true,
                    cleared: false,
                }),
                Op::Foreign => {
                    work.reads += 1;
                    self.foreign.push((log.worker, record));
                }
                // Of the remote tier, which has a history of its own.
                Op::Malformed
                | Op::Flush
                | Op::Loss
                | Op::Unsteady
                | Op::Trouble
                | Op::Bound
                | Op::Garbage => {}
                Op::Finished => work.ended = true,
                Op::Died => {
                    gone = record.begin;
                    work.ended = true;
                    work.killed = true;
                }
            }
            match record.op {
                Op::Set | Op::Load | Op::Delete => {
                    work.writes += 1;
                    open = Some(record);
                }
                Op::Clear => open = Some(record),
                Op::SetDone | Op::LoadDone | Op::DeleteDone | Op::ClearDone => open = None,
                _ => {}
            }
        }
        if let Some(record) = open {
            work.killed_in_write = work.killed;
            if matches!(record.op, Op::Delete | Op::Clear) {
                let begin = record.begin;
                self.remove(record, Interval { begin, end: gone }, false);
            }
        }
        work
    }

    /// Records a delete or clear for the keys that it concerns.
    fn remove(&mut self, record: Record, at: Interval, acknowledged: bool) {
        let cleared = matches!(record.op, Op::Clear | Op::ClearDone);
        for (number, key) in &mut self.keys {
            if is_about(record, *number) {
                key.removals.push(Removal {
                    at,
                    acknowledged,
                    cleared,
                });
            }
        }
    }
}
