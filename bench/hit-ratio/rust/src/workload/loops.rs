//! The same keys in the same order, again and again: the worst case of LRU, FIFO and CLOCK, which
//! find nothing as soon as the loop is one key longer than the cache.

use super::{Source, Trace};
use crate::policy::Key;
use crate::Error;

/// A loop over `keys` keys.
#[derive(Clone, Copy)]
pub struct Loop {
    /// Keys in the loop.
    pub keys: usize,
    /// How often it is gone through.
    pub times: usize,
}

impl Source for Loop {
    fn trace(&self, _seed: u64) -> Result<Trace, Error> {
        let once = 0..self.keys as Key;
        Ok(Trace {
            keys: self.keys,
            requests: std::iter::repeat_n(once, self.times).flatten().collect(),
        })
    }
}
