//! `polycache usage`.

use crate::arguments::{Arguments, Usage as Options};
use crate::failure::Failure;
use crate::human::{count, size};
use crate::output::{Output, Style};
use crate::{namespace, open, text, Outcome};
use polycache::Usage;
use serde_json::{json, Value};

pub fn run(
    arguments: &Arguments,
    options: &Options,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let within = namespace::parse(&arguments.namespace)?;
    open::needs_directory(arguments, "usage")?;
    let usage = open::to_read(arguments)?.usage(usize::MAX)?;
    let usage = usage.unwrap_or_default().into_iter();
    let usage: Vec<_> = usage
        .filter(|one| one.namespace.starts_with(&within))
        .take(options.most)
        .collect();
    if output.json {
        for one in &usage {
            output.json(&json(one))?;
        }
        return Ok(Outcome::Done);
    }
    let head = format!("{:>10}  {:>12}  namespace", "space", "entries");
    output.line(&output.paint(Style::Dim, &head))?;
    for one in &usage {
        output.line(&line(one))?;
    }
    Ok(Outcome::Done)
}

/// A namespace with its space, for people.
pub fn line(usage: &Usage) -> String {
    let name = match &usage.namespace[..] {
        [] => "(none)".into(),
        parts => text::line(&namespace::show(parts)),
    };
    format!(
        "{:>10}  {:>12}  {name}",
        size(usage.bytes),
        count(usage.entries)
    )
}

/// The same for programs.
pub fn json(usage: &Usage) -> Value {
    json!({"namespace": usage.namespace, "entries": usage.entries, "bytes": usage.bytes})
}
