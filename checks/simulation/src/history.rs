//! What happened, in order: lines for people, and records for the judge.
//!
//! All actors run on one thread, so the number of a line is an instant of the whole host.

use crate::scenario::Scenario;
use polycache_operations::Holder;

/// An instant: the number of a line.
pub type Instant = u64;
/// A value's number: no two values have the same one.
pub type Serial = u32;
/// The end of an operation that did not end.
pub const NEVER: Instant = Instant::MAX;

/// A caller of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Who {
    /// Process numbers are never reused.
    pub process: u32,
    pub caller: u32,
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    Gets,
    Sets(Serial),
    Deletes,
    Takes,
    Took(Serial),
    Touches,
    Touched(Serial),
    Clears(usize),
    Asks,
    AsksBeside,
    Hit(Serial),
    Missed,
    Done,
    Failed,
    Calls,
    Joins,
    Leads,
    Leased(u32),
    LoadsBeside(u32),
    Bypasses(u32),
    Busy(u64, u64),
    Runs(u32),
    Fills(u32),
    Filled(u32),
    Refused(u32),
    Unstored(u32),
    Releases(u32),
    Released(u32),
    Answered(Answer),
    Starts(u32),
    Closes,
    Killed,
    Stopped,
    GoesOn,
    Cancelled,
    DiskFull(bool),
}

/// What a caller of get_or_set got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The value that was there.
    Hit(Serial),
    /// The value of its own loader.
    Own(Serial),
    /// The value of a load that it joined.
    Joined(Serial),
    /// A failed load: its own or one that it joined.
    Failed(u32),
    TimedOut,
    Cancelled,
}

/// A line.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Line {
    /// Nanoseconds.
    pub time: u64,
    /// `None`: the world.
    pub who: Option<Who>,
    pub key: Option<usize>,
    pub note: Note,
}

/// What a write stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Set(usize, Serial),
    Delete(usize),
    /// With the value that it took, if any, once it has ended.
    Take(usize, Option<Serial>),
    Clear(usize),
}

/// A set, delete, take or clear.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    pub what: Written,
    pub start: Instant,
    pub end: Instant,
    /// It returned an error: the value that was there is deleted.
    pub failed: bool,
    /// Entries evicted when it began.
    pub evicted: u64,
}

/// A value that was read from the host.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    pub key: usize,
    pub serial: Serial,
    pub start: Instant,
    pub end: Instant,
}

/// A miss.
#[derive(Clone, Copy, Debug)]
pub struct Miss {
    pub key: usize,
    pub start: Instant,
    pub end: Instant,
    /// Entries evicted when it ended.
    pub evicted: u64,
}

/// The right by which a loader runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Lease,
    Beside,
    None,
}

/// How a load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Running,
    Filled,
    Refused,
    Unstored,
    Failed,
    Cancelled,
    Killed,
}

/// A run of a loader, starting with the request for the lease.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub key: usize,
    pub who: Who,
    pub call: usize,
    pub right: Right,
    /// The lease that it fills, its own or another caller's.
    pub holder: Option<Holder>,
    pub value: Serial,
    /// The request that got the lease.
    pub asked: Instant,
    /// The lease was granted: the loader sees everything written before.
    pub born: Instant,
    /// The loader began.
    pub ran: Instant,
    pub began: u64,
    /// Nanoseconds that the loader takes.
    pub takes: u64,
    /// The start of its end: the fill or release.
    pub ending: Instant,
    pub ended: Instant,
    pub ended_at: u64,
    pub outcome: Outcome,
    pub evicted: u64,
}

/// A caller's wait for another process' load.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub flight: usize,
    pub holder: Holder,
    pub at: Instant,
}

/// A caller's part in a load of its process.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub flight: usize,
    pub at: Instant,
}

/// A call of get_or_set.
#[derive(Clone, Debug)]
pub struct Call {
    pub key: usize,
    pub who: Who,
    pub start: Instant,
    pub began: u64,
    /// Nanoseconds for which this caller was kept from running before the call.
    pub late: u64,
    pub parts: Vec<Part>,
    /// Nanoseconds that its own loaders took.
    pub own: u64,
    pub answer: Option<Answered>,
}

