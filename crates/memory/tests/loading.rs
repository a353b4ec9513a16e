//! get_or_set and its siblings: one loader, no caller stranded, writes win.

mod common;

use common::small;
use futures::executor::block_on;
use futures::future::{join, poll_fn, FutureExt};
use futures::task::noop_waker;
use polycache_memory::{Error, MemoryCache};
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll};
use std::thread;

#[test]
fn of_many_threads_one_loads() {
    let cache = small::<u64>(100);
    let loads = AtomicU64::new(0);
    let ready = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                ready.wait();
                let value = cache.get_or_insert_with(&1, || {
                    thread::yield_now();
                    loads.fetch_add(1, Ordering::SeqCst);
                    7
                });
                assert_eq!(value.unwrap(), 7);
            });
        }
    });
    assert_eq!(loads.into_inner(), 1);
    let stats = cache.stats();
    assert_eq!((stats.hits + stats.misses, stats.writes), (8, 1));
}

#[test]
fn a_loader_that_fails_leaves_the_key_to_the_next() {
    let cache = small::<u64>(100);
    let error = cache.get_or_set(&1, || "x".parse::<u64>()).unwrap_err();
    assert_eq!(error.code(), "loader_failed");
    // A text that is not a number fails the next time too.
    assert!(!error.retryable());
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.downcast_ref::<std::num::ParseIntError>().is_some());
    assert_eq!(cache.get_or_insert_with(&1, || 2).unwrap(), 2);
}

#[test]
fn callers_that_wait_for_a_loader_that_fails_get_its_error() {
    let cache = small::<u64>(100);
    let loading = Barrier::new(2);
    let loads = AtomicU64::new(0);
    let load = || {
        if loads.fetch_add(1, Ordering::SeqCst) == 0 {
            loading.wait();
            // Until the others have joined: a caller that comes later loads itself.
            while cache.stats().misses < 9 {
                thread::yield_now();
            }
        }
        "x".parse::<u64>()
    };
    thread::scope(|scope| {
        scope.spawn(|| assert!(cache.get_or_set(&1, load).is_err()));
        loading.wait();
        let waiting: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| cache.get_or_set(&1, load)))
            .collect();
        for thread in waiting {
            assert_eq!(thread.join().unwrap().unwrap_err().code(), "loader_failed");
        }
    });
    assert_eq!(loads.load(Ordering::SeqCst), 1);
}

#[test]
fn waiting_ends_at_its_bound() {
    let bounded = MemoryCache::<u64, u64>::builder()
        .max_entries(100)
        .wait_timeout(std::time::Duration::from_millis(1));
    let cache = bounded.build().unwrap();
    let (loading, over) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        let holder = scope.spawn(|| {
            cache.get_or_insert_with(&1, || {
                loading.wait();
                over.wait();
                2
            })
        });
        loading.wait();
        let error = cache.get_or_insert_with(&1, || 3).unwrap_err();
        assert!(error.code() == "wait_timeout" && error.retryable());
        let never = |_| -> Result<[(u64, u64); 0], Error> { unreachable!("another loads") };
        let error = cache.get_or_set_many(&[1], never).unwrap_err();
        assert_eq!(error.code(), "wait_timeout");
        assert_eq!(cache.stats().wait_timeouts, 2);
        over.wait();
        assert_eq!(holder.join().unwrap().unwrap(), 2);
    });
}

#[test]
fn a_loader_that_panics_leaves_the_key_to_one_who_waits() {
    let cache = small::<u64>(100);
    let loading = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let panics = || {
                cache.get_or_insert_with(&1, || {
                    loading.wait();
                    panic!("as planned")
                })
            };
            assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        });
        loading.wait();
        assert_eq!(cache.get_or_insert_with(&1, || 3).unwrap(), 3);
    });
    assert_eq!(cache.get(&1), Some(3));
}

/// Polls once.
fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    let waker = noop_waker();
    future.poll_unpin(&mut Context::from_waker(&waker))
}

#[test]
fn a_cancelled_caller_leaves_the_key_to_one_who_waits() {
    let cache = small::<u64>(100);
    let mut first = Box::pin(cache.get_or_insert_async(&1, std::future::pending()));
    let mut second = Box::pin(cache.get_or_insert_async(&1, async { 5 }));
    let mut third = Box::pin(cache.get_or_insert_async(&1, async { 6 }));
    assert!(poll(&mut first).is_pending());
    assert!(poll(&mut second).is_pending());
    assert!(poll(&mut third).is_pending());
    drop(first);
    assert_eq!(block_on(second).unwrap(), 5);
    assert_eq!(block_on(third).unwrap(), 5);
}

#[test]
fn a_cancelled_waiter_cancels_nobody() {
    let cache = small::<u64>(100);
    let (send, receive) = futures::channel::oneshot::channel();
    let mut first = Box::pin(cache.get_or_set_async(&1, receive));
    let mut second = Box::pin(cache.get_or_insert_async(&1, async { 6 }));
    let mut third = Box::pin(cache.get_or_insert_async(&1, async { 7 }));
    assert!(poll(&mut first).is_pending());
    assert!(poll(&mut second).is_pending());
    assert!(poll(&mut third).is_pending());
    drop(second);
    send.send(9).unwrap();
    let (first, third) = block_on(join(first, third));
    assert_eq!((first.unwrap(), third.unwrap()), (9, 9));
}

