//! Times to live that differ a little, so that entries written together do not expire together.

use crate::random::random;
use crate::{ttl, Error};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// By how much a cache shortens its default time to live, at random for each write.
///
/// Entries that are written together (a deployment, an import, a page with fifty parts) would expire together and be
/// loaded again at the same moment: a stampede on the database, once every time to live. With a jitter they expire
/// evenly over a span. It only shortens, so no entry is older than [`Builder::ttl`](crate::Builder::ttl) says. It does
/// not change a time to live that a write gives itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// At most this part of the time to live, from 0 to below 1: 0.1 is a tenth of it.
    Fraction(f64),
    /// At most this long, and less than the time to live.
    Within(Duration),
}

impl Jitter {
    /// For an error.
    fn shown(self) -> String {
        match self {
            Jitter::Fraction(part) => part.to_string(),
            Jitter::Within(span) => format!("{} ms", span.as_millis()),
        }
    }
}

impl From<f64> for Jitter {
    fn from(fraction: f64) -> Jitter {
        Jitter::Fraction(fraction)
    }
}

impl From<Duration> for Jitter {
    fn from(span: Duration) -> Jitter {
        Jitter::Within(span)
    }
}

/// Where a jitter's random numbers come from, all 64 bits of them.
#[derive(Clone)]
pub(crate) struct Source(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Source {
    pub fn new(source: impl Fn() -> u64 + Send + Sync + 'static) -> Source {
        Source(Arc::new(source))
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}

/// The default time to live of writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifetime {
    /// Milliseconds, 0 = none.
    longest: u64,
    /// Milliseconds by which it may be shorter.
    spread: u64,
    source: Option<Source>,
}

impl Lifetime {
    /// # Errors
    /// `InvalidArgument` for a wrong time to live, a jitter without one, and a jitter out of range.
    pub fn new(
        longest: Option<Duration>,
        jitter: Option<Jitter>,
        source: Option<Source>,
    ) -> Result<Lifetime, Error> {
        let longest = longest.map_or(Ok(0), ttl::milliseconds)?;
        let spread = match jitter {
            None => 0,
            Some(_) if longest == 0 => {
                return Err(Error::invalid("a jitter needs a ttl, which it shortens"));
            }
            // NaN is in no range.
            Some(Jitter::Fraction(part)) if (0.0..1.0).contains(&part) => {
                (longest as f64 * part) as u64
            }
            Some(Jitter::Within(span)) if span.as_millis() < u128::from(longest) => {
                span.as_millis() as u64
            }
            Some(jitter) => {
                return Err(Error::InvalidArgument(format!(
                    "jitter is {}: write a part of the ttl, from 0 to below 1, or a duration below it",
                    jitter.shown()
                )));
            }
        };
        Ok(Lifetime {
            longest,
            spread,
            source,
        })
    }

    /// The next write's, in milliseconds; 0 = none.
    #[inline]
    pub fn next(&self) -> u64 {
        match self.spread {
            0 => self.longest,
            spread => self.longest - self.shorter_by(spread),
        }
    }

    /// 0 to `spread`, each as likely.
    fn shorter_by(&self, spread: u64) -> u64 {
        let random = self
            .source
            .as_ref()
            .map_or_else(random, |source| source.0());
        // The high half of the product: Lemire, "Fast random integer generation in an interval", 2019.
        ((u128::from(random) * u128::from(spread + 1)) >> 64) as u64
    }
}
