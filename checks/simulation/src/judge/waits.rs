//! Waiting is bounded, and callers of a failing source do not queue up one after the other.

use super::View;
use crate::history::{Answer, Call, Outcome};
use crate::scenario::MS;
use crate::Violation;

/// Nanoseconds that a caller's own steps may take.
const STEPS: u64 = 5 * MS;

pub fn judge(view: View<'_>, key: usize, found: &mut Vec<Violation>) {
    for call in view.history.calls.iter().filter(|call| call.key == key) {
        let problem = too_long(view, call)
            .or_else(|| too_short(view, call))
            .or_else(|| convoy(view, call));
        if let Some(what) = problem {
            let last = call.answer.map_or(u64::MAX, |answered| answered.at);
            found.push(Violation {
                rule: "waits",
                what: format!(
                    "key {key}: {:?}, which called at line {}, {what}",
                    call.who, call.start
                ),
                key: Some(key),
                lines: (call.start, last),
            });
        }
    }
}

/// Nanoseconds from the call to its answer, without those of its own loader.
fn waited(call: &Call) -> Option<(u64, u64)> {
    let answered = call.answer?;
    let waited = (answered.time - call.began).saturating_sub(call.own);
    Some((waited, answered.late - call.late))
}

/// A caller waits for others for at most `wait_timeout`. Time for which it was kept from running does
/// not count.
fn too_long(view: View<'_>, call: &Call) -> Option<String> {
    let (waited, late) = waited(call)?;
    let bound = view.scenario.wait_timeout.as_nanos() as u64 + late + STEPS;
    (waited > bound).then(|| format!("waited {} ms", waited / MS))
}

/// No caller gives up earlier.
fn too_short(view: View<'_>, call: &Call) -> Option<String> {
    let answered = call.answer?;
    let waited = answered.time - call.began;
    let early = waited < view.scenario.wait_timeout.as_nanos() as u64;
    (answered.answer == Answer::TimedOut && early)
        .then(|| format!("gave up after {} ms", waited / MS))
}

/// A caller that waited for a failed load is answered within the time of one more loader.
fn convoy(view: View<'_>, call: &Call) -> Option<String> {
    let (work, loaders) = (view.scenario.work, view.scenario.loaders);
    let is_outage = loaders.failing == 100 && work.set + work.delete + work.take + work.clear == 0;
    let is_clear = view.scenario.is_calm() && view.is_unlike_others(call.key);
    if !is_outage || !is_clear || loaders.hanging > 0 {
        return None;
    }
    let longest = view.loads(call.key).map(|(_, load)| load.takes).max()?;
    let (number, failed) = view
        .loads(call.key)
        .find(|(_, load)| load.outcome == Outcome::Failed && view.waited_for(call, load))?;
    let (time, late) = match call.answer {
        Some(answered) => (answered.time, answered.late - call.late),
        None => (u64::MAX, 0),
    };
    // Two pauses of the waiting caller, and the time for which the caller that it joined was kept from
    // running.
    let bound = failed.ended_at + longest + 150 * MS + late;
    (time > bound).then(|| {
        format!(
            "was answered {} ms after load {number} failed",
            (time - failed.ended_at) / MS
        )
    })
}
