//! `polycache completions`.

use crate::arguments::{Arguments, Completions};
use crate::failure::Failure;
use crate::output::Output;
use crate::Outcome;
use clap::CommandFactory;

pub fn run(completions: &Completions, output: &mut Output) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(completions.shell, &mut command, "polycache", &mut script);
    output.bytes(&script)?;
    Ok(Outcome::Done)
}
