//! How a worker reaches servers: by a URL, `sentinel:port,port` or `cluster:port,port`, all on this machine.
//! `workers/reached.*` are the same in the other languages.

use crate::outcome::Fallible;
use polycache::Remote;
use redis::cluster::ClusterClient;
use redis::sentinel::{SentinelClient, SentinelServerType};

/// What Sentinels call the service.
pub const SERVICE: &str = "main";

/// The server, the primary or the Cluster of this name.
pub fn reached(name: &str) -> Fallible<Remote> {
    let urls = |ports: &str| -> Vec<String> {
        let ports = ports.split(',');
        ports
            .map(|port| format!("redis://127.0.0.1:{port}"))
            .collect()
    };
    Ok(match name.split_once(':') {
        Some(("cluster", ports)) => ClusterClient::new(urls(ports))?.into(),
        Some(("sentinel", ports)) => {
            let of = SentinelServerType::Master;
            SentinelClient::build(urls(ports), SERVICE, None, of)?.into()
        }
        _ => name.into(),
    })
}
