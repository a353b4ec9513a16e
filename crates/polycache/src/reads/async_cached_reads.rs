//! Cached reads for asynchronous programs (cargo feature `tokio`).

use super::call::Call;
use super::flights::{Joined, Landed, PATIENCE};
use super::{CachedReads, JsonReply, ReadStats};
use crate::async_cache::blocking;
use crate::Error;
use redis::{Cmd, FromRedisValue};
use std::future::poll_fn;
use std::sync::Arc;

/// [`CachedReads`] for asynchronous programs on tokio. What memory or this host has is answered where it is asked for, in
/// microseconds. A read that is sent runs on one of tokio's threads for blocking work, and all callers that ask
/// the same meanwhile wait for that one, without a thread.
///
/// A future may be dropped at any time: the read that it began goes on for the others.
///
/// ```no_run
/// # async fn options() -> Result<(), polycache::Error> {
/// use polycache::reads::{AsyncCachedReads, CachedReads};
///
/// let reads = AsyncCachedReads::from(CachedReads::builder("redis://127.0.0.1").build()?);
/// let page = reads.json(&redis::cmd("LRANGE").arg("names").arg(0).arg(-1)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AsyncCachedReads(CachedReads);

impl From<CachedReads> for AsyncCachedReads {
    fn from(reads: CachedReads) -> AsyncCachedReads {
        AsyncCachedReads(reads)
    }
}

impl AsyncCachedReads {
    /// The reads behind it, whose methods block.
    #[must_use]
    pub fn reads(&self) -> &CachedReads {
        &self.0
    }

    /// See [`CachedReads::query`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Error> {
        let inner = &self.0 .0;
        if let Some(reply) = inner.kept_reply(command) {
            return reply.to();
        }
        let call = Arc::new(inner.call(command)?);
        let reply = self.landed(&call).await?;
        inner.keep_reply(&call, &reply);
        reply.to()
    }

    /// See [`CachedReads::json`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn json(&self, command: &Cmd) -> Result<Arc<JsonReply>, Error> {
        let inner = &self.0 .0;
        if let Some(json) = inner.kept_json(command) {
            return Ok(json);
        }
        let call = Arc::new(inner.call(command)?);
        let reply = self.landed(&call).await?;
        Ok(inner.keep_json(&call, &reply))
    }

    /// See [`CachedReads::forget`].
    pub fn forget<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) {
        self.0.forget(keys);
    }

    /// See [`CachedReads::stats`].
    #[must_use]
    pub fn stats(&self) -> ReadStats {
        self.0.stats()
    }

    async fn landed(&self, call: &Arc<Call>) -> Landed {
        let inner = &self.0 .0;
        if let Some(reply) = inner.known_host_reply(call) {
            return Ok(reply);
        }
        match inner.join(call) {
            Joined::Own(own) => {
                let (inner, call) = (inner.clone(), call.clone());
                blocking(move || own.land(inner.read(&call))).await
            }
            Joined::Other(flight) => {
                let landed = poll_fn(|context| flight.poll(context));
                match tokio::time::timeout(PATIENCE, landed).await {
                    Ok(landed) => landed,
                    Err(_) => {
                        let (inner, call) = (inner.clone(), call.clone());
                        blocking(move || inner.read(&call)).await
                    }
                }
            }
        }
    }
}
