//! What a whole reply says.
//!
//! The crate `redis` parses all kinds of replies, by combinators that can stop anywhere: some 1,200 instructions for an
//! `+OK`. Those that nearly every command has are read here.

use redis::{parse_redis_value, RedisResult, Value};

/// Lists in lists that are read here: SCAN's.
const DEEPEST: usize = 2;

/// The value of the bytes of one whole reply, as [`Frames`](super::frames::Frames) finds them.
///
/// # Errors
/// Those of the crate `redis`, for what is no reply.
pub(super) fn parse(reply: &[u8]) -> RedisResult<Value> {
    match usual(reply) {
        Some((value, length)) if length == reply.len() => Ok(value),
        _ => parse_redis_value(reply),
    }
}

/// The first reply of these bytes, where it is of the usual kinds and all of it is there, and its length.
pub(super) fn usual(bytes: &[u8]) -> Option<(Value, usize)> {
    let (value, rest) = first(bytes, DEEPEST)?;
    Some((value, bytes.len() - rest.len()))
}

/// The first value, and what is behind it.
fn first(bytes: &[u8], depth: usize) -> Option<(Value, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\r')?;
    let (line, rest) = bytes.split_at(end);
    let rest = rest.strip_prefix(b"\r\n")?;
    let (kind, text) = line.split_first()?;
    match kind {
        b'+' if text == b"OK" => Some((Value::Okay, rest)),
        b'$' if text == b"-1" => Some((Value::Nil, rest)),
        b'$' => {
            let (bytes, rest) = rest.split_at_checked(number(text)?)?;
            let rest = rest.strip_prefix(b"\r\n")?;
            Some((Value::BulkString(bytes.to_vec()), rest))
        }
        b':' => Some((Value::Int(number(text)?), rest)),
        b'*' if depth > 0 => {
            let count: usize = number(text)?;
            // A value takes four bytes at least.
            let mut list = Vec::with_capacity(count.min(rest.len() / 4));
            let mut rest = rest;
            for _ in 0..count {
                let (value, behind) = first(rest, depth - 1)?;
                list.push(value);
                rest = behind;
            }
            Some((Value::Array(list), rest))
        }
        _ => None,
    }
}

fn number<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reply() -> impl Strategy<Value = Vec<u8>> {
        let bytes = prop_oneof![Just(b'\r'), Just(b'\n'), any::<u8>()];
        prop_oneof![
            Just(b"+OK\r\n".to_vec()),
            Just(b"+PONG\r\n".to_vec()),
            Just(b"-ERR no\r\n".to_vec()),
            Just(b"$-1\r\n".to_vec()),
            Just(b"*2\r\n:1\r\n*1\r\n$1\r\nx\r\n".to_vec()),
            Just(b"*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n".to_vec()),
            Just(b"_\r\n".to_vec()),
            any::<i64>().prop_map(|n| format!(":{n}\r\n").into_bytes()),
            proptest::collection::vec(bytes, 0..200).prop_map(|bytes| {
                [format!("${}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat()
            }),
        ]
    }

    proptest! {
        #[test]
        fn it_is_what_the_crate_redis_says(reply in reply()) {
            prop_assert_eq!(parse(&reply).unwrap(), parse_redis_value(&reply).unwrap());
        }

        #[test]
        fn other_bytes_are_for_the_crate_redis(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Some((value, length)) = usual(&bytes) {
                prop_assert_eq!(value, parse_redis_value(&bytes[..length]).unwrap());
            }
        }
    }

    #[test]
    fn the_usual_kinds_are_read_here() {
        for reply in [
            "+OK\r\n",
            ":12\r\n",
            "$-1\r\n",
            "$0\r\n\r\n",
            "$3\r\na\rb\r\n",
            "*0\r\n",
        ] {
            assert!(usual(reply.as_bytes()).is_some(), "{reply:?}");
        }
        for reply in [
            "$4\r\nabc\r\n",
            "$3\rxabc\r\n",
            ":x\r\n",
            "+OK",
            "*2\r\n:1\r\n",
            "",
        ] {
            assert!(usual(reply.as_bytes()).is_none(), "{reply:?}");
        }
    }
}
