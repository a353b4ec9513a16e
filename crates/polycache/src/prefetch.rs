//! Several keys in one call: what their reads touch is fetched from memory for some of them at once.

use crate::{Cache, Error};

/// Keys of one call whose memory is fetched at once: enough to hide its latency, few enough to stay in the
/// processor's first cache.
pub const PREFETCHED: usize = 32;

impl Cache {
    /// Calls `f` with each key, in order. What a read of it touches has been fetched from memory by then, for a few
    /// keys at once.
    pub(crate) fn each_prefetched<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        mut f: impl FnMut(K) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut keys = keys.into_iter();
        let mut batch = Vec::with_capacity(PREFETCHED.min(keys.size_hint().0));
        loop {
            batch.extend(keys.by_ref().take(PREFETCHED));
            if batch.is_empty() {
                return Ok(());
            }
            let mut bytes = batch.iter().map(|key| key.as_ref());
            self.tier().prefetch(&mut bytes);
            batch.drain(..).try_for_each(&mut f)?;
        }
    }
}
