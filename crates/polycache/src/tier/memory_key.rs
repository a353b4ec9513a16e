//! Keys of the memory tier: a namespace and the key's bytes.

use super::memory_namespaces::Namespace;
use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A key that is stored. It keeps its namespace, which stays known as long as it has entries.
#[derive(Clone)]
pub(crate) struct Key {
    pub namespace: Arc<Namespace>,
    /// The namespace's generation when it was made: entries of an earlier one were cleared.
    pub generation: u64,
    pub bytes: Box<[u8]>,
}

/// A key that is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a> {
    pub namespace: &'a Arc<Namespace>,
    pub generation: u64,
    pub bytes: &'a [u8],
}

/// What both have, so that looking for a key copies nothing.
pub(crate) trait Parts {
    fn query(&self) -> Query<'_>;
}

impl Parts for Key {
    #[inline]
    fn query(&self) -> Query<'_> {
        Query {
            namespace: &self.namespace,
            generation: self.generation,
            bytes: &self.bytes,
        }
    }
}

impl Parts for Query<'_> {
    #[inline]
    fn query(&self) -> Query<'_> {
        *self
    }
}

impl Query<'_> {
    pub fn to_key(self) -> Key {
        Key {
            namespace: self.namespace.clone(),
            generation: self.generation,
            bytes: self.bytes.into(),
        }
    }
}

/// Generations are never given twice, so they tell namespaces apart, too.
impl PartialEq for Query<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.generation == other.generation && self.bytes == other.bytes
    }
}

impl Hash for Query<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.generation);
        state.write(self.bytes);
    }
}

impl PartialEq for Key {
    #[inline]
    fn eq(&self, other: &Key) -> bool {
        self.query() == other.query()
    }
}

impl Eq for Key {}

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.query().hash(state);
    }
}

impl PartialEq for dyn Parts + '_ {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.query() == other.query()
    }
}

impl Eq for dyn Parts + '_ {}

impl Hash for dyn Parts + '_ {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.query().hash(state);
    }
}

impl<'a> Borrow<dyn Parts + 'a> for Key {
    #[inline]
    fn borrow(&self) -> &(dyn Parts + 'a) {
        self
    }
}

impl ToOwned for dyn Parts + '_ {
    type Owned = Key;

    fn to_owned(&self) -> Key {
        self.query().to_key()
    }
}
