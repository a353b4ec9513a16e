//! What the workers of two hosts and a program behind their backs did, by key.

use crate::history::{is_about, Interval};
use crate::log::{Log, Op, Record};
use crate::value::{maker, Serial};
use std::collections::{BTreeMap, HashMap};

/// Two directories are two hosts.
pub const HOSTS: usize = 2;

/// From this number on, writers are of no host: other programs.
pub const OUTSIDE: u16 = 60_000;

/// The host of a worker.
pub fn host_of(worker: u16) -> Option<usize> {
    (worker > 0 && worker < OUTSIDE).then_some(usize::from(worker) % HOSTS)
}

/// What a host saw of a value.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The first end of a read that returned it.
    pub first: u64,
    /// The last begin of such a read.
    pub last: Option<u64>,
}

/// A value that was written or read.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// When its set, or the load that made it, began; `None` for a value that was never written.
    pub begun: Option<u64>,
    /// A loader made it.
    pub loaded: bool,
    /// When its set was acknowledged.
    pub ended: Option<u64>,
    /// When its set was acknowledged, or its load's caller went on.
    pub over: Option<u64>,
    /// What each host saw of it.
    pub seen: [Seen; HOSTS],
}

impl Value {
    const UNKNOWN: Value = Value {
        begun: None,
        loaded: false,
        ended: None,
        over: None,
        seen: [Seen {
            first: u64::MAX,
            last: None,
        }; HOSTS],
    };

    /// The primary had executed its write by then, if it ever did: it was acknowledged or read. That the caller
    /// of a load has its value does not show that it was stored.
    pub fn stored_by(&self) -> Option<u64> {
        let reads = self.seen.iter().map(|seen| seen.first);
        let by = reads.chain(self.ended).min().unwrap_or(u64::MAX);
        (by < u64::MAX).then_some(by)
    }

    /// The same as far as a host knows, which read it, or wrote it.
    pub fn known_by(&self, host: usize, serial: Serial) -> Option<u64> {
        let own = self.ended.filter(|_| host_of(maker(serial)) == Some(host));
        let by = own.unwrap_or(u64::MAX).min(self.seen[host].first);
        (by < u64::MAX).then_some(by)
    }

    /// What was begun later comes after it. A loaded value is stored only if nothing was written since its load
    /// began.
    pub fn made_by(&self) -> Option<u64> {
        match self.loaded {
            true => self.begun,
            false => self.stored_by(),
        }
    }
}

/// What took a key's value away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A delete, or garbage in its place.
    Delete,
    /// A clear of a namespace around it.
    Clear,
    /// The whole database was emptied.
    Flush,
}

/// A removal that was acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Removal {
    /// From its call to its return.
    pub at: Interval,
    /// What it was.
    pub by: By,
    /// The host that did it.
    pub host: Option<usize>,
}

/// What happened to one key.
#[derive(Default)]
pub struct KeyHistory {
    /// By serial.
    pub values: HashMap<Serial, Value>,
    /// All removals that were acknowledged.
    pub removals: Vec<Removal>,
    /// When all removals were begun, acknowledged or not.
    pub begun_removals: Vec<u64>,
    /// All misses, by host.
    pub misses: Vec<(Interval, usize)>,
    /// When another program began to put garbage there.
    pub garbage: Vec<u64>,
    /// Reads that found garbage.
    pub malformed: Vec<Interval>,
}

/// Totals of a worker.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Reads that found a value.
    pub hits: u64,
    /// Reads that found none.
    pub misses: u64,
    /// Writes that were acknowledged.
    pub writes: u64,
    /// Those that were not.
    pub unacknowledged: u64,
    /// Reads that a copy answered, and those that the server did, as a worker that finished says.
    pub answered: (u64, u64),
}

/// A trouble that was made.
#[derive(Clone, Copy, Debug)]
pub struct Trouble {
    /// Its number.
    pub number: u8,
    /// When.
    pub at: Interval,
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
    /// Writes of these times may have been lost.
    pub losses: Vec<Interval>,
    /// In order of their begins.
    pub troubles: Vec<Trouble>,
    /// Reads that began in these times are not judged.
    unsteady: Vec<Interval>,
    /// Nanoseconds that a read may be behind.
    pub bound: u64,
    /// The begin of the first operation: time zero of a story.
    pub start: u64,
}

