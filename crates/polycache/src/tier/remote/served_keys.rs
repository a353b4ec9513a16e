//! The keys that a server has of a cache.

use super::link::Link;
use super::RemoteTier;
use crate::tier::Tier;
use crate::Error;
use polycache_host::keys;
use polycache_remote::{parse_number, Command, Fault, Record, Reply};
use std::collections::HashSet;
use std::rc::Rc;

impl RemoteTier {
    /// Every key on the server that begins with `prefix` and has a value, without the cache's own prefix.
    pub(super) fn served_keys(&self, prefix: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.still_open()?;
        let link = self.link();
        let mut found = HashSet::new();
        for primary in 0..link.primaries() {
            let mut cursor = 0;
            loop {
                let (next, keys) =
                    data_keys(link, primary, cursor, prefix).map_err(|fault| link.error(fault))?;
                let new = keys.into_iter().filter(|key| !found.contains(key));
                let read = with_headers(link, new.collect()).map_err(|fault| link.error(fault))?;
                let now = self.now();
                let served = read.into_iter().filter(|one| {
                    let record = Record::parse(&one.header);
                    record.is_some_and(|record| record.is_served(one.floor, now))
                });
                found.extend(served.map(|one| one.key));
                cursor = next;
                if cursor == 0 {
                    break;
                }
            }
        }
        let own = link.name.data_prefix().len();
        let without_prefix = |key: Vec<u8>| key[own..].to_vec();
        Ok(found.into_iter().map(without_prefix).collect())
    }
}

/// Some of the server's keys that are full keys and begin with `prefix`, and the cursor to go on from.
pub(super) fn data_keys(
    link: &Link,
    primary: usize,
    cursor: u64,
    prefix: &[u8],
) -> Result<(u64, Vec<Vec<u8>>), Fault> {
    let own = link.name.data_prefix();
    let pattern = [&escaped(&own), &escaped(prefix), b"*".as_slice()].concat();
    let (next, mut keys) = link.scan(primary, cursor, &pattern)?;
    // Locks, floors and the rest of our own are no full keys. Most keys are of the namespace of the one before.
    let mut known: Option<Vec<u8>> = None;
    keys.retain(|key| {
        let namespace = namespace_of(&key[own.len()..]);
        let is_known = known.as_deref() == namespace;
        if !is_known && namespace.and_then(keys::split).is_some() {
            known = namespace.map(<[u8]>::to_vec);
        }
        namespace.is_some() && known.as_deref() == namespace
    });
    Ok((next, keys))
}

/// A key of the server.
pub(super) struct Found {
    pub key: Vec<u8>,
    /// The highest of the floors that hold for it.
    pub floor: u64,
    /// Of what is there.
    pub header: Vec<u8>,
}

/// What is there of these keys.
pub(super) fn with_headers(link: &Link, keys: Vec<Vec<u8>>) -> Result<Vec<Found>, Fault> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let own = link.name.data_prefix().len();
    // Each floor once, and for each key the places of those around it.
    let mut floors: Vec<Vec<u8>> = Vec::new();
    let mut around: Vec<Rc<[usize]>> = Vec::with_capacity(keys.len());
    let mut last = None;
    for key in &keys {
        let namespace = namespace_of(&key[own..]);
        if let (Some(same), true) = (around.last(), last == Some(namespace)) {
            around.push(same.clone());
            continue;
        }
        last = Some(namespace);
        let of_key = keys::ancestors(&key[own..]).map(|namespace| {
            let known = floors.iter().position(|floor| *floor == namespace);
            known.unwrap_or_else(|| {
                floors.push(namespace);
                floors.len() - 1
            })
        });
        around.push(of_key.collect());
    }
    let asked = floors
        .iter()
        .map(|floor| Command::get(link.name.floor(floor)));
    let headers = keys.iter().map(|key| Command::get_header(key.clone()));
    let commands: Vec<_> = asked.chain(headers).collect();
    let mut replies = link.send(&commands)?.into_iter();
    let floors: Vec<u64> = replies
        .by_ref()
        .take(floors.len())
        .map(|reply| parse_number(&reply))
        .collect();
    let found = keys.into_iter().zip(around).zip(replies);
    let found = found.filter_map(|((key, around), reply)| {
        let floor = around.iter().map(|place| floors[*place]).max();
        match reply {
            Reply::Bytes(header) => Some(Found {
                key,
                floor: floor.unwrap_or(0),
                header,
            }),
            _ => None,
        }
    });
    Ok(found.collect())
}

/// The prefix of a full key's namespace, with its end.
fn namespace_of(full_key: &[u8]) -> Option<&[u8]> {
    let end = full_key.windows(2).position(|pair| pair == b"::")?;
    Some(&full_key[..end + 2])
}

/// A pattern that matches just these bytes.
fn escaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for byte in bytes {
        if matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\' | b'^') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}
