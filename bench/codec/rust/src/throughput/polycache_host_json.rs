//! Ours on the host tier with JSON, skp-cache's default.

use super::polycache_host::HostStore;
use super::{Cache, Value};
use crate::{ours, Outcome};
use polycache::Serializer;

pub struct PolycacheHostJson;

impl Cache for PolycacheHostJson {
    type Text = String;
    type Store<V: Value> = HostStore;

    fn name() -> String {
        "polycache-host + JSON".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: clone; TTL; shared by all processes of the machine; JSON".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn open<V: Value>() -> Outcome<HostStore> {
        HostStore::open(Serializer::Json)
    }
}
