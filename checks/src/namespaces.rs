//! The namespaces of the keys, so that clears of one, of nested ones and of everything contend with
//! writes. The workers of the other languages have the same four, in this order.

use polycache::{Cache, Error};

/// The parts of each namespace, from the root on.
const NAMESPACES: [&[&str]; 4] = [&[], &["a"], &["a", "b"], &["c"]];

/// Number of namespaces.
pub const COUNT: u8 = NAMESPACES.len() as u8;

/// The number of a key's own namespace.
pub fn of(key: u8) -> u8 {
    key % COUNT
}

/// True when a clear of this namespace clears the key.
pub fn covers(namespace: u8, key: u8) -> bool {
    let outer = NAMESPACES[usize::from(namespace % COUNT)];
    NAMESPACES[usize::from(of(key))].starts_with(outer)
}

/// Its name in a story.
pub fn name(namespace: u8) -> String {
    match NAMESPACES[usize::from(namespace % COUNT)] {
        [] => "everything".into(),
        parts => parts.join(":"),
    }
}

/// A key's full name (`spec/keys.md`).
pub fn full_key(namespace: u8, key: &str) -> String {
    let parts = NAMESPACES[usize::from(namespace % COUNT)];
    format!("{}::{key}", parts.join(":"))
}

/// The caches of all namespaces, by number.
pub fn open(cache: &Cache) -> Result<Vec<Cache>, Error> {
    let nested = |parts: &&[&str]| {
        parts
            .iter()
            .try_fold(cache.clone(), |outer, part| outer.namespace(*part))
    };
    NAMESPACES.iter().map(nested).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_covers_what_is_nested_in_it() {
        let covered = |namespace| (0..COUNT).filter(|key| covers(namespace, *key)).collect();
        let all: Vec<Vec<u8>> = (0..COUNT).map(covered).collect();
        assert_eq!(all, [vec![0, 1, 2, 3], vec![1, 2], vec![2], vec![3]]);
    }
}
