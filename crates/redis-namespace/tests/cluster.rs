//! Tests with a cluster of three primaries, which the test starts on the loopback interface. Skipped
//! where there is no `redis-server`.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use polycache_redis_namespace::{Namespace, Namespaced};
use redis::cluster::ClusterClient;
use redis::{cmd, pipe, Cmd, Connection, RedisError, RedisResult, Value};

/// Seconds for servers to start and find each other.
const PATIENCE: Duration = Duration::from_secs(30);
const KEYS: usize = 60;

struct Cluster {
    servers: Vec<Child>,
    ports: Vec<u16>,
}

impl Cluster {
    /// None where the programs are missing.
    fn start() -> Option<Self> {
        // Six at once, so that none is given out twice: one of each pair is the nodes' bus.
        let free: Vec<TcpListener> = (0..6)
            .map(|_| TcpListener::bind("127.0.0.1:0"))
            .collect::<Result<_, _>>()
            .ok()?;
        let all: Vec<u16> = free
            .iter()
            .filter_map(|one| one.local_addr().ok())
            .map(|address| address.port())
            .collect();
        drop(free);
        let (ports, buses) = all.split_at(3);
        let mut cluster = Self {
            servers: Vec::new(),
            ports: ports.to_vec(),
        };
        for (port, bus) in ports.iter().zip(buses) {
            let options = format!(
                "--bind 127.0.0.1 --port {port} --cluster-enabled yes --cluster-port {bus} \
                 --cluster-config-file polycache-nodes-{port}.conf"
            );
            let server = Command::new("redis-server")
                .args(options.split(' '))
                .args(["--save", "", "--dir"])
                .arg(std::env::temp_dir())
                .stdout(Stdio::null())
                .spawn()
                .ok()?;
            cluster.servers.push(server);
        }
        until("servers", || cluster.connections().is_ok());
        let created = Command::new("redis-cli")
            .args(["--cluster-yes", "--cluster", "create"])
            .args(ports.iter().map(|port| format!("127.0.0.1:{port}")))
            .stdout(Stdio::null())
            .status()
            .ok()?;
        assert!(created.success());
        until("the cluster", || {
            cluster.connections().is_ok_and(|connections| {
                connections.into_iter().all(|mut connection| {
                    let said: RedisResult<String> =
                        cmd("CLUSTER").arg("INFO").query(&mut connection);
                    said.is_ok_and(|said| said.contains("cluster_state:ok"))
                })
            })
        });
        Some(cluster)
    }

    fn connections(&self) -> RedisResult<Vec<Connection>> {
        let ports = self.ports.iter();
        ports
            .map(|port| redis::Client::open(format!("redis://127.0.0.1:{port}/"))?.get_connection())
            .collect()
    }

    fn client(&self) -> ClusterClient {
        let ports = self.ports.iter();
        ClusterClient::new(ports.map(|port| format!("redis://127.0.0.1:{port}/")))
            .expect("good addresses")
    }

    /// The keys of each node.
    fn everything(&self) -> Vec<BTreeSet<String>> {
        let connections = self.connections().expect("they are up").into_iter();
        connections
            .map(|mut one| cmd("KEYS").arg("*").query(&mut one).expect("keys"))
            .collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
        for port in &self.ports {
            let _ = std::fs::remove_file(
                std::env::temp_dir().join(format!("polycache-nodes-{port}.conf")),
            );
        }
    }
}

fn until(what: &str, mut there: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !there() {
        assert!(Instant::now() < deadline, "{what} did not come up");
        thread::sleep(Duration::from_millis(20));
    }
}

fn names(prefix: &str) -> BTreeSet<String> {
    (0..KEYS)
        .map(|number| format!("{prefix}k{number}"))
        .collect()
}

fn refused() -> [Cmd; 4] {
    let mut scan = cmd("SCAN");
    scan.arg(0);
    [scan, cmd("DBSIZE"), cmd("RANDOMKEY"), cmd("FLUSHDB")]
}

fn assert_refused(error: &RedisError) {
    assert_eq!(
        error.detail().map(|said| said.contains("one node")),
        Some(true),
        "{error}"
    );
}

/// One test for both kinds of connection, so that one cluster is enough.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let connection = cluster.client().get_connection().expect("a connection");
    let mut shop = Namespaced::new(connection, Namespace::new("shop").expect("a good name"));
    for name in names("") {
        let _: () = cmd("SET")
            .arg(&name)
            .arg(&name)
            .query(&mut shop)
            .expect("set");
    }
    let nodes = cluster.everything();
    assert!(nodes.iter().all(|node| !node.is_empty()));
    assert_eq!(
        nodes.into_iter().flatten().collect::<BTreeSet<_>>(),
        names("shop:")
    );

    let keys: BTreeSet<String> = cmd("KEYS").arg("*").query(&mut shop).expect("keys");
    assert_eq!(keys, names(""));
    let values: Vec<String> = cmd("MGET")
        .arg(&["k1", "k2", "k3"])
        .query(&mut shop)
        .expect("mget");
    assert_eq!(values, ["k1", "k2", "k3"]);
    for command in refused() {
        assert_refused(&command.query::<Value>(&mut shop).unwrap_err());
    }
    let mut both = pipe();
    both.atomic()
        .cmd("RPUSH")
        .arg("{l}1")
        .arg("x")
        .cmd("LMPOP")
        .arg(1)
        .arg("{l}1")
        .arg("LEFT");
    // On these connections redis-rs has only `ClusterPipeline`, which accepts no other connection.
    let error = both.query::<Value>(&mut shop).unwrap_err();
    assert!(error.to_string().contains("pipelining"), "{error}");

    let connection = cluster
        .client()
        .get_async_connection()
        .await
        .expect("a connection");
    let mut eu = Namespaced::new(
        connection,
        Namespace::nested(["shop", "eu"]).expect("good names"),
    );
    for name in names("") {
        let _: () = cmd("SET")
            .arg(&name)
            .arg(1)
            .query_async(&mut eu)
            .await
            .expect("set");
    }
    let keys: BTreeSet<String> = cmd("KEYS")
        .arg("*")
        .query_async(&mut eu)
        .await
        .expect("keys");
    assert_eq!(keys, names(""));
    for command in refused() {
        assert_refused(&command.query_async::<Value>(&mut eu).await.unwrap_err());
    }
    let (_, (popped, _)): (i64, (String, Vec<String>)) =
        both.query_async(&mut eu).await.expect("replies");
    assert_eq!(popped, "{l}1");
    let removed: usize = cmd("DEL")
        .arg(names("").into_iter().collect::<Vec<_>>())
        .query_async(&mut eu)
        .await
        .expect("del");
    assert_eq!(removed, KEYS);
    assert_eq!(
        cluster
            .everything()
            .into_iter()
            .flatten()
            .collect::<BTreeSet<_>>(),
        names("shop:")
    );
}
