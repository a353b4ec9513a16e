//! A real Cluster of three primaries, with a replica each if the test needs them, that a test starts on free ports of the
//! loopback interface, and stops after it.

use crate::process::{free_ports, until, Process};
use tempfile::TempDir;

pub struct Cluster {
    /// The primaries, then their replicas.
    pub nodes: Vec<Process>,
    /// For the nodes' own files.
    _directory: TempDir,
}

impl Cluster {
    /// Three primaries, and as many replicas: 0 or 3. `None` where redis-server is not installed.
    pub fn start(replicas: usize, options: &str) -> Option<Cluster> {
        let directory = TempDir::new().expect("a directory");
        let path = directory.path().to_str().expect("a path");
        let count = 3 + replicas;
        let ports = free_ports(2 * count);
        let (ports, buses) = ports.split_at(count);
        let mut nodes = Vec::new();
        for (port, bus) in ports.iter().zip(buses) {
            let words = format!(
                "--cluster-port {bus} --cluster-enabled yes --cluster-config-file {port}.conf \
                 --cluster-node-timeout 2000 --appendonly no {options}"
            );
            let files = ["--save", "", "--dir", path];
            nodes.push(Process::start(
                *port,
                words.split_whitespace().chain(files),
            )?);
        }
        let cluster = Cluster {
            nodes,
            _directory: directory,
        };
        cluster.meet(buses);
        Some(cluster)
    }

    fn meet(&self, buses: &[u16]) {
        for (place, node) in self.nodes.iter().enumerate() {
            node.answers();
            if let Some((first, last)) = [(0, 5460), (5461, 10922), (10923, 16383)].get(place) {
                let _: () = node
                    .ask(&format!("CLUSTER ADDSLOTSRANGE {first} {last}"))
                    .expect("slots");
            }
            // Epochs that differ from the beginning are not fought over.
            let _: () = node
                .ask(&format!("CLUSTER SET-CONFIG-EPOCH {}", place + 1))
                .expect("an epoch");
        }
        for (node, bus) in self.nodes.iter().zip(buses) {
            let _: () = self.nodes[0]
                .ask(&format!("CLUSTER MEET 127.0.0.1 {} {bus}", node.port))
                .expect("it meets");
        }
        for (place, replica) in self.nodes.iter().enumerate().skip(3) {
            let primary: String = self.nodes[place - 3].ask("CLUSTER MYID").expect("an id");
            until("it is a replica", || {
                replica
                    .ask::<()>(&format!("CLUSTER REPLICATE {primary}"))
                    .is_ok()
            });
        }
        until("all know all", || {
            self.nodes.iter().all(|node| {
                let info = node.ask::<String>("CLUSTER INFO").unwrap_or_default();
                let known = format!("cluster_known_nodes:{}\r", self.nodes.len());
                info.contains("cluster_state:ok") && info.contains(&known)
            })
        });
        until("replicas have what their primaries have", || {
            self.nodes[3..].iter().all(|node| {
                let info = node.ask::<String>("INFO replication").unwrap_or_default();
                info.contains("role:slave") && info.contains("master_link_status:up")
            })
        });
    }

    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Process::url).collect()
    }

    pub fn client(&self) -> redis::cluster::ClusterClient {
        redis::cluster::ClusterClient::new(self.urls()).expect("addresses")
    }
}
