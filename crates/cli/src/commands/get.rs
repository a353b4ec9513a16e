//! `polycache get`.

use crate::arguments::{Arguments, Get};
use crate::failure::Failure;
use crate::json::{self, JsonValue};
use crate::output::{Output, Style};
use crate::{key, open, show, Outcome};
use polycache::{Cache, Entry, Error, Facts, Value};
use serde::Serialize;
use serde_json::json;

/// The form of the answer; a struct, because the value borrows and its maps keep their order.
#[derive(Serialize)]
struct Answer<'a> {
    key: serde_json::Value,
    found: bool,
    #[serde(flatten)]
    facts: serde_json::Map<String, serde_json::Value>,
    value: JsonValue<'a>,
}

pub fn run(arguments: &Arguments, get: &Get, output: &mut Output) -> Result<Outcome, Failure> {
    if get.raw && get.keys.len() > 1 {
        return Err(Failure::Usage(
            "--raw takes one key: values would run into each other".into(),
        ));
    }
    let keys = get.keys.iter().map(|key| key::parse(key, get.form));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    let cache = open::to_read(arguments)?;
    let mut outcome = Outcome::Done;
    for key in &keys {
        if !one(&cache, key, get.raw, output)? {
            outcome = Outcome::Negative;
        }
    }
    Ok(outcome)
}

/// Prints the entry of a key; false when there is none.
fn one(cache: &Cache, key: &[u8], bare: bool, output: &mut Output) -> Result<bool, Failure> {
    let entry = match cache.entry(key) {
        Err(
            error @ (Error::NotEncrypted(_)
            | Error::UnknownEncryptionKey(_)
            | Error::DecryptionFailed(_)),
        ) => {
            if !bare {
                without_value(cache, key, output)?;
            }
            return Err(error.into());
        }
        other => other?,
    };
    let Some(entry) = entry else {
        open::answered(cache)?;
        if output.json {
            output.json(&json!({"key": json::key(key), "found": false}))?;
        } else {
            eprintln!("polycache: {} has no entry", key::show(key));
        }
        return Ok(false);
    };
    if output.json {
        output.json(&answer(key, &entry))?;
    } else if bare {
        raw(&entry.value, output)?;
    } else {
        let name = output.paint(Style::Name, &key::show(key));
        let facts = output.paint(Style::Dim, &show::facts(Some(&entry.value), &entry.facts));
        output.line(&format!("{name}  {facts}"))?;
        output.line(&show::value(output, &entry.value))?;
    }
    Ok(true)
}

/// What the header of an entry that cannot be decrypted says.
fn without_value(cache: &Cache, key: &[u8], output: &mut Output) -> Result<(), Failure> {
    // It may have been removed meanwhile.
    if let Some(facts) = cache.facts(key)? {
        if output.json {
            let mut object = serde_json::Map::new();
            object.insert("key".into(), json::key(key));
            object.insert("found".into(), json!(true));
            add_facts(&mut object, &facts);
            output.json(&object)?;
        } else {
            let name = output.paint(Style::Name, &key::show(key));
            let said = output.paint(Style::Dim, &show::facts(None, &facts));
            output.line(&format!("{name}  {said}"))?;
        }
    }
    Ok(output.flush()?)
}

fn add_facts(object: &mut serde_json::Map<String, serde_json::Value>, facts: &Facts) {
    object.insert("serializer".into(), json!(facts.serializer.name()));
    let compressor = json::compressor_name(facts.compressor);
    object.insert("compressor".into(), json!(compressor));
    object.insert("payload".into(), json!(facts.payload));
    object.insert("encryption_key".into(), json!(facts.encryption_key));
    json::add_facts(object, facts);
}

fn answer<'a>(key: &[u8], entry: &'a Entry) -> Answer<'a> {
    let mut facts = serde_json::Map::new();
    facts.insert("type".into(), json!(json::type_name(&entry.value)));
    add_facts(&mut facts, &entry.facts);
    Answer {
        key: json::key(key),
        found: true,
        facts,
        value: JsonValue(&entry.value),
    }
}

fn raw(value: &Value<'_>, output: &mut Output) -> Result<(), Failure> {
    match value {
        // A value may come from a stranger, so it is escaped for a terminal.
        Value::Text(_) | Value::Bytes(_) if output.terminal => {
            output.line(&show::value(output, value))?;
        }
        Value::Text(text) => output.bytes(text.as_bytes())?,
        Value::Bytes(bytes) => output.bytes(bytes)?,
        other => output.json(&JsonValue(other))?,
    }
    Ok(())
}
