//! Full keys: namespace parts, escaped, then `::`, then the key (`spec/keys.md`).

use crate::error::Error;
use smallvec::SmallVec;

/// Longest full key that needs no allocation.
pub(crate) const INLINE: usize = 128;
/// A full key.
pub type KeyBuffer = SmallVec<[u8; INLINE]>;

/// The prefix of a namespace: its escaped parts joined by `:`, then `::`.
///
/// # Errors
/// `InvalidArgument` for an empty part.
pub fn prefix<S: AsRef<str>>(parts: &[S]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let part = part.as_ref();
        if part.is_empty() {
            return Err(Error::InvalidArgument(
                "a namespace part is empty; leave it out".into(),
            ));
        }
        if place > 0 {
            out.push(b':');
        }
        for byte in part.bytes() {
            match byte {
                b'%' => out.extend_from_slice(b"%25"),
                b':' => out.extend_from_slice(b"%3A"),
                other => out.push(other),
            }
        }
    }
    out.extend_from_slice(b"::");
    Ok(out)
}

/// The namespace's parts and the key of a full key; `None` for bytes that are no full key.
#[must_use]
pub fn split(full_key: &[u8]) -> Option<(Vec<String>, &[u8])> {
    let end = full_key.windows(2).position(|pair| pair == b"::")?;
    let (prefix, key) = (&full_key[..end], &full_key[end + 2..]);
    if prefix.is_empty() {
        return Some((Vec::new(), key));
    }
    let prefix = std::str::from_utf8(prefix).ok()?;
    // In this order, so that the colon of an escaped "%3A" does not come of it.
    let unescape = |part: &str| part.replace("%3A", ":").replace("%25", "%");
    Some((prefix.split(':').map(unescape).collect(), key))
}

/// The prefixes of all namespaces around a full key, the root's first.
pub fn ancestors(full_key: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let end = full_key
        .windows(2)
        .position(|pair| pair == b"::")
        .unwrap_or(0);
    let parts = &full_key[..end];
    let ends = parts
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b':')
        .map(|(place, _)| place)
        .chain((end > 0).then_some(end));
    std::iter::once(b"::".to_vec()).chain(ends.map(move |end| {
        let mut prefix = parts[..end].to_vec();
        prefix.extend_from_slice(b"::");
        prefix
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn full(parts: &[String], key: &str) -> Vec<u8> {
        let mut out = prefix(parts).unwrap();
        out.extend_from_slice(key.as_bytes());
        out
    }

    proptest! {
        #[test]
        fn no_two_pairs_share_a_full_key(
            a in prop::collection::vec("[a:%]{1,3}", 0..4), x in "[a:%]{0,5}",
            b in prop::collection::vec("[a:%]{1,3}", 0..4), y in "[a:%]{0,5}",
        ) {
            prop_assert_eq!(full(&a, &x) == full(&b, &y), a == b && x == y);
        }

        #[test]
        fn a_full_key_splits_into_what_made_it(parts in prop::collection::vec("[a:%253A]{1,5}", 0..4), key in "[a:%]{0,5}") {
            let full = full(&parts, &key);
            prop_assert_eq!(split(&full), Some((parts, key.as_bytes())));
        }

        #[test]
        fn a_full_key_names_its_ancestors(parts in prop::collection::vec("[a:%]{1,3}", 0..4), key in "[a:%]{0,5}") {
            let want: Vec<_> = (0..=parts.len()).map(|n| prefix(&parts[..n]).unwrap()).collect();
            prop_assert_eq!(ancestors(&full(&parts, &key)).collect::<Vec<_>>(), want);
        }
    }

    #[test]
    fn an_empty_part_is_refused() {
        assert_eq!(prefix(&["a", ""]).unwrap_err().code(), "invalid_argument");
    }
}
