//! Cached reads of the stream: its JSON, encoded once for each change of it, and kept coherent by the listener.

use crate::page::{failed, now, Times};
use crate::{range, Failure};
use axum::extract::State;
use axum::routing::get;
use axum::Router;
use http::StatusCode;
use polycache::reads::{AsyncCachedReads, CachedReads, JsonReply};
use polycache_http::axum::Asked;
use polycache_http::{Policy, Representation};
use redis::Cmd;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

static POLICY: LazyLock<Policy> = LazyLock::new(Policy::default);

/// The stream as this host keeps it.
pub struct Stream {
    reads: AsyncCachedReads,
    range: Cmd,
}

impl Stream {
    /// Once this host hears of changes.
    pub async fn open(url: &str, directory: impl Into<PathBuf>) -> Result<Arc<Stream>, Failure> {
        let reads = CachedReads::builder(url).path(directory).build()?;
        let stream = Stream {
            reads: reads.into(),
            range: range(),
        };
        while stream.reads.stats().memory_hits == 0 {
            stream.json().await?;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(stream.into())
    }

    async fn json(&self) -> Result<Arc<JsonReply>, polycache::Error> {
        self.reads.json(&self.range).await
    }
}

/// The value alone.
pub fn value(stream: Arc<Stream>) -> Router {
    let answer = |State(stream): State<Arc<Stream>>, asked: Asked| async move {
        let json = stream.json().await.map_err(failed)?;
        // It has the compressed variants, so it is kept beside the reply.
        let value = json.made(|json| Representation::from(json));
        Ok::<_, StatusCode>(asked.answer(&*value, &POLICY).await)
    };
    Router::new().route("/", get(answer)).with_state(stream)
}

/// The page's document around the value.
pub fn fields(stream: Arc<Stream>) -> Router {
    let answer = |State(stream): State<Arc<Stream>>, asked: Asked| async move {
        let start = now();
        let json = stream.json().await.map_err(failed)?;
        let value = json.made(|json| Representation::from(json));
        let page = value.within("value", &Times::until_now(start));
        let page = page.map_err(failed)?.incidental();
        Ok::<_, StatusCode>(asked.answer(&page, &POLICY).await)
    };
    Router::new().route("/", get(answer)).with_state(stream)
}
