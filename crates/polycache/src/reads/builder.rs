//! The options of cached reads.

use super::servers::Servers;
use super::CachedReads;
use crate::memory::Bounds;
#[cfg(feature = "redis-cluster")]
use crate::remote::Primaries;
use crate::remote::{BoundedServer, OneServer};
use crate::tier::{Reads, RemoteTier};
use crate::{Builder, Cache, Error, Remote};
use polycache_remote::Prefixes;
use std::path::PathBuf;
use std::time::Duration;

/// No caller is given what was read longer ago.
const LONGEST_JOIN: Duration = Duration::from_secs(1);

/// Options of [`CachedReads`]; every one has a default.
#[derive(Clone, Debug)]
#[must_use = "build() opens them"]
pub struct CachedReadsBuilder {
    source: Source,
    prefixes: Vec<Vec<u8>>,
    read_timeout: Duration,
    max_entries: Option<u64>,
    max_bytes: Option<u64>,
    max_reply: Option<u64>,
    /// The first option that was told and is the cache's.
    of_cache: Option<&'static str>,
}

#[derive(Clone, Debug)]
enum Source {
    Own(Box<Builder>),
    Given(Cache),
}

/// Where replies are kept.
#[derive(Debug)]
pub(super) struct Opened {
    pub cache: Cache,
    /// Whether it was opened for these reads.
    pub is_own: bool,
    pub prefixes: Vec<Vec<u8>>,
    pub bounds: Bounds,
    pub joins_within: Duration,
    read_timeout: Duration,
    /// What one reply may take in memory.
    pub max_reply: Option<u64>,
}

impl CachedReadsBuilder {
    pub(super) fn new(remote: Remote) -> CachedReadsBuilder {
        CachedReadsBuilder::from(Source::Own(Box::new(Cache::builder().remote(remote))))
    }

    pub(super) fn of(cache: Cache) -> CachedReadsBuilder {
        CachedReadsBuilder::from(Source::Given(cache))
    }

    fn from(source: Source) -> CachedReadsBuilder {
        CachedReadsBuilder {
            source,
            prefixes: Vec::new(),
            read_timeout: Duration::from_secs(10),
            max_entries: None,
            max_bytes: None,
            max_reply: None,
            of_cache: None,
        }
    }

    /// An option of the cache that is opened for these reads.
    fn own(mut self, name: &'static str, tell: impl FnOnce(Builder) -> Builder) -> Self {
        self.of_cache.get_or_insert(name);
        if let Source::Own(builder) = self.source {
            self.source = Source::Own(Box::new(tell(*builder)));
        }
        self
    }

    /// The directory in which the Rust processes of this host share replies; those of other languages, which have replies in
    /// other shapes, may use it too. Default: none, each process has its own in memory.
    pub fn path(self, path: impl Into<PathBuf>) -> Self {
        self.own("path", |builder| builder.path(path))
    }

    /// The byte limit of the directory. Default: 256 MiB.
    pub fn limit(self, bytes: impl Into<Option<u64>>) -> Self {
        self.own("limit", |builder| builder.limit(bytes))
    }

    /// How far a reply may be behind the server, 10 ms to an hour; with zero nothing is kept. Default: 1 s.
    pub fn max_staleness(self, staleness: Duration) -> Self {
        self.own("max_staleness", |builder| builder.max_staleness(staleness))
    }

