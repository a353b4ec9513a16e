//! `polycache man`.

use crate::arguments::{Arguments, Man};
use crate::failure::Failure;
use crate::output::Output;
use crate::Outcome;
use clap::CommandFactory;

pub fn run(man: &Man, output: &mut Output) -> Result<Outcome, Failure> {
    let mut command = Arguments::command();
    // Gives the commands their full names, and the options that all commands share.
    command.build();
    let page = match &man.of {
        None => command,
        Some(name) => command.find_subcommand(name).cloned().ok_or_else(|| {
            Failure::Usage(format!(
                "{name} is not a command; `polycache --help` lists them"
            ))
        })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    output.bytes(&text)?;
    Ok(Outcome::Done)
}
