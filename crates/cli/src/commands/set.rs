//! `polycache set`.

use crate::arguments::{Arguments, Set, Type};
use crate::failure::Failure;
use crate::output::{Output, Style};
use crate::{human, json, key, open, show, Outcome};
use polycache::{Serializer, Ttl, Value};
use polycache_entry::{decode_value, Limits};
use std::io::Read;

pub fn run(arguments: &Arguments, set: &Set, output: &mut Output) -> Result<Outcome, Failure> {
    let key = key::parse(&set.key, set.form)?;
    let mut input = Vec::new();
    let value = value(set, &mut input)?;
    let ttl = set.ttl.map_or(Ttl::Forever, Ttl::For);
    // Before the directory is created.
    ttl.check().map_err(polycache::Error::from)?;
    let builder = open::builder(arguments)?
        .serializer(set.serializer)
        .compressor(set.compressor)
        .limit(set.limit);
    let cache = open::or_make(builder)?;
    cache.set_value(&key, &value, ttl)?;
    // It may be gone already: another process deleted it, or the time to live was short.
    let facts = cache.facts(&key)?;
    if output.json {
        let mut object = serde_json::Map::new();
        object.insert("key".into(), json::key(&key));
        if let Some(facts) = &facts {
            json::add_facts(&mut object, facts);
        }
        output.json(&object)?;
    } else {
        let name = output.paint(Style::Name, &key::show(&key));
        let said = facts.map_or("stored".into(), |facts| {
            format!(
                "stored · {} · {}",
                human::size(facts.size),
                show::left(&facts)
            )
        });
        output.line(&format!("{name}  {}", output.paint(Style::Dim, &said)))?;
    }
    Ok(Outcome::Done)
}

/// The value given by the arguments; borrows from `input`.
fn value<'a>(set: &Set, input: &'a mut Vec<u8>) -> Result<Value<'a>, Failure> {
    let from_input = set.value == "-";
    if from_input {
        std::io::stdin().lock().read_to_end(input)?;
    } else {
        input.extend_from_slice(set.value.as_encoded_bytes());
    }
    if set.kind == Type::Bytes && !from_input {
        let bytes = key::from_hex(input).ok_or_else(|| {
            Failure::Usage(
                "write bytes in hexadecimal, two digits a byte, or give - to read them from standard input"
                    .into(),
            )
        })?;
        return Ok(Value::from(bytes));
    }
    match set.kind {
        Type::Bytes => Ok(Value::from(&**input)),
        Type::Text => std::str::from_utf8(input).map(Value::from).map_err(|_| {
            Failure::Usage("the text is not valid UTF-8; --type bytes stores any bytes".into())
        }),
        Type::Json => {
            if let Some(number) = crate::json::rounded(input) {
                return Err(Failure::Usage(format!(
                    "{number} is beyond 2^53, where readers of JSON round it; nothing was stored"
                )));
            }
            let limits = Limits::of(input.len() as u64);
            decode_value(Serializer::Json, input, &limits).map_err(|error| match error {
                // Its own text is about an entry.
                polycache_entry::Error::MalformedEntry { reason } => {
                    Failure::Usage(reason.into_owned())
                }
                other => Failure::Cache(other.into()),
            })
        }
    }
}
