use super::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

type Pairs<'a> = Vec<(Cow<'a, str>, Value<'a>)>;

/// Comparing every pair of keys is cheaper than hashing them up to about here.
const FEW: usize = 16;

/// Keeps one pair per key: the place of its first, the value of its last, as an object in
/// JavaScript, a dict in Python and a Hash in Ruby do.
pub(crate) fn last_wins(pairs: Pairs<'_>) -> Pairs<'_> {
    if all_differ(&pairs) {
        return pairs;
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kept: Pairs<'_> = Vec::new();
    for (key, value) in pairs {
        if let Some(&place) = places.get(key.as_ref()) {
            kept[place].1 = value;
        } else {
            places.insert(key.to_string(), kept.len());
            kept.push((key, value));
        }
    }
    kept
}

fn all_differ(pairs: &Pairs<'_>) -> bool {
    if pairs.len() <= FEW {
        return pairs
            .iter()
            .enumerate()
            .all(|(at, (key, _))| pairs[..at].iter().all(|(earlier, _)| earlier != key));
    }
    // The standard hasher is keyed at random: no chosen keys make this slow.
    let mut seen = HashSet::with_capacity(pairs.len());
    pairs.iter().all(|(key, _)| seen.insert(key.as_ref()))
}
