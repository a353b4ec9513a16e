//! Who answers reads: one server, or the primaries of a Cluster.

#[cfg(feature = "redis-cluster")]
use crate::remote::Primaries;
use crate::remote::{Asked, BoundedServer, OneServer, Told};
use crate::Error;
use polycache_remote::slot_of_key;
use redis::{RedisConnectionInfo, RedisResult};

#[derive(Debug)]
pub(super) enum Servers {
    One(Box<OneServer>),
    /// One whose replies are bounded.
    Bounded(Box<BoundedServer>),
    #[cfg(feature = "redis-cluster")]
    Cluster(Box<Primaries>),
}

impl Servers {
    /// # Errors
    /// The client's.
    pub fn ask(&self, asked: &Asked<'_>) -> RedisResult<Told> {
        match self {
            Servers::One(server) => {
                let replies = server.exchange(&asked.packed(), asked.count())?;
                Ok(asked.told(replies))
            }
            Servers::Bounded(server) => {
                let (replies, large) = server.exchange(&asked.packed(), asked.count())?;
                Ok(Told {
                    _large: large,
                    ..asked.told(replies)
                })
            }
            #[cfg(feature = "redis-cluster")]
            Servers::Cluster(primaries) => primaries.ask(asked),
        }
    }

    /// # Errors
    /// `UncacheableRead` for keys that no one server has all.
    pub fn check(&self, keys: &[Box<[u8]>]) -> Result<(), Error> {
        if !self.is_cluster() {
            return Ok(());
        }
        let mut slots = keys.iter().map(|key| slot_of_key(key));
        let first = slots.next();
        match slots.all(|slot| Some(slot) == first) {
            true => Ok(()),
            false => Err(Error::UncacheableRead(
                "its keys are in several slots of the Cluster: give them one hash tag, as in {user:7}:name and \
                 {user:7}:mail, or read each by itself"
                    .into(),
            )),
        }
    }

    fn is_cluster(&self) -> bool {
        match self {
            Servers::One(_) | Servers::Bounded(_) => false,
            #[cfg(feature = "redis-cluster")]
            Servers::Cluster(_) => true,
        }
    }

    /// The number of the database.
    pub fn database(&self) -> i64 {
        match self {
            Servers::One(server) => server.database(),
            Servers::Bounded(server) => settings(server).db(),
            #[cfg(feature = "redis-cluster")]
            Servers::Cluster(_) => 0,
        }
    }

    /// Whether the client asks for RESP3.
    pub fn speaks_resp3(&self) -> bool {
        match self {
            Servers::One(server) => server.speaks_resp3(),
            Servers::Bounded(server) => settings(server).protocol().supports_resp3(),
            #[cfg(feature = "redis-cluster")]
            Servers::Cluster(primaries) => primaries.speaks_resp3(),
        }
    }

    /// Keeps no connection from now on.
    pub fn close(&self) {
        match self {
            Servers::One(server) => server.close(),
            Servers::Bounded(server) => server.close(),
            #[cfg(feature = "redis-cluster")]
            Servers::Cluster(primaries) => primaries.close(),
        }
    }
}

fn settings(server: &BoundedServer) -> &RedisConnectionInfo {
    server.client().get_connection_info().redis_settings()
}