impl History {
    /// Sorts the logs; the driver's comes first.
    pub fn of(logs: &[Log]) -> History {
        let mut history = History {
            start: u64::MAX,
            ..History::default()
        };
        for key in 0..super::KEYS {
            history.keys.insert(key, KeyHistory::default());
        }
        for log in logs {
            let work = history.add(log);
            history.work.insert(log.worker, work);
        }
        history.troubles.sort_by_key(|trouble| trouble.at.begin);
        history
    }

    /// A removal, of each key that it is about.
    fn remove(&mut self, record: Record, act: impl Fn(&mut KeyHistory)) {
        for (number, key) in &mut self.keys {
            if is_about(record, *number) {
                act(key);
            }
        }
    }

    fn removed(&mut self, record: Record, by: By, worker: u16) {
        let removal = Removal {
            at: Interval::of(record),
            by,
            host: host_of(worker),
        };
        self.remove(record, |key| key.removals.push(removal));
    }

    fn removing(&mut self, record: Record) {
        self.remove(record, |key| key.begun_removals.push(record.begin));
    }

    fn add(&mut self, log: &Log) -> Work {
        let mut work = Work::default();
        let (mut begun, mut ended) = (0, 0);
        for record in log.records() {
            if !matches!(record.op, Op::Bound | Op::Finished | Op::Died) {
                self.start = self.start.min(record.begin);
            }
            let (at, worker) = (Interval::of(record), log.worker);
            match record.op {
                Op::Set | Op::Delete | Op::Clear | Op::Garbage => begun += 1,
                Op::SetDone | Op::DeleteDone | Op::ClearDone => ended += 1,
                _ => {}
            }
            match record.op {
                Op::Read => match record.serial {
                    0 => work.misses += 1,
                    _ => work.hits += 1,
                },
                Op::Finished => work.answered = (record.end, record.serial),
                Op::Foreign => self.foreign.push((worker, record)),
                Op::Bound => self.bound = record.begin,
                Op::Loss => self.losses.push(at),
                Op::Unsteady => self.unsteady.push(at),
                Op::Trouble => self.troubles.push(Trouble {
                    number: record.key,
                    at,
                }),
                Op::Delete | Op::Clear | Op::Garbage => self.removing(record),
                Op::DeleteDone => self.removed(record, By::Delete, worker),
                Op::ClearDone => self.removed(record, By::Clear, worker),
                Op::Flush => {
                    self.removing(record);
                    self.removed(record, By::Flush, worker);
                }
                _ => {}
            }
            let steady = !within(&self.unsteady, at.begin);
            let key = self.keys.entry(record.key).or_default();
            match record.op {
                Op::Read => key.read(record, worker, steady),
                Op::Malformed => key.malformed.push(at),
                Op::Garbage => key.garbage.push(at.begin),
                Op::Set | Op::Load => {
                    let value = key.value(record.serial);
                    value.begun = Some(at.begin);
                    value.loaded = record.op == Op::Load;
                }
                Op::SetDone | Op::LoadDone => {
                    let value = key.value(record.serial);
                    value.over = Some(at.end);
                    value.ended = value.over.filter(|_| record.op == Op::SetDone);
                }
                _ => {}
            }
        }
        work.writes = ended;
        work.unacknowledged = begun - ended;
        work
    }
}

impl KeyHistory {
    fn value(&mut self, serial: Serial) -> &mut Value {
        self.values.entry(serial).or_insert(Value::UNKNOWN)
    }

    fn read(&mut self, record: Record, worker: u16, steady: bool) {
        let Some(host) = host_of(worker) else {
            return;
        };
        if record.serial == 0 {
            self.misses.push((Interval::of(record), host));
            return;
        }
        let seen = &mut self.value(record.serial).seen[host];
        seen.first = seen.first.min(record.end);
        if steady {
            seen.last = seen.last.max(Some(record.begin));
        }
    }
}

/// Whether a moment lies in one of these times.
pub fn within(times: &[Interval], moment: u64) -> bool {
    let holds = |time: &Interval| (time.begin..=time.end).contains(&moment);
    times.iter().any(holds)
}
