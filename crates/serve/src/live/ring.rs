//! The last events of a stream.

use super::Id;
use bytes::Bytes;
use std::collections::VecDeque;

/// An entry of the stream as clients are sent it.
#[derive(Clone)]
pub(super) struct Event {
    pub id: Id,
    /// How often the stream had begun anew, or gone back, by then. Ids go on only within one of these.
    pub era: u64,
    pub bytes: Bytes,
}

/// The last events, for clients that read a little later than others. The newest one is always there.
pub(super) struct Ring {
    events: VecDeque<Event>,
    /// The number of the first of them; they are counted from 0.
    first: u64,
    bytes: usize,
    most_events: usize,
    most_bytes: usize,
    /// How often the stream has begun anew, or gone back.
    pub era: u64,
    /// What it did last of these.
    turn: Option<Turn>,
}

/// Why ids may come again.
enum Turn {
    Anew,
    /// The ids after the first of these up to the second were lost.
    Back(Id, Id),
}

impl Ring {
    pub fn new(most_events: usize, most_bytes: usize) -> Ring {
        Ring {
            events: VecDeque::new(),
            first: 0,
            bytes: 0,
            most_events,
            most_bytes,
            era: 0,
            turn: None,
        }
    }

    /// The stream is another one from now on.
    pub fn begin_anew(&mut self) {
        self.era += 1;
        self.turn = Some(Turn::Anew);
    }

    /// The stream is without its last entries from now on.
    pub fn lose(&mut self, had: Id, end: Id) {
        self.era += 1;
        self.turn = Some(match self.turn {
            // Further back than before: those that were lost then are after it, too.
            Some(Turn::Back(before, last)) if end <= before => Turn::Back(end, last.max(had)),
            _ => Turn::Back(end, had),
        });
    }

    /// After which id a client goes on that had one which the stream has not given out: from the first of another stream, or
    /// after the last entry that was not lost; `None` if nobody saw why.
    pub fn before(&self, had: Id) -> Option<Id> {
        match self.turn {
            Some(Turn::Anew) => Some(Id::FIRST),
            Some(Turn::Back(end, last)) if had <= last => Some(end),
            _ => None,
        }
    }

    pub fn push(&mut self, id: Id, bytes: Bytes) {
        let era = self.era;
        let event = Event { id, era, bytes };
        self.bytes += event.bytes.len();
        self.events.push_back(event);
        while self.events.len() > 1
            && (self.events.len() > self.most_events || self.bytes > self.most_bytes)
        {
            let Some(oldest) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes.len();
            self.first += 1;
        }
    }

    /// The number of the next event.
    pub fn next(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// The event of a number, which is below `next`; `None` when it is no longer there.
    pub fn get(&self, number: u64) -> Option<Event> {
        let at = number.checked_sub(self.first)?;
        self.events.get(usize::try_from(at).ok()?).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: usize) -> Bytes {
        vec![0; length].into()
    }

    #[test]
    fn it_holds_no_more_than_it_may() {
        let mut ring = Ring::new(3, 100);
        for _ in 0..5 {
            ring.push(Id::FIRST, bytes(10));
        }
        assert_eq!((ring.next(), ring.first), (5, 2));
        assert!(ring.get(1).is_none() && ring.get(2).is_some() && ring.get(4).is_some());
        ring.push(Id::FIRST, bytes(95));
        assert_eq!((ring.next(), ring.first, ring.bytes), (6, 5, 95));
        // The newest one is there, however large it is.
        ring.push(Id::FIRST, bytes(1000));
        assert_eq!((ring.next(), ring.first, ring.bytes), (7, 6, 1000));
        ring.push(Id::FIRST, bytes(1));
        assert_eq!((ring.first, ring.bytes), (7, 1));
    }
}
