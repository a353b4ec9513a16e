//! Whether the run kept the promise of `spec/remote.md`.

use super::scenario::Scenario;
use super::truth::{CachedRead, Read, Serial, State, Time, Truth};

/// The promises that were broken.
pub fn judge(scenario: &Scenario, truth: &Truth) -> Vec<String> {
    let mut found = Vec::new();
    for host in 0..scenario.hosts {
        for key in 0..scenario.keys.len() {
            reads(scenario, truth, host, key, &mut found);
        }
    }
    for host in 0..scenario.hosts {
        cached_reads(scenario, truth, host, &mut found);
    }
    for span in &truth.spans {
        if span.took > span.most {
            found.push(format!(
                "a {} took {} ns, at most {} are promised",
                span.what, span.took, span.most
            ));
        }
    }
    if scenario.is_stampede() {
        for key in 0..scenario.keys.len() {
            let loads = truth.loads.iter().filter(|load| load.key == key).count();
            if loads > 1 {
                found.push(format!("k{key} was loaded {loads} times"));
            }
        }
    }
    found
}

/// The intervals in which the key had this value on its primary: begin, end, and whether a clear ended it.
fn intervals(
    states: &[State],
    value: Option<Serial>,
) -> impl Iterator<Item = (Time, Time, bool)> + '_ {
    states.iter().enumerate().filter_map(move |(place, state)| {
        let next = states.get(place + 1);
        let end = next.map_or(Time::MAX, |next| next.at);
        let by_clear = next.is_some_and(|next| next.by_clear);
        (state.value == value).then_some((state.at, end, by_clear))
    })
}

/// The reads of a host's callers. Each is of a value that stood, on its primary, at some time between
/// the *lower* bound and its end. The lower bound is the latest of: what `max_staleness` allows a copy,
/// the host's own writes that were acknowledged before the read began, and the values that earlier
/// reads of the host returned.
fn reads(scenario: &Scenario, truth: &Truth, host: usize, key: usize, found: &mut Vec<String>) {
    let staleness = scenario.staleness.as_nanos() as u64;
    let mut reads: Vec<&Read> = truth
        .reads
        .iter()
        .filter(|read| read.key == key && read.host == host)
        .collect();
    reads.sort_by_key(|read| read.end);
    // When each of them ended, and since when at the earliest what it showed had been so.
    let mut seen: Vec<(Time, Time)> = truth
        .acks
        .iter()
        .filter(|ack| ack.key == key && ack.host == host)
        .filter_map(|ack| {
            intervals(&truth.states[key], ack.value)
                .find(|(from, to, _)| *from <= ack.end && *to > ack.begin)
                .map(|(from, ..)| (ack.end, from.max(ack.begin)))
        })
        .collect();
    for read in reads {
        let known = seen
            .iter()
            .filter(|(end, _)| *end < read.begin)
            .map(|(_, from)| *from)
            .max()
            .unwrap_or(0);
        // A read of the server may know a floor by its copy.
        let oldest = |by_clear| match read.near || by_clear {
            true => read.begin.saturating_sub(staleness),
            false => read.begin,
        };
        let lower = known.max(oldest(false));
        let stood = intervals(&truth.states[key], read.value)
            .find(|(from, to, by_clear)| *from <= read.end && *to >= known.max(oldest(*by_clear)));
        let flushed = scenario.nodes > 1
            && truth
                .flushes
                .iter()
                .any(|at| (read.begin..=read.end).contains(at));
        match (stood, read.value) {
            (None, Some(_)) if flushed => {}
            (Some((from, ..)), Some(_)) => seen.push((read.end, from)),
            (None, Some(serial)) => found.push(format!(
                "h{host} k{key}: v{serial} was read between {} and {} ({}), but not so since {lower}",
                read.begin,
                read.end,
                if read.near { "a copy" } else { "from the server" },
            )),
            (None, None) if scenario.loses_nothing() => found.push(format!(
                "h{host} k{key}: a miss between {} and {}, though there was a value",
                read.begin, read.end
            )),
            _ => {}
        }
    }
}

/// The cached reads of a host's callers: as [`reads`], but that the host's own writes may be as old as others', and that
/// a read goes back behind none of the same keys.
fn cached_reads(scenario: &Scenario, truth: &Truth, host: usize, found: &mut Vec<String>) {
    let staleness = scenario.staleness.as_nanos() as u64;
    let of_host = |one: &&CachedRead| one.read.host == host;
    let mut all: Vec<&CachedRead> = truth.cached_reads.iter().filter(of_host).collect();
    all.sort_by_key(|one| one.read.end);
    let mut seen: Vec<(u64, usize, Time, Time)> = Vec::new();
    for CachedRead { of, read } in all {
        let same = |one: &&(u64, usize, Time, Time)| (one.0, one.1) == (*of, read.key);
        let before = seen.iter().filter(same).filter(|one| one.2 < read.begin);
        let known = before.map(|one| one.3).max().unwrap_or(0);
        let bound = read.begin.saturating_sub(staleness);
        // Some clients of a host may speak to a new primary while others, and its listener, still speak to the old one.
        let mut failovers = truth.failovers.iter();
        let is_split = scenario.late > 0 && failovers.any(|at| (bound..=read.end).contains(at));
        let lower = match read.near {
            true if is_split => bound,
            true => known.max(bound),
            false => known.max(read.begin),
        };
        match intervals(&truth.records[read.key], read.value)
            .find(|(from, to, _)| *from <= read.end && *to >= lower)
        {
            Some((from, ..)) => seen.push((*of, read.key, read.end, from)),
            // Nobody notes when a server removes what has expired.
            None if read.value.is_none() && scenario.expiring > 0 => {}
            None => found.push(format!(
                "h{host} k{}: a cached read of {of:b} found {:?} between {} and {} ({}), but it was not so since {lower}",
                read.key,
                read.value,
                read.begin,
                read.end,
                if read.near { "a copy" } else { "from the server" },
            )),
        }
    }
}
