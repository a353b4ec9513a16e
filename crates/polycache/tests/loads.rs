//! What a load promises (`spec/semantics.md`, "get_or_set"), to callers at the same time: over a directory and
//! without one, in threads and futures.

use polycache::{AsyncCache, Builder, Cache, Error, StoreErrors};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Each test runs with both sets of tiers.
fn with_each(test: impl Fn(&dyn Fn() -> Builder)) {
    test(&Cache::builder);
    let directory = tempfile::tempdir().unwrap();
    test(&|| Cache::builder().path(directory.path()).limit(2 << 20));
}

/// Waits until so many others wait for this cache's loads. They are seen by what they take part in.
fn until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}

/// Callers that have called `get_or_set`, but for a moment wait by now.
struct Callers(AtomicU64);

impl Callers {
    fn come(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// They have come, and had the time that it takes to join; the test is right as well if one comes later.
    fn have_come(&self, callers: u64) {
        until(|| self.0.load(Ordering::SeqCst) == callers);
        (0..1000).for_each(|_| std::thread::yield_now());
    }
}

#[test]
fn a_failing_loader_runs_once_for_all_who_wait() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let (loads, callers) = (AtomicU64::new(0), Callers(AtomicU64::new(0)));
        let failed: Vec<Error> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..50)
                .map(|_| {
                    scope.spawn(|| {
                        callers.come();
                        cache.get_or_set("k", || {
                            loads.fetch_add(1, Ordering::SeqCst);
                            callers.have_come(50);
                            Err::<u64, _>("the source is down")
                        })
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|thread| thread.join().unwrap());
            joined.map(Result::unwrap_err).collect()
        });
        assert!(failed
            .iter()
            .all(|error| error.to_string().contains("the source is down")));
        // A caller may have been on its way when the first load failed.
        assert!(loads.load(Ordering::SeqCst) <= 2, "{loads:?}");
        // A later caller starts afresh.
        let later = cache.get_or_set("k", || Ok::<_, Infallible>(7));
        assert_eq!(later.unwrap(), 7);
    });
}

#[test]
fn handles_of_a_directory_that_wait_for_a_failing_loader_load_once_each() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        let builder = Cache::builder().path(directory.path()).limit(2 << 20);
        builder.build().unwrap()
    };
    // As three processes are: flights are a handle's.
    let handles = [open(), open(), open()];
    let loads = [const { AtomicU64::new(0) }; 3];
    let callers = Callers(AtomicU64::new(0));
    std::thread::scope(|scope| {
        for (cache, loads) in handles.iter().zip(&loads) {
            for _ in 0..20 {
                scope.spawn(|| {
                    callers.come();
                    let failed = cache.get_or_set("k", || {
                        loads.fetch_add(1, Ordering::SeqCst);
                        callers.have_come(60);
                        Err::<u64, _>("the source is down")
                    });
                    assert!(failed.is_err());
                });
            }
        }
    });
    for loads in loads {
        assert!(loads.load(Ordering::SeqCst) <= 2, "{loads:?}");
    }
}

#[test]
fn beside_a_loader_that_hangs_another_loads_and_stores() {
    with_each(|build| {
        let cache = build()
            .lease_timeout(Duration::from_millis(63))
            .build()
            .unwrap();
        let (loading, over) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            let hangs = scope.spawn(|| {
                cache.get_or_set("k", || {
                    loading.wait();
                    over.wait();
                    Ok::<_, Infallible>("late".to_owned())
                })
            });
            loading.wait();
            let beside = cache.get_or_set("k", || Ok::<_, Infallible>("beside".to_owned()));
            assert_eq!(beside.unwrap(), "beside");
            assert_eq!(cache.get("k").unwrap(), Some("beside".to_owned()));
            over.wait();
            assert_eq!(hangs.join().unwrap().unwrap(), "late");
        });
        assert_eq!(cache.get("k").unwrap(), Some("beside".to_owned()));
        assert_eq!(cache.check().unwrap().leases, 0);
    });
}

#[test]
fn a_slow_load_is_stored_and_answers_all_who_wait_for_the_key() {
    with_each(|build| {
        let cache = build()
            .lease_timeout(Duration::from_millis(63))
            .build()
            .unwrap();
        let (loads, slow_is_over) = (AtomicU64::new(0), AtomicU64::new(0));
        let callers = Callers(AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    callers.come();
                    let value = cache.get_or_set("k", || {
                        match loads.fetch_add(1, Ordering::SeqCst) {
                            0 => {
                                // Until another loads beside it.
                                until(|| loads.load(Ordering::SeqCst) == 2);
                                slow_is_over.store(1, Ordering::SeqCst);
                            }
                            _ => until(|| cache.has("k").unwrap()),
                        }
                        Ok::<_, Infallible>("v".to_owned())
                    });
                    assert_eq!(value.unwrap(), "v");
                });
            }
        });
        assert_eq!(loads.load(Ordering::SeqCst), 2);
        assert_eq!(cache.stats().unwrap().writes, 1);
    });
}

#[test]
fn a_delete_during_a_load_keeps_later_callers_from_joining_it() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let (loading, over) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            let old = scope.spawn(|| {
                cache.get_or_set("k", || {
                    loading.wait();
                    over.wait();
                    Ok::<_, Infallible>("old".to_owned())
                })
            });
            loading.wait();
            cache.delete("k").unwrap();
            let new = cache.get_or_set("k", || Ok::<_, Infallible>("new".to_owned()));
            assert_eq!(new.unwrap(), "new");
            over.wait();
            assert_eq!(old.join().unwrap().unwrap(), "old");
        });
        assert_eq!(cache.get("k").unwrap(), Some("new".to_owned()));
        assert_eq!(cache.stats().unwrap().invalidated_loads, 1);
    });
}

