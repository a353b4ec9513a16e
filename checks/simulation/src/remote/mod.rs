//! Several hosts and a simulated Redis under one seeded scheduler and clock, over the production machines
//! (`polycache-remote`) and the production engine (`polycache-host`); and a judge that holds what the
//! callers saw against the promise of `spec/remote.md`.

mod caller;
mod host;
mod judge;
mod listener;
mod network;
mod reads;
mod scenario;
mod scheduler;
pub mod server;
mod truth;

pub use scenario::Scenario;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;

/// The run of a seed.
pub struct Run {
    /// The scenario of the seed.
    pub scenario: Rc<Scenario>,
    /// What happened, line by line; empty unless it was asked for.
    pub log: Vec<String>,
    /// How often things happened, by their names.
    pub met: std::collections::BTreeMap<&'static str, u64>,
    /// Promises that were broken.
    pub violations: Vec<String>,
}

/// Runs the scenario of the seed; with its log, if `whole`.
#[must_use]
pub fn run(seed: u64, whole: bool) -> Run {
    let scenario = Rc::new(Scenario::new(seed));
    let simulation = scheduler::Simulation::new(&scenario, whole);
    let network = simulation.network.clone();
    let mut simulation = Some(simulation);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        if let Some(mut simulation) = simulation.take() {
            simulation.run();
        }
    }))
    .is_err();
    let mut network = network.borrow_mut();
    let mut violations = judge::judge(&scenario, &network.truth);
    violations.append(&mut network.faults);
    if panicked {
        violations.push("a panic".into());
    }
    Run {
        scenario,
        log: std::mem::take(&mut network.log),
        met: std::mem::take(&mut network.met),
        violations,
    }
}

impl Run {
    /// What went wrong, and how to see it all.
    #[must_use]
    pub fn story(&self) -> String {
        let mut story = format!("remote seed {}:\n", self.scenario.seed);
        for violation in self.violations.iter().take(3) {
            story.push_str("  ");
            story.push_str(violation);
            story.push('\n');
        }
        story.push_str(&format!(
            "  replay: polycache-simulation --remote --seed {}",
            self.scenario.seed
        ));
        story
    }
}
