//! skp-cache with Bincode, the serializer that its page recommends.

use super::skp_cache::SkpStore;
use super::{Cache, Value};
use crate::{locked, Outcome};
use skp_cache::BincodeSerializer;

pub struct Bincode;

impl Cache for Bincode {
    type Text = String;
    type Store<V: Value> = SkpStore<BincodeSerializer>;

    fn name() -> String {
        "skp-cache, Bincode".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: clone; TTL; a block_on for every call, as published".into()]
    }

    fn version() -> (String, String) {
        locked("skp-cache")
    }

    fn open<V: Value>() -> Outcome<Self::Store<V>> {
        Ok(SkpStore::open(BincodeSerializer))
    }

    fn mixed(store: &Self::Store<u64>, number: &mut u64) {
        store.mixed(number);
    }
}
