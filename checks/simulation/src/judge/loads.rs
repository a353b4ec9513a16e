//! Loads: a write during one wins, a living holder keeps its lease, and there are no more loads than
//! promised.

use super::View;
use crate::history::{Load, Outcome, Right, Written};
use crate::world::TICK;
use crate::Violation;

pub fn judge(view: View<'_>, key: usize, found: &mut Vec<Violation>) {
    for (number, load) in view.loads(key) {
        let problem = overwrites(view, load)
            .or_else(|| refused_for_nothing(view, load))
            .or_else(|| takes_a_lease(view, load))
            .or_else(|| impatient(view, load))
            .or_else(|| too_soon(view, load))
            .or_else(|| third_load(view, load))
            .or_else(|| bypasses(view, load));
        if let Some(what) = problem {
            found.push(Violation {
                rule: "loads",
                what: format!("key {key}: load {number} ({}) {what}", load.value),
                key: Some(key),
                lines: (load.asked, load.ended.min(view.history.lines.len() as u64)),
            });
        }
    }
}

/// A set, delete or take during the load wins: no value is stored over it. (After a clear a value may be
/// stored, but is not served.)
fn overwrites(view: View<'_>, load: &Load) -> Option<String> {
    let during = view.history.writes.iter().find(|write| {
        !matches!(write.what, Written::Clear(_))
            && write.touches(view.scenario, load.key)
            && load.born < write.start
            && write.end < load.ending
    });
    let during = during.filter(|_| load.outcome == Outcome::Filled)?;
    Some(format!(
        "was stored over {:?}, written meanwhile",
        during.what
    ))
}

/// A load is refused only when the key was set, deleted, cleared or filled, or when a survey's target lies
/// above its count of clears. A load beside another is also refused when that one ended.
fn refused_for_nothing(view: View<'_>, load: &Load) -> Option<String> {
    if load.outcome != Outcome::Refused || view.scenario.is_crowded() {
        return None;
    }
    // The holder may be a set, or a caller that gave way to another before it could begin. If the holder
    // is dead, any caller may take its slot.
    let holder = view
        .alike(load.key)
        .find(|other| other.right == Right::Lease && other.holder == load.holder)?;
    if holder.outcome == Outcome::Killed {
        return None;
    }
    if is_surveyed(view, load) {
        return None;
    }
    let (from, to) = (load.asked, load.ended);
    let mut others = view
        .alike(load.key)
        .filter(|other| other.value != load.value);
    let caused = view.invalidated(load.key, from, to)
        || others.any(|other| {
            let stored = matches!(
                other.outcome,
                Outcome::Filled | Outcome::Killed | Outcome::Running
            );
            other.ending < to && other.ended > from && (stored || load.right == Right::Beside)
        });
    (!caused).then(|| "was refused, though the key had not changed".to_owned())
}

/// A lease is granted only when no living process holds one, however old.
fn takes_a_lease(view: View<'_>, load: &Load) -> Option<String> {
    if load.right != Right::Lease || view.scenario.is_crowded() {
        return None;
    }
    let (number, other) = view.loads(load.key).find(|(_, other)| {
        other.right == Right::Lease
            && other.value != load.value
            && other.born < load.asked
            && other.ending > load.born
    })?;
    let invalidated = view.invalidated(load.key, other.asked, load.born)
        || view.filled(load.key, other.asked, load.born);
    (!invalidated).then(|| format!("took the lease of load {number}, whose holder lives"))
}

/// No caller loads beside a load that is younger than `lease_timeout`, unless it waited for another load
/// before.
fn impatient(view: View<'_>, load: &Load) -> Option<String> {
    let is_of = |other: &Load| other.right == Right::Lease && other.holder == load.holder;
    let (number, holder) = view.loads(load.key).find(|(_, other)| is_of(other))?;
    if load.right != Right::Beside {
        return None;
    }
    let flight = view.history.calls[load.call].parts.last()?.flight;
    let in_vain = view.history.waits.iter().any(|wait| {
        wait.flight == flight && Some(wait.holder) != load.holder && wait.at < load.asked
    });
    let since = view.history.lines[holder.asked as usize].time;
    let is_young = load.began - since < u64::from(view.scenario.lease_ticks()) * TICK;
    (is_young && !in_vain).then(|| format!("did not wait for load {number}"))
}

/// A survey's target lay above the load's count of clears: it stores nothing, and callers do not join it.
fn is_surveyed(view: View<'_>, load: &Load) -> bool {
    let surveyed = &view.history.surveyed;
    load.holder.is_some_and(|holder| surveyed.contains(&holder))
}

/// A process begins a load only if there was none in the last `lease_timeout`, or something happened to
/// the key since.
fn too_soon(view: View<'_>, load: &Load) -> Option<String> {
    let (number, before) = view
        .loads(load.key)
        .filter(|(_, other)| other.who.process == load.who.process && other.born < load.born)
        .max_by_key(|(_, other)| other.born)?;
    let lease_timeout = view.scenario.lease_timeout.as_nanos() as u64;
    let is_soon = load.began - before.began < lease_timeout
        && before.right != Right::None
        && load.right != Right::None
        && !view.scenario.is_crowded();
    // A caller that was already waiting then was waiting for yet another load.
    let led = view.history.calls[load.call].parts.last();
    let since = led.map_or(before.asked, |part| part.at.min(before.asked));
    let caused =
        view.invalidated(load.key, since, load.born) || view.ended(load.key, since, load.born);
    (is_soon && !caused && !is_surveyed(view, before))
        .then(|| format!("began beside load {number} of the same process"))
}

/// When a load fails, a process runs one more for the callers that were there.
fn third_load(view: View<'_>, load: &Load) -> Option<String> {
    let lease_timeout = view.scenario.lease_timeout.as_nanos() as u64;
    let there = |load: &Load, failed: &Load| {
        let call = &view.history.calls[load.call];
        load.born > failed.ended && view.waited_for(call, failed)
    };
    let (failed, second) = view
        .loads(load.key)
        .filter(|(_, failed)| failed.outcome == Outcome::Failed && there(load, failed))
        .find_map(|(number, failed)| {
            let second = view.loads(load.key).find(|(_, other)| {
                other.who.process == load.who.process
                    && other.born < load.born
                    && there(other, failed)
                    && other.outcome == Outcome::Failed
                    && other.right != Right::None
            });
            second.map(|(second, _)| ((number, failed), second))
        })?;
    let (number, failed) = failed;
    let is_soon = load.began - failed.ended_at < lease_timeout;
    let invalidated = view.invalidated(load.key, failed.asked, load.born);
    let cancelled = view.loads(load.key).any(|(_, other)| {
        matches!(other.outcome, Outcome::Cancelled | Outcome::Killed)
            && other.ended > failed.asked
            && other.ending < load.born
    });
    (is_soon && !invalidated && !cancelled && !view.scenario.is_crowded()).then(|| {
        format!("is the second of its process, after load {second}, for callers that waited for load {number}, which failed")
    })
}

/// No caller loads without a lease while there is room for one.
fn bypasses(view: View<'_>, load: &Load) -> Option<String> {
    let has_room = !view.scenario.is_crowded() && view.scenario.chaos.reused_ids == 0;
    (load.right == Right::None && has_room)
        .then(|| "had no lease, though there was room".to_owned())
}
