//! `AsyncCache` over a server, on runtimes of one thread: that thread waits for nobody.

use crate::hosts::{host, listens, options, somewhere, SECOND};
use crate::process::until;
use polycache::{AsyncCache, Cache, Error, Ttl, TtlLeft, Update, Value};
use polycache_check_proxy::{Proxy, Side};
use serde::{Deserialize, Deserializer, Serialize};
use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{pending, Future};
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::{spawn_blocking, yield_now, LocalSet};

/// How often the ticker runs before the server answers again.
const TICKS: u32 = 50;

fn runtime() -> Runtime {
    // One thread for blocking work: nothing may hold it while it waits for another caller.
    let mut builder = Builder::new_current_thread();
    builder.enable_time().max_blocking_threads(1);
    builder.build().unwrap()
}

/// Runs on a runtime of one thread, and in a `LocalSet`, where `block_in_place` panics.
fn on_one_thread<F: Future<Output = ()>>(test: impl Fn() -> F) {
    runtime().block_on(test());
    LocalSet::new().block_on(&runtime(), test());
}

/// A server behind a proxy that hangs until another task of the thread has run for a while.
struct Stall {
    proxy: Proxy,
    /// Ticks that are left; 0 while it does not hang.
    left: AtomicU32,
}

impl Stall {
    /// With the task that ticks.
    fn new(port: u16) -> Arc<Stall> {
        let stall = Arc::new(Stall {
            proxy: Proxy::new(port).unwrap(),
            left: AtomicU32::new(0),
        });
        let ticks = stall.clone();
        tokio::spawn(async move {
            loop {
                ticks.tick();
                yield_now().await;
            }
        });
        stall
    }

    fn begin(&self) {
        self.proxy.hang(Side::All, true);
        self.left.store(TICKS, Ordering::Relaxed);
    }

    fn tick(&self) {
        match self.left.load(Ordering::Relaxed) {
            0 => {}
            1 => self.end(),
            left => self.left.store(left - 1, Ordering::Relaxed),
        }
    }

    fn end(&self) {
        self.proxy.hang(Side::All, false);
        self.left.store(0, Ordering::Relaxed);
    }

    /// Before this only ticks could let the server answer.
    fn has_ended(&self, what: &str) {
        let left = self.left.load(Ordering::Relaxed);
        assert_eq!(left, 0, "it held the thread up: {what}");
    }

    /// A cache that asks the server for every read.
    async fn cache(&self) -> AsyncCache {
        let options = options(self.proxy.url()).max_staleness(Duration::ZERO);
        options.build_async().await.unwrap()
    }
}

/// What a future answers when it is polled once.
fn at_once<R>(future: impl Future<Output = R>) -> Option<R> {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

/// Why a command last had no answer: one that was waited for in vain would be there.
fn last_fault(cache: &AsyncCache) -> String {
    cache.cache().remote_stats().unwrap().last_fault
}

thread_local! {
    static WHEN_READ: RefCell<Option<Arc<Stall>>> = const { RefCell::new(None) };
}

/// A value whose server hangs once it is read.
#[derive(Serialize)]
struct Stalling(u32);

impl<'de> Deserialize<'de> for Stalling {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        WHEN_READ.with_borrow(|stall| stall.as_ref().unwrap().begin());
        u32::deserialize(deserializer).map(Stalling)
    }
}

/// Lets the server hang, awaits the call, and shows that other tasks ran meanwhile.
macro_rules! stalled {
    ($stall:expr, $call:expr) => {{
        $stall.begin();
        let done = $call.await;
        $stall.has_ended(stringify!($call));
        done.unwrap()
    }};
}

#[test]
fn other_tasks_run_while_reads_and_writes_wait() {
    somewhere(|server| {
        on_one_thread(async || {
            let stall = Stall::new(server.port);
            let cache = stall.cache().await;
            let minute = SECOND * 60;
            stalled!(stall, cache.clear());
            stalled!(stall, cache.set("a", &1));
            stalled!(stall, cache.set_with_ttl("b", &2, minute));
            stalled!(stall, cache.set_many([("c", 3), ("d", 4)]));
            stalled!(stall, cache.set_many_with_ttl([("e", 5)], minute));
            assert_eq!(stalled!(stall, cache.get("a")), Some(1));
            assert_eq!(stalled!(stall, cache.get::<u32>("x")), None);
            let four = Value::from(4u64);
            assert_eq!(stalled!(stall, cache.get_value("d")), Some(four));
            let found = stalled!(stall, cache.get_many::<u32, _>(["a", "e", "x"]));
            assert_eq!(found, HashMap::from([("a", 1), ("e", 5)]));
            assert_eq!(stalled!(stall, cache.peek("b")), Some(2));
            assert!(stalled!(stall, cache.has("c")) && !stalled!(stall, cache.has("x")));
            assert_eq!(stalled!(stall, cache.ttl("a")), Some(TtlLeft::Forever));
            assert!(stalled!(stall, cache.touch("a", minute)));
            let mut keys = stalled!(stall, cache.keys(""));
            keys.sort();
            assert_eq!(keys, [b"a", b"b", b"c", b"d", b"e"]);
            assert!(stalled!(stall, cache.delete("a")));
            assert_eq!(stalled!(stall, cache.delete_many(["b", "x"])), 1);
            assert_eq!(stalled!(stall, cache.delete_prefix("c")), 1);
        });
    });
}

