//! Simulated primaries: data, scripts, tracking by prefixes, failovers and slots that move.

use super::truth::Time;
use polycache_remote::{slot_of_key, Command, Map, Node as MapNode, Reply, Script, Verb};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Milliseconds since 1970 when a simulation begins.
const EPOCH_MS: u64 = 1_700_000_000_000;
const SLOTS: u32 = 16_384;

/// What stands under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub bytes: Vec<u8>,
    /// Nanoseconds.
    pub expires: Option<Time>,
}

/// A primary.
#[derive(Debug)]
pub struct Server {
    /// Changes with each failover.
    pub name: u64,
    pub data: BTreeMap<Vec<u8>, Stored>,
    /// What was there before each of the last writes.
    journal: Vec<(Vec<u8>, Option<Stored>)>,
    /// Connections that want pushes, with their prefixes.
    pub trackers: Vec<(u64, Vec<Vec<u8>>)>,
    /// Keys written in this round of its loop.
    pub written: BTreeSet<Vec<u8>>,
    pub hung_until: Time,
    /// What the server holds whose place this one took: some clients still speak to it.
    pub deposed: Option<BTreeMap<Vec<u8>, Stored>>,
    /// Milliseconds by which its clock is ahead of the hosts', plus 2000.
    pub skew: u64,
}

/// All primaries.
#[derive(Debug)]
pub struct Cluster {
    pub servers: Vec<Server>,
    /// Slots that are not where they began.
    moved: BTreeMap<u16, usize>,
    /// A slot that is moving, and where to.
    pub moving: Option<(u16, usize)>,
    map: Option<Map>,
    names: u64,
}

impl Cluster {
    pub fn new(nodes: usize, mut skew: impl FnMut() -> u64) -> Cluster {
        Cluster {
            servers: (0..nodes)
                .map(|name| Server {
                    name: name as u64,
                    data: BTreeMap::new(),
                    journal: Vec::new(),
                    trackers: Vec::new(),
                    written: BTreeSet::new(),
                    hung_until: 0,
                    deposed: None,
                    skew: skew(),
                })
                .collect(),
            moved: BTreeMap::new(),
            moving: None,
            map: None,
            names: nodes as u64,
        }
    }

    fn owner_of_slot(&self, slot: u16) -> usize {
        match self.moved.get(&slot) {
            Some(owner) => *owner,
            None => (u32::from(slot) * self.servers.len() as u32 / SLOTS) as usize,
        }
    }

    /// The server that executes a command of this key, or of its alias: while a slot moves, the one where the key is.
    pub fn owner(&self, key: &[u8]) -> usize {
        let key = &*real(key);
        let slot = slot_of_key(key);
        let owner = self.owner_of_slot(slot);
        match self.moving {
            Some((moving, to)) if moving == slot && !self.servers[owner].data.contains_key(key) => {
                to
            }
            _ => owner,
        }
    }

