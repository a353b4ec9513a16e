//! Which primary owns which slots, as one node tells it.

use redis::cluster::NodeAddress;
use redis::Value;

/// A primary that owns slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Its node id.
    pub id: String,
    pub address: NodeAddress,
    /// First and last slot of each range, in order.
    pub slots: Vec<(u16, u16)>,
}

/// The primaries that own slots, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slots {
    pub members: Vec<Member>,
    /// First and last slot, and who owns them, in order.
    ranges: Vec<(u16, u16, usize)>,
}

impl Slots {
    /// The reply to CLUSTER SLOTS; `host` is the one that was asked.
    pub fn parse(reply: &Value, host: &str) -> Option<Slots> {
        let Value::Array(ranges) = reply else {
            return None;
        };
        let mut members: Vec<Member> = Vec::new();
        for range in ranges {
            let Value::Array(range) = range else {
                return None;
            };
            let [Value::Int(first), Value::Int(last), Value::Array(primary), ..] = range.as_slice()
            else {
                return None;
            };
            let range = (u16::try_from(*first).ok()?, u16::try_from(*last).ok()?);
            let [name, Value::Int(port), id, ..] = primary.as_slice() else {
                return None;
            };
            let id = text(id)?;
            // A node that does not know how clients reach it says nothing.
            let host = match text(name) {
                Some("") | None => host,
                Some("?") => return None,
                Some(name) => name,
            };
            let address = NodeAddress::new(host, u16::try_from(*port).ok()?);
            match members.iter_mut().find(|one| one.id == id) {
                Some(member) => member.slots.push(range),
                None => members.push(Member {
                    id: id.to_owned(),
                    address,
                    slots: vec![range],
                }),
            }
        }
        if members.is_empty() {
            return None;
        }
        members.sort_by(|one, other| one.id.cmp(&other.id));
        let mut ranges = Vec::new();
        for (place, member) in members.iter_mut().enumerate() {
            member.slots.sort_unstable();
            let owned = member.slots.iter();
            ranges.extend(owned.map(|(first, last)| (*first, *last, place)));
        }
        ranges.sort_unstable();
        Some(Slots { members, ranges })
    }

    /// Where a slot's primary is.
    pub fn owner(&self, slot: u16) -> Option<&NodeAddress> {
        let next = self.ranges.partition_point(|(first, ..)| *first <= slot);
        let (_, last, place) = self.ranges.get(next.checked_sub(1)?)?;
        (*last >= slot).then(|| &self.members[*place].address)
    }

    /// Whether two nodes say the same. By which name they reach a third one is their own matter.
    pub fn agree(&self, other: &Slots) -> bool {
        let mut pairs = self.members.iter().zip(&other.members);
        self.members.len() == other.members.len()
            && pairs.all(|(one, other)| one.id == other.id && one.slots == other.slots)
    }
}

/// What a node's own line of CLUSTER NODES says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Own<'a> {
    pub id: &'a str,
    pub is_primary: bool,
    /// It gives slots away, or takes some.
    pub moves: bool,
}

/// Reads the reply to CLUSTER NODES. `id address flags primary ping pong epoch state slots...`, where a slot that
/// moves is `[slot->-id]` or `[slot-<-id]`.
pub(super) fn own(reply: &Value) -> Option<Own<'_>> {
    let words = text(reply)?.lines().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let is_own = words.get(2)?.split(',').any(|flag| flag == "myself");
        is_own.then_some(words)
    })?;
    Some(Own {
        id: words[0],
        is_primary: words[2].split(',').any(|flag| flag == "master"),
        moves: words.iter().skip(8).any(|slots| slots.starts_with('[')),
    })
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        // RESP3 answers CLUSTER NODES so.
        Value::VerbatimString { text, .. } => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: i64, last: i64, host: &str, id: &str) -> Value {
        Value::Array(vec![
            Value::Int(first),
            Value::Int(last),
            Value::Array(vec![
                Value::BulkString(host.into()),
                Value::Int(7000),
                Value::BulkString(id.into()),
            ]),
        ])
    }

    #[test]
    fn slots_have_owners() {
        let reply = Value::Array(vec![
            range(101, 16_383, "b", "2"),
            range(0, 49, "", "1"),
            range(60, 100, "", "1"),
        ]);
        let slots = Slots::parse(&reply, "asked").expect("slots");
        let owner = |slot| slots.owner(slot).map(ToString::to_string);
        assert_eq!(owner(0).as_deref(), Some("asked:7000"));
        assert_eq!(owner(49).as_deref(), Some("asked:7000"));
        assert_eq!(owner(50), None);
        assert_eq!(owner(100).as_deref(), Some("asked:7000"));
        assert_eq!(owner(101).as_deref(), Some("b:7000"));
        assert_eq!(owner(16_383).as_deref(), Some("b:7000"));
        let other = Slots::parse(&reply, "another").expect("slots");
        assert!(slots.agree(&other) && slots != other);
        let moved = Value::Array(vec![range(0, 16_383, "b", "2")]);
        assert!(!slots.agree(&Slots::parse(&moved, "").expect("slots")));
    }

    #[test]
    fn what_is_no_map_is_refused() {
        for reply in [
            Value::Nil,
            Value::Array(Vec::new()),
            Value::Array(vec![Value::Int(1)]),
            Value::Array(vec![range(0, 70_000, "a", "1")]),
            Value::Array(vec![range(0, 16_383, "?", "1")]),
        ] {
            assert_eq!(Slots::parse(&reply, "a"), None);
        }
    }

    #[test]
    fn slots_that_move_are_seen() {
        let nodes = |own: &str| {
            let text = format!("b :1@2 master - 0 0 1 connected 5-6 [7->-x]\n{own}\n");
            Value::BulkString(text.into())
        };
        let still = nodes("a :3@4 myself,master - 0 0 1 connected 0-4");
        let expected = |is_primary, moves| {
            Some(Own {
                id: "a",
                is_primary,
                moves,
            })
        };
        assert_eq!(own(&still), expected(true, false));
        for moving in ["[3->-b]", "[9-<-b]"] {
            let line = format!("a :3@4 myself,master - 0 0 1 connected 0-4 {moving}");
            assert_eq!(own(&nodes(&line)), expected(true, true));
        }
        let replica = nodes("a :3@4 myself,slave b 0 0 1 connected");
        assert_eq!(own(&replica), expected(false, false));
        assert_eq!(own(&Value::BulkString(b"b :1@2 master".to_vec())), None);
    }
}
