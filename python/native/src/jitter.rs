//! The option `jitter`: by how much the default time to live is shortened, at random for each write.

use crate::{duration, errors};
use polycache::{Cache, Jitter};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// A number from 0 to below 1 is a part of the time to live, all else a duration. The number 1 could be either.
pub fn read(value: &Bound<'_, PyAny>) -> PyResult<Jitter> {
    let is_bool = value.is_instance_of::<PyBool>();
    let number = value.extract::<f64>().ok().filter(|_| !is_bool);
    match number {
        Some(part) if (0.0..1.0).contains(&part) => Ok(Jitter::Fraction(part)),
        Some(1.0) => Err(errors::invalid_argument(
            value.py(),
            "jitter 1 may mean one second, or all of the ttl: write \"1s\" for one second, or a number below 1, \
             like 0.9, for a part of the ttl",
        )),
        _ => Ok(Jitter::Within(duration::extract(value)?)),
    }
}

/// The default time to live of a cache without a directory.
pub struct Lifetime {
    longest: Option<Duration>,
    /// Milliseconds by which it may be shorter.
    spread: u64,
    random: Random,
}

impl Lifetime {
    /// Raises `InvalidArgument`.
    pub fn new(
        py: Python<'_>,
        longest: Option<Duration>,
        jitter: Option<Jitter>,
        random: Random,
    ) -> PyResult<Lifetime> {
        let most = longest.map_or(0, |time| time.as_millis() as u64);
        let spread = match jitter {
            None => 0,
            Some(jitter) => {
                // For what it refuses: this builder opens nothing.
                let checked = Cache::builder().ttl(longest).jitter(jitter).build();
                checked.map_err(|error| errors::raise(py, error))?;
                match jitter {
                    Jitter::Fraction(part) => (most as f64 * part) as u64,
                    Jitter::Within(span) => span.as_millis() as u64,
                }
            }
        };
        Ok(Lifetime {
            longest,
            spread: spread.min(most.saturating_sub(1)),
            random,
        })
    }

    /// That of the next write; None for ever.
    #[inline]
    pub fn next(&self) -> Option<Duration> {
        match self.spread {
            0 => self.longest,
            spread => {
                // The high half of the product, each of 0 to `spread` as likely: Lemire, "Fast random
                // integer generation in an interval", 2019.
                let random = u128::from(self.random.next());
                let shorter = (random * u128::from(spread + 1)) >> 64;
                let longest = self.longest?;
                Some(longest - Duration::from_millis(shorter as u64))
            }
        }
    }
}

/// Random numbers of all 64 bits: those that a test gives, in turn, or made ones.
pub struct Random {
    given: Vec<u64>,
    turn: AtomicUsize,
    state: AtomicU64,
}

impl Default for Random {
    fn default() -> Random {
        Random {
            given: Vec::new(),
            turn: AtomicUsize::new(0),
            state: AtomicU64::new(RandomState::new().hash_one(0)),
        }
    }
}

impl Random {
    /// The numbers of a test.
    pub fn given(numbers: &Bound<'_, PyAny>) -> PyResult<Random> {
        Ok(Random {
            given: numbers.extract()?,
            ..Random::default()
        })
    }

    /// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), where no numbers are given.
    pub fn next(&self) -> u64 {
        if !self.given.is_empty() {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            return self.given[turn % self.given.len()];
        }
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        let next = self.state.fetch_add(GOLDEN, Ordering::Relaxed);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