#[test]
fn waiting_ends_at_its_bound() {
    with_each(|build| {
        let cache = build()
            .wait_timeout(Duration::from_millis(1))
            .build()
            .unwrap();
        let (loading, over) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            let holder = scope.spawn(|| {
                cache.get_or_set("k", || {
                    loading.wait();
                    over.wait();
                    Ok::<_, Infallible>(7)
                })
            });
            loading.wait();
            let waited = cache
                .get_or_set("k", || Ok::<_, Infallible>(8))
                .unwrap_err();
            assert!(matches!(waited, Error::WaitTimeout) && waited.retryable());
            assert_eq!(waited.code(), "wait_timeout");
            over.wait();
            assert_eq!(holder.join().unwrap().unwrap(), 7);
        });
        assert_eq!(cache.stats().unwrap().wait_timeouts, 1);
        assert_eq!(cache.get("k").unwrap(), Some(7));
    });
}

#[test]
fn a_panic_leaves_the_key_to_one_of_those_who_wait() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let (loads, callers) = (AtomicU64::new(0), Callers(AtomicU64::new(0)));
        let (mut panics, mut values) = (0, 0);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..10)
                .map(|_| {
                    scope.spawn(|| {
                        callers.come();
                        cache.get_or_set("k", || {
                            let first = loads.fetch_add(1, Ordering::SeqCst) == 0;
                            if first {
                                callers.have_come(10);
                            }
                            assert!(!first, "the first loader panics");
                            Ok::<_, Infallible>(7)
                        })
                    })
                })
                .collect();
            for thread in threads {
                match thread.join() {
                    Ok(value) => {
                        assert_eq!(value.unwrap(), 7);
                        values += 1;
                    }
                    Err(_) => panics += 1,
                }
            }
        });
        assert_eq!((panics, values, loads.into_inner()), (1, 9, 2));
    });
}

/// A value that has no entry.
#[derive(Debug)]
struct Unwritable;

impl serde::Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("not to be written"))
    }
}

impl<'de> serde::Deserialize<'de> for Unwritable {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Unwritable, D::Error> {
        unreachable!("never stored")
    }
}

#[test]
fn what_cannot_be_written_is_its_callers_and_the_others_load_at_once() {
    with_each(|build| {
        let cache = build().build().unwrap();
        let (loads, callers) = (AtomicU64::new(0), Callers(AtomicU64::new(0)));
        std::thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| {
                    callers.come();
                    let value = cache.get_or_set("k", || {
                        loads.fetch_add(1, Ordering::SeqCst);
                        callers.have_come(10);
                        Ok::<_, Infallible>(Unwritable)
                    });
                    assert!(value.is_ok());
                });
            }
        });
        assert_eq!(loads.load(Ordering::SeqCst), 10);
        assert!(cache.stats().unwrap().unstored >= 1);
        let raising = build().store_errors(StoreErrors::Raise).build().unwrap();
        let refused = raising.get_or_set("r", || Ok::<_, Infallible>(Unwritable));
        assert_eq!(refused.unwrap_err().code(), "unsupported_value");
    });
}

#[tokio::test]
async fn a_future_that_is_dropped_leaves_the_key_to_one_of_those_who_wait() {
    let directory = tempfile::tempdir().unwrap();
    let builders = [
        Cache::builder(),
        Cache::builder().path(directory.path()).limit(2 << 20),
    ];
    for builder in builders {
        let cache: AsyncCache = builder.build_async().await.unwrap();
        let (gate, loads) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicU64::new(0)));
        let call = || {
            let (cache, gate, loads) = (cache.clone(), gate.clone(), loads.clone());
            tokio::spawn(async move {
                cache
                    .get_or_set("k", async || {
                        loads.fetch_add(1, Ordering::SeqCst);
                        gate.acquire().await.unwrap().forget();
                        Ok::<_, Infallible>(7)
                    })
                    .await
            })
        };
        let first = call();
        while loads.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let others: Vec<_> = (0..100).map(|_| call()).collect();
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        gate.add_permits(1);
        for other in others {
            assert_eq!(other.await.unwrap().unwrap(), 7);
        }
        assert_eq!(loads.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn threads_and_futures_join_one_load() {
    let cache: AsyncCache = Cache::builder().build_async().await.unwrap();
    for _ in 0..100 {
        let gate = Arc::new(Semaphore::new(0));
        let (loading, g) = (cache.clone(), gate.clone());
        let load = tokio::spawn(async move {
            loading
                .get_or_set("k", async || {
                    g.acquire().await.unwrap().forget();
                    Err::<u64, _>("the source is down")
                })
                .await
        });
        tokio::task::yield_now().await;
        let (blocking, own) = (cache.cache().clone(), Arc::new(AtomicU64::new(0)));
        let (came, counted) = (Arc::new(Callers(AtomicU64::new(0))), own.clone());
        let comes = came.clone();
        let joined = std::thread::spawn(move || {
            comes.come();
            blocking.get_or_set("k", || {
                counted.fetch_add(1, Ordering::SeqCst);
                Err::<u64, _>("its own")
            })
        });
        came.have_come(1);
        gate.add_permits(1);
        assert!(load.await.unwrap().is_err());
        let failed = joined.join().unwrap().unwrap_err();
        // It may have come too late; then it loads itself.
        if own.load(Ordering::SeqCst) == 0 {
            assert!(failed.to_string().contains("the source is down"));
            return;
        }
    }
    panic!("the thread never joined");
}
