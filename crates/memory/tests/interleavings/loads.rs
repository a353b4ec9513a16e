//! Loads: one at a time, no caller stranded, and writes win. A waiter that is never woken is a deadlock,
//! which shuttle reports.

use crate::{at_once, explore, Error, MemoryCache};
use shuttle::future::block_on;
use shuttle::sync::atomic::{AtomicU64, Ordering};
use shuttle::sync::{Condvar, Mutex};
use std::future::{poll_fn, Future};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

type Cache = MemoryCache<u64, u64>;
type Work = Box<dyn FnOnce() + Send>;

fn with(cache: &Cache, work: impl FnOnce(Cache) + Send + 'static) -> Work {
    let cache = cache.clone();
    Box::new(move || work(cache))
}

/// Lets others run, as a loader that waits for something does.
async fn yields() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Raised once; callers wait for it.
#[derive(Clone, Default)]
struct Flag(Arc<(Mutex<bool>, Condvar)>);

impl Flag {
    fn raise(&self) {
        *self.0 .0.lock().unwrap() = true;
        self.0 .1.notify_all();
    }

    fn wait(&self) {
        let mut raised = self.0 .0.lock().unwrap();
        while !*raised {
            raised = self.0 .1.wait(raised).unwrap();
        }
    }
}

/// How many loaders are running at once, and how many ran.
#[derive(Clone, Default)]
struct Loaders(Arc<(AtomicU64, AtomicU64)>);

