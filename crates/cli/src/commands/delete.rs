//! `polycache delete`.

use crate::arguments::{Arguments, Delete};
use crate::failure::Failure;
use crate::output::Output;
use crate::{human, key, open, Outcome};
use serde_json::json;

pub fn run(
    arguments: &Arguments,
    delete: &Delete,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let keys = delete
        .keys
        .iter()
        .map(|argument| key::parse(argument, delete.form))
        .collect::<Result<Vec<_>, _>>()?;
    let deleted = open::existing(arguments)?.delete_many(&keys)?;
    if output.json {
        output.json(&json!({ "deleted": deleted }))?;
    } else {
        let of = human::counted(keys.len() as u64, "key", "keys");
        output.line(&format!("deleted {} of {of}", human::count(deleted)))?;
    }
    Ok(match deleted {
        0 => Outcome::Negative,
        _ => Outcome::Done,
    })
}
