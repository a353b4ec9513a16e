//! The cache for asynchronous programs: callers that wait, are cancelled, or panic.

use polycache::{AsyncCache, Cache, Error};
use std::convert::Infallible;
use std::future::{poll_fn, Future};
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::ThreadId;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout, Instant};

/// Both sets of tiers, and the directory to keep meanwhile.
async fn caches() -> [(AsyncCache, Option<tempfile::TempDir>); 2] {
    let directory = tempfile::tempdir().unwrap();
    let host = Cache::builder().path(directory.path()).limit(2 << 20);
    [
        (host.build_async().await.unwrap(), Some(directory)),
        (Cache::builder().build_async().await.unwrap(), None),
    ]
}

/// Loads that wait to be told, and that are counted.
#[derive(Default)]
struct Gate {
    begun: Notify,
    open: Notify,
    loads: AtomicU64,
}

impl Gate {
    async fn load(&self, value: u64) -> Result<u64, Infallible> {
        self.loads.fetch_add(1, Ordering::SeqCst);
        self.begun.notify_one();
        self.open.notified().await;
        Ok(value)
    }
}

#[tokio::test]
async fn everything_is_there() {
    for (cache, _directory) in caches().await {
        cache.set("a", &1).await.unwrap();
        cache
            .set_with_ttl("b", &2, Duration::from_secs(5))
            .await
            .unwrap();
        cache.set_many([("c", 3), ("d", 4)]).await.unwrap();
        cache
            .set_many_with_ttl([("e", 5)], Duration::from_secs(5))
            .await
            .unwrap();
        assert_eq!(cache.get("a").await.unwrap(), Some(1));
        assert_eq!(cache.get_value("d").await.unwrap(), Some(4u64.into()));
        let found = cache.get_many::<u64, _>(["a", "b", "x"]).await.unwrap();
        assert_eq!((found.len(), found["b"]), (2, 2));
        assert!(cache.has("c").await.unwrap() && cache.ttl("b").await.unwrap().is_some());
        assert!(cache.delete("c").await.unwrap());
        assert_eq!(cache.delete_many(["d", "x"]).await.unwrap(), 1);
        let mut keys = cache.keys("").await.unwrap();
        keys.sort();
        assert_eq!(keys, [b"a", b"b", b"e"]);
        let nested = cache.namespace("n").unwrap();
        nested.set("a", &7).await.unwrap();
        nested.clear().await.unwrap();
        assert_eq!(nested.get::<u64>("a").await.unwrap(), None);
        assert_eq!(cache.stats().await.unwrap().writes, 6);
        assert_eq!(cache.check().await.unwrap().damaged.len(), 0);
        cache.flush().await.unwrap();
        let error = cache.get_or_set("x", async || "x".parse::<u64>()).await;
        assert!(matches!(error.unwrap_err(), Error::LoaderFailed(_)));
        cache.close();
        assert!(cache.is_closed());
        assert_eq!(cache.get::<u64>("a").await.unwrap_err().code(), "closed");
    }
}

