//! What the crate `redis` returns, in the words of the remote tier.

use super::transport::Failure;
use polycache_remote::{Fault, Reply};
use redis::{cmd, RedisError, ServerError, Value};

/// Keys that one step of a SCAN looks at.
const STEP: u32 = 1000;

pub(super) fn has_code(reply: &Value, code: &str) -> bool {
    matches!(reply, Value::ServerError(error) if error.code() == code)
}

pub(super) fn reply(value: Value) -> Reply {
    match value {
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Int(number),
        Value::Boolean(yes) => Reply::Int(i64::from(yes)),
        Value::BulkString(bytes) => Reply::Bytes(bytes),
        Value::SimpleString(text) => Reply::Bytes(text.into_bytes()),
        Value::Array(list) => Reply::List(list.into_iter().map(reply).collect()),
        Value::ServerError(error) => Reply::Error(text(&error)),
        _ => Reply::Status,
    }
}

fn text(error: &ServerError) -> String {
    match error.details() {
        Some(details) => format!("{} {details}", error.code()),
        None => error.code().to_owned(),
    }
}

pub(super) fn failure(error: RedisError) -> Failure {
    let fault = match error.code() {
        Some(code) => Fault::of_error(code),
        None => Fault::Unreachable,
    };
    Failure {
        fault,
        why: error.to_string(),
    }
}

/// A step of a SCAN, packed.
pub(super) fn scan(cursor: u64, pattern: &[u8]) -> Vec<u8> {
    let mut scan = cmd("SCAN");
    scan.arg(cursor)
        .arg("MATCH")
        .arg(pattern)
        .arg("COUNT")
        .arg(STEP);
    scan.get_packed_command()
}

/// The next cursor, and keys.
pub(super) fn scanned(answer: Option<Value>) -> Result<(u64, Vec<Vec<u8>>), Failure> {
    match answer.map(reply) {
        Some(Reply::List(parts)) => match <[Reply; 2]>::try_from(parts) {
            Ok([Reply::Bytes(next), Reply::List(keys)]) => {
                let next = std::str::from_utf8(&next)
                    .ok()
                    .and_then(|next| next.parse().ok());
                let keys = keys.into_iter().filter_map(|key| match key {
                    Reply::Bytes(key) => Some(key),
                    _ => None,
                });
                Ok((next.unwrap_or(0), keys.collect()))
            }
            _ => Err(Failure::unreachable(
                "the server answers SCAN in a way of its own",
            )),
        },
        Some(Reply::Error(why)) => Err(Failure {
            fault: Fault::of_error(&why),
            why,
        }),
        _ => Err(Failure::unreachable(
            "the server answers SCAN in a way of its own",
        )),
    }
}
