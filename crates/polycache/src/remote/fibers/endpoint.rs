//! A server, as a pipelined connection is opened to it.

use redis::{cmd, Client, ConnectionAddr};
use std::path::PathBuf;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Host and port.
    Tcp(String, u16),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// A server without TLS: whoever owns the event loop opens plain connections only.
#[derive(Debug)]
pub(in crate::remote) struct Endpoint {
    pub address: Address,
    /// What is sent first: who we are, and the database.
    pub greeting: Vec<u8>,
    /// How many replies that has.
    pub greetings: usize,
}

impl Endpoint {
    /// `None` for a server that is reached by TLS.
    pub fn of(client: &Client) -> Option<Endpoint> {
        let info = client.get_connection_info();
        let address = match info.addr() {
            ConnectionAddr::Tcp(host, port) => Address::Tcp(host.clone(), *port),
            ConnectionAddr::Unix(path) => Address::Unix(path.clone()),
            _ => return None,
        };
        let settings = info.redis_settings();
        let mut commands = Vec::new();
        if let Some(password) = settings.password() {
            let mut auth = cmd("AUTH");
            if let Some(username) = settings.username() {
                auth.arg(username);
            }
            auth.arg(password);
            commands.push(auth);
        }
        if settings.db() != 0 {
            let mut select = cmd("SELECT");
            select.arg(settings.db());
            commands.push(select);
        }
        Some(Endpoint {
            address,
            greeting: commands
                .iter()
                .flat_map(redis::Cmd::get_packed_command)
                .collect(),
            greetings: commands.len(),
        })
    }
}
