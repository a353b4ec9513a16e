//! A cache of objects made to do what skp-cache does: values are encoded as JSON when they are set
//! and decoded when they are got, so that no caller can change another's.

use super::{Cache, Store, Value};
use crate::Outcome;
use std::borrow::Cow;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

pub struct Json<C>(PhantomData<C>);

pub struct JsonStore<S>(S);

impl<C: Cache> Cache for Json<C> {
    type Text = String;
    type Store<V: Value> = JsonStore<C::Store<Arc<[u8]>>>;

    fn name() -> String {
        format!("{} + JSON", C::name())
    }

    fn notes() -> Vec<String> {
        vec!["values are encoded and decoded by serde_json".into()]
    }

    fn version() -> (String, String) {
        C::version()
    }

    fn open<V: Value>() -> Outcome<Self::Store<V>> {
        Ok(JsonStore(C::open()?))
    }
}

thread_local! {
    static ENCODED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl<V: Value, S: Store<Arc<[u8]>>> Store<V> for JsonStore<S> {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        let encoded: Arc<[u8]> = ENCODED.with_borrow_mut(|buffer| {
            buffer.clear();
            serde_json::to_writer(&mut *buffer, value).expect("a value that JSON has");
            buffer.as_slice().into()
        });
        self.0.set(key, &encoded);
    }

    fn get(&self, key: &str) -> Option<V> {
        let encoded = self.0.get(key)?;
        Some(serde_json::from_slice(&encoded).expect("what was encoded"))
    }
}
