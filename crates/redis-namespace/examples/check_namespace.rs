//! Does the work of `checks/namespace/run.py` in Rust: the same commands through a namespaced
//! connection and, without a namespace, on the model's database.

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};

use polycache_redis_namespace::{Namespace, Namespaced};
use redis::{cmd, Cmd, Connection, ConnectionLike, RedisResult, Value};
use serde_json::{json, Value as Json};

const SHOWN: usize = 10;

/// A keyspace and its model.
struct Keyspace {
    client: Box<dyn ConnectionLike>,
    model: Connection,
    prefix: String,
    /// `None` for the bare neighbour.
    name: Option<String>,
    database: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [work, shared, models, first, names @ ..] = &arguments[..] else {
        return Err("work, two ports, a database and namespaces are wanted".into());
    };
    let first: usize = first.parse()?;
    let mut keyspaces = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let client = Namespaced::new(connect(shared, 0)?, Namespace::new(name)?);
        let model = connect(models, first + number)?;
        keyspaces.push(Keyspace {
            client: Box::new(client),
            model,
            prefix: format!("{name}:"),
            name: Some(name.clone()),
            database: first + number,
        });
    }
    let model = connect(models, first + names.len())?;
    let client = Box::new(connect(shared, 0)?);
    keyspaces.push(Keyspace {
        client,
        model,
        prefix: String::new(),
        name: None,
        database: first + names.len(),
    });

    let (mut commands, mut mismatches) = (0, Vec::new());
    for line in BufReader::new(File::open(work)?).lines() {
        let step: Json = serde_json::from_str(&line?)?;
        let who = step["who"].as_u64().ok_or("who")? as usize;
        let keyspace = &mut keyspaces[who];
        let prefix = &keyspace.prefix;
        let is = canonical(sent(&mut *keyspace.client, &step, 0)?, prefix);
        let should = canonical(sent(&mut keyspace.model, &step, keyspace.database)?, prefix);
        commands += ["batch", "lines"]
            .iter()
            .find_map(|kind| step[kind].as_array())
            .map_or(1, Vec::len);
        if is != should {
            mismatches.push(format!("rust: {step}: {is} is not {should}"));
        }
        if step["lost"].as_bool() == Some(true) {
            // These connections do not reconnect by themselves.
            let client = connect(shared, 0)?;
            keyspace.client = match &keyspace.name {
                Some(name) => Box::new(Namespaced::new(client, Namespace::new(name)?)),
                None => Box::new(client),
            };
            keyspace.model = connect(models, keyspace.database)?;
        }
    }
    mismatches.truncate(SHOWN);
    println!(
        "{}",
        json!({ "commands": commands, "mismatches": mismatches })
    );
    Ok(())
}

fn connect(port: &str, database: usize) -> RedisResult<Connection> {
    let address = format!("redis://127.0.0.1:{port}/{database}?protocol=resp3");
    redis::Client::open(address)?.get_connection()
}

fn sent(client: &mut dyn ConnectionLike, step: &Json, database: usize) -> RedisResult<Vec<Value>> {
    if let Some(words) = step["alone"].as_array() {
        return Ok(vec![client.req_command(&command(words))?]);
    }
    if let Some(lines) = step["lines"].as_array() {
        let words = lines.iter().filter_map(Json::as_array);
        let replies = words
            .map(|words| {
                let reply = client.req_command(&command(words));
                reply.unwrap_or_else(|error| Value::SimpleString(error.to_string()))
            })
            .collect();
        if step["reset"].as_bool() == Some(true) {
            // RESET has selected the first database.
            client.req_command(cmd("SELECT").arg(database))?;
        }
        return Ok(replies);
    }
    let batch = step["batch"].as_array().map_or(&[][..], Vec::as_slice);
    if batch.is_empty() {
        return Ok(Vec::new());
    }
    let mut packed = Vec::new();
    for words in batch.iter().filter_map(Json::as_array) {
        command(words).write_packed_command(&mut packed);
    }
    client.req_packed_commands(&packed, 0, batch.len())
}

fn command(words: &[Json]) -> Cmd {
    let mut words = words.iter().filter_map(Json::as_str);
    let mut command = cmd(words.next().unwrap_or_default());
    for word in words {
        command.arg(word);
    }
    command
}

/// Replies that a server gives in any order, in one order; and errors by their text, in which a server
/// may name the key as it knows it.
fn canonical(replies: Vec<Value>, prefix: &str) -> String {
    let mut texts: Vec<String> = replies
        .into_iter()
        .map(|reply| text(reply, prefix))
        .collect();
    texts.sort();
    format!("[{}]", texts.join(", "))
}

fn text(reply: Value, prefix: &str) -> String {
    match reply {
        Value::Array(items) | Value::Set(items) => canonical(items, prefix),
        Value::Map(pairs) => {
            let pairs = pairs
                .into_iter()
                .map(|(key, value)| Value::Array(vec![key, value]));
            canonical(pairs.collect(), prefix)
        }
        Value::ServerError(error) => error.to_string().replacen(&format!("'{prefix}"), "'", 1),
        other => format!("{other:?}"),
    }
}
