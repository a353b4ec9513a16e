//! Answers that are kept while what they are made of stands, so that no request encodes anything.

use crate::Error;
use polycache::reads::JsonReply;
use polycache::{Cache, Version};
use polycache_http::{Policy, Representation};
use polycache_memory::MemoryCache;
use redis::Cmd;
use std::sync::Arc;

/// Bytes of them; a variant that is compressed later counts as the value itself.
const MOST_BYTES: u64 = 64 << 20;
/// What each takes beside its bytes, about.
const OVERHEAD: usize = 1024;

/// Both by the target that they were asked for by, so that it need not be read again.
pub(crate) struct Kept {
    pub replies: MemoryCache<Box<str>, Arc<KeptReply>>,
    pub entries: MemoryCache<Box<str>, Arc<KeptEntry>>,
}

/// A reply of Redis as an answer.
pub(crate) struct KeptReply {
    pub command: Cmd,
    /// What the representation is made of.
    pub json: Arc<JsonReply>,
    pub representation: Representation,
}

/// An entry of the cache as an answer.
pub(crate) struct KeptEntry {
    /// Its namespace.
    pub cache: Cache,
    pub key: Vec<u8>,
    pub version: Version,
    pub representation: Representation,
    pub policy: Policy,
}

impl Kept {
    pub fn new() -> Result<Kept, Error> {
        let weigh = |path: &str, value: &Representation| {
            (path.len() + OVERHEAD + 2 * value.bytes().len()) as u64
        };
        let replies = MemoryCache::<Box<str>, Arc<KeptReply>>::builder()
            .max_bytes(MOST_BYTES)
            .weigher(move |target, kept| weigh(target, &kept.representation))
            .build();
        let entries = MemoryCache::<Box<str>, Arc<KeptEntry>>::builder()
            .max_bytes(MOST_BYTES)
            .weigher(move |path, kept| weigh(path, &kept.representation))
            .build();
        let failed = |error: polycache_memory::Error| Error::InvalidArgument(error.to_string());
        Ok(Kept {
            replies: replies.map_err(failed)?,
            entries: entries.map_err(failed)?,
        })
    }
}