#[test]
fn other_tasks_run_while_changes_on_a_condition_wait() {
    somewhere(|server| {
        on_one_thread(async || {
            let stall = Stall::new(server.port);
            let cache = stall.cache().await;
            cache.clear().await.unwrap();
            assert!(stalled!(stall, cache.add("k", &1)));
            assert!(!stalled!(stall, cache.add_with_ttl("k", &2, SECOND)));
            assert!(stalled!(stall, cache.replace("k", &2)));
            let seen = stalled!(stall, cache.entry("k")).unwrap().facts.version;
            assert!(stalled!(stall, cache.compare_and_set("k", seen, &3)));
            let late = cache.compare_and_set_with_ttl("k", seen, &4, SECOND);
            assert!(!stalled!(stall, late));
            assert_eq!(stalled!(stall, cache.increment("k", 2)), 5);
            let counted = cache.decrement_with_ttl("n", 1, 10, SECOND * 60);
            assert_eq!(stalled!(stall, counted), 9);
            let updated = cache.update("k", async |found: Option<u32>| {
                stall.has_ended("it reads");
                stall.begin();
                Update::Set(found.unwrap() + 1)
            });
            assert_eq!(stalled!(stall, updated), Some(6));
            let left = cache.update_with_ttl("k", Ttl::Forever, async |_: Option<u32>| {
                stall.begin();
                Update::Delete
            });
            assert_eq!(stalled!(stall, left), None);
            assert!(!cache.has("k").await.unwrap());
        });
    });
}

#[test]
fn other_tasks_run_while_a_value_is_taken() {
    somewhere(|server| {
        on_one_thread(async || {
            let stall = Stall::new(server.port);
            let cache = stall.cache().await;
            WHEN_READ.set(Some(stall.clone()));
            cache.set("k", &7).await.unwrap();
            let taken = stalled!(stall, cache.take::<Stalling>("k"));
            assert_eq!(taken.map(|taken| taken.0), Some(7));
            assert!(stalled!(stall, cache.take::<u32>("k")).is_none());
            // What cannot be read stays.
            cache.set("k", "text").await.unwrap();
            assert!(cache.take::<u32>("k").await.is_err());
            assert_eq!(cache.get("k").await.unwrap(), Some("text".to_owned()));
        });
    });
}

#[test]
fn other_tasks_run_while_a_load_waits_for_the_server() {
    somewhere(|server| {
        on_one_thread(async || {
            let stall = Stall::new(server.port);
            let cache = stall.cache().await;
            cache.clear().await.unwrap();
            // The server hangs once more when the loader has run.
            let load = async || {
                stall.has_ended("it asks for the key");
                stall.begin();
                Ok::<_, Infallible>(1)
            };
            assert_eq!(stalled!(stall, cache.get_or_set("a", load)), 1);
            assert_eq!(cache.get("a").await.unwrap(), Some(1));
            let typed = cache.cache().typed::<u32>().unwrap();
            assert_eq!(stalled!(stall, typed.get_or_set_async("b", load)), 1);
            let load_many = async |asked: Vec<&'static str>| {
                stall.has_ended("it asks for the keys");
                stall.begin();
                Ok::<_, Infallible>(asked.into_iter().map(|key| (key, 2)))
            };
            let many = cache.get_or_set_many(["a", "c"], load_many);
            let many: HashMap<&str, u32> = stalled!(stall, many);
            assert_eq!(many, HashMap::from([("a", 1), ("c", 2)]));
            let many = typed.get_or_set_many_async(["b", "d"], load_many);
            assert_eq!(stalled!(stall, many), HashMap::from([("b", 1), ("d", 2)]));
            let fail = async || {
                stall.begin();
                Err::<u32, _>("down")
            };
            stall.begin();
            let failed = cache.get_or_set("e", fail).await.unwrap_err();
            stall.has_ended("a loader that fails");
            assert_eq!(failed.code(), "loader_failed");
        });
    });
}

