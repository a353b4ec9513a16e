//! Prefixes of keys, as a server takes them: none begins with another.

/// Prefixes that are kept apart; more than these become the empty one.
pub const MOST_PREFIXES: usize = 64;

/// A set of prefixes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes(Vec<Vec<u8>>);

impl Prefixes {
    /// Without those that begin with another one of them.
    #[must_use]
    pub fn new(mut all: Vec<Vec<u8>>) -> Prefixes {
        // What begins with a prefix is sorted right behind it.
        all.sort_unstable();
        all.dedup_by(|next, kept| next.starts_with(kept));
        if all.len() > MOST_PREFIXES {
            all = vec![Vec::new()];
        }
        Prefixes(all)
    }

    /// All that either of them covers.
    #[must_use]
    pub fn join(&self, more: impl IntoIterator<Item = Vec<u8>>) -> Prefixes {
        Prefixes::new(self.0.iter().cloned().chain(more).collect())
    }

    /// Whether a key begins with one of them.
    #[must_use]
    pub fn cover(&self, key: &[u8]) -> bool {
        self.0.iter().any(|prefix| key.starts_with(prefix))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The prefixes.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice)
    }

    pub(super) fn pack(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for prefix in &self.0 {
            bytes.extend_from_slice(&(prefix.len() as u32).to_le_bytes());
            bytes.extend_from_slice(prefix);
        }
        bytes
    }

    pub(super) fn unpack(mut bytes: &[u8]) -> Option<Prefixes> {
        let mut all = Vec::new();
        while let Some((length, rest)) = bytes.split_first_chunk() {
            let (prefix, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            all.push(prefix.to_vec());
            bytes = rest;
        }
        bytes.is_empty().then_some(Prefixes(all))
    }
}

impl FromIterator<Vec<u8>> for Prefixes {
    fn from_iter<I: IntoIterator<Item = Vec<u8>>>(all: I) -> Prefixes {
        Prefixes::new(all.into_iter().collect())
    }
}
