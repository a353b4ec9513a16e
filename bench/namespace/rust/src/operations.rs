//! The page's operations as redis-rs is called: each makes one round trip.

use std::collections::HashMap;

use redis::{cmd, pipe, ConnectionLike, RedisResult};
use serde_json::{json, Value};

use crate::dataset::{items, ten, Dataset, FIELDS, MEMBERS, PAIR, SCORES, STRING};

/// The names of the operations, as in Ruby.
pub const NAMES: [&str; 12] = [
    "SET",
    "GET",
    "MGET (10 keys)",
    "LPUSH",
    "LRANGE",
    "HSET",
    "HGETALL",
    "SADD",
    "SMEMBERS",
    "KEYS",
    "ZRANGE",
    "MULTI/EXEC",
];

/// Does one; with `look` what it returned is given, in one order.
pub fn run<C: ConnectionLike>(
    name: &str,
    connection: &mut C,
    data: &Dataset,
    look: bool,
) -> RedisResult<Value> {
    let said = |value: Value| if look { value } else { Value::Null };
    Ok(match name {
        "SET" => {
            let done: String = cmd("SET").arg(&data.key).arg(STRING).query(connection)?;
            said(json!(done))
        }
        "GET" => {
            let found: String = cmd("GET").arg(&data.key).query(connection)?;
            said(json!(found))
        }
        "MGET (10 keys)" => texts(look, cmd("MGET").arg(&data.many).query(connection)?),
        "LPUSH" => {
            let size: i64 = cmd("LPUSH")
                .arg(&data.pushed)
                .arg(&PAIR)
                .query(connection)?;
            said(json!(size))
        }
        "LRANGE" => texts(
            look,
            cmd("LRANGE")
                .arg(&data.list)
                .arg(0)
                .arg(-1)
                .query(connection)?,
        ),
        "HSET" => {
            let added: i64 = cmd("HSET").arg(&data.hash).arg(&FIELDS).query(connection)?;
            said(json!(added))
        }
        "HGETALL" => {
            let fields: HashMap<String, String> =
                cmd("HGETALL").arg(&data.hash).query(connection)?;
            if look {
                json!(fields)
            } else {
                std::hint::black_box(fields);
                Value::Null
            }
        }
        "SADD" => {
            let added: i64 = cmd("SADD").arg(&data.set).arg(&MEMBERS).query(connection)?;
            said(json!(added))
        }
        "SMEMBERS" => sorted(look, cmd("SMEMBERS").arg(&data.set).query(connection)?),
        "KEYS" => sorted(look, cmd("KEYS").arg(&data.pattern).query(connection)?),
        "ZRANGE" => texts(
            look,
            cmd("ZRANGE")
                .arg(&data.sorted)
                .arg(0)
                .arg(-1)
                .query(connection)?,
        ),
        _ => {
            let mut both = pipe();
            both.atomic();
            both.cmd("SET").arg(&data.first).arg(STRING);
            both.cmd("SET").arg(&data.second).arg(STRING);
            texts(look, both.query(connection)?)
        }
    })
}

fn texts(look: bool, found: Vec<String>) -> Value {
    if look {
        return json!(found);
    }
    std::hint::black_box(found);
    Value::Null
}

fn sorted(look: bool, mut found: Vec<String>) -> Value {
    if look {
        found.sort();
    }
    texts(look, found)
}

/// What each returns.
pub fn expected(name: &str, data: &Dataset) -> Value {
    match name {
        "SET" => json!("OK"),
        "GET" => json!(STRING),
        "MGET (10 keys)" => json!(ten()),
        "LPUSH" => json!(2),
        "LRANGE" => json!(items()),
        "HSET" | "SADD" => json!(0),
        "HGETALL" => json!(HashMap::from(FIELDS)),
        "SMEMBERS" => json!(MEMBERS),
        "KEYS" => json!(data.users),
        "ZRANGE" => json!(SCORES.map(|(_, member)| member)),
        _ => json!(["OK", "OK"]),
    }
}

/// Writes what the reads find.
pub fn prepare<C: ConnectionLike>(connection: &mut C, data: &Dataset) -> RedisResult<()> {
    cmd("DEL").arg(data.keys()).exec(connection)?;
    cmd("RPUSH").arg(&data.list).arg(items()).exec(connection)?;
    cmd("HSET").arg(&data.hash).arg(&FIELDS).exec(connection)?;
    cmd("SADD").arg(&data.set).arg(&MEMBERS).exec(connection)?;
    cmd("ZADD")
        .arg(&data.sorted)
        .arg(&SCORES)
        .exec(connection)?;
    for keys in [&data.many, &data.users] {
        for (key, value) in keys.iter().zip(ten()) {
            cmd("SET").arg(key).arg(value).exec(connection)?;
        }
    }
    Ok(())
}

/// What LPUSH piled up goes before each round.
pub fn trim<C: ConnectionLike>(connection: &mut C, data: &Dataset) -> RedisResult<()> {
    cmd("DEL").arg(&data.pushed).exec(connection)
}
