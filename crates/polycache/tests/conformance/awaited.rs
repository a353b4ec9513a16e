//! An `AsyncCache` with the methods of a `Cache`, each of which waits for its future.

use polycache::{AsyncCache, Cache, Entry, Error, Stats, Ttl, TtlLeft, Update, Value, Version};
use std::collections::HashMap;
use std::future::{ready, Future};
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use tokio::runtime::{Builder, Runtime};

/// Its own thread drives the timers.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_time();
    builder.build().expect("a runtime")
});

struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// As `Runtime::block_on`, also within itself: a loader's steps are waited for while a load is.
pub fn wait<R>(future: impl Future<Output = R>) -> R {
    let _entered = RUNTIME.enter();
    let waker = Waker::from(Arc::new(Sleeper(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}

type Owned = Value<'static>;
type Key = Vec<u8>;

#[derive(Clone)]
pub struct Awaited(AsyncCache);

impl Awaited {
    pub fn new(cache: Cache) -> Awaited {
        Awaited(cache.into())
    }

    pub fn get(&self, key: Key) -> Result<Option<Owned>, Error> {
        wait(self.0.get_value(key))
    }

    pub fn peek(&self, key: Key) -> Result<Option<Owned>, Error> {
        wait(self.0.peek(key))
    }

    pub fn take(&self, key: Key) -> Result<Option<Owned>, Error> {
        wait(self.0.take(key))
    }

    pub fn entry(&self, key: Key) -> Result<Option<Entry>, Error> {
        wait(self.0.entry(key))
    }

    pub fn touch(&self, key: Key, ttl: Ttl) -> Result<bool, Error> {
        wait(self.0.touch(key, ttl))
    }

    pub fn set_with_ttl(&self, key: Key, value: &Owned, ttl: Ttl) -> Result<(), Error> {
        wait(self.0.set_with_ttl(key, value, ttl))
    }

    pub fn add_with_ttl(&self, key: Key, value: &Owned, ttl: Ttl) -> Result<bool, Error> {
        wait(self.0.add_with_ttl(key, value, ttl))
    }

    pub fn replace_with_ttl(&self, key: Key, value: &Owned, ttl: Ttl) -> Result<bool, Error> {
        wait(self.0.replace_with_ttl(key, value, ttl))
    }

    pub fn compare_and_set_with_ttl(
        &self,
        key: Key,
        seen: Version,
        value: &Owned,
        ttl: Ttl,
    ) -> Result<bool, Error> {
        wait(self.0.compare_and_set_with_ttl(key, seen, value, ttl))
    }

    pub fn increment(&self, key: Key, by: i64) -> Result<i64, Error> {
        wait(self.0.increment(key, by))
    }

    pub fn increment_with_ttl(
        &self,
        key: Key,
        by: i64,
        initial: i64,
        ttl: Ttl,
    ) -> Result<i64, Error> {
        wait(self.0.increment_with_ttl(key, by, initial, ttl))
    }

    pub fn decrement(&self, key: Key, by: i64) -> Result<i64, Error> {
        wait(self.0.decrement(key, by))
    }

    pub fn decrement_with_ttl(
        &self,
        key: Key,
        by: i64,
        initial: i64,
        ttl: Ttl,
    ) -> Result<i64, Error> {
        wait(self.0.decrement_with_ttl(key, by, initial, ttl))
    }

    pub fn update(
        &self,
        key: Key,
        change: impl Fn(Option<Owned>) -> Update<Owned>,
    ) -> Result<Option<Owned>, Error> {
        wait(self.0.update(key, |found| ready(change(found))))
    }

    pub fn update_with_ttl(
        &self,
        key: Key,
        ttl: Ttl,
        change: impl Fn(Option<Owned>) -> Update<Owned>,
    ) -> Result<Option<Owned>, Error> {
        let change = |found| ready(change(found));
        wait(self.0.update_with_ttl(key, ttl, change))
    }

    pub fn delete(&self, key: Key) -> Result<bool, Error> {
        wait(self.0.delete(key))
    }

    pub fn has(&self, key: Key) -> Result<bool, Error> {
        wait(self.0.has(key))
    }

    pub fn ttl(&self, key: Key) -> Result<Option<TtlLeft>, Error> {
        wait(self.0.ttl(key))
    }

    pub fn get_many(
        &self,
        keys: impl IntoIterator<Item = Key>,
    ) -> Result<HashMap<Key, Owned>, Error> {
        wait(self.0.get_many(keys))
    }

    pub fn set_many_with_ttl(
        &self,
        entries: impl IntoIterator<Item = (Key, Owned)>,
        ttl: Ttl,
    ) -> Result<(), Error> {
        wait(self.0.set_many_with_ttl(entries, ttl))
    }

    pub fn delete_many(&self, keys: impl IntoIterator<Item = Key>) -> Result<u64, Error> {
        wait(self.0.delete_many(keys))
    }

    pub fn delete_prefix(&self, prefix: Key) -> Result<u64, Error> {
        wait(self.0.delete_prefix(prefix))
    }

    pub fn get_or_set_with_ttl(
        &self,
        key: Key,
        ttl: Ttl,
        load: impl FnOnce() -> Result<Owned, &'static str>,
    ) -> Result<Owned, Error> {
        let load = || async { load() };
        wait(self.0.get_or_set_with_ttl(key, ttl, load))
    }

    pub fn get_or_set_many_with_ttl(
        &self,
        keys: impl IntoIterator<Item = Key>,
        ttl: Ttl,
        load: impl Fn(Vec<Key>) -> Result<Vec<(Key, Owned)>, &'static str>,
    ) -> Result<HashMap<Key, Owned>, Error> {
        let load = |asked| ready(load(asked));
        wait(self.0.get_or_set_many_with_ttl(keys, ttl, load))
    }

    pub fn keys(&self, prefix: Key) -> Result<Vec<Key>, Error> {
        wait(self.0.keys(prefix))
    }

    pub fn clear(&self) -> Result<(), Error> {
        wait(self.0.clear())
    }

    pub fn close(&self) {
        let _entered = RUNTIME.enter();
        self.0.close();
    }

    pub fn stats(&self) -> Result<Stats, Error> {
        wait(self.0.stats())
    }
}
