//! A primary and its replica, watched by three Sentinels.

use super::servers::{free_ports, until, Server};
use crate::outcome::Fallible;
use crate::reached::SERVICE;
use std::collections::HashMap;
use std::path::Path;

/// Sentinels, of which most must agree.
const SENTINELS: usize = 3;

/// The servers; which one is the primary changes.
pub struct Watched {
    /// Two servers, and behind them the Sentinels.
    all: Vec<Server>,
}

impl Watched {
    /// Starts them, and waits until all know all.
    pub fn start(program: &str, folder: &Path) -> Fallible<Watched> {
        let ports = free_ports(2 + SENTINELS)?;
        let mut all = Vec::new();
        for port in &ports[..2] {
            let options = ["--repl-diskless-sync-delay", "0"];
            all.push(Server::start(program, *port, folder, &options)?);
        }
        let _: () = all[1].ask(&format!("REPLICAOF 127.0.0.1 {}", ports[0]))?;
        for port in &ports[2..] {
            let file = folder.join(format!("sentinel-{port}.conf"));
            let text = format!(
                "sentinel monitor {SERVICE} 127.0.0.1 {} 2\n\
                 sentinel down-after-milliseconds {SERVICE} 500\n\
                 sentinel failover-timeout {SERVICE} 1000\n",
                ports[0]
            );
            std::fs::write(&file, text)?;
            let file = file.to_str().ok_or("a path that is text")?;
            all.push(Server::sentinel(program, *port, file)?);
        }
        let watched = Watched { all };
        watched.is_whole()?;
        Ok(watched)
    }

    /// The two servers.
    pub fn servers(&self) -> &[Server] {
        &self.all[..2]
    }

    /// One of them.
    pub fn server(&mut self, place: usize) -> &mut Server {
        &mut self.all[place]
    }

    /// The Sentinels.
    pub fn sentinels(&self) -> &[Server] {
        &self.all[2..]
    }

    /// All of them; Sentinels come last.
    pub fn all(&self) -> &[Server] {
        &self.all
    }

    /// The places of the primary and its replica.
    pub fn pair(&self) -> (usize, usize) {
        match self.all[0].is_primary() {
            true => (0, 1),
            false => (1, 0),
        }
    }

    /// Waits until the replica has what the primary has, and every Sentinel knows both.
    pub fn is_whole(&self) -> Fallible<()> {
        until("all Sentinels know the primary and its replica", || {
            let (primary, replica) = self.pair();
            let linked = self.all[replica].replication("master_link_status:");
            let known = |sentinel: &Server| {
                sees_replica(sentinel) && self.names(sentinel) == Some(self.all[primary].port)
            };
            linked.as_deref() == Some("up") && self.sentinels().iter().all(known)
        })
    }

    /// Has a Sentinel change primary and replica. It refuses as long as it does not know how far the replica is.
    pub fn asks_for_another(&self) -> Fallible<()> {
        until("a Sentinel begins a failover", || {
            let words = format!("SENTINEL FAILOVER {SERVICE}");
            self.sentinels()[0].ask::<()>(&words).is_ok()
        })
    }

    /// Waits until every Sentinel names this server.
    pub fn all_name(&self, place: usize) -> Fallible<()> {
        until("all Sentinels name the new primary", || {
            let port = Some(self.all[place].port);
            self.sentinels().iter().all(|one| self.names(one) == port)
        })
    }

    fn names(&self, sentinel: &Server) -> Option<u16> {
        let address = format!("SENTINEL GET-MASTER-ADDR-BY-NAME {SERVICE}");
        let (_, port): (String, u16) = sentinel.ask(&address).ok()?;
        Some(port)
    }
}

/// Whether a Sentinel could have the replica take over, and knows the others.
fn sees_replica(sentinel: &Server) -> bool {
    let ask = |what: &str| -> Vec<HashMap<String, String>> {
        let words = format!("SENTINEL {what} {SERVICE}");
        sentinel.ask(&words).unwrap_or_default()
    };
    let replicas = ask("REPLICAS");
    let well = |one: &HashMap<String, String>| {
        one.get("flags").map(String::as_str) == Some("slave")
            && one.get("master-link-status").map(String::as_str) == Some("ok")
    };
    replicas.len() == 1 && replicas.iter().all(well) && ask("SENTINELS").len() == SENTINELS - 1
}