    /// What the primaries say of their slots.
    pub fn map(&mut self) -> Option<Map> {
        if self.moving.is_some() {
            return None;
        }
        if self.map.is_none() {
            let mut nodes: Vec<Vec<(u16, u16)>> = vec![Vec::new(); self.servers.len()];
            for slot in 0..SLOTS as u16 {
                let ranges = &mut nodes[self.owner_of_slot(slot)];
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == slot => *last = slot,
                    _ => ranges.push((slot, slot)),
                }
            }
            let named = nodes.into_iter().zip(&self.servers).map(|(slots, server)| {
                MapNode::new(&server.name.to_string(), slots).expect("it has slots")
            });
            self.map = Some(Map {
                nodes: named.collect(),
            });
        }
        self.map.clone()
    }

    /// A slot begins to move.
    pub fn begin_move(&mut self, key: &[u8], to: usize) {
        let slot = slot_of_key(key);
        if self.moving.is_none() && self.owner_of_slot(slot) != to {
            // What a failover brought back of a slot that had left is deleted, as real servers do.
            self.servers[to]
                .data
                .retain(|key, _| slot_of_key(key) != slot);
            self.moving = Some((slot, to));
        }
    }

    /// One key of the moving slot goes over, or the move is done. Returns what was written where.
    pub fn go_on_moving(&mut self) -> Vec<(usize, Vec<u8>)> {
        let Some((slot, to)) = self.moving else {
            return Vec::new();
        };
        let from = self.owner_of_slot(slot);
        let key = self.servers[from]
            .data
            .keys()
            .find(|key| slot_of_key(key) == slot)
            .cloned();
        match key {
            Some(key) => {
                let stored = self.servers[from].data.remove(&key);
                if let Some(stored) = stored {
                    self.servers[to].data.insert(key.clone(), stored);
                }
                vec![(from, key.clone()), (to, key)]
            }
            None => {
                self.moved.insert(slot, to);
                self.moving = None;
                self.map = None;
                Vec::new()
            }
        }
    }

    /// A replica takes a server's place; it lacks the last writes. Nobody is tracked there.
    pub fn fail_over(&mut self, server: usize, lacks: usize) {
        self.names += 1;
        let name = self.names;
        self.map = None;
        let server = &mut self.servers[server];
        server.deposed = Some(server.data.clone());
        for _ in 0..lacks {
            match server.journal.pop() {
                Some((key, Some(stored))) => server.data.insert(key, stored),
                Some((key, None)) => server.data.remove(&key),
                None => break,
            };
        }
        server.name = name;
        server.journal.clear();
        server.trackers.clear();
        server.written.clear();
    }

    /// What stands under a key now.
    pub fn get(&self, key: &[u8], now: Time) -> Option<&[u8]> {
        let stored = self.servers[self.owner(key)].data.get(key)?;
        let alive = stored.expires.is_none_or(|expires| now < expires);
        alive.then_some(stored.bytes.as_slice())
    }

    /// Executes a command; whether it changed the key.
    pub fn execute(&mut self, server: usize, command: &Command, now: Time) -> (Reply, bool) {
        let skew = self.servers[server].skew;
        let server = &mut self.servers[server];
        let key = &*real(&command.key);
        let expired = server
            .data
            .get(key)
            .is_some_and(|stored| stored.expires.is_some_and(|expires| expires <= now));
        if expired {
            server.remove(key);
        }
        let arg = |place: usize| command.args[place].to_vec();
        let here = server.data.get(key).map(|stored| stored.bytes.clone());
        let begins = |head: &[u8]| here.as_ref().is_some_and(|here| here.starts_with(head));
        let bytes = |bytes: Option<Vec<u8>>| bytes.map_or(Reply::Nil, Reply::Bytes);
        match command.verb {
            Verb::Get => (bytes(here), false),
            Verb::GetHeader => {
                let header = here.map(|there| there[..there.len().min(40)].to_vec());
                (Reply::Bytes(header.unwrap_or_default()), false)
            }
            Verb::Set => {
                let px = command.args.get(2).map(|px| number(px));
                server.store(key, arg(0), px.unwrap_or(0), now);
                (Reply::Status, true)
            }
            Verb::SortedAdd => (Reply::Int(1), true),
            Verb::Run(Script::Acquire) => {
                let dead = arg(2);
                if here.is_some() && (dead.is_empty() || !begins(&dead)) {
                    return (bytes(here), false);
                }
                server.store(key, arg(0), number(&arg(1)), now);
                (Reply::Nil, true)
            }
            Verb::Run(Script::Exchange) => {
                if !begins(&arg(0)) {
                    return (Reply::Int(0), false);
                }
                server.store(key, arg(1), number(&arg(2)), now);
                (Reply::Int(1), true)
            }
            Verb::Run(Script::Remove) => {
                if !begins(&arg(0)) {
                    return (Reply::Int(0), false);
                }
                server.remove(key);
                (Reply::Int(1), true)
            }
            Verb::Run(Script::Add) => {
                let dead = arg(2);
                let free = here.is_none() || begins(&[0xC1, 0x82]);
                if !free && (dead.is_empty() || !begins(&dead)) {
                    let header = here.unwrap_or_default().into_iter().take(40).collect();
                    return (Reply::Bytes(header), false);
                }
                server.store(key, arg(0), number(&arg(1)), now);
                (Reply::Int(1), true)
            }
            Verb::Unlink => {
                server.remove(key);
                (Reply::Int(i64::from(here.is_some())), here.is_some())
            }
            Verb::Run(Script::Clear) => {
                let time = EPOCH_MS + now / 1_000_000 + skew - 2000;
                let next = match here {
                    Some(last) => (number(&last) + 1).max(time),
                    None => time + 1,
                };
                server.store(key, next.to_string().into_bytes(), 0, now);
                (Reply::Int(next as i64), true)
            }
            Verb::Run(Script::Floor) => {
                let last = here.map_or(0, |here| number(&here));
                let higher = last < number(&arg(0));
                if higher {
                    server.store(key, arg(0), 0, now);
                }
                (Reply::Int(1), higher)
            }
            // Nothing is kept to be swept: REMOVE is what a sweep changes.
            Verb::Run(Script::NextSwept) => (Reply::List(Vec::new()), false),
            Verb::Run(Script::Swept) => (Reply::Int(0), false),
        }
    }
}

impl Server {
    fn note(&mut self, key: &[u8]) {
        let before = self.data.get(key).cloned();
        self.journal.push((key.to_vec(), before));
    }

    fn store(&mut self, key: &[u8], bytes: Vec<u8>, px: u64, now: Time) {
        self.note(key);
        let expires = (px > 0).then(|| now + px * 1_000_000);
        self.data.insert(key.to_vec(), Stored { bytes, expires });
    }

    pub fn remove(&mut self, key: &[u8]) {
        self.note(key);
        self.data.remove(key);
    }

    pub fn flush(&mut self) {
        self.data.clear();
        self.journal.clear();
    }
}

/// The name of a key as cached reads know it: no prefix that the cache itself listens to covers it.
pub fn alias(key: &[u8]) -> Option<Vec<u8>> {
    Some([b"u:", key.strip_prefix(b"p:")?].concat())
}

/// The key of an alias.
pub fn real(key: &[u8]) -> Cow<'_, [u8]> {
    match key.strip_prefix(b"u:") {
        Some(rest) => Cow::Owned([b"p:", rest].concat()),
        None => Cow::Borrowed(key),
    }
}

fn number(text: &[u8]) -> u64 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}
