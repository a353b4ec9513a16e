//! One caller of `get_or_set`, without blocking.

use super::blocking::Elsewhere;
use super::bytes::{ByteValue, ByteView};
use super::wake::Woken;
use crate::caller::{since_start, Caller, NearView, Next, View};
use crate::observe::{self, Waits, What};
use crate::{Error, Ttl};
use serde::Serialize;
use std::future::{poll_fn, Future};
use std::pin::pin;
use std::task::{ready, Poll};
use std::time::Duration;
use tokio::time::{sleep, Instant};

/// Time on the clock of loads.
pub(super) fn now() -> Duration {
    since_start(Instant::now().into_std())
}

/// The key's value, loaded when it is not there. It waits without blocking. If it is dropped, the key goes to callers
/// that joined, or to the next caller.
pub(super) async fn find_or_load<T: Serialize, V: NearView<T>>(
    view: &V,
    key: &[u8],
    ttl: Ttl,
    load: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    ttl.check()?;
    if view.cache().tier().waits() {
        return match view.find_near(key)? {
            Some(there) => Ok(there),
            None => load_elsewhere(view, key, ttl, load).await,
        };
    }
    match view.find(key)? {
        Some(there) => Ok(there),
        None => load_here(view, key, ttl, load).await,
    }
}

/// The value of a key that was missed, where no step waits.
async fn load_here<T, V: View<T>>(
    view: &V,
    key: &[u8],
    ttl: Ttl,
    load: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let mut waits = Waits::new(view.cache(), What::Key(key));
    let mut caller = Caller::new(view, key, ttl, 0, now());
    let mut timer = pin!(sleep(Duration::ZERO));
    let next = poll_fn(|context| loop {
        match caller.next(|| context.waker().clone(), now())? {
            Next::Wait(time) => {
                waits.begin();
                timer.as_mut().reset(Instant::now() + time);
                ready!(timer.as_mut().poll(context));
            }
            Next::Absent => {}
            next => return Poll::Ready(Ok::<_, Error>(next)),
        }
    });
    if let Next::Value(value) = next.await? {
        return Ok(value);
    }
    waits.pause();
    match observe::load_async(view.cache(), What::Key(key), load).await {
        Ok(value) => caller.loaded(value),
        Err(error) => Err(caller.failed(error)),
    }
}

/// The value of a key of which there is no copy on this host, where each step may wait for a server.
async fn load_elsewhere<T: Serialize, V: NearView<T>>(
    view: &V,
    key: &[u8],
    ttl: Ttl,
    load: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let cache = view.cache();
    let mut waits = Waits::new(cache, What::Key(key));
    let woken = Woken::default();
    let bytes = ByteView(cache.clone());
    let mut caller = Elsewhere::new(Caller::finding(bytes, key.to_vec(), ttl, now()));
    loop {
        let waker = woken.waker();
        let step = caller.step(move |caller| caller.next::<ByteValue>(|| waker.clone(), now()));
        let (stepped, next) = step.await?;
        caller = stepped;
        match next {
            Next::Value(ByteValue::Found(bytes, origin)) => {
                // It holds nothing any more.
                drop(caller.into_inner());
                return view.read_bytes(key, &bytes, origin);
            }
            Next::Wait(time) => {
                waits.begin();
                woken.wait(time).await;
            }
            Next::Absent | Next::Value(ByteValue::Loaded(_)) => {}
            Next::Load => break,
        }
    }
    waits.pause();
    match observe::load_async(cache, What::Key(key), load).await {
        Ok(value) => {
            let encoded = cache.encoded(key, &value, ttl, cache.settings().time_to_idle)?;
            let store = |caller: &mut Caller<_, _>| caller.loaded(ByteValue::Loaded(encoded));
            let (caller, _) = caller.step(store).await?;
            drop(caller.into_inner());
            Ok(value)
        }
        Err(error) => {
            let fail = move |caller: &mut Caller<ByteView, _>| Ok(caller.failed(error));
            let (caller, error) = caller.step(fail).await?;
            drop(caller.into_inner());
            Err(error)
        }
    }
}
