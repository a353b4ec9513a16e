//! `polycache check`.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::human::counted;
use crate::output::{Output, Style};
use crate::{open, text, Outcome};
use polycache::{Error, Report};
use serde_json::json;

pub fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    open::needs_directory(arguments, "check")?;
    let report = match open::to_read(arguments) {
        // If the files do not fit each other, no entry can be verified.
        Err(Failure::Cache(error @ Error::Damaged(_))) => Report {
            damaged: vec![error.to_string()],
            ..Report::default()
        },
        opened => opened?.check()?,
    };
    if output.json {
        output.json(&json!({
            "whole": report.whole,
            "damaged": report.damaged,
            "leases": report.leases,
        }))?;
    } else {
        for damage in &report.damaged {
            let damage = output.paint(Style::Bad, &text::line(damage));
            output.line(&damage)?;
        }
        output.line(&format!(
            "{} whole, {} damaged, {} under way",
            counted(report.whole, "entry is", "entries are"),
            report.damaged.len(),
            counted(report.leases, "load", "loads"),
        ))?;
    }
    Ok(if report.damaged.is_empty() {
        Outcome::Done
    } else {
        Outcome::Negative
    })
}
