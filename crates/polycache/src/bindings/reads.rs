//! Cached reads of the user's own keys, which go out by a language's own client (`spec/reads.md`).

pub use crate::tier::{ReadBegun, ReadOrigin, ReadTicket};
pub use polycache_remote::{Uncached, MOST_KEYS};

use crate::tier::Reads;
use crate::{Cache, Error};
use polycache_remote::Prefixes;
use std::time::Duration;

/// The cached reads of a handle with a server. A read has a `name`, which holds the whole command and the shape of its
/// reply, and names `keys` of the server: a write of one of them voids the reply.
pub struct CachedReads(Reads);

impl CachedReads {
    /// Those of keys with these prefixes.
    ///
    /// # Errors
    /// `InvalidArgument` for a cache without a server.
    pub fn new(cache: &Cache, prefixes: Vec<Vec<u8>>) -> Result<CachedReads, Error> {
        match cache.tier().remote() {
            Some(remote) => Ok(CachedReads(Reads::new(
                remote.clone(),
                Prefixes::new(prefixes),
            ))),
            None => Err(Error::InvalidArgument(
                "cached reads need a cache with the option remote".into(),
            )),
        }
    }

    /// Asks the server who it is, unless that is known. False: it does not answer.
    pub fn know(&self) -> bool {
        self.0.know()
    }

    /// Whether that is known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.0.is_known()
    }

    /// Appends the reply to `out` if it may be served without asking the server, and says where it was found.
    pub fn near(&self, name: &[u8], keys: &[&[u8]], out: &mut Vec<u8>) -> Option<ReadOrigin> {
        self.0.near(name, keys, out)
    }

    /// Whether a reply that was found there may be served again.
    #[inline]
    #[must_use]
    pub fn stands(&self, origin: &ReadOrigin) -> bool {
        self.0.stands(origin)
    }

    /// Tells the near tier that a reply is in use.
    pub fn mark_visited(&self, origin: &ReadOrigin) {
        self.0.mark_visited(origin);
    }

    /// Begins a read, whose caller has waited for others for so long.
    #[must_use]
    pub fn begin(&self, name: &[u8], keys: &[&[u8]], waited: Duration) -> ReadBegun {
        self.0.begin(name, keys, waited)
    }

    /// Ends a read with its reply, and when that expires (milliseconds since 1970; 0: never); `None`: it is not to be
    /// kept. `answer` is what GETEX of [`ReadTicket::asks`] found on the same connection after the read. True if the reply
    /// is kept.
    pub fn fill(
        &self,
        name: &[u8],
        keys: &[&[u8]],
        ticket: ReadTicket,
        answer: Option<&[u8]>,
        reply: Option<(&[u8], u64)>,
    ) -> bool {
        self.0.fill(name, keys, ticket, answer, reply)
    }

    /// Ends a read without a reply.
    pub fn fail(&self, name: &[u8], keys: &[&[u8]], ticket: ReadTicket) {
        self.0.fail(name, keys, ticket);
    }

    /// Removes what is kept of reads of this key, from this host.
    pub fn forget(&self, key: &[u8]) {
        self.0.forget(key);
    }
}
