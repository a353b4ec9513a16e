//! The stream through redis-rs, over one connection that all requests share; and the same bytes from memory.

use crate::page::{failed, now, Page};
use crate::{range, Failure, Json};
use axum::extract::State;
use axum::routing::get;
use axum::Router;
use bytes::Bytes;
use http::StatusCode;
use redis::aio::MultiplexedConnection;

/// Reads and encodes for each request.
pub async fn router(url: &str) -> Result<Router, Failure> {
    let answer = |State(mut connection): State<MultiplexedConnection>| async move {
        let page = read(&mut connection).await.map_err(failed)?;
        Ok::<_, StatusCode>(Json(encoded(&page).map_err(failed)?))
    };
    Ok(Router::new()
        .route("/", get(answer))
        .with_state(connect(url).await?))
}

/// The bytes of one such answer, made once: the framework's limit.
pub async fn constant(url: &str) -> Result<Router, Failure> {
    let bytes = encoded(&read(&mut connect(url).await?).await?)?;
    let answer = |State(bytes): State<Bytes>| async { Json(bytes) };
    Ok(Router::new().route("/", get(answer)).with_state(bytes))
}

async fn connect(url: &str) -> redis::RedisResult<MultiplexedConnection> {
    let client = redis::Client::open(url)?;
    client.get_multiplexed_async_connection().await
}

async fn read(connection: &mut MultiplexedConnection) -> redis::RedisResult<Page> {
    let start = now();
    let value = range().query_async(connection).await?;
    Ok(Page::new(value, start))
}

fn encoded(page: &Page) -> serde_json::Result<Bytes> {
    Ok(serde_json::to_vec(page)?.into())
}
