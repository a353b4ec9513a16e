//! Ours on the host tier: mapped files that other processes share. MessagePack, the default.

use super::{Cache, Store, Value, TTL};
use crate::{ours, Outcome};
use polycache::Serializer;
use std::borrow::Cow;
use tempfile::TempDir;

pub struct PolycacheHost;

/// The directory goes with it.
pub struct HostStore {
    cache: polycache::Cache,
    _directory: TempDir,
}

impl HostStore {
    pub(super) fn open(serializer: Serializer) -> Outcome<HostStore> {
        let directory = tempfile::tempdir()?;
        let cache = polycache::Cache::builder()
            .path(directory.path())
            .serializer(serializer)
            .ttl(TTL)
            .build()?;
        Ok(HostStore {
            cache,
            _directory: directory,
        })
    }
}

impl Cache for PolycacheHost {
    type Text = String;
    type Store<V: Value> = HostStore;

    fn name() -> String {
        "polycache-host".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: clone; TTL; shared by all processes of the machine; MessagePack".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn open<V: Value>() -> Outcome<HostStore> {
        HostStore::open(Serializer::MessagePack)
    }
}

impl<V: Value> Store<V> for HostStore {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        self.cache.set(key.as_bytes(), value).expect("set");
    }

    fn get(&self, key: &str) -> Option<V> {
        self.cache.get(key).expect("get")
    }
}
