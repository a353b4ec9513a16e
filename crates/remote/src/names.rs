//! The names of keys on the server.

use std::sync::Arc;

/// What a database of the cache is called: the option `prefix`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteName(Arc<[u8]>);

impl RemoteName {
    /// The option's value.
    #[must_use]
    pub fn new(prefix: &str) -> RemoteName {
        RemoteName(prefix.as_bytes().into())
    }

    /// What all keys of users and our own begin with: pushes are asked for with it.
    #[must_use]
    pub fn data_prefix(&self) -> Vec<u8> {
        self.join(b":")
    }

    /// What the beacons of a host begin with.
    #[must_use]
    pub fn beacon_prefix(&self, host: u64) -> Vec<u8> {
        self.join(format!("%{host:016x}:").as_bytes())
    }

    /// The beacon of this number in the slots of `tag`.
    #[must_use]
    pub fn beacon(&self, host: u64, tag: &str, number: u64) -> Vec<u8> {
        let mut key = self.beacon_prefix(host);
        key.extend_from_slice(format!("{{{tag}}}{number}").as_bytes());
        key
    }

    /// What a connection that reads for the host finds in the slots of `tag` if it is to the node that the host's leader
    /// hears (`spec/reads.md`, "Proof"). It is none of the beacons, which end in a number.
    #[must_use]
    pub fn proof(&self, host: u64, tag: &str) -> Vec<u8> {
        let mut key = self.beacon_prefix(host);
        key.extend_from_slice(format!("{{{tag}}}proof").as_bytes());
        key
    }

    /// What only remote tiers write, and no cached read is of: beacons, proofs, presences.
    #[must_use]
    pub fn internal_prefix(&self) -> Vec<u8> {
        self.join(b"%")
    }

    /// The list of the participants of a host that live.
    #[must_use]
    pub fn presence(&self, host: u64) -> Vec<u8> {
        self.join(format!("%{host:016x}").as_bytes())
    }

    /// The identity of the data.
    #[must_use]
    pub fn id(&self) -> Vec<u8> {
        self.join(b":%id")
    }

    /// The number of the last clear.
    #[must_use]
    pub fn clock(&self) -> Vec<u8> {
        self.join(b":%clock")
    }

    /// The number of the last clear of the namespace with this prefix of its full keys.
    #[must_use]
    pub fn floor(&self, namespace: &[u8]) -> Vec<u8> {
        let mut key = self.join(b":%floor:");
        key.extend_from_slice(namespace);
        key
    }

    /// The cleared namespaces whose space is to be given back.
    #[must_use]
    pub fn sweep(&self) -> Vec<u8> {
        self.join(b":%sweep")
    }

    /// Which host gives that space back.
    #[must_use]
    pub fn sweeper(&self) -> Vec<u8> {
        self.join(b":%sweeper")
    }

    /// The key under which a full key is stored.
    #[must_use]
    pub fn value(&self, full_key: &[u8]) -> Vec<u8> {
        [&*self.0, b":", full_key].concat()
    }

    /// What a pushed key stands for.
    #[must_use]
    pub fn understand<'a>(&self, key: &'a [u8]) -> Pushed<'a> {
        let Some(rest) = key.strip_prefix(self.data_prefix().as_slice()) else {
            return Pushed::Other;
        };
        if let Some(namespace) = rest.strip_prefix(b"%floor:") {
            return Pushed::Floor(namespace);
        }
        match rest {
            b"%clock" => Pushed::Clock,
            b"%id" => Pushed::Id,
            b"%sweep" | b"%sweeper" => Pushed::Other,
            full_key => Pushed::Value(full_key),
        }
    }

    fn join(&self, rest: &[u8]) -> Vec<u8> {
        [&*self.0, rest].concat()
    }
}

/// What a pushed key stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed<'a> {
    /// A user's key, by its full key.
    Value(&'a [u8]),
    /// The floor of the namespace with this prefix of its full keys.
    Floor(&'a [u8]),
    /// The clock.
    Clock,
    /// The identity of the data.
    Id,
    /// A beacon, or nothing that copies are made of.
    Other,
}

/// The names that an operation on one key needs.
#[derive(Clone, Debug)]
pub struct Names {
    /// The key.
    pub value: Vec<u8>,
    /// The clock.
    pub clock: Arc<[u8]>,
    /// The floors of the root and of each namespace around the key, from the outermost on.
    pub floors: Arc<[Arc<[u8]>]>,
    /// The same cache, for other names.
    pub remote: RemoteName,
}

impl Names {
    /// Those of a full key. `namespaces` are the prefixes of the full keys of the root (`::`) and of each
    /// namespace around the key, from the outermost on.
    #[must_use]
    pub fn new(remote: &RemoteName, namespaces: &[&[u8]], full_key: &[u8]) -> Names {
        let floors = namespaces.iter().map(|one| remote.floor(one).into());
        Names {
            value: remote.value(full_key),
            clock: remote.clock().into(),
            floors: floors.collect(),
            remote: remote.clone(),
        }
    }

    /// Those of a key of the same namespace, by the two parts of its full key.
    #[must_use]
    pub fn of(&self, prefix: &[u8], key: &[u8]) -> Names {
        Names {
            value: [&*self.remote.0, b":", prefix, key].concat(),
            clock: self.clock.clone(),
            floors: self.floors.clone(),
            remote: self.remote.clone(),
        }
    }
}
