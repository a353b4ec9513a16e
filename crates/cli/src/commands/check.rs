//! `polycache check`.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::human::counted;
use crate::output::{Output, Style};
use crate::{open, Outcome};
use serde_json::json;

pub fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    let report = open::existing(arguments)?.check()?;
    if output.json {
        output.json(&json!({
            "whole": report.whole,
            "damaged": report.damaged,
            "leases": report.leases,
        }))?;
    } else {
        for damage in &report.damaged {
            let damage = output.paint(Style::Bad, damage);
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
