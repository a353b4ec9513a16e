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

/// The prefix of full keys of locks in the namespace of this prefix: that of a namespace `%lock` below
/// it. No part has that name, because every `%` of a part is escaped.
#[must_use]
pub fn lock_prefix(prefix: &[u8]) -> Vec<u8> {
    let parts = prefix.strip_suffix(b"::").unwrap_or(prefix);
    let colon: &[u8] = if parts.is_empty() { b"" } else { b":" };
    [parts, colon, b"%lock::"].concat()
}

/// The namespace's parts and the key of a full key; `None` for bytes that are not a full key.
#[must_use]
pub fn split(full_key: &[u8]) -> Option<(Vec<String>, &[u8])> {
    let end = full_key.windows(2).position(|pair| pair == b"::")?;
    let (prefix, key) = (&full_key[..end], &full_key[end + 2..]);
    if prefix.is_empty() {
        return Some((Vec::new(), key));
    }
    let prefix = std::str::from_utf8(prefix).ok()?;
    let parts: Option<Vec<_>> = prefix.split(':').map(unescape).collect();
    Some((parts?, key))
}

/// A namespace's part; `None` for text that [`prefix`] never produces.
fn unescape(part: &str) -> Option<String> {
    let mut pieces = part.split('%');
    let mut out = pieces.next()?.to_owned();
    for piece in pieces {
        let (byte, rest) = match (piece.strip_prefix("25"), piece.strip_prefix("3A")) {
            (Some(rest), _) => ('%', rest),
            (_, Some(rest)) => (':', rest),
            _ => return None,
        };
        out.push(byte);
        out.push_str(rest);
    }
    (!out.is_empty()).then_some(out)
}

/// The prefixes of all namespaces that enclose a full key, the root's first.
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
    fn locks_have_a_namespace_that_nobody_else_has() {
        for parts in [&[][..], &["shop"], &["shop", "%lock"]] {
            let locks = lock_prefix(&prefix(parts).unwrap());
            assert!(split(&locks).is_none() && locks.ends_with(b"%lock::"));
        }
        assert_eq!(lock_prefix(b"::"), b"%lock::");
        assert_eq!(lock_prefix(b"shop::"), b"shop:%lock::");
    }

    #[test]
    fn what_is_no_full_key_is_not_split() {
        // No "::", empty parts, escapes that are never written, text that is not UTF-8.
        for bytes in [
            &b"a:b"[..],
            b":a::k",
            b"a%::k",
            b"a%3a::k",
            b"%41::k",
            b"a:%2::k",
            b"\xFF::k",
        ] {
            assert_eq!(split(bytes), None, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn an_empty_part_is_refused() {
        assert_eq!(prefix(&["a", ""]).unwrap_err().code(), "invalid_argument");
    }
}
