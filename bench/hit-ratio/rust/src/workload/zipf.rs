//! Independent requests by Zipf's law: the key of rank r is asked for in proportion to 1 / r^alpha.
//! A key is its rank minus 1.

use super::{Source, Trace};
use crate::policy::Key;
use crate::Error;
use rand_distr::{Distribution, Zipf as Law};
use rand_pcg::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// Requests to `keys` keys.
#[derive(Clone, Copy)]
pub struct Zipf {
    /// The law's exponent.
    pub alpha: f64,
    /// How many keys there are.
    pub keys: usize,
    /// How many requests.
    pub requests: usize,
}

impl Source for Zipf {
    fn trace(&self, seed: u64) -> Result<Trace, Error> {
        let law = Law::new(self.keys as f64, self.alpha)?;
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let ranks = (0..self.requests).map(|_| law.sample(&mut random));
        Ok(Trace {
            keys: self.keys,
            requests: ranks.map(|rank| rank as Key - 1).collect(),
        })
    }
}
