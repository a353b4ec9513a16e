//! The settings of another language's client, as a client of the crate `redis`.

use super::redis::RedisRs;
use super::sentinel::Sentinel;
use super::Remote;
use crate::Error;
use redis::cluster::ClusterClient;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    Client, ClientTlsConfig, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo, RedisError,
    RedisResult, TlsCertificates, TlsMode,
};
use std::path::PathBuf;
use std::sync::Arc;

/// What a client of another language was told. Its own connections are not used: those made by these settings have a
/// deadline for each command, and hear of writes on a thread of their own, whatever the program does meanwhile.
#[derive(Clone, Default)]
pub struct Settings {
    /// Which servers these are.
    pub topology: Topology,
    /// The server; the first nodes of a Cluster; the Sentinels.
    pub addresses: Vec<Address>,
    /// The user of the servers; `None` is `default`.
    pub username: Option<String>,
    /// Its password.
    pub password: Option<String>,
    /// The database's number.
    pub database: i64,
    /// `None`: connections are not encrypted.
    pub tls: Option<Tls>,
}

/// Which servers a client speaks to.
#[derive(Clone, Default)]
pub enum Topology {
    /// One server.
    #[default]
    Single,
    /// All primaries of a Cluster.
    Cluster,
    /// The primary that Sentinel names.
    Sentinel {
        /// The primary's name.
        name: String,
        /// The user of the Sentinels.
        username: Option<String>,
        /// Its password.
        password: Option<String>,
        /// Whether connections to Sentinels are encrypted as those to servers are.
        tls: bool,
    },
}

/// Where a server listens.
#[derive(Clone)]
pub enum Address {
    /// Host and port.
    Tcp(String, u16),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// How connections are encrypted. Certificates and keys are PEM.
#[derive(Clone, Default)]
pub struct Tls {
    /// Which authorities are trusted; `None`: those of the system.
    pub authority: Option<Vec<u8>>,
    /// The client's certificate and key.
    pub client: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether the server's certificate is not looked at.
    pub insecure: bool,
}

impl Settings {
    /// The way to these servers.
    ///
    /// # Errors
    /// `InvalidArgument` for settings that cannot be used.
    pub fn remote(self) -> Result<Remote, Error> {
        self.client().map_err(|error| {
            Error::InvalidArgument(format!("remote has settings that cannot be used: {error}"))
        })
    }

    fn client(self) -> RedisResult<Remote> {
        match self.topology.clone() {
            Topology::Single => {
                let Some(address) = self.addresses.first() else {
                    return Err(unusable("it has no address"));
                };
                let info = self
                    .connection_addr(address, self.tls.as_ref())
                    .into_connection_info()?
                    .set_redis_settings(self.redis_settings());
                let client = match &self.tls {
                    Some(tls) => Client::build_with_tls(info, tls.certificates())?,
                    None => Client::open(info)?,
                };
                Ok(client.into())
            }
            Topology::Cluster => {
                if self.database != 0 {
                    return Err(unusable("a Cluster has the database 0 only"));
                }
                let nodes = self
                    .addresses
                    .iter()
                    .map(|address| self.connection_addr(address, self.tls.as_ref()));
                let mut builder = ClusterClient::builder(nodes);
                if let Some(username) = &self.username {
                    builder = builder.username(username);
                }
                if let Some(password) = &self.password {
                    builder = builder.password(password);
                }
                if let Some(tls) = &self.tls {
                    builder = builder.tls(tls.mode()).certs(tls.certificates());
                }
                Ok(builder.build()?.into())
            }
            Topology::Sentinel { .. } => {
                let sentinel = Sentinel::made(move || self.sentinel_client())?;
                Ok(Remote::new(Arc::new(RedisRs::new(sentinel))))
            }
        }
    }

    fn sentinel_client(&self) -> RedisResult<SentinelClient> {
        let Topology::Sentinel {
            name,
            username,
            password,
            tls: encrypted,
        } = &self.topology
        else {
            return Err(unusable("it has no Sentinel"));
        };
        let tls = self.tls.as_ref().filter(|_| *encrypted);
        let sentinels = self
            .addresses
            .iter()
            .map(|address| self.connection_addr(address, tls));
        let mut builder =
            SentinelClientBuilder::new(sentinels, name.clone(), SentinelServerType::Master)?
                .set_client_to_redis_db(self.database);
        if let Some(username) = &self.username {
            builder = builder.set_client_to_redis_username(username);
        }
        if let Some(password) = &self.password {
            builder = builder.set_client_to_redis_password(password);
        }
        if let Some(username) = username {
            builder = builder.set_client_to_sentinel_username(username);
        }
        if let Some(password) = password {
            builder = builder.set_client_to_sentinel_password(password);
        }
        if let Some(tls) = &self.tls {
            builder = builder
                .set_client_to_redis_tls_mode(tls.mode())
                .set_client_to_redis_certificates(tls.certificates());
        }
        if let Some(tls) = tls {
            builder = builder
                .set_client_to_sentinel_tls_mode(tls.mode())
                .set_client_to_sentinel_certificates(tls.certificates());
        }
        builder.build()
    }

    fn connection_addr(&self, address: &Address, tls: Option<&Tls>) -> ConnectionAddr {
        match (address, tls) {
            (Address::Unix(path), _) => ConnectionAddr::Unix(path.clone()),
            (Address::Tcp(host, port), None) => ConnectionAddr::Tcp(host.clone(), *port),
            (Address::Tcp(host, port), Some(tls)) => ConnectionAddr::TcpTls {
                host: host.clone(),
                port: *port,
                insecure: tls.insecure,
                tls_params: None,
            },
        }
    }

    fn redis_settings(&self) -> RedisConnectionInfo {
        let mut settings = RedisConnectionInfo::default()
            .set_db(self.database)
            .set_skip_set_lib_name();
        if let Some(username) = &self.username {
            settings = settings.set_username(username);
        }
        if let Some(password) = &self.password {
            settings = settings.set_password(password);
        }
        settings
    }
}

impl Tls {
    fn mode(&self) -> TlsMode {
        match self.insecure {
            true => TlsMode::Insecure,
            false => TlsMode::Secure,
        }
    }

    fn certificates(&self) -> TlsCertificates {
        TlsCertificates {
            client_tls: self
                .client
                .clone()
                .map(|(certificate, key)| ClientTlsConfig {
                    client_cert: certificate,
                    client_key: key,
                }),
            root_cert: self.authority.clone(),
        }
    }
}

fn unusable(why: &'static str) -> RedisError {
    RedisError::from((redis::ErrorKind::InvalidClientConfig, why))
}