/// The end of a call.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    pub answer: Answer,
    pub at: Instant,
    pub time: u64,
    pub late: u64,
}

/// A value: its key and its length.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub key: usize,
    pub filler: usize,
}

/// The whole history.
#[derive(Debug, Default)]
pub struct History {
    pub lines: Vec<Line>,
    pub values: Vec<Value>,
    pub writes: Vec<Write>,
    pub hits: Vec<Hit>,
    pub misses: Vec<Miss>,
    pub loads: Vec<Load>,
    /// Leases whose load began below the target of a survey: it may store nothing.
    pub surveyed: Vec<Holder>,
    pub waits: Vec<Wait>,
    pub calls: Vec<Call>,
    /// Flights begun.
    pub flights: usize,
    /// Findings that need no rule.
    pub faults: Vec<String>,
}

impl History {
    /// Writes a line; returns the instant that it stands for.
    pub fn note(&mut self, time: u64, who: Option<Who>, key: Option<usize>, note: Note) -> Instant {
        self.lines.push(Line {
            time,
            who,
            key,
            note,
        });
        self.lines.len() as Instant - 1
    }

    /// A new value of the key.
    pub fn value(&mut self, key: usize, filler: usize) -> Serial {
        self.values.push(Value { key, filler });
        self.values.len() as Serial - 1
    }

    /// The text of a value: it names its key and itself, and its filler reveals torn copies.
    pub fn text(&self, serial: Serial) -> String {
        let Value { key, filler } = self.values[serial as usize];
        let letter = char::from(b'a' + (serial % 26) as u8);
        let filler: String = std::iter::repeat_n(letter, filler).collect();
        format!("{key}:{serial}:{filler}")
    }

    /// The value of a text, as a reader of this key sees it.
    pub fn recognise(&mut self, key: usize, text: &str) -> Option<Serial> {
        let serial = text.split(':').nth(1).and_then(|part| part.parse().ok());
        let found = serial.filter(|serial| {
            (*serial as usize) < self.values.len()
                && self.values[*serial as usize].key == key
                && self.text(*serial) == text
        });
        if found.is_none() {
            self.faults.push(format!(
                "a reader of key {key} got {text:?}, which was never written"
            ));
        }
        found
    }

    /// A process was killed: its loads no longer run.
    pub fn killed(&mut self, process: u32, time: u64) {
        let at = self.note(time, Some(Who { process, caller: 0 }), None, Note::Killed);
        for load in &mut self.loads {
            if load.who.process == process && load.ended == NEVER {
                load.ending = load.ending.min(at);
                load.ended = at;
                load.ended_at = time;
                load.outcome = Outcome::Killed;
            }
        }
    }

    /// A number that two runs of one seed share.
    pub fn hash(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.lines.hash(&mut hasher);
        hasher.finish()
    }
}

impl Write {
    /// Whether it changes the key.
    pub fn touches(&self, scenario: &Scenario, key: usize) -> bool {
        match self.what {
            Written::Set(of, _) | Written::Delete(of) | Written::Take(of, _) => of == key,
            Written::Clear(namespace) => scenario.is_cleared(namespace, key),
        }
    }

    /// Whether it invalidates loads of the key: leases are told apart by tags, so a write to another key
    /// can do it too.
    pub fn invalidates(&self, scenario: &Scenario, key: usize) -> bool {
        match self.what {
            Written::Set(of, _) | Written::Delete(of) | Written::Take(of, _) => {
                scenario.keys[of].tag == scenario.keys[key].tag
            }
            Written::Clear(namespace) => scenario.is_cleared(namespace, key),
        }
    }

    /// Whether it found nothing to remove.
    pub fn found_nothing(&self) -> bool {
        matches!(self.what, Written::Take(_, None)) && self.end != NEVER
    }

    /// The value that it leaves there, unless it is a removal.
    pub fn value(&self) -> Option<Serial> {
        match self.what {
            Written::Set(_, serial) if !self.failed => Some(serial),
            _ => None,
        }
    }
}