    /// How long a command that the cache itself sends may take, 1 ms to 60 s. Default: 250 ms.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.own("timeout", |builder| builder.timeout(timeout))
    }

    /// What the cache's own keys on the server begin with. Default: `polycache`.
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.own("prefix", |builder| builder.prefix(prefix))
    }

    /// Prefixes of the keys that are read: of writes of others the server need not tell. Reads of other keys are refused.
    /// Default: all keys.
    pub fn prefixes<P: Into<Vec<u8>>>(mut self, prefixes: impl IntoIterator<Item = P>) -> Self {
        self.prefixes = prefixes.into_iter().map(Into::into).collect();
        self
    }

    /// How long a read that is sent may take, connecting included, 1 ms to an hour: the crate `redis` has no time-outs of
    /// its own for this. Default: 10 s.
    pub fn read_timeout(mut self, timeout: Duration) -> Self {
        self.read_timeout = timeout;
        self
    }

    /// Replies that this process may keep in memory, of values and of JSON each. Default: 10,000.
    pub fn max_entries(mut self, entries: u64) -> Self {
        self.max_entries = Some(entries);
        self
    }

    /// Bytes that these replies may take, about, of values and of JSON each. Default: 64 MiB.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// What the reply of one server that is not reached by TLS may take in memory, about: where strangers choose the commands. The rest of a
    /// larger one is not read, and it is `ValueTooLarge`. Of those above 256 KiB four are read at once. Default: no bound.
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn max_reply(mut self, bytes: u64) -> Self {
        self.max_reply = Some(bytes);
        self
    }

    /// Opens the reads, and the cache that keeps their replies.
    ///
    /// # Errors
    /// `InvalidArgument`, also for a Sentinel, whose connections do not show which server has answered, for a
    /// cache without a server, and for options of the cache where one was given. Those of
    /// [`Builder::build`](crate::Builder::build).
    pub fn build(self) -> Result<CachedReads, Error> {
        let bounds = Bounds::new(self.max_entries, self.max_bytes)?;
        let allowed = Duration::from_millis(1)..=Duration::from_secs(3600);
        if !allowed.contains(&self.read_timeout) {
            return Err(Error::InvalidArgument(format!(
                "read_timeout is {:?}; it must lie between 1 ms and an hour",
                self.read_timeout
            )));
        }
        let (cache, is_own) = match (self.source, self.of_cache) {
            (Source::Own(builder), _) => (builder.build()?, true),
            (Source::Given(cache), None) => (cache, false),
            (Source::Given(_), Some(name)) => {
                return Err(Error::InvalidArgument(format!(
                    "{name} is an option of the cache, which was given: say it to Cache::builder()"
                )))
            }
        };
        cache.still_open()?;
        let mut prefixes = self.prefixes;
        if prefixes.is_empty() {
            prefixes.push(Vec::new());
        }
        let joins_within = remote(&cache)?.link().staleness.min(LONGEST_JOIN);
        let opened = Opened {
            cache,
            is_own,
            prefixes,
            bounds,
            joins_within,
            read_timeout: self.read_timeout,
            max_reply: self.max_reply,
        };
        CachedReads::open(opened)
    }
}

fn remote(cache: &Cache) -> Result<&RemoteTier, Error> {
    let remote = cache.tier().remote();
    remote.ok_or_else(|| Error::invalid("cached reads need a cache with the option remote"))
}

impl Opened {
    pub fn reads(&self) -> Result<Reads, Error> {
        let prefixes = Prefixes::new(self.prefixes.clone());
        Ok(Reads::new(remote(&self.cache)?.clone(), prefixes))
    }

    pub fn servers(&self) -> Result<Servers, Error> {
        let transport = &remote(&self.cache)?.link().transport;
        if let Some(client) = transport.one_server() {
            let bounded = (self.max_reply)
                .and_then(|most| BoundedServer::new(&client, self.read_timeout, most));
            if let Some(server) = bounded {
                return Ok(Servers::Bounded(Box::new(server)));
            }
            return Ok(Servers::One(Box::new(OneServer::new(
                client,
                self.read_timeout,
            ))));
        }
        #[cfg(feature = "redis-cluster")]
        if let Some(client) = transport.cluster() {
            return Ok(Servers::Cluster(Box::new(Primaries::new(
                client,
                self.read_timeout,
            ))));
        }
        Err(Error::invalid(
            "cached reads take a URL, a redis::Client of one server or a ClusterClient; no Sentinel, whose connections do not \
             show which server has answered",
        ))
    }
}