#[test]
fn other_tasks_run_while_a_lock_waits_for_the_server() {
    somewhere(|server| {
        on_one_thread(async || {
            let stall = Stall::new(server.port);
            let cache = stall.cache().await;
            let lease = cache.cache().lease("report");
            assert!(stalled!(stall, lease.acquire_async(Duration::ZERO)));
            assert!(stalled!(stall, lease.locked_async()));
            stall.begin();
            lease.release_async().await;
            stall.has_ended("release_async");
            assert!(!lease.locked_async().await.unwrap());

            assert!(lease.acquire_async(Duration::ZERO).await.unwrap());
            stall.begin();
            let before = last_fault(&cache);
            drop(lease);
            assert_eq!(last_fault(&cache), before, "it was waited for in drop");
            // One that is given up while the server hangs is given back.
            let other = cache.cache().lease("report");
            assert!(at_once(other.acquire_async(SECOND)).is_none());
            while !other.acquire_async(SECOND).await.unwrap() {}
            other.release_async().await;
        });
    });
}

/// A cache of keys of its own. A listener that begins would end the loads of its host.
fn listening(url: String) -> AsyncCache {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let cache = options(url).prefix(format!("loads-{number}")).build();
    let cache = cache.unwrap();
    listens(&cache);
    cache.into()
}

#[test]
fn a_hundred_callers_make_one_load() {
    somewhere(|server| {
        on_one_thread(async || {
            let cache = listening(server.url());
            let loads = Arc::new(AtomicU32::new(0));
            let tasks: Vec<_> = (0..100)
                .map(|_| {
                    let (cache, loads) = (cache.clone(), loads.clone());
                    tokio::spawn(async move {
                        let load = async || {
                            loads.fetch_add(1, Ordering::Relaxed);
                            // A loader has need of the threads for blocking work, too.
                            spawn_blocking(|| "loaded".to_owned()).await
                        };
                        cache.get_or_set("k", load).await
                    })
                })
                .collect();
            for task in tasks {
                assert_eq!(task.await.unwrap().unwrap(), "loaded");
            }
            assert_eq!(loads.load(Ordering::Relaxed), 1);
            assert_eq!(cache.stats().await.unwrap().hits, 99);
        });
    });
}

#[test]
fn callers_of_a_source_that_fails_get_its_error() {
    somewhere(|server| {
        on_one_thread(async || {
            let cache = listening(server.url());
            let loads = Arc::new(AtomicU32::new(0));
            let tasks: Vec<_> = (0..10)
                .map(|_| {
                    let (cache, loads) = (cache.clone(), loads.clone());
                    tokio::spawn(async move {
                        let fail = async || {
                            loads.fetch_add(1, Ordering::Relaxed);
                            // There is one thread for blocking work: the others have joined when this was its turn.
                            spawn_blocking(|| ()).await.unwrap();
                            Err::<u32, _>("down")
                        };
                        cache.get_or_set("k", fail).await
                    })
                })
                .collect();
            for task in tasks {
                let failed = task.await.unwrap().unwrap_err();
                assert_eq!(failed.code(), "loader_failed");
            }
            assert_eq!(loads.load(Ordering::Relaxed), 1);
            let loaded = cache.get_or_set("k", async || Ok::<_, Infallible>(1));
            assert_eq!(loaded.await.unwrap(), 1);
        });
    });
}

/// A caller whose loader has begun, and never ends.
async fn begun_load(
    cache: &AsyncCache,
) -> Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>> {
    let (cache, begun) = (cache.clone(), Arc::new(Notify::new()));
    let begins = begun.clone();
    let mut caller = Box::pin(async move {
        let load = async || {
            begins.notify_one();
            pending::<Result<u32, Infallible>>().await
        };
        cache.get_or_set("k", load).await
    });
    tokio::select! {
        _ = &mut caller => panic!("it has no end"),
        () = begun.notified() => {}
    }
    caller
}

/// A cache of another host, which waits for loads for as long as the test may take.
fn another_host(url: String) -> Cache {
    let options = options(url).max_staleness(Duration::ZERO);
    options.lease_timeout(SECOND * 600).build().unwrap()
}

