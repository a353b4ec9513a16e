//! What answers: one server, one that Sentinels name, or a Cluster.

use super::cluster::Cluster;
use super::servers::{Folder, Server};
use super::watched::Watched;
use crate::outcome::Fallible;

/// The servers of a run.
pub enum Servers {
    /// One server.
    Single(Server),
    /// A primary that Sentinels name.
    Watched(Watched),
    /// A Cluster.
    Cluster(Cluster),
}

/// What there is to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// One server.
    Single,
    /// A primary and its replica, and Sentinels.
    Watched,
    /// A Cluster.
    Cluster,
}

/// The program of what needs more than one server.
const PROGRAM: &str = "redis-server";

impl Topology {
    /// What a name among the options stands for, and the program that is started.
    pub fn of(name: &str) -> (Topology, &str) {
        match name {
            "sentinel" => (Topology::Watched, PROGRAM),
            "cluster" => (Topology::Cluster, PROGRAM),
            program => (Topology::Single, program),
        }
    }

    /// A name of servers that nobody starts: whether a language's package for such servers is here.
    pub fn probe(self) -> Option<&'static str> {
        match self {
            Topology::Single => None,
            Topology::Watched => Some("sentinel:1"),
            Topology::Cluster => Some("cluster:1"),
        }
    }

    /// Starts it.
    pub fn start(self, program: &str, folder: &Folder) -> Fallible<Servers> {
        let folder = &folder.path;
        Ok(match self {
            Topology::Single => Servers::Single(Server::single(program, folder)?),
            Topology::Watched => Servers::Watched(Watched::start(program, folder)?),
            Topology::Cluster => Servers::Cluster(Cluster::start(program, folder)?),
        })
    }
}

impl Servers {
    /// The servers that hold keys.
    pub fn primaries(&self) -> Vec<&Server> {
        match self {
            Servers::Single(server) => vec![server],
            Servers::Watched(watched) => vec![&watched.all()[watched.pair().0]],
            Servers::Cluster(cluster) => cluster.primaries().collect(),
        }
    }

    /// Every server, Sentinels too.
    pub fn all(&self) -> &[Server] {
        match self {
            Servers::Single(server) => std::slice::from_ref(server),
            Servers::Watched(watched) => watched.all(),
            Servers::Cluster(cluster) => &cluster.nodes,
        }
    }

    /// One of them, by its place.
    pub fn server(&mut self, place: usize) -> &mut Server {
        match self {
            Servers::Single(server) => server,
            Servers::Watched(watched) => watched.server(place),
            Servers::Cluster(cluster) => &mut cluster.nodes[place],
        }
    }

    /// The places of a primary and its replica; `None` where there is no replica.
    pub fn pair(&self, dice: usize) -> Option<(usize, usize)> {
        match self {
            Servers::Single(_) => None,
            Servers::Watched(watched) => Some(watched.pair()),
            Servers::Cluster(cluster) => Some(cluster.pair(dice)),
        }
    }

    /// Waits until nothing is left of what happened to servers.
    pub fn is_whole(&self) -> Fallible<()> {
        match self {
            Servers::Single(_) => Ok(()),
            Servers::Watched(watched) => watched.is_whole(),
            Servers::Cluster(cluster) => cluster.is_whole(),
        }
    }

    /// How programs call them that reach them by these ports, in the order of [`Servers::all`]; see `reached.rs`.
    pub fn name(&self, ports: &[u16]) -> String {
        let list = |ports: &[u16]| {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            ports.join(",")
        };
        match self {
            Servers::Single(_) => format!("redis://127.0.0.1:{}", list(ports)),
            Servers::Watched(watched) => {
                format!("sentinel:{}", list(&ports[watched.servers().len()..]))
            }
            Servers::Cluster(_) => format!("cluster:{}", list(ports)),
        }
    }

    /// How they call themselves, and what they are.
    pub fn title(&self) -> Fallible<String> {
        let version = self.all().first().ok_or("no server")?.version()?;
        Ok(match self {
            Servers::Single(_) => version,
            Servers::Watched(_) => format!("{version}, named by Sentinels"),
            Servers::Cluster(_) => format!("{version}, a Cluster"),
        })
    }

    /// Their ports, in the order of [`Servers::all`].
    pub fn ports(&self) -> Vec<u16> {
        self.all().iter().map(|server| server.port).collect()
    }
}
