//! The number of evictions that a key's misses prove.

use crate::history::{Interval, KeyHistory};

/// A miss after the key certainly had a value, with no delete or clear that may have come between,
/// proves an eviction between the value's last sighting and the miss. Misses that one eviction explains
/// count once, so this is the smallest number of evictions that explains all misses.
pub fn needed_evictions(key: &KeyHistory) -> u64 {
    let sightings = LatestBegin::new(key.sightings.clone());
    // Of the removals that began before a miss ended, the latest end.
    let mut removals: Vec<Interval> = key.removals.iter().map(|removal| removal.at).collect();
    removals.sort_unstable_by_key(|removal| removal.begin);
    let latest_end: Vec<u64> = removals
        .iter()
        .scan(0, |latest, removal| {
            *latest = removal.end.max(*latest);
            Some(*latest)
        })
        .collect();

    let mut misses = key.misses.clone();
    misses.sort_unstable_by_key(|miss| miss.end);
    let mut evictions = 0;
    let mut last_eviction = 0;
    for miss in misses {
        let Some(seen) = sightings.before(miss.begin) else {
            continue;
        };
        let begun = removals.partition_point(|removal| removal.begin < miss.end);
        let removed = begun > 0 && latest_end[begun - 1] > seen;
        if !removed && seen >= last_eviction {
            evictions += 1;
            last_eviction = miss.end;
        }
    }
    evictions
}

/// Of the intervals that ended before a time, the latest begin.
struct LatestBegin {
    by_end: Vec<Interval>,
    latest: Vec<u64>,
}

impl LatestBegin {
    fn new(mut by_end: Vec<Interval>) -> LatestBegin {
        by_end.sort_unstable_by_key(|interval| interval.end);
        let latest = by_end
            .iter()
            .scan(0, |latest, interval| {
                *latest = interval.begin.max(*latest);
                Some(*latest)
            })
            .collect();
        LatestBegin { by_end, latest }
    }

    fn before(&self, time: u64) -> Option<u64> {
        let ended = self.by_end.partition_point(|interval| interval.end < time);
        self.latest.get(ended.checked_sub(1)?).copied()
    }
}
