//! What the leader of a host tells of its arming: whose writes it hears of.

use super::kept::{entry, payload};
use super::Prefixes;
use crate::listener::{slot_of_key, Map};

/// A primary, as readers must know it: a hash tag of one of its slots, and the first and last slot of each range.
type Primary = (String, Vec<(u16, u16)>);

/// An arming, as the leader tells of it among the near copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Armed {
    /// The leader's generation: of another one it means nothing.
    pub generation: u16,
    /// No other arming has it.
    pub mark: u64,
    /// Prefixes of the keys whose writes are heard of.
    pub prefixes: Prefixes,
    primaries: Vec<Primary>,
}

impl Armed {
    /// The arming with this mark of all primaries of a map.
    #[must_use]
    pub fn new(generation: u16, mark: u64, prefixes: Prefixes, map: &Map) -> Armed {
        let primaries = map.nodes.iter();
        Armed {
            generation,
            mark,
            prefixes,
            primaries: primaries
                .map(|node| (node.tag.clone(), node.slots.clone()))
                .collect(),
        }
    }

    /// The hash tag by which the primary of a key has its proof.
    #[must_use]
    pub fn tag_of(&self, key: &[u8]) -> Option<&str> {
        let slot = slot_of_key(key);
        let owns = |slots: &[(u16, u16)]| {
            (slots.iter()).any(|(first, last)| (*first..=*last).contains(&slot))
        };
        let found = self.primaries.iter().find(|(_, slots)| owns(slots));
        found.map(|(tag, _)| tag.as_str())
    }

    /// The entry that stands for it.
    #[must_use]
    pub fn entry(&self, created: u64) -> Vec<u8> {
        let mut bytes = self.generation.to_le_bytes().to_vec();
        bytes.extend_from_slice(&self.mark.to_le_bytes());
        for (tag, slots) in &self.primaries {
            bytes.push(tag.len() as u8);
            bytes.extend_from_slice(tag.as_bytes());
            bytes.extend_from_slice(&(slots.len() as u16).to_le_bytes());
            for (first, last) in slots {
                bytes.extend_from_slice(&first.to_le_bytes());
                bytes.extend_from_slice(&last.to_le_bytes());
            }
        }
        // No primary has an empty tag.
        bytes.push(0);
        bytes.extend_from_slice(&self.prefixes.pack());
        entry(bytes, created, 0)
    }

    /// What an entry says; `None` for one that is none.
    #[must_use]
    pub fn parse(entry: &[u8]) -> Option<Armed> {
        let (generation, rest) = payload(entry)?.split_first_chunk()?;
        let (mark, rest) = rest.split_first_chunk()?;
        let (primaries, rest) = unpack(rest)?;
        Some(Armed {
            generation: u16::from_le_bytes(*generation),
            mark: u64::from_le_bytes(*mark),
            prefixes: Prefixes::unpack(rest)?,
            primaries,
        })
    }
}

/// The primaries, and what is behind them.
fn unpack(mut bytes: &[u8]) -> Option<(Vec<Primary>, &[u8])> {
    let mut all = Vec::new();
    loop {
        let (length, rest) = bytes.split_first()?;
        if *length == 0 {
            return Some((all, rest));
        }
        let (tag, rest) = rest.split_at_checked(usize::from(*length))?;
        let (count, rest) = rest.split_first_chunk()?;
        let count = usize::from(u16::from_le_bytes(*count));
        let (slots, rest) = rest.split_at_checked(count * 4)?;
        let number = |at: &[u8]| u16::from_le_bytes([at[0], at[1]]);
        let slots = slots.chunks_exact(4);
        let slots = slots.map(|range| (number(&range[..2]), number(&range[2..])));
        all.push((std::str::from_utf8(tag).ok()?.to_owned(), slots.collect()));
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listener::Node;

    #[test]
    fn an_arming_is_read_as_it_was_told() {
        let map = Map {
            nodes: vec![
                Node::new("one", vec![(0, 99), (200, 8000)]).unwrap(),
                Node::new("two", vec![(100, 199), (8001, 16_383)]).unwrap(),
            ],
        };
        let prefixes = Prefixes::new(vec![b"a:".to_vec(), b"b".to_vec()]);
        let armed = Armed::new(3, 77, prefixes, &map);
        let told = Armed::parse(&armed.entry(5)).unwrap();
        assert_eq!(told, armed);
        let tag = told.tag_of(b"some key").unwrap();
        let slot = slot_of_key(b"some key");
        let node = map.nodes.iter().find(|node| node.tag == tag).unwrap();
        assert!(node
            .slots
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&slot)));
        assert!(told.prefixes.cover(b"a:1") && !told.prefixes.cover(b"c"));
    }
}
