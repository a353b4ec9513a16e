//! The primaries and their slots.

/// Slots of a Cluster.
const SLOTS: u16 = 16_384;

/// The primaries, as all of them say it. Maps are equal only if nothing has moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    /// The primaries, ordered by their names.
    pub nodes: Vec<Node>,
}

/// A primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What the client calls it; its run id or node id, so that another server at the same address is
    /// another node.
    pub name: String,
    /// First and last slot of each range.
    pub slots: Vec<(u16, u16)>,
    /// A hash tag of one of its slots.
    pub tag: String,
}

impl Node {
    /// A primary with these slots; `None` when it has none.
    #[must_use]
    pub fn new(name: &str, slots: Vec<(u16, u16)>) -> Option<Node> {
        let owns = |slot: u16| {
            slots
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&slot))
        };
        // A slot is met after 16,384 tags on average; of one in 100,000 none is met.
        let tag = (0..200_000u32)
            .map(|number| format!("{number:x}"))
            .find(|tag| owns(slot_of(tag.as_bytes())))?;
        Some(Node {
            name: name.into(),
            slots,
            tag,
        })
    }

    /// A server that is no Cluster's.
    #[must_use]
    pub fn single(name: &str) -> Node {
        Node {
            name: name.into(),
            slots: vec![(0, SLOTS - 1)],
            tag: "0".into(),
        }
    }
}

/// The slot of a key: that of its hash tag, if it has one.
#[must_use]
pub fn slot_of_key(key: &[u8]) -> u16 {
    let tag = key
        .iter()
        .position(|byte| *byte == b'{')
        .map(|at| &key[at + 1..])
        .and_then(|rest| {
            rest.split(|byte| *byte == b'}')
                .next()
                .map(|tag| (rest, tag))
        })
        .filter(|(rest, tag)| !tag.is_empty() && tag.len() < rest.len())
        .map_or(key, |(_, tag)| tag);
    slot_of(tag)
}

/// The slot of a hash tag: CRC-16/XMODEM modulo 16384 (Redis Cluster specification).
fn slot_of(tag: &[u8]) -> u16 {
    let mut crc: u16 = 0;
    for byte in tag {
        crc ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            crc = match crc & 0x8000 {
                0 => crc << 1,
                _ => (crc << 1) ^ 0x1021,
            };
        }
    }
    crc % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CLUSTER KEYSLOT of a real server.
    #[test]
    fn slots_are_those_of_a_cluster() {
        assert_eq!(slot_of(b"123456789"), 0x31C3 % SLOTS);
        assert_eq!(slot_of(b"foo"), 12182);
    }

    #[test]
    fn a_tag_lies_in_its_nodes_slots() {
        let node = Node::new("a", vec![(0, 10), (16_000, 16_100)]).expect("it has slots");
        let slot = slot_of(node.tag.as_bytes());
        assert!(slot <= 10 || (16_000..=16_100).contains(&slot));
        assert!(Node::new("b", Vec::new()).is_none());
    }
}
