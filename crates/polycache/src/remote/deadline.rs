//! The time that a call has, whatever it consists of: a connection that is tried out, a new one, a second attempt.

use redis::{Connection, RedisError, RedisResult};
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

/// The end of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    end: Instant,
    whole: Duration,
}

impl Deadline {
    /// Of a call that begins now.
    pub fn after(timeout: Duration) -> Deadline {
        Deadline {
            end: Instant::now() + timeout,
            whole: timeout,
        }
    }

    #[cfg(feature = "fibers")]
    pub fn end(self) -> Instant {
        self.end
    }

    /// The middle of what is left: a part of the call leaves time for another attempt.
    #[cfg(feature = "redis-cluster")]
    pub fn half(self) -> Deadline {
        let left = self.end.saturating_duration_since(Instant::now());
        Deadline {
            end: Instant::now() + left / 2,
            ..self
        }
    }

    /// What is left, or zero.
    #[cfg(feature = "reads")]
    pub fn remaining(self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// # Errors
    /// A timeout, once nothing is left.
    pub fn left(self) -> RedisResult<Duration> {
        let left = self.end.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(self.missed()),
            false => Ok(left),
        }
    }

    /// Lets the next read and the next write of a connection take what is left.
    ///
    /// # Errors
    /// A timeout, once nothing is left; those of the system.
    pub fn limit(self, connection: &Connection) -> RedisResult<()> {
        let left = Some(self.left()?);
        connection.set_read_timeout(left)?;
        connection.set_write_timeout(left)
    }

    pub fn missed(self) -> RedisError {
        io::Error::new(io::ErrorKind::TimedOut, self.to_string()).into()
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no answer within {:?}", self.whole)
    }
}