#[test]
fn a_caller_that_is_dropped_leaves_its_key_and_does_not_wait() {
    somewhere(|server| {
        on_one_thread(async || {
            let stall = Stall::new(server.port);
            let cache: AsyncCache = another_host(stall.proxy.url()).into();
            cache.clear().await.unwrap();
            let other: AsyncCache = another_host(server.url()).into();
            let load = async || Ok::<_, Infallible>(1);

            // While its loader runs.
            let caller = begun_load(&cache).await;
            stall.begin();
            let before = last_fault(&cache);
            drop(caller);
            assert_eq!(last_fault(&cache), before, "it was waited for in drop");
            assert_eq!(other.get_or_set("k", load).await.unwrap(), 1);
            assert!(other.delete("k").await.unwrap());

            // While it asks for the key.
            stall.begin();
            let caller = cache.get_or_set("k", async || pending::<Result<u32, Error>>().await);
            assert!(at_once(caller).is_none());
            assert_eq!(other.get_or_set("k", load).await.unwrap(), 1);
            assert!(other.delete("k").await.unwrap());

            // Another caller of the process takes over.
            let caller = begun_load(&cache).await;
            let waiting = cache.clone();
            let waiting = tokio::spawn(async move { waiting.get_or_set("k", load).await });
            yield_now().await;
            drop(caller);
            assert_eq!(waiting.await.unwrap().unwrap(), 1);
            assert_eq!(other.get("k").await.unwrap(), Some(1));
        });
    });
}

#[test]
fn a_caller_may_be_dropped_where_there_is_no_runtime() {
    somewhere(|server| {
        let cache: AsyncCache = another_host(server.url()).into();
        let caller = runtime().block_on(begun_load(&cache));
        drop(caller);
        let other = another_host(server.url());
        let loaded = other.get_or_set("k", || Ok::<_, Infallible>(1));
        assert_eq!(loaded.unwrap(), 1);
    });
}

#[test]
fn closing_during_a_load_does_not_wait() {
    somewhere(|server| {
        on_one_thread(async || {
            let stall = Stall::new(server.port);
            let cache: AsyncCache = another_host(stall.proxy.url()).into();
            cache.clear().await.unwrap();
            let caller = begun_load(&cache).await;
            stall.begin();
            let before = last_fault(&cache);
            cache.close();
            assert!(cache.is_closed());
            assert_eq!(last_fault(&cache), before, "it was waited for in close");
            assert_eq!(cache.get::<u32>("k").await.unwrap_err().code(), "closed");
            let other: AsyncCache = another_host(server.url()).into();
            let loaded = other.get_or_set("k", async || Ok::<_, Infallible>(1));
            assert_eq!(loaded.await.unwrap(), 1);
            drop(caller);
        });
    });
}

#[test]
fn without_a_server_reads_miss_writes_report_and_loaders_run() {
    on_one_thread(async || {
        // Nobody listens on port 1.
        let gone = Cache::builder().remote("redis://127.0.0.1:1");
        let cache = gone.build_async().await.unwrap();
        assert_eq!(cache.get::<u32>("k").await.unwrap(), None);
        assert!(!cache.has("k").await.unwrap());
        assert!(cache.get_many::<u32, _>(["k"]).await.unwrap().is_empty());
        let refused = [
            cache.set("k", &1).await.unwrap_err(),
            cache.set_many([("k", 1)]).await.unwrap_err(),
            cache.add("k", &1).await.unwrap_err(),
            cache.delete("k").await.unwrap_err(),
            cache.increment("k", 1).await.unwrap_err(),
            cache.take::<u32>("k").await.unwrap_err(),
        ];
        for error in refused {
            assert_eq!(error.code(), "remote_unavailable");
        }
        let loaded = cache.get_or_set("k", async || Ok::<_, Infallible>(1));
        assert_eq!(loaded.await.unwrap(), 1);
        let many = cache.get_or_set_many(["a", "b"], async |asked: Vec<&'static str>| {
            Ok::<_, Infallible>(asked.into_iter().map(|key| (key, key.len())))
        });
        assert_eq!(many.await.unwrap().len(), 2);
        assert_eq!(cache.stats().await.unwrap().unstored, 3);
    });
}

