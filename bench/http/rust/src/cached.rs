//! Cached reads of the stream: its JSON, encoded once for each change of it, and kept coherent by the listener.

use crate::page::{failed, now, Times};
use crate::{range, Failure};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use axum::Router;
use http::{HeaderMap, Method, StatusCode};
use polycache::reads::{AsyncCachedReads, CachedReads, JsonReply};
use polycache_http::{InvalidArgument, Policy, Representation};
use redis::Cmd;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

static POLICY: LazyLock<Policy> = LazyLock::new(Policy::default);
/// Of documents that are used once: nothing would be left of the work of compressing one.
static UNCODED: LazyLock<Policy> = LazyLock::new(|| Policy::default().codings([]));

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
    let answer = |State(stream): State<Arc<Stream>>, method: Method, request: HeaderMap| async move {
        let json = stream.json().await.map_err(failed)?;
        // It has the compressed variants, so it is kept beside the reply.
        let value = json.made(representation);
        let value = Result::as_ref(&value).map_err(failed)?;
        Ok::<_, StatusCode>(body(value.respond(&method, &request, &POLICY).await))
    };
    Router::new().route("/", get(answer)).with_state(stream)
}

fn representation(json: &JsonReply) -> Result<Representation, InvalidArgument> {
    Representation::json(json.bytes().clone()).with_etag(json.etag())
}

/// The page's document around the value.
pub fn fields(stream: Arc<Stream>) -> Router {
    let answer = |State(stream): State<Arc<Stream>>, method: Method, request: HeaderMap| async move {
        let start = now();
        let json = stream.json().await.map_err(failed)?;
        let page = within(&json, &Times::until_now(start)).map_err(failed)?;
        Ok::<_, StatusCode>(body(page.respond(&method, &request, &UNCODED).await))
    };
    Router::new().route("/", get(answer)).with_state(stream)
}

/// The value's JSON, whose bytes are only copied, before the other fields. These are incidental: so its tag is the value's,
/// as a weak one (`spec/http.md`, "A value").
fn within(json: &JsonReply, times: &Times) -> Result<Representation, Failure> {
    let times = serde_json::to_vec(times)?;
    let head = b"{\"value\":";
    let mut document = Vec::with_capacity(head.len() + json.bytes().len() + times.len());
    document.extend_from_slice(head);
    document.extend_from_slice(json.bytes());
    // Its brace becomes the comma.
    document.push(b',');
    document.extend_from_slice(&times[1..]);
    let weak = format!("W/{}", json.etag());
    Ok(Representation::json(document).with_etag(&weak)?)
}

/// An answer as axum has it.
fn body(answer: polycache_http::Answer) -> Response {
    answer.map(Body::from)
}
