//! Replies in the memory of this process, each served while a read on this host would find it.

use super::cached_reads::Reply;
use super::json::JsonReply;
use crate::memory::Bounds;
use crate::random::one_in_16;
use crate::tier::{ReadOrigin, Reads, OVERHEAD};
use crate::Error;
use polycache_memory::MemoryCache;
use redis::{Cmd, Value};
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// What a reply became.
pub(super) trait Form: Clone + Send + Sync + 'static {
    /// Bytes that it takes in memory, about.
    fn size(&self) -> usize;
}

impl Form for Arc<Reply> {
    fn size(&self) -> usize {
        size_of(&self.value)
    }
}

impl Form for Arc<JsonReply> {
    fn size(&self) -> usize {
        self.bytes().len()
    }
}

/// Replies in one form, by their commands.
pub(super) struct KeptReplies<F>(MemoryCache<Box<[u8]>, Kept<F>>);

impl<F> fmt::Debug for KeptReplies<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptReplies").finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct Kept<F> {
    form: F,
    origin: ReadOrigin,
}

thread_local! {
    static PACKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl<F: Form> KeptReplies<F> {
    /// # Errors
    /// `InvalidArgument` for bounds of 0.
    pub fn new(bounds: Bounds) -> Result<KeptReplies<F>, Error> {
        let kept = MemoryCache::<Box<[u8]>, Kept<F>>::builder()
            .max_entries(bounds.max_entries)
            .max_bytes(bounds.max_bytes)
            .weigher(|command, kept: &Kept<F>| {
                (command.len() + kept.form.size() + std::mem::size_of::<Kept<F>>()) as u64
                    + OVERHEAD
            });
        Ok(KeptReplies(kept.build()?))
    }

    /// What may be served for a command.
    #[inline]
    pub fn get(&self, reads: &Reads, command: &Cmd) -> Option<F> {
        PACKED.with_borrow_mut(|packed| {
            packed.clear();
            command.write_packed_command(packed);
            self.0.get_with(packed.as_slice(), |kept| {
                if !reads.stands(&kept.origin) {
                    return None;
                }
                // Otherwise what is read most looks unused to the host tier.
                if one_in_16() {
                    reads.mark_visited(&kept.origin);
                }
                Some(kept.form.clone())
            })
        })
    }

    /// Keeps what came of a reply that was found there. What is too heavy is read on the host every time.
    pub fn put(&self, command: &[u8], form: &F, origin: &ReadOrigin) {
        let kept = Kept {
            form: form.clone(),
            origin: origin.clone(),
        };
        let _ = self.0.set(command.into(), kept);
    }

    pub fn clear(&self) {
        self.0.clear();
    }
}

fn size_of(value: &Value) -> usize {
    std::mem::size_of::<Value>()
        + match value {
            Value::BulkString(bytes) => bytes.len(),
            Value::SimpleString(text) | Value::VerbatimString { text, .. } => text.len(),
            Value::Array(list) | Value::Set(list) => list.iter().map(size_of).sum(),
            Value::Map(pairs) => (pairs.iter())
                .map(|(name, value)| size_of(name) + size_of(value))
                .sum(),
            _ => 0,
        }
}