#[test]
fn copies_on_this_host_are_read_at_once() {
    somewhere(|server| {
        let one = host(server.url());
        one.cache.set_many([("a", 1), ("b", 2)]).unwrap();
        listens(&one.cache);
        let remote = || one.cache.remote_stats().unwrap();
        until("there are copies", || {
            let before = remote().near_hits;
            for key in ["a", "b"] {
                assert!(one.cache.get::<u32>(key).unwrap().is_some());
            }
            remote().near_hits == before + 2
        });
        let cache = AsyncCache::from(one.cache.clone());
        on_one_thread(async || {
            let typed = one.cache.typed::<u32>().unwrap();
            let before = remote();
            assert_eq!(at_once(cache.get("a")).unwrap().unwrap(), Some(1));
            let two = Some(Value::from(2u64));
            assert_eq!(at_once(cache.get_value("b")).unwrap().unwrap(), two);
            let many = at_once(cache.get_many::<u32, _>(["a", "b"])).unwrap();
            assert_eq!(many.unwrap().len(), 2);
            assert!(at_once(cache.has("a")).unwrap().unwrap());
            assert!(at_once(cache.ttl("a")).unwrap().unwrap().is_some());
            let load = async || Err::<u32, _>("it is there");
            assert_eq!(at_once(cache.get_or_set("a", load)).unwrap().unwrap(), 1);
            let typed = typed.get_or_set_async("b", load);
            assert_eq!(at_once(typed).unwrap().unwrap(), 2);
            let many = cache.get_or_set_many(["a", "b"], async |_: Vec<&str>| {
                Err::<HashMap<&str, u32>, _>("they are there")
            });
            assert_eq!(at_once(many).unwrap().unwrap().len(), 2);
            let after = remote();
            assert_eq!(after.near_hits, before.near_hits + 10);
            assert_eq!(after.remote_hits, before.remote_hits);
        });
    });
}

#[test]
fn reads_and_writes_are_counted_as_those_of_a_cache() {
    somewhere(|server| {
        let counted = |cache: &Cache| {
            let stats = cache.stats().unwrap();
            let writes = [stats.writes, stats.deletes, stats.unstored];
            (stats.hits, stats.misses, writes)
        };
        let opened = |prefix: &str| {
            let options = options(server.url()).max_staleness(Duration::ZERO);
            options.prefix(prefix).build().unwrap()
        };
        let plain = opened("plain");
        plain.set("k", &1).unwrap();
        plain.get::<u32>("k").unwrap();
        plain.get::<u32>("x").unwrap();
        plain.has("x").unwrap();
        plain.peek::<u32>("x").unwrap();
        plain.get_many::<u32, _>(["k", "x"]).unwrap();
        plain.get_or_set("l", || Ok::<_, Error>(1)).unwrap();
        plain.get_or_set("l", || Ok::<_, Error>(1)).unwrap();
        let many = |asked: Vec<&'static str>| Ok::<_, Error>(asked.into_iter().map(|key| (key, 1)));
        plain.get_or_set_many(["l", "m"], many).unwrap();
        plain.take::<u32>("k").unwrap();
        plain.take::<u32>("k").unwrap();
        plain.increment("n", 1).unwrap();

        let other = opened("other");
        runtime().block_on(async {
            let cache = AsyncCache::from(other.clone());
            cache.set("k", &1).await.unwrap();
            cache.get::<u32>("k").await.unwrap();
            cache.get::<u32>("x").await.unwrap();
            cache.has("x").await.unwrap();
            cache.peek::<u32>("x").await.unwrap();
            cache.get_many::<u32, _>(["k", "x"]).await.unwrap();
            for _ in 0..2 {
                let load = async || Ok::<_, Error>(1);
                cache.get_or_set("l", load).await.unwrap();
            }
            let many = async |asked: Vec<&'static str>| many(asked);
            cache.get_or_set_many(["l", "m"], many).await.unwrap();
            cache.take::<u32>("k").await.unwrap();
            cache.take::<u32>("k").await.unwrap();
            cache.increment("n", 1).await.unwrap();
        });
        assert_eq!(counted(&other), counted(&plain));
    });
}

#[test]
fn futures_may_go_to_other_threads() {
    fn is_send(_: impl Send) {}
    // None of them is polled.
    let cache = AsyncCache::from(Cache::builder().build().unwrap());
    is_send(cache.get::<String>("k"));
    is_send(cache.set("k", "v"));
    is_send(cache.set_many([("k", "v")]));
    is_send(cache.get_many::<String, _>(["k"]));
    is_send(cache.take::<String>("k"));
    is_send(cache.get_or_set("k", async || Ok::<_, Error>(1)));
    is_send(cache.update("k", async |_: Option<u32>| Update::Set(1)));
    let many = async |_: Vec<&'static str>| Ok::<HashMap<&str, u32>, Error>(HashMap::new());
    is_send(cache.get_or_set_many(["k"], many));
    let lease = cache.cache().lease("k");
    is_send(lease.acquire_async(SECOND));
}
