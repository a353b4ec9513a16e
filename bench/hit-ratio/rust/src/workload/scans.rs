//! Zipf's law, interrupted now and then by a scan: a run of keys that are never read again.

use super::zipf::Zipf;
use super::{Source, Trace};
use crate::policy::Key;
use crate::Error;

/// After every `every` requests of `zipf`, a scan of `length` keys of its own.
#[derive(Clone, Copy)]
pub struct Scans {
    /// What is interrupted.
    pub zipf: Zipf,
    /// Requests between two scans.
    pub every: usize,
    /// Keys of a scan.
    pub length: usize,
}

impl Source for Scans {
    fn trace(&self, seed: u64) -> Result<Trace, Error> {
        let Trace { mut keys, requests } = self.zipf.trace(seed)?;
        let mut mixed = Vec::new();
        for undisturbed in requests.chunks(self.every) {
            mixed.extend_from_slice(undisturbed);
            mixed.extend(keys as Key..(keys + self.length) as Key);
            keys += self.length;
        }
        Ok(Trace {
            keys,
            requests: mixed,
        })
    }
}
