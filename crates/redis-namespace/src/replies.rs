//! Removes the prefix from replies (`spec/commands.md`, "Replies"). Null, an error and anything of
//! another shape stay unchanged.

use redis::Value;

use crate::prefix::{tells_of_events, Prefix, INVALIDATE};

/// Where a reply has names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Key,
    Keys,
    First,
    Scan,
    Streams,
    Channels,
    Counts,
    Prefixes,
    Messages,
}

impl Reply {
    pub(crate) fn read(name: &str) -> Option<Self> {
        Some(match name {
            "key" => Reply::Key,
            "keys" => Reply::Keys,
            "first" => Reply::First,
            "scan" => Reply::Scan,
            "streams" => Reply::Streams,
            "channels" => Reply::Channels,
            "counts" => Reply::Counts,
            "prefixes" => Reply::Prefixes,
            "messages" => Reply::Messages,
            _ => return None,
        })
    }

    pub(crate) fn take_off(self, reply: Value, prefix: &Prefix) -> Value {
        match self {
            Reply::Key => name(reply, prefix),
            Reply::Keys => each(reply, |one| name(one, prefix)),
            Reply::First => first(reply, prefix),
            Reply::Scan => at(reply, 1, |keys| each(keys, |one| name(one, prefix))),
            Reply::Streams => streams(reply, prefix),
            Reply::Channels => channels(reply, prefix),
            Reply::Counts => counts(reply, prefix),
            Reply::Prefixes => prefixes(reply, prefix),
            Reply::Messages => confirmation(reply, prefix),
        }
    }
}

fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.as_bytes()),
        _ => None,
    }
}

fn name(value: Value, prefix: &Prefix) -> Value {
    change(value, |name| prefix.strip(name).to_vec())
}

fn change(value: Value, change: impl Fn(&[u8]) -> Vec<u8>) -> Value {
    match bytes(&value) {
        Some(name) => Value::BulkString(change(name)),
        None => value,
    }
}

fn each(list: Value, change: impl Fn(Value) -> Value) -> Value {
    match list {
        Value::Array(items) => Value::Array(items.into_iter().map(change).collect()),
        Value::Set(items) => Value::Set(items.into_iter().map(change).collect()),
        other => other,
    }
}

fn at(list: Value, place: usize, change: impl Fn(Value) -> Value) -> Value {
    let Value::Array(mut items) = list else {
        return list;
    };
    if let Some(item) = items.get_mut(place) {
        *item = change(std::mem::take(item));
    }
    Value::Array(items)
}

fn first(list: Value, prefix: &Prefix) -> Value {
    at(list, 0, |one| name(one, prefix))
}

/// Lists of pairs, and maps (RESP3).
fn streams(reply: Value, prefix: &Prefix) -> Value {
    match reply {
        Value::Map(pairs) => {
            let pairs = pairs
                .into_iter()
                .map(|(key, entries)| (name(key, prefix), entries));
            Value::Map(pairs.collect())
        }
        other => each(other, |pair| first(pair, prefix)),
    }
}

fn channels(reply: Value, prefix: &Prefix) -> Value {
    let Value::Array(names) = reply else {
        return reply;
    };
    let ours = names
        .into_iter()
        .filter(|one| bytes(one).is_some_and(|one| prefix.is_of(one)));
    Value::Array(ours.map(|one| name(one, prefix)).collect())
}

fn counts(reply: Value, prefix: &Prefix) -> Value {
    let strip = |value| change(value, |name| prefix.strip_channel(name));
    match reply {
        Value::Map(pairs) => Value::Map(
            pairs
                .into_iter()
                .map(|(name, count)| (strip(name), count))
                .collect(),
        ),
        Value::Array(items) => {
            let items = items.into_iter().enumerate();
            Value::Array(
                items
                    .map(|(n, one)| if n % 2 == 0 { strip(one) } else { one })
                    .collect(),
            )
        }
        other => other,
    }
}

fn prefixes(reply: Value, prefix: &Prefix) -> Value {
    let is_named = |name: &Value| bytes(name) == Some(b"prefixes");
    let strip = |list| each(list, |one| name(one, prefix));
    match reply {
        Value::Map(pairs) => {
            let pairs = pairs.into_iter();
            Value::Map(
                pairs
                    .map(|(k, v)| if is_named(&k) { (k, strip(v)) } else { (k, v) })
                    .collect(),
            )
        }
        Value::Array(items) => match items.iter().position(is_named) {
            Some(found) => at(Value::Array(items), found + 1, strip),
            None => Value::Array(items),
        },
        other => other,
    }
}

fn confirmation(reply: Value, prefix: &Prefix) -> Value {
    let Value::Array(words) = reply else {
        return reply;
    };
    message(&words, prefix).map_or(Value::Nil, Value::Array)
}

/// A message that a server pushes to a subscriber, its kind first; None when it concerns another
/// namespace's key.
pub(crate) fn message(event: &[Value], prefix: &Prefix) -> Option<Vec<Value>> {
    let mut event = event.to_vec();
    let Some(kind) = event.first().and_then(bytes).map(<[u8]>::to_vec) else {
        return Some(event);
    };
    match &kind[..] {
        b"message" | b"smessage" => {
            let channel = event.get(1).and_then(bytes).unwrap_or_default().to_vec();
            if channel == INVALIDATE {
                return invalidation(event, prefix);
            }
            told(&channel, event.get_mut(2)?, prefix)?;
            event[1] = Value::BulkString(prefix.strip_channel(&channel));
        }
        b"pmessage" => {
            let channel = event.get(2).and_then(bytes).unwrap_or_default().to_vec();
            told(&channel, event.get_mut(3)?, prefix)?;
            event[1] = change(event[1].clone(), |glob| prefix.strip_channel_pattern(glob));
            event[2] = Value::BulkString(prefix.strip_channel(&channel));
        }
        b"psubscribe" | b"punsubscribe" => {
            let named = event.get_mut(1)?;
            *named = change(named.clone(), |glob| prefix.strip_channel_pattern(glob));
        }
        b"subscribe" | b"unsubscribe" | b"ssubscribe" | b"sunsubscribe" => {
            let named = event.get_mut(1)?;
            *named = change(named.clone(), |name| prefix.strip_channel(name));
        }
        b"invalidate" => return invalidation(event, prefix),
        _ => {}
    }
    Some(event)
}

/// The payload of an event's channel is the key.
fn told(channel: &[u8], payload: &mut Value, prefix: &Prefix) -> Option<()> {
    if tells_of_events(channel) {
        let key = bytes(payload)?;
        if !prefix.is_of(key) {
            return None;
        }
        *payload = Value::BulkString(prefix.strip(key).to_vec());
    }
    Some(())
}

/// Its last part is a list of keys; none means all of them.
fn invalidation(mut event: Vec<Value>, prefix: &Prefix) -> Option<Vec<Value>> {
    let keys = event.pop()?;
    if !matches!(keys, Value::Array(_)) {
        event.push(keys);
        return Some(event);
    }
    let Value::Array(ours) = channels(keys, prefix) else {
        return None;
    };
    if ours.is_empty() {
        return None;
    }
    event.push(Value::Array(ours));
    Some(event)
}