async fn one_of_many_loads() {
    for (cache, _directory) in caches().await {
        let gate = Arc::new(Gate::default());
        let callers: Vec<_> = (0..50)
            .map(|_| {
                let (cache, gate) = (cache.clone(), gate.clone());
                tokio::spawn(async move { cache.get_or_set("k", || gate.load(7)).await })
            })
            .collect();
        gate.begun.notified().await;
        // The others wait, and block no thread.
        sleep(Duration::from_millis(20)).await;
        gate.open.notify_one();
        for caller in callers {
            assert_eq!(caller.await.unwrap().unwrap(), 7);
        }
        assert_eq!(gate.loads.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn of_many_callers_in_one_thread_one_loads() {
    one_of_many_loads().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_callers_on_two_threads_one_loads() {
    one_of_many_loads().await;
}

#[tokio::test]
async fn a_cancelled_load_leaves_its_key_to_one_who_waits() {
    for (cache, _directory) in caches().await {
        let (first, second) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
        let (c, gate) = (cache.clone(), first.clone());
        let cancelled = tokio::spawn(async move { c.get_or_set("k", || gate.load(1)).await });
        first.begun.notified().await;
        let (c, gate) = (cache.clone(), second.clone());
        let waiting = tokio::spawn(async move { c.get_or_set("k", || gate.load(2)).await });
        sleep(Duration::from_millis(5)).await;
        assert_eq!(second.loads.load(Ordering::SeqCst), 0);
        cancelled.abort();
        assert!(cancelled.await.unwrap_err().is_cancelled());
        second.begun.notified().await;
        second.open.notify_one();
        assert_eq!(waiting.await.unwrap().unwrap(), 2);
        assert_eq!(cache.check().await.unwrap().leases, 0);
    }
}

#[tokio::test]
async fn one_who_waits_may_be_cancelled() {
    for (cache, _directory) in caches().await {
        let gate = Arc::new(Gate::default());
        let (c, g) = (cache.clone(), gate.clone());
        let loading = tokio::spawn(async move { c.get_or_set("k", || g.load(1)).await });
        gate.begun.notified().await;
        let other = cache.get_or_set("k", async || Ok::<u64, Infallible>(2));
        assert!(timeout(Duration::from_millis(5), other).await.is_err());
        gate.open.notify_one();
        assert_eq!(loading.await.unwrap().unwrap(), 1);
        assert_eq!(cache.get("k").await.unwrap(), Some(1));
    }
}

#[tokio::test]
async fn a_panic_in_a_load_leaves_its_key() {
    for (cache, _directory) in caches().await {
        let c = cache.clone();
        let panics = tokio::spawn(async move {
            let load = async || -> Result<u64, Infallible> { panic!("in the loader") };
            c.get_or_set("k", load).await
        });
        assert!(panics.await.unwrap_err().is_panic());
        let loaded = cache.get_or_set("k", async || Ok::<_, Infallible>(2)).await;
        assert_eq!(loaded.unwrap(), 2);
    }
}

/// Time stands still but for sleeps, so that a wait that blocked its thread would never end.
#[tokio::test(start_paused = true)]
async fn waiting_is_sleeping() {
    let directory = tempfile::tempdir().unwrap();
    let host = Cache::builder().path(directory.path()).limit(2 << 20);
    let caches = [host.build().unwrap(), Cache::builder().build().unwrap()];
    for cache in caches.map(AsyncCache::from) {
        let begun = Instant::now();
        let c = cache.clone();
        let slow = tokio::spawn(async move {
            let load = async || {
                sleep(Duration::from_secs(10)).await;
                Ok::<u64, Infallible>(1)
            };
            c.get_or_set("k", load).await
        });
        tokio::task::yield_now().await;
        let load = async || -> Result<u64, Infallible> { unreachable!("it is being loaded") };
        assert_eq!(cache.get_or_set("k", load).await.unwrap(), 1);
        assert!(begun.elapsed() >= Duration::from_secs(10));
        assert_eq!(slow.await.unwrap().unwrap(), 1);
    }
}

#[tokio::test]
async fn a_load_that_takes_too_long_loses_its_key() {
    let directory = tempfile::tempdir().unwrap();
    let builder = Cache::builder().lease_timeout(Duration::from_millis(63));
    for builder in [builder.clone().path(directory.path()), builder] {
        let cache = builder.build_async().await.unwrap();
        let gate = Arc::new(Gate::default());
        let (c, g) = (cache.clone(), gate.clone());
        let slow = tokio::spawn(async move { c.get_or_set("k", || g.load(1)).await });
        gate.begun.notified().await;
        let quick = cache
            .get_or_set("k", async || Ok::<u64, Infallible>(2))
            .await;
        assert_eq!(quick.unwrap(), 2);
        gate.open.notify_one();
        assert_eq!(slow.await.unwrap().unwrap(), 1);
        assert_eq!(cache.get("k").await.unwrap(), Some(2));
    }
}

/// Polls once.
async fn is_pending<F: Future>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

/// What is set during a load stays: callers that wait for the load find it, without loading.
#[tokio::test]
async fn a_set_during_a_load_is_what_the_others_find() {
    let directory = tempfile::tempdir().unwrap();
    let builder = Cache::builder().lease_timeout(Duration::from_millis(63));
    for builder in [builder.clone().path(directory.path()), builder] {
        let cache = builder.build_async().await.unwrap();
        let gate = Gate::default();
        let mut slow = pin!(cache.get_or_set("k", || gate.load(1)));
        assert!(is_pending(slow.as_mut()).await);
        let load = async || -> Result<u64, Infallible> { panic!("it was set") };
        let mut waits = pin!(cache.get_or_set("k", load));
        assert!(is_pending(waits.as_mut()).await);
        cache.set("k", &9).await.unwrap();
        assert_eq!(waits.await.unwrap(), 9);
        gate.open.notify_one();
        assert_eq!(slow.await.unwrap(), 1);
        assert_eq!(cache.get("k").await.unwrap(), Some(9));
        let stats = cache.stats().await.unwrap();
        assert_eq!(
            (stats.deletes, stats.invalidated_loads, stats.writes),
            (0, 1, 1)
        );
    }
}

#[tokio::test]
async fn blocking_and_asynchronous_callers_share_a_load() {
    for (cache, _directory) in caches().await {
        let gate = Arc::new(Gate::default());
        let (c, g) = (cache.clone(), gate.clone());
        let loading = tokio::spawn(async move { c.get_or_set("k", || g.load(1)).await });
        gate.begun.notified().await;
        let blocking = cache.cache().clone();
        let load = || -> Result<u64, Infallible> { unreachable!("it is being loaded") };
        let blocking = tokio::task::spawn_blocking(move || blocking.get_or_set("k", load));
        sleep(Duration::from_millis(5)).await;
        gate.open.notify_one();
        assert_eq!(blocking.await.unwrap().unwrap(), 1);
        assert_eq!(loading.await.unwrap().unwrap(), 1);
    }
}

/// Says in which threads it was dropped.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Dropped;

static DROPPED: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());

impl Drop for Dropped {
    fn drop(&mut self) {
        DROPPED.lock().unwrap().push(std::thread::current().id());
    }
}

#[tokio::test]
async fn a_clear_of_memory_holds_up_no_thread_of_the_runtime() {
    let cache = Cache::builder().build_async().await.unwrap();
    let nested = cache.namespace("n").unwrap();
    for clears in [&nested, &cache] {
        let typed = nested.cache().typed::<Dropped>().unwrap();
        typed.set("k", &Dropped).unwrap();
        DROPPED.lock().unwrap().clear();
        clears.clear().await.unwrap();
        let dropped = std::mem::take(&mut *DROPPED.lock().unwrap());
        assert_eq!(dropped.len(), 1);
        assert_ne!(dropped[0], std::thread::current().id());
    }
}

#[tokio::test]
async fn typed_caches_load_without_blocking() {
    for (cache, _directory) in caches().await {
        let typed = cache.cache().typed::<Arc<str>>().unwrap();
        let load = async || Ok::<_, Infallible>("v".into());
        assert_eq!(&*typed.get_or_set_async("k", load).await.unwrap(), "v");
        let first = typed.get("k").unwrap().unwrap();
        let load = async || -> Result<Arc<str>, Infallible> { unreachable!("it is there") };
        let second = typed.get_or_set_async("k", load).await.unwrap();
        assert!(Arc::ptr_eq(&first, &second));
    }
}
