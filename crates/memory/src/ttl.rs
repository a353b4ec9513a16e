//! Times to live.

use crate::shard::NEVER;
use crate::Error;
use std::time::{Duration, SystemTime};

/// The longest time to live, in milliseconds, as in every tier.
const MAX_MS: u64 = (1 << 48) - 1;

/// The time to live that a write gives its entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// What the cache's options say: `expire_after` or `ttl`; without them the entry does not expire.
    #[default]
    Default,
    /// The entry does not expire, whatever the options say.
    Forever,
    /// This long; rounded up to a millisecond, at most 2^48 - 1 of them.
    For(Duration),
    /// Until this time, in milliseconds, rounded up, at most 2^48 - 1 after 1970. An entry whose time has passed has
    /// expired when it is written.
    Until(SystemTime),
}

impl From<Duration> for Ttl {
    fn from(ttl: Duration) -> Ttl {
        Ttl::For(ttl)
    }
}

impl From<SystemTime> for Ttl {
    fn from(time: SystemTime) -> Ttl {
        Ttl::Until(time)
    }
}

/// The time an entry has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TtlLeft {
    /// The entry does not expire.
    Forever,
    /// This long, in whole milliseconds.
    For(Duration),
}

impl Ttl {
    /// Rejects times that no write accepts, before anything is loaded.
    ///
    /// # Errors
    /// `InvalidArgument` for 0 and for more than 2^48 - 1 ms.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Ttl::For(ttl) => milliseconds("ttl", ttl).map(drop),
            Ttl::Default | Ttl::Forever | Ttl::Until(_) => Ok(()),
        }
    }

    /// A time in milliseconds since 1970, rounded up, at least 1 and at most 2^48 - 1: what a time that an entry
    /// expires at may be.
    #[must_use]
    pub fn since_1970(time: SystemTime) -> u64 {
        let since = time.duration_since(SystemTime::UNIX_EPOCH);
        let ms = since.map_or(1, |since| since.as_nanos().div_ceil(1_000_000));
        u64::try_from(ms).unwrap_or(MAX_MS).clamp(1, MAX_MS)
    }

    /// A time to live from now on, by the system's clock; zero for one that has passed.
    fn from_now(time: SystemTime) -> Duration {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let until = Duration::from_millis(Ttl::since_1970(time));
        until.saturating_sub(now.unwrap_or_default())
    }

    /// What `expire_after` returned for a value; `None` when it expires at once. Values bring any time,
    /// so one that is too long counts as the longest possible.
    pub(crate) fn of_a_value(self) -> Option<Ttl> {
        match self {
            Ttl::For(Duration::ZERO) => None,
            Ttl::For(ttl) => Some(Ttl::For(ttl.min(Duration::from_millis(MAX_MS)))),
            Ttl::Until(time) => Ttl::For(Ttl::from_now(time)).of_a_value(),
            Ttl::Default | Ttl::Forever => Some(self),
        }
    }

    /// A time to live in milliseconds, rounded up; `None` for an invalid one: 0, and more than 2^48 - 1.
    #[must_use]
    pub fn milliseconds(time: Duration) -> Option<u64> {
        // Not by as_nanos: a 128-bit division takes longer than everything else here.
        let below_a_second = u64::from(time.subsec_nanos().div_ceil(1_000_000));
        let whole = time.as_secs().checked_mul(1000)?;
        let ms = whole.checked_add(below_a_second)?;
        Some(ms).filter(|ms| (1..=MAX_MS).contains(ms))
    }

    /// The message for a time that [`milliseconds`](Ttl::milliseconds) rejects.
    #[doc(hidden)]
    #[cold]
    #[must_use]
    pub fn refused(option: &str, time: Duration) -> Error {
        Error::InvalidArgument(format!(
            "{option} is {}; it must be longer than 0 and at most 2^48 - 1 ms, or is left out for entries \
             that do not expire",
            shown(time)
        ))
    }

    /// When an entry written at `now` expires; `default` is the cache's time to live in milliseconds, 0
    /// for none.
    pub(crate) fn expires(self, default: u64, now: u64) -> Result<u64, Error> {
        let ttl = match self {
            Ttl::Default => default,
            Ttl::Forever => 0,
            Ttl::For(ttl) => milliseconds("ttl", ttl)?,
            // A clock of any beginning: only the distance counts. What has passed has expired now.
            Ttl::Until(time) => match Ttl::from_now(time) {
                Duration::ZERO => return Ok(now),
                left => milliseconds("ttl", left)?,
            },
        };
        Ok(match ttl {
            0 => NEVER,
            // Stays below NEVER, whatever the clock says.
            ttl => now.saturating_add(ttl).min(NEVER - 1),
        })
    }
}

/// The time left at `now` for an entry that expires at `expires`.
pub(crate) fn left(expires: u64, now: u64) -> TtlLeft {
    match expires {
        NEVER => TtlLeft::Forever,
        expires => TtlLeft::For(Duration::from_millis(expires.saturating_sub(now))),
    }
}

/// A duration as a person writes it: zero is `0`, not `0ns`.
fn shown(time: Duration) -> String {
    if time.is_zero() {
        "0".into()
    } else {
        format!("{time:?}")
    }
}

/// A time in milliseconds, rounded up so that it is never 0.
pub(crate) fn milliseconds(option: &str, time: Duration) -> Result<u64, Error> {
    Ttl::milliseconds(time).ok_or_else(|| Ttl::refused(option, time))
}
