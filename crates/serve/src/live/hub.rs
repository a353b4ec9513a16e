//! Who listens to what.

use super::follower::{Connections, Follower};
use super::listener::Listener;
use super::Id;
use crate::app::unavailable;
use crate::tracked::Counts;
use crate::{Error, Limits, Redis};
use polycache_http::Problem;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The streams that are followed.
pub(crate) struct Hub {
    connections: Arc<Connections>,
    followers: Arc<Followers>,
    most_streams: usize,
    most_listeners: usize,
    counts: Arc<Counts>,
}

/// By key. A follower is there as long as somebody listens to it.
#[derive(Default)]
pub(super) struct Followers(Mutex<HashMap<Vec<u8>, Weak<Follower>>>);

impl Followers {
    pub fn lock(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Weak<Follower>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hub {
    pub fn new(redis: &Redis, limits: &Limits, counts: Arc<Counts>) -> Result<Hub, Error> {
        let client = redis::Client::open(redis.url.as_str());
        let client = client.map_err(|error| {
            // Its text has no password.
            Error::InvalidArgument(format!("the URL of Redis is wrong: {error}"))
        })?;
        Ok(Hub {
            connections: Arc::new(Connections::new(client)),
            followers: Arc::default(),
            most_streams: limits.streams,
            most_listeners: limits.listeners,
            counts,
        })
    }

    /// How many streams are followed.
    pub fn streams(&self) -> usize {
        self.followers.lock().len()
    }

    /// Listens to a stream: to what comes, or to what came after an id and comes.
    ///
    /// # Errors
    /// 409 for a key of another type; 503 when there are too many listeners or Redis does not answer.
    pub async fn listen(&self, key: &[u8], after: Option<Id>) -> Result<Listener, Problem> {
        let Some(one) = self.counts.listeners.take(self.most_listeners) else {
            return Err(unavailable(
                "Too many clients listen to streams; try again later.",
            ));
        };
        let follower = self.follower(key)?;
        follower.ready().await?;
        Listener::new(follower, one, after, self.counts.clone()).await
    }

    fn follower(&self, key: &[u8]) -> Result<Arc<Follower>, Problem> {
        self.follower_unless(key, Follower::has_ended)
    }

    /// The follower of a key, or a new one in the place of one that is of no use.
    fn follower_unless(
        &self,
        key: &[u8],
        is_useless: impl FnOnce(&Follower) -> bool,
    ) -> Result<Arc<Follower>, Problem> {
        // Whoever drops the last one takes the lock, so this is dropped after the lock was given back.
        let known;
        let mut followers = self.followers.lock();
        known = followers.get(key).and_then(Weak::upgrade);
        if let Some(follower) = &known {
            if !is_useless(follower) {
                return Ok(follower.clone());
            }
        }
        if !followers.contains_key(key) && followers.len() >= self.most_streams {
            let detail = "Too many different streams are listened to; try again later.";
            return Err(unavailable(detail));
        }
        let follower = Follower::start(key, self.connections.clone(), self.followers.clone());
        followers.insert(key.to_vec(), Arc::downgrade(&follower));
        Ok(follower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn the_last_holder_of_an_ended_follower_may_leave_while_another_looks_at_it() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let _inside = runtime.enter();
        let redis = Redis {
            url: "redis://127.0.0.1:1".into(),
            prefixes: Vec::new(),
            scripts: false,
        };
        let hub = Hub::new(&redis, &Limits::default(), Arc::default()).unwrap();
        let hub = Arc::new(hub);
        let ended = hub.follower(b"k").unwrap();
        let (said, heard) = mpsc::channel();
        let (handle, asked) = (runtime.handle().clone(), hub.clone());
        std::thread::spawn(move || {
            let _inside = handle.enter();
            let leaves = |_: &Follower| {
                drop(ended);
                true
            };
            let _ = said.send(asked.follower_unless(b"k", leaves));
        });
        // Only one that waits for itself lets this pass.
        let next = heard.recv_timeout(Duration::from_secs(20));
        let next = next.expect("it waits for no lock of its own").unwrap();
        assert_eq!(hub.streams(), 1, "the new one stays");
        drop(next);
        assert_eq!(hub.streams(), 0);
    }
}
