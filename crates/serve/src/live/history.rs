//! What is remembered of a stream, to tell one that lost its last entries from another one under its key.

use super::facts::{Entry, Facts};
use super::Id;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Entries that are remembered. A server that is begun again, or a replica in its place, rarely lacks more.
const MOST: usize = 1024;

/// An entry, by its id and a hash of all of it.
type Mark = (Id, u64);

/// The first entry of the stream when it was looked at, and the last ones that were heard of.
#[derive(Default)]
pub(super) struct History {
    first: Option<Mark>,
    last: VecDeque<Mark>,
}

impl History {
    /// Of a stream as it is.
    pub fn new(facts: &Facts) -> History {
        History {
            first: facts.first.as_ref().and_then(mark),
            last: VecDeque::new(),
        }
    }

    /// The entry before all those that are remembered.
    pub fn had(&mut self, entry: &Entry) {
        if self.last.len() < MOST {
            if let Some(mark) = mark(entry) {
                self.last.push_front(mark);
            }
        }
    }

    pub fn heard(&mut self, entry: &Entry) {
        if self.last.len() == MOST {
            self.last.pop_front();
        }
        self.last.extend(mark(entry));
    }

    /// Whether a stream that ends before what was heard is the one that was followed, without its last entries; else it was
    /// made anew.
    pub fn is_of(&self, facts: &Facts) -> bool {
        let Some(newest) = &facts.last else {
            // It is empty: there is nothing to be heard again.
            return true;
        };
        if let Some(is_same) = self.knows(newest) {
            return is_same;
        }
        if let Some(is_same) = facts.first.as_ref().and_then(|first| self.knows(first)) {
            return is_same;
        }
        // The first entry is another one than before. Of the stream that was followed it was trimmed, so more were added than
        // there are; one that has all its entries begins with them.
        facts.added.is_some_and(|added| added > facts.length)
    }

    /// Whether an entry is the one that was heard by its id; `None` for an id that was not heard, or not lately.
    fn knows(&self, entry: &Entry) -> Option<bool> {
        let (id, hash) = mark(entry)?;
        let mut all = self.first.iter().chain(&self.last);
        all.find(|known| known.0 == id).map(|known| known.1 == hash)
    }

    /// Forgets what came after an id.
    pub fn go_back(&mut self, end: Id) {
        self.last.retain(|known| known.0 <= end);
    }
}

fn mark(entry: &Entry) -> Option<Mark> {
    let mut hasher = DefaultHasher::new();
    entry.hash(&mut hasher);
    Some((Id::parse(&entry.0)?, hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: u64, value: &str) -> Entry {
        (format!("{n}-0"), vec![b"f".to_vec(), value.into()])
    }

    fn facts(first: Option<Entry>, last: Option<Entry>, length: u64, added: Option<u64>) -> Facts {
        let end = last.as_ref().and_then(|(id, _)| Id::parse(id));
        Facts {
            end: end.unwrap_or(Id::FIRST),
            length,
            added,
            first,
            last,
        }
    }

    /// Of a stream of 2000 entries, of which the last 100 were read when it was first looked at, and 10 heard since.
    fn history() -> History {
        let all = facts(
            Some(entry(1, "a")),
            Some(entry(2000, "a")),
            2000,
            Some(2000),
        );
        let mut history = History::new(&all);
        (1901..=2000)
            .rev()
            .for_each(|n| history.had(&entry(n, "a")));
        (2001..=2010).for_each(|n| history.heard(&entry(n, "a")));
        history
    }

    #[test]
    fn a_stream_without_its_last_entries_is_the_same() {
        let history = history();
        // By its last entry, which was heard, or was there at first.
        for end in [2009, 2000, 1950] {
            let trimmed = facts(Some(entry(900, "a")), Some(entry(end, "a")), 1000, None);
            assert!(history.is_of(&trimmed), "{end}");
        }
        // By its first one.
        let short = facts(Some(entry(1, "a")), Some(entry(1500, "a")), 1500, None);
        assert!(history.is_of(&short));
        // By what was trimmed of it.
        let both = facts(
            Some(entry(500, "a")),
            Some(entry(1500, "a")),
            1001,
            Some(1500),
        );
        assert!(history.is_of(&both));
        assert!(history.is_of(&facts(None, None, 0, Some(0))));
    }

    #[test]
    fn a_stream_that_was_made_anew_is_another() {
        let mut history = history();
        // An id that was heard has another entry, the last one or the first.
        let one = facts(Some(entry(2005, "b")), Some(entry(2005, "b")), 1, Some(1));
        assert!(!history.is_of(&one));
        let first = facts(Some(entry(1, "b")), Some(entry(5, "b")), 5, Some(5));
        assert!(!history.is_of(&first));
        // All that was added is there, and began otherwise.
        let other = facts(Some(entry(3, "a")), Some(entry(7, "a")), 5, Some(5));
        assert!(!history.is_of(&other));
        // Older servers do not count what was added.
        let old = facts(Some(entry(3, "a")), Some(entry(7, "a")), 5, None);
        assert!(!history.is_of(&old));
        // What came after an id is no longer expected once the stream has lost it.
        history.go_back(Id::parse("2004-0").unwrap());
        assert_eq!(history.knows(&entry(2005, "a")), None);
        assert_eq!(history.knows(&entry(2004, "a")), Some(true));
    }

    #[test]
    fn it_remembers_only_the_last() {
        let mut history = history();
        (2011..=5000).for_each(|n| history.heard(&entry(n, "a")));
        assert_eq!(history.last.len(), MOST);
        assert_eq!(history.knows(&entry(2500, "a")), None);
        assert_eq!(history.knows(&entry(4999, "a")), Some(true));
    }
}
