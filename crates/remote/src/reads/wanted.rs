//! What the processes of a host want their leader to hear of.

use super::kept::{entry, payload};
use super::Prefixes;

/// Prefixes of keys, each until some time. Whoever wants one says so again before that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted(Vec<(Vec<u8>, u64)>);

impl Wanted {
    /// What an entry says; nothing for one that is none.
    #[must_use]
    pub fn parse(entry: &[u8]) -> Wanted {
        payload(entry).and_then(unpack).unwrap_or_default()
    }

    /// The entry that stands for it.
    #[must_use]
    pub fn entry(&self, created: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (prefix, until) in &self.0 {
            bytes.extend_from_slice(&until.to_le_bytes());
            bytes.extend_from_slice(&(prefix.len() as u32).to_le_bytes());
            bytes.extend_from_slice(prefix);
        }
        entry(bytes, created, 0)
    }

    /// Whether these are wanted at that time.
    #[must_use]
    pub fn has(&self, prefixes: &Prefixes, now: u64) -> bool {
        let has = |wanted| (self.0.iter()).any(|(prefix, until)| prefix == wanted && now < *until);
        prefixes.iter().all(has)
    }

    /// With these until that time, and without those whose time is over.
    #[must_use]
    pub fn with(mut self, prefixes: &Prefixes, until: u64, now: u64) -> Wanted {
        let is_new = |prefix: &[u8]| prefixes.iter().any(|one| one == prefix);
        self.0
            .retain(|(prefix, until)| now < *until && !is_new(prefix));
        self.0
            .extend(prefixes.iter().map(|prefix| (prefix.to_vec(), until)));
        self
    }

    /// With what was known before and is wanted still: the entry may have been evicted since.
    #[must_use]
    pub fn after(mut self, before: &Wanted, now: u64) -> Wanted {
        for (prefix, until) in before.0.iter().filter(|(_, until)| now < *until) {
            match self.0.iter_mut().find(|(one, _)| one == prefix) {
                Some((_, later)) => *later = (*later).max(*until),
                None => self.0.push((prefix.clone(), *until)),
            }
        }
        self
    }

    /// All that are wanted at that time.
    #[must_use]
    pub fn at(&self, now: u64) -> Prefixes {
        let wanted = self.0.iter().filter(|(_, until)| now < *until);
        wanted.map(|(prefix, _)| prefix.clone()).collect()
    }
}

fn unpack(mut bytes: &[u8]) -> Option<Wanted> {
    let mut all = Vec::new();
    while let Some((until, rest)) = bytes.split_first_chunk() {
        let (length, rest) = rest.split_first_chunk()?;
        let (prefix, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        all.push((prefix.to_vec(), u64::from_le_bytes(*until)));
        bytes = rest;
    }
    bytes.is_empty().then_some(Wanted(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(all: &[&str]) -> Prefixes {
        all.iter().map(|one| one.as_bytes().to_vec()).collect()
    }

    #[test]
    fn a_prefix_is_wanted_until_its_time_is_over() {
        let wanted = Wanted::default().with(&prefixes(&["a", "b"]), 10, 0);
        let wanted = wanted.with(&prefixes(&["b"]), 20, 5);
        let wanted = Wanted::parse(&wanted.entry(5));
        assert_eq!(wanted.at(9), prefixes(&["a", "b"]));
        assert_eq!(wanted.at(10), prefixes(&["b"]));
        assert!(wanted.has(&prefixes(&["b"]), 19) && !wanted.has(&prefixes(&["b"]), 20));
    }

    #[test]
    fn what_was_known_before_is_wanted_until_its_time_is_over() {
        let before = Wanted::default().with(&prefixes(&["a", "b"]), 10, 0);
        let before = before.with(&prefixes(&["c"]), 30, 0);
        let lost = Wanted::default().after(&before, 5);
        assert_eq!(lost.at(9), prefixes(&["a", "b", "c"]));
        let said_again = Wanted::default().with(&prefixes(&["b"]), 20, 5);
        let known = said_again.after(&before, 5);
        assert_eq!(known.at(9), prefixes(&["a", "b", "c"]));
        assert_eq!(known.at(19), prefixes(&["b", "c"]));
        assert_eq!(known.after(&before, 10).at(0), prefixes(&["b", "c", "a"]));
        assert_eq!(
            Wanted::default().after(&before, 10),
            Wanted::default().with(&prefixes(&["c"]), 30, 0)
        );
    }

    #[test]
    fn of_prefixes_that_begin_with_each_other_the_shortest_is_kept() {
        assert_eq!(prefixes(&["ab", "a", "b:", "abc"]), prefixes(&["a", "b:"]));
        assert_eq!(prefixes(&["ab", "", "b:"]), prefixes(&[""]));
        let many: Vec<String> = (100..200).map(|one| one.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(prefixes(&many), prefixes(&[""]));
    }
}
