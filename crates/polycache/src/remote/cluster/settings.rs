//! The settings of a `ClusterClient`: its first nodes, and how it connects to a node.
//!
//! The crate keeps them private, but shows them to the type of connection that it is told to use. That one here makes no
//! connection: it remembers what it was to connect to.

use crate::remote::pool::quiet;
use redis::cluster::{ClusterClient, Connect, NodeAddress};
use redis::{Client, Cmd, ConnectionInfo, ConnectionLike, IntoConnectionInfo, RedisResult, Value};
use std::cell::RefCell;
use std::time::Duration;

thread_local! {
    static ASKED: RefCell<Asked> = RefCell::default();
}

#[derive(Default)]
struct Asked {
    /// The only node that the Cluster is said to have; `None`: none of its nodes answers.
    node: Option<NodeAddress>,
    /// What the client would have connected to.
    seen: Vec<ConnectionInfo>,
}

/// Clients of the first nodes.
pub(super) fn seeds(client: &ClusterClient) -> Vec<Client> {
    // A client goes on to the next of its first nodes as long as none answers.
    ask(client, None)
        .into_iter()
        .filter_map(|info| quiet(&Client::open(info).ok()?).ok())
        .collect()
}

/// A client of one node.
pub(super) fn node(client: &ClusterClient, address: &NodeAddress) -> Option<Client> {
    let info = ask(client, Some(address.clone())).pop()?;
    quiet(&Client::open(info).ok()?).ok()
}

fn ask(client: &ClusterClient, node: Option<NodeAddress>) -> Vec<ConnectionInfo> {
    ASKED.set(Asked {
        node,
        seen: Vec::new(),
    });
    // Without a node that answers it is an error, as it should be.
    let _ = client.get_generic_connection::<Probe>();
    ASKED.take().seen
}

struct Probe;

impl Connect for Probe {
    fn connect<T: IntoConnectionInfo>(info: T, _: Option<Duration>) -> RedisResult<Probe> {
        let info = info.into_connection_info()?;
        ASKED.with_borrow_mut(|asked| asked.seen.push(info));
        Ok(Probe)
    }

    fn send_packed_command(&mut self, _: &[u8]) -> RedisResult<()> {
        Ok(())
    }

    fn set_write_timeout(&self, _: Option<Duration>) -> RedisResult<()> {
        Ok(())
    }

    fn set_read_timeout(&self, _: Option<Duration>) -> RedisResult<()> {
        Ok(())
    }

    fn recv_response(&mut self) -> RedisResult<Value> {
        Ok(Value::Okay)
    }
}

impl ConnectionLike for Probe {
    fn req_packed_command(&mut self, _: &[u8]) -> RedisResult<Value> {
        Ok(Value::Okay)
    }

    fn req_packed_commands(&mut self, _: &[u8], _: usize, count: usize) -> RedisResult<Vec<Value>> {
        Ok(vec![Value::Okay; count])
    }

    fn req_command(&mut self, command: &Cmd) -> RedisResult<Value> {
        // It asks for slots, or greets the node.
        let asks = command.args_iter().next() == Some(redis::Arg::Simple(b"CLUSTER"));
        let node = ASKED.with_borrow(|asked| asked.node.clone());
        Ok(match node {
            Some(node) if asks => Value::Array(vec![Value::Array(vec![
                Value::Int(0),
                Value::Int(16_383),
                Value::Array(vec![
                    Value::BulkString(node.host().into()),
                    Value::Int(node.port().into()),
                ]),
            ])]),
            _ => Value::Okay,
        })
    }

    fn get_db(&self) -> i64 {
        0
    }

    fn check_connection(&mut self) -> bool {
        ASKED.with_borrow(|asked| asked.node.is_some())
    }

    fn is_open(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(client: &Client) -> String {
        client.get_connection_info().addr().to_string()
    }

    #[test]
    fn all_first_nodes_are_known_without_a_connection() {
        let client =
            ClusterClient::new(["redis://a.invalid:1", "redis://b.invalid:2"]).expect("addresses");
        let seeds: Vec<_> = seeds(&client).iter().map(address).collect();
        assert_eq!(seeds, ["a.invalid:1", "b.invalid:2"]);
    }

    #[test]
    fn a_node_has_the_clients_settings() {
        let outside = NodeAddress::new("10.0.0.1", 7);
        let inside = NodeAddress::new("c.invalid", 3);
        let client = ClusterClient::builder(["redis://user:secret@a.invalid:1"])
            .node_address_map([(outside.clone(), inside.clone())].into())
            .build()
            .expect("addresses");
        for asked in [&outside, &inside] {
            let found = node(&client, asked).expect("settings");
            let settings = found.get_connection_info().redis_settings().clone();
            assert_eq!(address(&found), "c.invalid:3");
            assert_eq!(settings.username(), Some("user"));
            assert_eq!(settings.password(), Some("secret"));
        }
        let first = NodeAddress::new("a.invalid", 1);
        let found = node(&client, &first).expect("settings");
        assert_eq!(address(&found), "a.invalid:1");
    }
}
