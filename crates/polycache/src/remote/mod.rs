//! The remote tier's options, and the clients that reach it (cargo feature `remote`).

#[cfg(feature = "reads")]
mod asked;
#[cfg(feature = "reads")]
mod bounded;
#[cfg(feature = "redis-cluster")]
mod cluster;
mod deadline;
#[cfg(feature = "fibers")]
pub mod fibers;
mod hearing;
#[cfg(feature = "reads")]
mod one_server;
mod pool;
mod redis;
mod replies;
mod round_trip;
#[cfg(feature = "redis-sentinel")]
mod sentinel;
#[cfg(feature = "bindings-remote")]
pub mod settings;
mod statistics;
mod transport;

#[cfg(feature = "reads")]
pub(crate) use asked::{Asked, Told};
#[cfg(feature = "reads")]
pub(crate) use bounded::{is_too_large, BoundedServer, LargeReply};
#[cfg(all(feature = "reads", feature = "redis-cluster"))]
pub(crate) use cluster::Primaries;
#[cfg(feature = "reads")]
pub(crate) use one_server::OneServer;
pub use statistics::RemoteStats;
pub(crate) use transport::be_background;
#[cfg(feature = "bindings")]
pub use transport::by_digest_or_text;
pub use transport::{is_background, Ear, Failure, Transport};

use self::redis::RedisRs;
use crate::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long a command may take.
pub(crate) fn checked_timeout(timeout: Option<Duration>) -> Result<Duration, Error> {
    let timeout = timeout.unwrap_or(Duration::from_millis(250));
    if (Duration::from_millis(1)..=Duration::from_secs(60)).contains(&timeout) {
        return Ok(timeout);
    }
    Err(Error::InvalidArgument(format!(
        "timeout is {timeout:?}; it must lie between 1 ms and 60 s"
    )))
}

/// How far behind a read may be.
pub(crate) fn checked_staleness(staleness: Option<Duration>) -> Result<Duration, Error> {
    let staleness = staleness.unwrap_or(Duration::from_secs(1));
    let bounds = Duration::from_millis(10)..=Duration::from_secs(3600);
    if staleness.is_zero() || bounds.contains(&staleness) {
        return Ok(staleness);
    }
    Err(Error::InvalidArgument(format!(
        "max_staleness is {staleness:?}; it must be 0, or lie between 10 ms and an hour"
    )))
}

/// What its keys begin with.
pub(crate) fn checked_prefix(prefix: Option<String>) -> Result<String, Error> {
    let prefix = prefix.unwrap_or_else(|| "polycache".into());
    // A hash tag in it would put all keys on one primary of a Cluster, and beacons with them.
    if prefix.is_empty() || prefix.contains(['{', '}']) {
        return Err(Error::InvalidArgument(format!(
            "prefix is {prefix:?}; it must not be empty, nor hold {{ or }}"
        )));
    }
    Ok(prefix)
}

/// The Redis or Valkey of a cache, for [`Builder::remote`](crate::Builder::remote). It is made of
///
/// - a URL, `redis://user:password@host:port/database` or `rediss://` for TLS;
/// - a `redis::Client`, with settings of your own;
/// - a `redis::cluster::ClusterClient` (cargo feature `redis-cluster`): any of the Cluster's nodes leads to all others.
///   Replicas are never read from, whatever the client says of them, and its numbers of retries are not used;
/// - a `redis::sentinel::SentinelClient` (cargo feature `redis-sentinel`) of the type `Master`, which is asked for the
///   primary at each new connection. It waits for a Sentinel that hangs for as long as the system does: no command
///   takes longer than `timeout` for it, but meanwhile no other Sentinel is asked.
///
/// User, password, TLS and TCP settings are the client's. Its timeouts are not: the option `timeout` holds.
#[derive(Clone)]
pub struct Remote(Source);

#[derive(Clone)]
enum Source {
    Url(String),
    Transport(Arc<dyn Transport>),
}

impl Remote {
    /// A client that is reached in a way of its own, for the packages of other languages.
    #[doc(hidden)]
    #[must_use]
    pub fn new(transport: Arc<dyn Transport>) -> Remote {
        Remote(Source::Transport(transport))
    }

    /// How it is reached.
    ///
    /// # Errors
    /// `InvalidArgument` for a URL that is none.
    #[doc(hidden)]
    pub fn transport(self) -> Result<Arc<dyn Transport>, Error> {
        match self.0 {
            Source::Transport(transport) => Ok(transport),
            Source::Url(url) => {
                match ::redis::Client::open(url.as_str()).and_then(|client| pool::quiet(&client)) {
                    Ok(client) => Ok(Arc::new(RedisRs::new(client))),
                    // The URL may hold a password: it is not told.
                    Err(error) => Err(Error::InvalidArgument(format!(
                        "remote is not the URL of a Redis or Valkey: {error}"
                    ))),
                }
            }
        }
    }
}

impl From<&str> for Remote {
    fn from(url: &str) -> Remote {
        Remote(Source::Url(url.to_owned()))
    }
}

impl From<String> for Remote {
    fn from(url: String) -> Remote {
        Remote(Source::Url(url))
    }
}

impl From<::redis::Client> for Remote {
    fn from(client: ::redis::Client) -> Remote {
        Remote(Source::Transport(Arc::new(RedisRs::new(client))))
    }
}

/// All primaries of a Cluster.
#[cfg(feature = "redis-cluster")]
impl From<::redis::cluster::ClusterClient> for Remote {
    fn from(client: ::redis::cluster::ClusterClient) -> Remote {
        Remote(Source::Transport(Arc::new(cluster::RedisCluster::new(
            client,
        ))))
    }
}

/// The primary that Sentinel names.
#[cfg(feature = "redis-sentinel")]
impl From<::redis::sentinel::SentinelClient> for Remote {
    fn from(client: ::redis::sentinel::SentinelClient) -> Remote {
        Remote(Source::Transport(Arc::new(RedisRs::new(
            sentinel::Sentinel::new(client),
        ))))
    }
}

impl fmt::Debug for Remote {
    /// Without what it is made of, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Source::Url(_) => "Remote(URL)",
            Source::Transport(_) => "Remote(client)",
        })
    }
}
