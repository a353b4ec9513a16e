//! What a caller that would load a key gets.

use polycache_host::Token;

/// The answer of [`Cache::lease_with`](crate::Cache::lease_with).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leased<R> {
    /// The value is there; this is what the closure made of it.
    Hit(R),
    /// The caller loads; then it fills or releases, also when the load fails.
    Acquired(Token),
    /// Another caller loads. Wait and ask again; whoever joins its load inside this process does so
    /// only while [`Cache::lease_stands`](crate::Cache::lease_stands) for these two.
    Busy {
        /// The lease's place.
        slot: u64,
        /// The lease's word.
        word: u64,
    },
    /// There is no room for a lease: load without, and do not store.
    Bypass,
}

impl<R> Leased<R> {
    #[inline]
    pub(crate) fn map<T>(self, f: impl FnOnce(R) -> T) -> Leased<T> {
        match self {
            Leased::Hit(value) => Leased::Hit(f(value)),
            Leased::Acquired(token) => Leased::Acquired(token),
            Leased::Busy { slot, word } => Leased::Busy { slot, word },
            Leased::Bypass => Leased::Bypass,
        }
    }
}
