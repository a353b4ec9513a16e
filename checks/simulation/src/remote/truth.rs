//! What the servers held when, and what callers did and saw: the judge's evidence.

/// A value's number.
pub type Serial = u32;
/// Nanoseconds.
pub type Time = u64;

/// Since this time the key had this value on its primary.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub at: Time,
    pub value: Option<Serial>,
    /// By a clear: a read of the key may know the floor by a copy.
    pub by_clear: bool,
}

/// A value that was handed out by a cache, or a miss.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub key: usize,
    pub host: usize,
    pub begin: Time,
    pub end: Time,
    pub value: Option<Serial>,
    pub near: bool,
}

/// What one key held by a cached read of several: the record, whatever its namespace was cleared of.
#[derive(Clone, Copy, Debug)]
pub struct CachedRead {
    /// All keys that it named, a bit each.
    pub of: u64,
    pub read: Read,
}

/// An acknowledged write of a host: set, delete or clear.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub key: usize,
    pub host: usize,
    pub begin: Time,
    pub end: Time,
    /// What a read then finds, if nothing else was written.
    pub value: Option<Serial>,
}

/// A loader's run.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub key: usize,
}

/// An operation's time, and how much of it is its own doing.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub what: &'static str,
    pub took: Time,
    pub most: Time,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Truth {
    /// By key.
    pub states: Vec<Vec<State>>,
    /// By key: when something was set, deleted or cleared there.
    pub changes: Vec<Vec<Time>>,
    /// Which load made a value, by serial: when its loader began.
    pub values: Vec<Option<Time>>,
    pub reads: Vec<Read>,
    /// By key, as a cached read finds it.
    pub records: Vec<Vec<State>>,
    pub cached_reads: Vec<CachedRead>,
    pub acks: Vec<Ack>,
    pub loads: Vec<Load>,
    pub spans: Vec<Span>,
    /// When all was flushed: several servers do that one after the other.
    pub flushes: Vec<Time>,
    /// When a replica took the place of a server.
    pub failovers: Vec<Time>,
}

impl Truth {
    /// The key's value is this one from now on.
    pub fn state(&mut self, key: usize, at: Time, value: Option<Serial>, by_clear: bool) {
        note(&mut self.states[key], at, value, by_clear);
    }

    /// The key's record is of this value from now on.
    pub fn record(&mut self, key: usize, at: Time, value: Option<Serial>) {
        note(&mut self.records[key], at, value, false);
    }

    /// A new value.
    pub fn value(&mut self, loaded: Option<Time>) -> Serial {
        self.values.push(loaded);
        self.values.len() as Serial - 1
    }
}

fn note(states: &mut Vec<State>, at: Time, value: Option<Serial>, by_clear: bool) {
    if states.last().map(|last| last.value) != Some(value) {
        states.push(State {
            at,
            value,
            by_clear,
        });
    }
}
