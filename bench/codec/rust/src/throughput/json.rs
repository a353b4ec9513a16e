//! A cache of objects that does what skp-cache does: values are encoded as JSON by a set and decoded by a get, so that
//! no caller can change another's. The JSON is kept in the entry itself when it is short, and shared otherwise.

use super::{Cache, Store, Value};
use crate::Outcome;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

pub struct Json<C>(PhantomData<C>);

pub struct JsonStore<C, S>(S, PhantomData<fn() -> C>);

impl<C: Cache> Cache for Json<C> {
    type Text = String;
    type Store<V: Value> = JsonStore<C, C::Store<Encoded>>;

    fn name() -> String {
        format!("{} + JSON", C::name())
    }

    fn notes() -> Vec<String> {
        let of_store = C::notes().join("; ");
        let expiry = if of_store.contains("no TTL") {
            "no TTL"
        } else {
            "TTL"
        };
        vec![format!("isolation: clone; {expiry}; JSON by {}", C::JSON)]
    }

    fn version() -> (String, String) {
        C::version()
    }

    fn open<V: Value>() -> Outcome<Self::Store<V>> {
        Ok(JsonStore(C::open()?, PhantomData))
    }
}

/// Bytes of JSON, cheap to clone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Encoded {
    /// So many of these.
    Short(u8, [u8; SHORT]),
    Long(Arc<[u8]>),
}

/// As many as there is room for beside the two words of the other kind.
const SHORT: usize = 22;

impl Encoded {
    fn from(bytes: &[u8]) -> Encoded {
        if bytes.len() > SHORT {
            return Encoded::Long(bytes.into());
        }
        let mut short = [0; SHORT];
        short[..bytes.len()].copy_from_slice(bytes);
        Encoded::Short(bytes.len() as u8, short)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Encoded::Short(len, short) => &short[..usize::from(*len)],
            Encoded::Long(shared) => shared,
        }
    }
}

thread_local! {
    static ENCODED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl<V: Value, C: Cache, S: Store<Encoded>> Store<V> for JsonStore<C, S> {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        let encoded = ENCODED.with_borrow_mut(|buffer| {
            buffer.clear();
            C::write_json(value, buffer);
            Encoded::from(buffer)
        });
        self.0.set(key, &encoded);
    }

    fn get(&self, key: &str) -> Option<V> {
        let encoded = self.0.get(key)?;
        Some(C::read_json(encoded.bytes()))
    }
}
