//! A real Redis Cluster.

use super::servers::{free_ports, until, Server};
use crate::outcome::Fallible;
use std::path::Path;

/// Three primaries with a replica each. Primary and replica `n` are the nodes `n` and `n + 3`, until one fails over.
pub struct Cluster {
    /// All nodes.
    pub nodes: Vec<Server>,
}

/// Primaries.
const PRIMARIES: usize = 3;

impl Cluster {
    /// Starts it, and waits until all know all.
    pub fn start(program: &str, folder: &Path) -> Fallible<Cluster> {
        let ports = free_ports(4 * PRIMARIES)?;
        let (ports, buses) = ports.split_at(2 * PRIMARIES);
        let mut nodes = Vec::new();
        for (port, bus) in ports.iter().zip(buses) {
            let options = format!(
                "--cluster-port {bus} --cluster-enabled yes --cluster-config-file {port}.conf \
                 --cluster-node-timeout 1500 --repl-diskless-sync-delay 0"
            );
            let options: Vec<&str> = options.split_whitespace().collect();
            nodes.push(Server::start(program, *port, folder, &options)?);
        }
        let cluster = Cluster { nodes };
        cluster.meet(buses)?;
        Ok(cluster)
    }

    fn meet(&self, buses: &[u16]) -> Fallible<()> {
        for (place, node) in self.nodes.iter().enumerate() {
            if let Some(slots) = ["0 5460", "5461 10922", "10923 16383"].get(place) {
                let _: () = node.ask(&format!("CLUSTER ADDSLOTSRANGE {slots}"))?;
            }
            // Epochs that differ from the beginning are not fought over.
            let _: () = node.ask(&format!("CLUSTER SET-CONFIG-EPOCH {}", place + 1))?;
        }
        for (node, bus) in self.nodes.iter().zip(buses) {
            let _: () =
                self.nodes[0].ask(&format!("CLUSTER MEET 127.0.0.1 {} {bus}", node.port))?;
        }
        for (place, replica) in self.nodes.iter().enumerate().skip(PRIMARIES) {
            let primary: String = self.nodes[place - PRIMARIES].ask("CLUSTER MYID")?;
            until("a node is a replica", || {
                let told = replica.ask::<()>(&format!("CLUSTER REPLICATE {primary}"));
                told.is_ok()
            })?;
        }
        self.is_whole()
    }

    /// Waits until all know all and agree on the slots, and each replica has what its primary has.
    pub fn is_whole(&self) -> Fallible<()> {
        let known = format!("cluster_known_nodes:{}\r", self.nodes.len());
        until("the Cluster is whole", || {
            let primaries = self.nodes.iter().filter(|node| node.is_primary()).count();
            let whole = |node: &Server| {
                let info = node.ask::<String>("CLUSTER INFO").unwrap_or_default();
                let linked = node.replication("master_link_status:");
                let linked = node.is_primary() || linked.as_deref() == Some("up");
                linked && info.contains("cluster_state:ok") && info.contains(&known)
            };
            let mut maps = self.nodes.iter().map(owners);
            let first = maps.next().flatten();
            let agreed = first.is_some() && maps.all(|map| map == first);
            primaries == PRIMARIES && agreed && self.nodes.iter().all(whole)
        })
    }

    /// The places of a primary and its replica.
    pub fn pair(&self, number: usize) -> (usize, usize) {
        let (one, other) = (number % PRIMARIES, number % PRIMARIES + PRIMARIES);
        match self.nodes[one].is_primary() {
            true => (one, other),
            false => (other, one),
        }
    }

    /// The nodes that are primaries.
    pub fn primaries(&self) -> impl Iterator<Item = &Server> {
        self.nodes.iter().filter(|node| node.is_primary())
    }

    /// The place of the primary that owns a slot.
    pub fn owner(&self, slot: u16) -> Fallible<usize> {
        let owners = self.nodes.iter().find_map(owners).ok_or("a map of slots")?;
        let owned = |one: &&Owned| (one.first..=one.last).contains(&slot);
        let port = owners.iter().find(owned).ok_or("a slot's owner")?.port;
        let place = self.nodes.iter().position(|node| node.port == port);
        Ok(place.ok_or("the owner is a node")?)
    }

    /// For keys by their slots; a driver's own client.
    pub fn client(&self) -> Fallible<redis::cluster::ClusterClient> {
        let urls = self.nodes.iter().map(|node| node.port);
        let urls = urls.map(|port| format!("redis://127.0.0.1:{port}"));
        Ok(redis::cluster::ClusterClient::new(
            urls.collect::<Vec<_>>(),
        )?)
    }
}

/// Slots that a primary owns.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owned {
    first: u16,
    last: u16,
    port: u16,
}

/// Who owns which slots, as a node sees it.
fn owners(node: &Server) -> Option<Vec<Owned>> {
    let map: Vec<Vec<redis::Value>> = node.ask("CLUSTER SLOTS").ok()?;
    let owned = |range: Vec<redis::Value>| {
        let mut range = range.into_iter();
        let mut next = || redis::from_redis_value(range.next()?).ok();
        let (first, last) = (next()?, next()?);
        let primary: Vec<redis::Value> = redis::from_redis_value(range.next()?).ok()?;
        let port = redis::from_redis_value(primary.into_iter().nth(1)?).ok()?;
        Some(Owned { first, last, port })
    };
    let mut owners = map.into_iter().map(owned).collect::<Option<Vec<_>>>()?;
    owners.sort();
    Some(owners)
}
