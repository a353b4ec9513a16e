//! Loads of a store's keys: what the state machines of `polycache-operations` need from the host tier.

use crate::error::Error;
use crate::lease::{Lease, Token};
use crate::namespace::Namespace;
use crate::read::Hit;
use crate::store::Store;
use crate::word::Word;
use polycache_operations::{Holder, Lease as Answer, Leases};

/// A key of a store.
pub struct AtKey<'a> {
    /// The store.
    pub store: &'a Store,
    /// The key's namespace.
    pub namespace: &'a Namespace,
    /// The key, without its namespace.
    pub key: &'a [u8],
    /// A hit's entry is appended here.
    pub entry: &'a mut Vec<u8>,
    /// Where the hit was found.
    pub hit: Option<Hit>,
}

impl<'a> AtKey<'a> {
    /// A key, and the buffer that receives the entry found.
    pub fn new(
        store: &'a Store,
        namespace: &'a Namespace,
        key: &'a [u8],
        entry: &'a mut Vec<u8>,
    ) -> AtKey<'a> {
        AtKey {
            store,
            namespace,
            key,
            entry,
            hit: None,
        }
    }
}

/// Whether a lease was taken directly from another one: only a dead holder's is. A returned lease has
/// left its slot empty in between, which is one more generation.
#[must_use]
pub fn has_inherited(from: Holder, holder: Holder) -> bool {
    from.slot == holder.slot && Word(holder.word).follows(Word(from.word))
}

/// Whether the store is unusable after this error; otherwise the caller loads without it.
fn is_final(error: &Error) -> bool {
    matches!(error, Error::Closed | Error::InvalidArgument(_))
}

impl Leases for AtKey<'_> {
    type Fence = Token;
    type Error = Error;

    fn lease(&mut self) -> Result<Answer<Token>, Error> {
        let answer = self.ask();
        if matches!(answer, Ok(Answer::Acquired(_) | Answer::Bypass)) {
            self.count(Store::count_load);
        }
        answer
    }

    fn beside(&mut self, holder: Holder) -> Result<Option<Token>, Error> {
        let Holder { slot, word } = holder;
        match self.store.beside(self.namespace, self.key, slot, word) {
            Err(error) if !is_final(&error) => Ok(None),
            answer => {
                if matches!(answer, Ok(Some(_))) {
                    self.count(Store::count_load);
                }
                answer
            }
        }
    }

    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        has_inherited(from, holder)
    }

    fn fill(&mut self, fence: Token, entry: &[u8]) -> Result<bool, Error> {
        self.store.fill(self.namespace, self.key, fence, entry)
    }

    fn release(&mut self, fence: Token) {
        self.count(Store::count_failed_load);
        self.store.release(fence);
    }
}

impl AtKey<'_> {
    /// Counts what is about a load: a lock has none.
    fn count(&self, count: impl Fn(&Store)) {
        if !self.namespace.is_reserved() {
            count(self.store);
        }
    }

    fn ask(&mut self) -> Result<Answer<Token>, Error> {
        match self.store.lease(self.namespace, self.key, self.entry) {
            Ok(Lease::Hit(hit)) => {
                self.hit = Some(hit);
                Ok(Answer::Hit)
            }
            Ok(Lease::Acquired(token)) => Ok(Answer::Acquired(token)),
            Ok(Lease::Busy {
                slot,
                word,
                overdue,
            }) => Ok(Answer::Busy {
                holder: Holder { slot, word },
                overdue,
            }),
            Ok(Lease::Bypass) => Ok(Answer::Bypass),
            Err(error) if is_final(&error) => Err(error),
            // For example a forked child that cannot join the directory: its callers are served all the
            // same.
            Err(_) => Ok(Answer::Bypass),
        }
    }
}