impl Loaders {
    fn run(&self) -> u64 {
        let others = self.0 .0.fetch_add(1, Ordering::SeqCst);
        assert_eq!(others, 0, "two loaders at once");
        self.0 .0.fetch_sub(1, Ordering::SeqCst);
        self.0 .1.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn ran(&self) -> u64 {
        self.0 .1.load(Ordering::SeqCst)
    }
}

#[test]
fn one_loads_whoever_blocks() {
    explore(|| {
        let cache = Cache::new(10).unwrap();
        let loaders = Loaders::default();
        let blocks = |loaders: Loaders| {
            with(&cache, move |cache| {
                assert_eq!(cache.get_or_insert_with(&1, || loaders.run()).unwrap(), 1);
            })
        };
        let awaits = |loaders: Loaders| {
            with(&cache, move |cache| {
                let load = async move {
                    yields().await;
                    loaders.run()
                };
                assert_eq!(block_on(cache.get_or_insert_async(&1, load)).unwrap(), 1);
            })
        };
        at_once(vec![
            blocks(loaders.clone()),
            awaits(loaders.clone()),
            awaits(loaders.clone()),
            blocks(loaders.clone()),
        ]);
        assert_eq!(loaders.ran(), 1);
    });
}

#[test]
fn a_loader_that_fails_strands_nobody() {
    explore(|| {
        let cache = Cache::new(10).unwrap();
        let fails = with(&cache, |cache| {
            let load = || Err::<u64, _>("as planned");
            match cache.get_or_set(&1, load) {
                Ok(value) => assert_eq!(value, 2),
                Err(error) => assert_eq!(error.code(), "loader_failed"),
            }
        });
        let loads = || {
            with(&cache, |cache| {
                assert_eq!(cache.get_or_insert_with(&1, || 2).unwrap(), 2)
            })
        };
        at_once(vec![fails, loads(), loads()]);
        assert_eq!(cache.get(&1), Some(2));
    });
}

#[test]
fn a_cancelled_caller_strands_nobody() {
    explore(|| {
        let cache = Cache::new(10).unwrap();
        let cancelled = |polls: usize| {
            with(&cache, move |cache| {
                block_on(async {
                    let never = std::future::pending::<Result<u64, Error>>();
                    let mut call = pin!(cache.get_or_set_async(&1, never));
                    for _ in 0..polls {
                        poll_fn(|context| {
                            let _ = call.as_mut().poll(context);
                            Poll::Ready(())
                        })
                        .await;
                        if cache.has(&1) {
                            return;
                        }
                    }
                });
            })
        };
        let awaits = with(&cache, |cache| {
            let load = async {
                yields().await;
                3
            };
            assert_eq!(block_on(cache.get_or_insert_async(&1, load)).unwrap(), 3);
        });
        let blocks = with(&cache, |cache| {
            assert_eq!(cache.get_or_insert_with(&1, || 3).unwrap(), 3)
        });
        at_once(vec![cancelled(1), awaits, blocks, cancelled(2)]);
        assert_eq!(cache.get(&1), Some(3));
    });
}

/// A load that began before a write ends after it, or is not joined by any caller that comes after it: a
/// read after the write gives the written value.
fn write_wins(write: fn(&Cache), stands: fn(Option<u64>) -> bool) {
    explore(move || {
        let cache = Cache::new(10).unwrap();
        // The source that a loader reads: its old value must not be seen again once the write is
        // acknowledged.
        let source = Arc::new(AtomicU64::new(1));
        let load = || {
            let source = source.clone();
            with(&cache, move |cache| {
                let value = cache.get_or_insert_with(&1, || source.load(Ordering::SeqCst));
                assert!([1, 2, 50].contains(&value.unwrap()));
            })
        };
        let read = source.clone();
        let writes = with(&cache, move |cache| {
            read.store(2, Ordering::SeqCst);
            write(&cache);
            let seen = cache.get_or_insert_with(&1, || read.load(Ordering::SeqCst));
            assert_ne!(seen.unwrap(), 1, "a load from before the write");
            assert!(stands(cache.get(&1)));
        });
        at_once(vec![load(), writes, load()]);
        assert!(stands(cache.get(&1)));
    });
}

#[test]
fn a_delete_during_a_load_wins() {
    let delete = |cache: &Cache| {
        // Present or not: a load may have ended.
        let _ = cache.delete(&1);
    };
    write_wins(delete, |value| value == Some(2));
}

#[test]
fn a_clear_during_a_load_wins() {
    write_wins(Cache::clear, |value| value == Some(2));
}

#[test]
fn a_clear_of_some_keys_during_a_load_wins() {
    let clear = |cache: &Cache| cache.clear_if(|key| *key == 1);
    write_wins(clear, |value| value == Some(2));
}

#[test]
fn a_set_during_a_load_wins() {
    write_wins(|cache| cache.set(1, 50).unwrap(), |value| value == Some(50));
}

#[test]
fn a_set_by_reference_during_a_load_wins() {
    let set = |cache: &Cache| cache.set_by_ref(&1, 50).unwrap();
    write_wins(set, |value| value == Some(50));
}

/// A caller that waits for an invalidated load looks again at once: here the loader ends only after
/// that.
fn wakes_who_waits(invalidates: fn(&Cache)) {
    explore(move || {
        let cache = Cache::new(10).unwrap();
        let (begun, looked) = (Flag::default(), Flag::default());
        let (loading, over) = (begun.clone(), looked.clone());
        let loads = with(&cache, move |cache| {
            let load = || {
                loading.raise();
                over.wait();
                1
            };
            let value = cache.get_or_insert_with(&1, load).unwrap();
            assert!([1, 2, 50].contains(&value));
            // It may never have been its turn to load.
            loading.raise();
        });
        let wakes = with(&cache, move |cache| {
            begun.wait();
            invalidates(&cache);
        });
        let waits = with(&cache, move |cache| {
            let blocking = cache.clone();
            let blocks = shuttle::thread::spawn(move || {
                assert_ne!(blocking.get_or_insert_with(&1, || 2).unwrap(), 1);
            });
            let load = async {
                yields().await;
                2
            };
            assert_ne!(block_on(cache.get_or_insert_async(&1, load)).unwrap(), 1);
            blocks.join().unwrap();
            looked.raise();
        });
        at_once(vec![loads, wakes, waits]);
    });
}

#[test]
fn a_set_wakes_who_waits_for_the_load_that_it_invalidates() {
    wakes_who_waits(|cache| cache.set(1, 50).unwrap());
}

#[test]
fn a_set_by_reference_wakes_who_waits_for_the_load_that_it_invalidates() {
    wakes_who_waits(|cache| cache.set_by_ref(&1, 50).unwrap());
}

#[test]
fn a_delete_wakes_who_waits_for_the_load_that_it_invalidates() {
    wakes_who_waits(|cache| {
        // Present or not: a waiting caller may have loaded.
        let _ = cache.delete(&1);
    });
}

#[test]
fn a_clear_wakes_who_waits_for_the_loads_that_it_invalidates() {
    wakes_who_waits(Cache::clear);
    wakes_who_waits(|cache| cache.clear_if(|key| *key == 1));
}

/// For a load alone: it never takes a value.
#[test]
fn a_load_is_invalidated_without_its_key() {
    wakes_who_waits(|cache| {
        let _ = cache.invalidate_load(&1);
    });
    explore(|| {
        let cache = Cache::new(10).unwrap();
        let loads = with(&cache, |cache| {
            let value = cache.get_or_insert_with(&1, || 1).unwrap();
            assert!([1, 50].contains(&value));
        });
        let invalidates = with(&cache, |cache| {
            let _ = cache.invalidate_load(&1);
        });
        let sets = with(&cache, |cache| {
            cache.set(1, 50).unwrap();
            assert_eq!(cache.get(&1), Some(50));
        });
        at_once(vec![loads, invalidates, sets]);
        assert_eq!(cache.get(&1), Some(50));
    });
}
