//! `GET /streams/{key}`: the entries of a stream, from cached reads.

use super::reads::respond;
use crate::app::App;
use crate::path;
use axum::extract::{Request, State};
use axum::response::Response;
use http::request::Parts;
use http::StatusCode;
use polycache_http::{Problem, StreamRange};
use redis::{cmd, Cmd};
use std::sync::Arc;

pub(super) async fn get(State(app): State<Arc<App>>, request: Request) -> Response {
    let (request, _) = request.into_parts();
    respond(&app, &request, || command(&app, &request)).await
}

/// The parameters are checked here, so Redis is asked nothing that it refuses.
fn command(app: &App, request: &Parts) -> Result<Cmd, Problem> {
    let path = request.uri.path();
    let key = path::key(path.strip_prefix("/streams/").unwrap_or_default())?;
    allowed(app, &key)?;
    let query = request.uri.query().unwrap_or_default();
    let range = StreamRange::parse(query, app.options.limits.entries)?;
    let mut command = cmd("XRANGE");
    command.arg(key).arg(range.start).arg(range.end);
    command.arg("COUNT").arg(range.count);
    Ok(command)
}

/// # Errors
/// 403 for a key that is not served.
pub(super) fn allowed(app: &App, key: &[u8]) -> Result<(), Problem> {
    let prefixes = app
        .options
        .redis
        .as_ref()
        .map_or(&[][..], |redis| &redis.prefixes);
    if prefixes.is_empty()
        || prefixes
            .iter()
            .any(|prefix| key.starts_with(prefix.as_bytes()))
    {
        return Ok(());
    }
    let detail = "The server was started for other keys of Redis; --keys says which.";
    Err(Problem::new(StatusCode::FORBIDDEN, detail))
}

/// What a server over a directory alone says.
pub(super) fn no_redis() -> Problem {
    let detail =
        "The server was started without Redis, so it has no streams and no reads: start it with --remote and a URL.";
    Problem::new(StatusCode::NOT_FOUND, detail)
}