#[test]
fn who_blocks_and_who_does_not_share_a_load() {
    let cache = small::<u64>(100);
    let (send, receive) = futures::channel::oneshot::channel();
    let mut first = Box::pin(cache.get_or_set_async(&1, receive));
    assert!(poll(&mut first).is_pending());
    thread::scope(|scope| {
        let other = scope.spawn(|| cache.get_or_insert_with(&1, || 4).unwrap());
        send.send(8).unwrap();
        assert_eq!(block_on(first).unwrap(), 8);
        assert_eq!(other.join().unwrap(), 8);
    });
}

#[test]
fn a_future_that_nobody_polls_holds_nobody_up() {
    let cache = small::<u64>(100);
    let idle = cache.get_or_insert_async(&1, async { 1 });
    assert_eq!(cache.get_or_insert_with(&1, || 2).unwrap(), 2);
    assert_eq!(block_on(idle).unwrap(), 2);
}

#[test]
fn a_write_during_a_load_wins() {
    type Write = fn(&MemoryCache<u64, u64>);
    let writes: [(Write, Option<u64>); 5] = [
        (|cache| cache.set(1, 50).unwrap(), Some(50)),
        (|cache| assert!(!cache.delete(&1)), None),
        (|cache| assert_eq!(cache.take(&1), None), None),
        (|cache| cache.clear(), None),
        (
            |cache| {
                let entry = cache.entry(1).and_modify(|value| *value += 1);
                cache.set(1, 50).unwrap();
                assert_eq!(entry.or_insert(0).unwrap(), 51);
            },
            Some(51),
        ),
    ];
    for (write, stands) in writes {
        let cache = small::<u64>(100);
        let loaded = cache.get_or_insert_with(&1, || {
            write(&cache);
            7
        });
        assert_eq!(loaded.unwrap(), 7, "its caller gets what it loaded");
        assert_eq!(cache.get(&1), stands, "but it is not stored");
        assert_eq!(cache.stats().invalidated_loads, 1);
    }
}

#[test]
fn a_caller_after_a_delete_does_not_join_the_load_before_it() {
    let cache = small::<u64>(100);
    let (send, receive) = futures::channel::oneshot::channel();
    let mut before = Box::pin(cache.get_or_set_async(&1, receive));
    let mut joined = Box::pin(cache.get_or_insert_async(&1, async { 0 }));
    assert!(poll(&mut before).is_pending());
    assert!(poll(&mut joined).is_pending());
    cache.delete(&1);
    assert_eq!(cache.get_or_insert_with(&1, || 2).unwrap(), 2);
    send.send(1).unwrap();
    let (before, joined) = block_on(join(before, joined));
    assert_eq!(before.unwrap(), 1, "its own");
    assert_eq!(joined.unwrap(), 2, "it looked again");
    assert_eq!(cache.get(&1), Some(2), "the later load's value stands");
}

#[test]
fn a_loader_uses_the_cache_but_not_its_own_key() {
    let cache = small::<u64>(100);
    let value = cache.get_or_set(&1, || {
        let other = cache.get_or_insert_with(&2, || 20)?;
        let own = cache.get_or_insert_with(&1, || 0).unwrap_err();
        assert_eq!(own.code(), "invalid_argument");
        Ok::<u64, Error>(other + 1)
    });
    assert_eq!(value.unwrap(), 21);
    assert_eq!(cache.get(&1), Some(21));
}

#[test]
fn every_waker_is_woken() {
    let cache = Arc::new(small::<u64>(100));
    let (send, receive) = futures::channel::oneshot::channel::<u64>();
    let mut first = Box::pin(cache.get_or_set_async(&1, receive));
    assert!(poll(&mut first).is_pending());
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            let cache = cache.clone();
            thread::spawn(move || {
                block_on(async {
                    let mut wait = pin!(cache.get_or_insert_async(&1, async { 0 }));
                    // Polled repeatedly with the same waker, it is listed once.
                    for _ in 0..3 {
                        poll_fn(|context| {
                            let _ = wait.as_mut().poll(context).map(|_| panic!("too early"));
                            Poll::Ready(())
                        })
                        .await;
                    }
                    ready_on(&cache);
                    wait.await.unwrap()
                })
            })
        })
        .collect();
    while cache.peek(&100) != Some(4) {
        thread::yield_now();
    }
    send.send(3).unwrap();
    assert_eq!(block_on(first).unwrap(), 3);
    for thread in waiting {
        assert_eq!(thread.join().unwrap(), 3);
    }
}

/// Counts in the cache how many callers have come so far.
fn ready_on(cache: &MemoryCache<u64, u64>) {
    cache
        .entry(100)
        .and_modify(|count| *count += 1)
        .or_insert(1)
        .unwrap();
}
