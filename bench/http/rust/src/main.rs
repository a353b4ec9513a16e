//! The servers of the HTTP benchmark on axum; the word it is started with says which.

mod cached;
mod page;
mod plain;
mod ready;

use axum::Router;
use page::Json;
use ready::{versions, Reads, Ready};
use std::sync::Arc;
use tokio::net::TcpListener;

/// What stops a server before it listens.
type Failure = Box<dyn std::error::Error>;

/// The stream that requests read.
const KEY: &str = "OPTIONS:test:STREAM";

fn range() -> redis::Cmd {
    redis::cmd("XRANGE").arg(KEY).arg("-").arg("+").take()
}

/// With as many threads as there are cores, as `#[tokio::main]` has them in any program on axum.
#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = format!("redis://127.0.0.1:{}", variable("REDIS_PORT")?);
    let word = std::env::args().nth(1).unwrap_or_default();
    let (router, reads) = match &*word {
        "plain" => (plain::router(&url).await?, Reads::EachRequest),
        "constant" => (plain::constant(&url).await?, Reads::Never),
        "fields" => (cached::fields(open(&url).await?), Reads::AfterAChange),
        "value" => (cached::value(open(&url).await?), Reads::AfterAChange),
        _ => return Err("say one of plain, constant, fields and value".into()),
    };
    serve(router, reads).await
}

async fn open(url: &str) -> Result<Arc<cached::Stream>, Failure> {
    cached::Stream::open(url, variable("CACHE_DIRECTORY")?).await
}

fn variable(name: &str) -> Result<String, Failure> {
    std::env::var(name).map_err(|error| format!("{name}: {error}").into())
}

async fn serve(router: Router, reads: Reads) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut notes = vec!["a thread for each core"];
    if reads == Reads::AfterAChange {
        notes.push("cached reads: encoded once for each change; at most one second behind");
    }
    let ready = Ready {
        port: listener.local_addr()?.port(),
        path: "/",
        reads,
        versions: versions(["axum", "redis"]),
        notes,
    };
    println!("{}", serde_json::to_string(&ready)?);
    Ok(axum::serve(listener, router).await?)
}
