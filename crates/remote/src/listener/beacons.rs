//! A round of beacons: two at each primary, the second one when the first was heard.

use super::map::Map;
use std::time::Duration;

/// The beacons under way.
#[derive(Debug, Default)]
pub struct Beacons {
    began: Duration,
    nodes: Vec<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    /// How many were heard.
    heard: u8,
    /// The one that is under way.
    key: Option<Vec<u8>>,
}

/// Beacons that must be heard at each primary: see `spec/remote.md`, "Why two beacons".
const CALLS: u8 = 2;

impl Beacons {
    /// A round begins.
    pub fn begin(&mut self, map: &Map, now: Duration) {
        self.began = now;
        self.nodes = map.nodes.iter().map(|_| Calls::default()).collect();
    }

    /// A node whose next beacon is due.
    pub fn next(&self) -> Option<usize> {
        self.nodes
            .iter()
            .position(|node| node.key.is_none() && node.heard < CALLS)
    }

    /// A beacon is sent.
    pub fn send(&mut self, node: usize, key: Vec<u8>) {
        self.nodes[node].key = Some(key);
    }

    /// True for the beacon that is under way at this node: it was heard.
    pub fn hear(&mut self, node: usize, key: &[u8]) -> bool {
        let Some(calls) = self.nodes.get_mut(node) else {
            return false;
        };
        if calls.key.as_deref() != Some(key) {
            return false;
        }
        calls.key = None;
        calls.heard += 1;
        true
    }

    /// When the round began, if all its beacons were heard: all writes until then were.
    pub fn heard_all(&self) -> Option<Duration> {
        let all = self.nodes.iter().all(|node| node.heard >= CALLS);
        all.then_some(self.began)
    }
}
