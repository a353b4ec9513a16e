//! axum, in Rust: `target/release/example-http-axum`.

use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use axum::Router;
use polycache::reads::{AsyncCachedReads, CachedReads};
use polycache_http::axum::Asked;
use polycache_http::{Policy, Problem, Representation, StreamRange};
use serde::Serialize;
use std::env::var;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const KEY: &str = "OPTIONS:test:STREAM";

/// What the endpoint shares between requests.
#[derive(Clone)]
struct Stream {
    reads: AsyncCachedReads,
    policy: Policy,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Times {
    start: u64,
    end: u64,
    end_date: String,
}

/// The stream as JSON, and when reading it began and ended.
async fn stream(
    State(Stream { reads, policy }): State<Stream>,
    RawQuery(query): RawQuery,
    asked: Asked,
) -> Result<Response, Problem> {
    // 400, if `start`, `end` or `count` is wrong.
    let range = StreamRange::parse(query.as_deref().unwrap_or_default(), StreamRange::MAX_COUNT)?;
    let start = now();
    let mut command = redis::cmd("XRANGE");
    command.arg(KEY).arg(range.start).arg(range.end);
    let value = reads
        .json(command.arg("COUNT").arg(range.count))
        .await
        .inspect_err(|error| eprintln!("{error}"))?;
    let end = now();
    let end_date = humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(end));
    let times = Times {
        start,
        end,
        end_date: end_date.to_string(),
    };
    // Kept beside the reply, with what was compressed.
    let value = value.made(|reply| Representation::from(reply));
    let page = value.within("value", &times);
    let page = page.map_err(|_| Problem::internal())?;
    // The times do not matter to a client that has the value: it may be answered 304.
    Ok(asked.answer(&page.incidental(), &policy).await)
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_millis() as u64
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = var("REDIS_URL").unwrap_or_else(|_| "redis://127.0.0.1:6379".into());
    // The server tells this machine of writes to keys that begin so; a response is at most `max_staleness` behind.
    let reads = CachedReads::builder(url.as_str())
        .prefixes(["OPTIONS:"])
        .max_staleness(Duration::from_secs(1))
        .build()?;
    let state = Stream {
        reads: reads.into(),
        policy: Policy::default(),
    };
    let app = Router::new().route("/", get(stream)).with_state(state);
    let port: u16 = var("PORT").as_deref().unwrap_or("3000").parse()?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening at http://{}/", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
