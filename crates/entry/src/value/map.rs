use super::Value;
use std::borrow::Cow;
use std::collections::hash_map::{Entry, HashMap};

type Pairs<'a> = Vec<(Cow<'a, str>, Value<'a>)>;

/// Comparing every pair of keys is cheaper than hashing them up to about here.
const FEW: usize = 16;

/// Keeps one pair per key: the place of its first, the value of its last, as an object in
/// JavaScript, a dict in Python and a Hash in Ruby do.
pub(crate) fn last_wins(mut pairs: Pairs<'_>) -> Pairs<'_> {
    let repeated = if pairs.len() <= FEW {
        compare_all(&pairs)
    } else {
        hash_all(&pairs)
    };
    if repeated.is_empty() {
        return pairs;
    }
    for again in &repeated {
        pairs[again.first].1 = std::mem::replace(&mut pairs[again.place].1, Value::Null);
    }
    let mut places = repeated.iter().map(|again| again.place).peekable();
    let mut place = 0;
    pairs.retain(|_| {
        let gone = places.next_if_eq(&place).is_some();
        place += 1;
        !gone
    });
    pairs
}

/// A key that stands at `first` stands at `place` again.
struct Again {
    first: usize,
    place: usize,
}

fn compare_all(pairs: &Pairs<'_>) -> Vec<Again> {
    let again = |(place, (key, _)): (usize, &(Cow<'_, str>, _))| {
        let first = pairs[..place].iter().position(|(other, _)| other == key)?;
        Some(Again { first, place })
    };
    pairs.iter().enumerate().filter_map(again).collect()
}

fn hash_all(pairs: &Pairs<'_>) -> Vec<Again> {
    // The standard hasher is keyed at random: no chosen keys make this slow.
    let mut firsts = HashMap::with_capacity(pairs.len());
    let mut repeated = Vec::new();
    for (place, (key, _)) in pairs.iter().enumerate() {
        match firsts.entry(key.as_ref()) {
            Entry::Vacant(vacant) => {
                vacant.insert(place);
            }
            Entry::Occupied(first) => repeated.push(Again {
                first: *first.get(),
                place,
            }),
        }
    }
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(keys: &[usize]) -> Pairs<'static> {
        let pair = |(place, key): (usize, &usize)| {
            (Cow::Owned(key.to_string()), Value::Int(place as i128))
        };
        keys.iter().enumerate().map(pair).collect()
    }

    #[test]
    fn the_last_value_takes_the_first_place() {
        let few = [1, 2, 1, 3, 2, 1];
        let kept = last_wins(pairs(&few));
        let expected = [("1", 5), ("2", 4), ("3", 3)];
        let expected = expected.map(|(key, value)| (Cow::Borrowed(key), Value::Int(value)));
        assert_eq!(kept, expected);
    }

    #[test]
    fn few_and_many_pairs_are_treated_alike() {
        let keys: Vec<usize> = (0..FEW * 4).map(|place| place * 7 % 13).collect();
        let many = pairs(&keys);
        let places = |repeated: Vec<Again>| -> Vec<_> {
            repeated
                .iter()
                .map(|again| (again.first, again.place))
                .collect()
        };
        assert_eq!(places(compare_all(&many)), places(hash_all(&many)));
        assert_eq!(last_wins(many).len(), 13);
    }
}
