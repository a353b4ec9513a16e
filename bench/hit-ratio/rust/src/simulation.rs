//! Lets policies meet workloads, on all cores.

use crate::policy::{Policy, Setting, Subject};
use crate::workload::{Trace, Workload};
use crate::Error;
use serde::Serialize;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What one policy made of one trace.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Name of the workload.
    pub workload: String,
    /// Name of the policy.
    pub policy: &'static str,
    /// Entries that fit.
    pub capacity: usize,
    /// The seed of the trace.
    pub round: u64,
    /// Requests in the trace.
    pub requests: usize,
    /// Requests that found their key.
    pub hits: usize,
    /// What a row says besides.
    pub notes: Vec<String>,
    /// Why there is no figure, if so.
    pub error: String,
    /// Share of the whole run that is done by this, for the time left.
    pub share: f64,
}

/// Every policy of `subjects` on every trace of `workloads`, in no particular order.
///
/// # Errors
/// When a trace cannot be had; a policy that cannot is an outcome that says so.
pub fn run(
    workloads: &[Workload],
    subjects: &[&Subject],
    report: &(dyn Fn(Outcome) + Sync),
) -> Result<(), Error> {
    let weight = |one: &Workload| one.seeds as f64 * one.requests as f64;
    let total: f64 = workloads.iter().map(weight).sum();
    for workload in workloads {
        let share = weight(workload) / total / workload.seeds as f64;
        for round in 0..workload.seeds {
            let trace = workload.source.trace(round)?;
            of_trace(workload, round, &trace, subjects, share, report);
        }
    }
    Ok(())
}

fn of_trace(
    workload: &Workload,
    round: u64,
    trace: &Trace,
    subjects: &[&Subject],
    share: f64,
    report: &(dyn Fn(Outcome) + Sync),
) {
    let capacities = workload.capacities.of(trace.keys);
    let jobs: Vec<(&Subject, usize)> = capacities
        .iter()
        .flat_map(|&capacity| subjects.iter().map(move |subject| (*subject, capacity)))
        .collect();
    each(&jobs, |&(subject, capacity)| {
        let setting = Setting {
            capacity,
            keys: trace.keys,
            requests: &trace.requests,
        };
        let (hits, error) = match (subject.build)(&setting) {
            Ok(mut policy) => (hits(&mut *policy, trace), String::new()),
            Err(error) => (0, error.to_string()),
        };
        let notes = [subject.note, &workload.note];
        report(Outcome {
            workload: workload.name.clone(),
            policy: subject.name,
            capacity,
            round,
            requests: trace.requests.len(),
            hits,
            notes: notes
                .iter()
                .filter(|note| !note.is_empty())
                .map(|&note| note.to_owned())
                .collect(),
            error,
            share: share / jobs.len() as f64,
        });
    });
}

/// Plays the trace; how many requests found their key.
pub fn hits(policy: &mut dyn Policy, trace: &Trace) -> usize {
    trace
        .requests
        .iter()
        .filter(|&&key| policy.access(key))
        .count()
}

/// Calls `act` with each job, on as many threads as there are cores.
fn each<T: Sync>(jobs: &[T], act: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    act(job);
                }
            });
        }
    });
}
