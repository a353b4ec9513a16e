//! What XINFO STREAM says of a stream.

use super::Id;
use redis::{from_redis_value, FromRedisValue, RedisResult, Value};
use std::collections::HashMap;

/// An entry of a stream, as Redis sends it.
pub(super) type Entry = (String, Vec<Vec<u8>>);

/// A stream as it is now.
pub(super) struct Facts {
    /// The last id that was given out.
    pub end: Id,
    pub length: u64,
    /// How many entries were ever added; servers before 7.0 do not say.
    pub added: Option<u64>,
    pub first: Option<Entry>,
    pub last: Option<Entry>,
}

impl Facts {
    pub fn of(reply: Value) -> RedisResult<Facts> {
        let mut facts: HashMap<String, Value> = from_redis_value(reply)?;
        let end: String = taken(&mut facts, "last-generated-id")?.unwrap_or_default();
        Ok(Facts {
            end: Id::parse(&end).unwrap_or(Id::FIRST),
            length: taken(&mut facts, "length")?.unwrap_or(0),
            added: taken(&mut facts, "entries-added")?,
            first: taken(&mut facts, "first-entry")?,
            last: taken(&mut facts, "last-entry")?,
        })
    }

    /// The id of the first entry before which some were removed, by which a client that had an older one last has missed
    /// some, perhaps.
    pub fn removed_before(&self) -> Option<Id> {
        match self.added {
            Some(added) if added <= self.length => None,
            _ => Some(
                self.first
                    .as_ref()
                    .and_then(|(id, _)| Id::parse(id))
                    .unwrap_or(self.end),
            ),
        }
    }
}

fn taken<T: FromRedisValue>(
    facts: &mut HashMap<String, Value>,
    name: &str,
) -> RedisResult<Option<T>> {
    match facts.remove(name) {
        None | Some(Value::Nil) => Ok(None),
        Some(value) => Ok(Some(from_redis_value(value)?)),
    }
}
