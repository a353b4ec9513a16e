//! `polycache get`.

use crate::arguments::{Arguments, Get};
use crate::failure::Failure;
use crate::json::{self, JsonValue};
use crate::output::{Output, Style};
use crate::{key, open, show, Outcome};
use polycache::{Entry, Value};
use serde::Serialize;
use serde_json::json;

/// The answer's form; a struct, because the value borrows and its maps keep their order.
#[derive(Serialize)]
struct Answer<'a> {
    key: serde_json::Value,
    found: bool,
    #[serde(flatten)]
    facts: serde_json::Map<String, serde_json::Value>,
    value: JsonValue<'a>,
}

pub fn run(arguments: &Arguments, get: &Get, output: &mut Output) -> Result<Outcome, Failure> {
    let key = key::parse(&get.key, get.form)?;
    let cache = open::existing(arguments)?;
    let Some(entry) = cache.entry(&key)? else {
        if output.json {
            output.json(&json!({"key": json::key(&key), "found": false}))?;
        } else {
            eprintln!("polycache: {} is not there", key::show(&key));
        }
        return Ok(Outcome::Negative);
    };
    if output.json {
        output.json(&answer(&key, &entry))?;
    } else if get.raw {
        raw(&entry.value, output)?;
    } else {
        let name = output.paint(Style::Name, &key::show(&key));
        let facts = output.paint(Style::Dim, &show::facts(&entry.value, &entry.facts));
        output.line(&format!("{name}  {facts}"))?;
        output.line(&show::value(output, &entry.value))?;
    }
    Ok(Outcome::Done)
}

fn answer<'a>(key: &[u8], entry: &'a Entry) -> Answer<'a> {
    let mut facts = serde_json::Map::new();
    facts.insert("type".into(), json!(json::type_name(&entry.value)));
    facts.insert("serializer".into(), json!(entry.facts.serializer.name()));
    let compressor = json::compressor_name(entry.facts.compressor);
    facts.insert("compressor".into(), json!(compressor));
    facts.insert("payload".into(), json!(entry.facts.payload));
    json::add_facts(&mut facts, &entry.facts);
    Answer {
        key: json::key(key),
        found: true,
        facts,
        value: JsonValue(&entry.value),
    }
}

fn raw(value: &Value<'_>, output: &mut Output) -> Result<(), Failure> {
    match value {
        Value::Text(text) => output.bytes(text.as_bytes())?,
        Value::Bytes(bytes) => output.bytes(bytes)?,
        other => output.json(&JsonValue(other))?,
    }
    Ok(())
}
