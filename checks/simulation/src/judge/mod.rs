//! Whether the run kept the promises of `spec/semantics.md`. One file per promise.

mod loads;
mod lost;
mod register;
mod takes;
mod waits;

use crate::history::{Call, History, Load, Outcome};
use crate::scenario::Scenario;
use crate::Violation;

/// The promises that were broken.
pub fn judge(scenario: &Scenario, history: &History) -> Vec<Violation> {
    let mut found: Vec<Violation> = history
        .faults
        .iter()
        .map(|fault| Violation {
            rule: "fault",
            what: fault.clone(),
            key: None,
            lines: (0, history.lines.len() as u64),
        })
        .collect();
    let view = View { scenario, history };
    for key in 0..scenario.keys.len() {
        register::judge(view, key, &mut found);
        takes::judge(view, key, &mut found);
        loads::judge(view, key, &mut found);
        waits::judge(view, key, &mut found);
    }
    lost::judge(view, &mut found);
    found
}

/// The data that the rules use.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub scenario: &'a Scenario,
    pub history: &'a History,
}

impl<'a> View<'a> {
    /// The loads of a key with their numbers.
    pub fn loads(self, key: usize) -> impl Iterator<Item = (usize, &'a Load)> + Clone {
        let all = self.history.loads.iter().enumerate();
        all.filter(move |(_, load)| load.key == key)
    }

    /// The loads whose leases look like the key's: leases are told apart by tags.
    pub fn alike(self, key: usize) -> impl Iterator<Item = &'a Load> + Clone {
        let tag = self.scenario.keys[key].tag;
        let all = self.history.loads.iter();
        all.filter(move |load| self.scenario.keys[load.key].tag == tag)
    }

    /// Whether no other key's leases look like the key's.
    pub fn is_unlike_others(self, key: usize) -> bool {
        let tag = self.scenario.keys[key].tag;
        self.scenario
            .keys
            .iter()
            .filter(|other| other.tag == tag)
            .count()
            == 1
    }

    /// Whether the caller was waiting for this load of another process when the load ended.
    pub fn waited_for(self, call: &Call, load: &Load) -> bool {
        call.parts.iter().any(|part| {
            part.at < load.ending
                && self.history.waits.iter().any(|wait| {
                    wait.flight == part.flight
                        && Some(wait.holder) == load.holder
                        && wait.at < load.ending
                })
        })
    }

    /// Whether a set, delete or clear that invalidates loads of the key was in progress between these
    /// lines.
    pub fn invalidated(self, key: usize, from: u64, to: u64) -> bool {
        self.history.writes.iter().any(|write| {
            write.start < to && write.end > from && write.invalidates(self.scenario, key)
        })
    }

    /// Whether a load of the key was stored between these lines.
    pub fn filled(self, key: usize, from: u64, to: u64) -> bool {
        self.alike(key).any(|load| {
            // If it was killed or stopped halfway through its fill, it may have stored its value.
            let may_have = matches!(
                load.outcome,
                Outcome::Filled | Outcome::Killed | Outcome::Running
            );
            may_have && load.ending < to && load.ended > from
        })
    }

    /// Whether a load of the key ended in any way between these lines.
    pub fn ended(self, key: usize, from: u64, to: u64) -> bool {
        self.alike(key)
            .any(|load| load.ending < to && load.ended > from)
    }
}
