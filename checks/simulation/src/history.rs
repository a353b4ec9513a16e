//! What happened, in the order in which it happened: lines for people, and records for the judge.
//!
//! All actors run on one thread, so the number of a line is an instant of the whole host.

use crate::scenario::Scenario;
use polycache_operations::Holder;

/// An instant: the number of a line.
pub type Instant = u64;
/// A value's number: no two values are the same.
pub type Serial = u32;
/// Of an operation that did not come to its end.
pub const NEVER: Instant = Instant::MAX;

/// A caller of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Who {
    /// Processes are never numbered twice.
    pub process: u32,
    pub caller: u32,
}

/// What is written on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    Gets,
    Sets(Serial),
    Deletes,
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
    /// What stood there.
    Hit(Serial),
    /// What its own loader made.
    Own(Serial),
    /// What a load brought that it joined.
    Joined(Serial),
    /// A load failed: its own or the one that it joined.
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

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Set(usize, Serial),
    Delete(usize),
    Clear(usize),
}

/// A set, delete or clear.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    pub what: Written,
    pub start: Instant,
    pub end: Instant,
    /// It gave an error: what stood there is deleted.
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

/// A key that was not there.
#[derive(Clone, Copy, Debug)]
pub struct Miss {
    pub key: usize,
    pub start: Instant,
    pub end: Instant,
    /// Entries evicted when it ended.
    pub evicted: u64,
}

/// By what right a loader runs.
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

/// A loader's run, from the question for the lease on.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub key: usize,
    pub who: Who,
    pub call: usize,
    pub right: Right,
    /// The lease that it fills, its own or another's.
    pub holder: Option<Holder>,
    pub value: Serial,
    /// The question that was answered by the lease.
    pub asked: Instant,
    /// The lease was had: what was written before that, the loader sees.
    pub born: Instant,
    /// The loader began.
    pub ran: Instant,
    pub began: u64,
    /// Nanoseconds that the loader takes.
    pub takes: u64,
    /// It begins to end: the fill or release.
    pub ending: Instant,
    pub ended: Instant,
    pub ended_at: u64,
    pub outcome: Outcome,
    pub evicted: u64,
}

/// Somebody's wait for another process' load.
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
    /// Nanoseconds for which this caller was kept from running, before.
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

/// A value: whose it is and how long.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub key: usize,
    pub filler: usize,
}

/// All of it.
#[derive(Debug, Default)]
pub struct History {
    pub lines: Vec<Line>,
    pub values: Vec<Value>,
    pub writes: Vec<Write>,
    pub hits: Vec<Hit>,
    pub misses: Vec<Miss>,
    pub loads: Vec<Load>,
    pub waits: Vec<Wait>,
    pub calls: Vec<Call>,
    /// Flights begun.
    pub flights: usize,
    /// What was seen that no rule is needed for.
    pub faults: Vec<String>,
}

impl History {
    /// Writes a line; the instant that it stands for.
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

    /// The text of a value: it names its key and itself, and its filler tells torn copies.
    pub fn text(&self, serial: Serial) -> String {
        let Value { key, filler } = self.values[serial as usize];
        let letter = char::from(b'a' + (serial % 26) as u8);
        let filler: String = std::iter::repeat_n(letter, filler).collect();
        format!("{key}:{serial}:{filler}")
    }

    /// The value that a text is, of a reader of this key.
    pub fn recognise(&mut self, key: usize, text: &str) -> Option<Serial> {
        let serial = text.split(':').nth(1).and_then(|part| part.parse().ok());
        let found = serial.filter(|serial| {
            (*serial as usize) < self.values.len()
                && self.values[*serial as usize].key == key
                && self.text(*serial) == text
        });
        if found.is_none() {
            self.faults.push(format!(
                "a reader of key {key} got {text:?}, which nobody wrote"
            ));
        }
        found
    }

    /// A process was killed: its loads run no more.
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
            Written::Set(of, _) | Written::Delete(of) => of == key,
            Written::Clear(namespace) => scenario.is_cleared(namespace, key),
        }
    }

    /// Whether it voids loads of the key: leases are told by tags, so another key's may do as well.
    pub fn voids(&self, scenario: &Scenario, key: usize) -> bool {
        match self.what {
            Written::Set(of, _) | Written::Delete(of) => {
                scenario.keys[of].tag == scenario.keys[key].tag
            }
            Written::Clear(namespace) => scenario.is_cleared(namespace, key),
        }
    }

    /// What it leaves there, if it is no removal.
    pub fn value(&self) -> Option<Serial> {
        match self.what {
            Written::Set(_, serial) if !self.failed => Some(serial),
            _ => None,
        }
    }
}
