//! The processes of one host under one seeded scheduler and clock, over the production operations
//! (`polycache-operations`) and the production engine (`polycache-host`), with everything that can go
//! wrong on a host; and a judge that checks what they saw against the promises of `spec/semantics.md`.
//!
//! A seed determines one scenario and one order of events: it replays exactly.

mod caller;
mod driver;
// Fields and variants are named for what they hold.
#[allow(missing_docs)]
pub mod history;
mod judge;
mod many;
mod memory;
mod process;
#[allow(missing_docs)]
pub mod remote;
#[allow(missing_docs)]
pub mod scenario;
mod scheduler;
mod story;
mod switch;
mod world;

pub use many::{many, many_remote, Summary};

use history::History;
use scenario::Scenario;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;

/// The run of a seed.
pub struct Run {
    /// The scenario of the seed.
    pub scenario: Rc<Scenario>,
    /// What happened.
    pub history: History,
    /// What should not have happened.
    pub violations: Vec<Violation>,
}

/// A promise that was broken.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The judge's file that found it, or `fault`.
    pub rule: &'static str,
    /// What happened, for people.
    pub what: String,
    /// The key concerned.
    pub key: Option<usize>,
    /// The lines between which it happened.
    pub lines: (u64, u64),
}

/// Runs the scenario of the seed.
pub fn run(seed: u64) -> Run {
    let scenario = Rc::new(Scenario::new(seed));
    let mut simulation = scheduler::Simulation::new(&scenario);
    let panicked = catch_unwind(AssertUnwindSafe(|| simulation.run())).is_err();
    let history = simulation.history.clone();
    drop(simulation);
    let mut history = history.take();
    if panicked {
        history.faults.push("a panic".into());
    }
    let violations = judge::judge(&scenario, &history);
    Run {
        scenario,
        history,
        violations,
    }
}

impl Run {
    /// True for a value larger than a block.
    pub fn is_large(&self, serial: history::Serial) -> bool {
        self.history.text(serial).len() as u64 > self.scenario.geometry.block_size
    }

    /// What went wrong, with the last lines before it; with all lines if `whole`.
    pub fn story(&self, whole: bool) -> String {
        story::tell(self, whole)
    }
}
