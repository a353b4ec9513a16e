//! `polycache clear`.

use crate::arguments::{Arguments, Clear};
use crate::failure::Failure;
use crate::output::Output;
use crate::{namespace, open, Outcome};
use serde_json::json;
use std::io::{IsTerminal, Write};

pub fn run(arguments: &Arguments, clear: &Clear, output: &mut Output) -> Result<Outcome, Failure> {
    let cache = open::existing(arguments)?;
    let path = open::place(&cache);
    let what = match arguments.namespace.as_slice() {
        [] => format!("the whole cache in {path}"),
        options => {
            let namespace = namespace::show(&namespace::parse(options)?);
            format!("the namespace {namespace} in {path}, with all nested in it")
        }
    };
    if !clear.yes && !std::io::stdin().is_terminal() {
        return Err(Failure::Usage(format!(
            "there is no terminal to ask on; -y clears {what} without asking"
        )));
    }
    let cleared = clear.yes || confirmed(&what)?;
    if cleared {
        cache.clear()?;
    }
    if output.json {
        output.json(&json!({ "cleared": cleared }))?;
    } else {
        let did = if cleared { "cleared" } else { "did not clear" };
        output.line(&format!("{did} {what}"))?;
    }
    Ok(if cleared {
        Outcome::Done
    } else {
        Outcome::Negative
    })
}

fn confirmed(what: &str) -> Result<bool, Failure> {
    let mut error = std::io::stderr();
    write!(error, "Clear {what}? [y/N] ")?;
    error.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
