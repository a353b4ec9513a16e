//! What a client of another package was told, as TypeScript reads it (`src/remote/settings.ts`).

use crate::error;
use napi::bindgen_prelude::Uint8Array;
use napi::Result;
use napi_derive::napi;
use polycache::bindings::remote::{Address, Settings, Tls, Topology};
use polycache::Remote;

/// Where a server listens: at host and port, or at a path.
#[napi(object)]
pub struct RemoteAddress {
    /// The host's name or address.
    pub host: Option<String>,
    /// Its port.
    pub port: Option<u16>,
    /// A socket in the file system.
    pub path: Option<String>,
}

/// How connections are encrypted; all in PEM.
#[napi(object)]
pub struct RemoteTls {
    /// Which authorities are trusted.
    pub ca: Option<Uint8Array>,
    /// The client's certificate.
    pub cert: Option<Uint8Array>,
    /// Its key.
    pub key: Option<Uint8Array>,
    /// Whether the server's certificate is not looked at.
    pub insecure: bool,
}

/// The Sentinels of a primary.
#[napi(object)]
pub struct RemoteSentinel {
    /// The primary's name.
    pub name: String,
    /// Their user.
    pub username: Option<String>,
    /// Its password.
    pub password: Option<String>,
    /// Whether connections to them are encrypted.
    pub tls: bool,
}

/// A client's settings.
#[napi(object)]
pub struct RemoteSettings {
    /// The server, the first nodes of a Cluster, or the Sentinels.
    pub addresses: Vec<RemoteAddress>,
    /// Whether these are nodes of a Cluster.
    pub cluster: bool,
    /// Set if they are Sentinels.
    pub sentinel: Option<RemoteSentinel>,
    /// The servers' user.
    pub username: Option<String>,
    /// Its password.
    pub password: Option<String>,
    /// The database's number.
    pub database: i64,
    /// Absent where connections are not encrypted.
    pub tls: Option<RemoteTls>,
}

/// The way to these servers.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn remote(given: RemoteSettings) -> Result<Remote> {
    let topology = match given.sentinel {
        Some(sentinel) => Topology::Sentinel {
            name: sentinel.name,
            username: sentinel.username,
            password: sentinel.password,
            tls: sentinel.tls,
        },
        None if given.cluster => Topology::Cluster,
        None => Topology::Single,
    };
    let addresses = given.addresses.into_iter().map(|one| match one.path {
        Some(path) => Address::Unix(path.into()),
        None => Address::Tcp(one.host.unwrap_or_default(), one.port.unwrap_or(6379)),
    });
    let tls = given.tls.map(|tls| Tls {
        authority: tls.ca.map(|bytes| bytes.to_vec()),
        client: tls
            .cert
            .zip(tls.key)
            .map(|(certificate, key)| (certificate.to_vec(), key.to_vec())),
        insecure: tls.insecure,
    });
    let settings = Settings {
        topology,
        addresses: addresses.collect(),
        username: given.username,
        password: given.password,
        database: given.database,
        tls,
    };
    settings.remote().map_err(error::cache)
}
